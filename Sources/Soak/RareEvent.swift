// What should happen *sometimes*.
//
// A soak that held says nothing about what never happened in it. So this is the table of the meetings that have lost
// recordings in the field, or nearly lost one here: each soak counts them, the report lists them, and a campaign of a
// million transfers in which one of them never happened has failed. How each is recognised stands in `RareEventWatch`.

/// A meeting that a campaign has to have seen.
package enum RareEvent: String, CaseIterable, Hashable, Sendable {
    // The two queues.
    case ackOvertakesReport, ackLostThenEarnedAgain, resendMeetsItsCopy, duplicateOfFinalNote, ackForNobody
    case ackOfFormerPairing, reportedAndNeverArrived, arrivesAlteredThenWhole, laterNoteFinalFirst
    case takenFiveTimes, twentyTries, newNameAfterPatience, patienceFreesTheHead, enqueueFreesTheHead,
        restartFreesTheHead
    case stalledEightDays, sentBeforeThePhoneEverRan, ackTransferFails, sendRefusedBySession, nobodyHandlesIt
    // Deaths.
    case killBeforeReceiving, killBeforeIngest, killInTheCut, killBetweenContainerAndLedger, killWithAckOwed
    case killBetweenAckAndDelete, killWhileDeleting, strayAckOfOwnDeletion, killTwiceInOneRecovery, bothDead
    // The power.
    case powerCutBetweenPublishAndSync, powerTakesAnEntry, powerTakesAnAck
    // Disks and bounds.
    case diskFullWithAckOwed, diskFullInIngest, recordRefused, noRoomInTheSpool, windowFull, stagingFull, quarantineFull
    // Versions.
    case futureIngestedAfterUpgrade, futureComesTwice, ackOfTheFuture, downgradeWhileNotesWait
    // The container, the homes, and people.
    case containerWipedAfterAck, wipedNoteIngestedAgain, ledgerWipedWhilePhoneRuns, ledgerLearnsFromContainer
    case lockedWithNotesWaiting, signedOutWithNotesWaiting, olderPhoneComesBack, deletedNoteComesBack,
        newPhoneIngestsAgain
    case switchedWithBacklog, spoolWipedWithEntries, idReused, vetoOfStagedNote, vetoComesTooLate
    case userDeletedComesAgain, cancelledAndSentAgain, clockBackPastTheRetry

    /// Only large scenarios have enough notes for it.
    var needsManyNotes: Bool { self == .windowFull || self == .quarantineFull }

    /// What happened, in a sentence.
    package var sentence: String {
        switch self {
        case .ackOvertakesReport: "An ack is read before its own transfer was reported finished."
        case .ackLostThenEarnedAgain: "The link loses an ack, and a resend earns another one."
        case .resendMeetsItsCopy: "A resend meets its own first copy in staging."
        case .duplicateOfFinalNote: "A note that is final is delivered once more, and acked again."
        case .ackForNobody: "An ack comes for a recording that the watch never made."
        case .ackOfFormerPairing: "An ack of a former pairing lies in the spool, and is set aside."
        case .reportedAndNeverArrived: "A transfer is reported delivered, and the link had lost it."
        case .arrivesAlteredThenWhole: "A note arrives cut or altered first, and whole later."
        case .laterNoteFinalFirst: "A note becomes final before one that was recorded earlier."
        case .takenFiveTimes: "The phone takes one note five times."
        case .twentyTries: "A note is delivered after twenty tries or more."
        case .newNameAfterPatience: "Patience runs out, and an entry gets a new name."
        case .patienceFreesTheHead: "Patience runs out, and what was stuck is taken under its new name at once."
        case .enqueueFreesTheHead: "The head of the queue is stuck, and the next enqueue frees it."
        case .restartFreesTheHead: "The head of the queue is stuck, and a restart of the phone frees it."
        case .stalledEightDays: "A recording waits for more than eight days, and is delivered."
        case .sentBeforeThePhoneEverRan: "A note lies in the spool before the phone runs for the first time."
        case .ackTransferFails: "The transfer of an ack fails, and the phone still owes it."
        case .sendRefusedBySession: "The session refuses a transfer, and the note goes later."
        case .nobodyHandlesIt: "The phone's app does not take a file that was delivered."
        case .killBeforeReceiving: "The phone dies between taking an entry and receiving it."
        case .killBeforeIngest: "The phone dies between staging and ingest, and goes on from staging."
        case .killInTheCut:
            "The phone dies behind the cut and before the publish: the next start throws the cut file away."
        case .killBetweenContainerAndLedger: "The phone dies between the container's rename and the ledger's row."
        case .killWithAckOwed: "The phone dies when a note is final and its ack is not written."
        case .killBetweenAckAndDelete: "The watch dies while an ack lies in the spool for it."
        case .killWhileDeleting: "The watch dies while it deletes an acked recording."
        case .strayAckOfOwnDeletion:
            "The watch dies between a deletion and its ack's removal: its next start meets a stray."
        case .killTwiceInOneRecovery: "A daemon is killed twice before one recovery is over."
        case .bothDead: "Both daemons are dead by a kill at once, with a note between them."
        case .powerCutBetweenPublishAndSync:
            "The power goes when the phone died after it announced an ingest and before that was durable."
        case .powerTakesAnEntry: "The power takes an entry out of the spool, and the note is sent again."
        case .powerTakesAnAck: "The power takes an ack out of the spool, and it is earned again."
        case .diskFullWithAckOwed: "The phone's disk is full while it owes an ack."
        case .diskFullInIngest: "The phone's disk is full while a note is being ingested."
        case .recordRefused: "The watch's disk is full, and `record` refuses."
        case .noRoomInTheSpool: "The watch finds no room in the spool beside the phone's reserve."
        case .windowFull: "The window is full: 1,000 entries lie in the spool."
        case .stagingFull: "Staging is full of payloads of the future, and one more stays in the spool."
        case .quarantineFull: "The quarantine is full and drops its oldest bytes."
        case .futureIngestedAfterUpgrade:
            "A payload of the future waits, and is ingested from staging after an upgrade."
        case .futureComesTwice: "A payload of the future that waits is delivered once more."
        case .ackOfTheFuture: "An ack of a newer version is set aside by the watch."
        case .downgradeWhileNotesWait: "A build that understands less is started while payloads wait."
        case .containerWipedAfterAck: "The container is wiped after an ack that the watch has not acted on."
        case .wipedNoteIngestedAgain: "A note that the container lost is ingested again."
        case .ledgerWipedWhilePhoneRuns: "The ledger is wiped under a running phone."
        case .ledgerLearnsFromContainer: "The ledger has lost a note that the container holds, and learns of it again."
        case .lockedWithNotesWaiting: "The container is locked while a note waits for ingest."
        case .signedOutWithNotesWaiting: "The container is signed out while a note waits for ingest."
        case .olderPhoneComesBack: "The phone's home is restored from a copy that is older than an ack."
        case .deletedNoteComesBack: "A restored watch has a recording again that was deleted."
        case .newPhoneIngestsAgain: "A new phone ingests what the phone before it had ingested."
        case .switchedWithBacklog: "The phone is switched to another watch while entries lie in the spool."
        case .spoolWipedWithEntries: "The spool is wiped with entries in it."
        case .idReused: "A delivery under a known id has other bytes, and is set aside."
        case .vetoOfStagedNote: "A note is vetoed while it lies in staging."
        case .vetoComesTooLate: "A veto comes for a note that is ingested already."
        case .userDeletedComesAgain: "A note that the user deleted is delivered again, and stays deleted."
        case .cancelledAndSentAgain: "A transfer is cancelled by hand, and the note is sent again and delivered."
        case .clockBackPastTheRetry: "The wall clock jumps back by more than a wait while a note is under way."
        }
    }
}

/// How often each happened.
package struct RareCounts: Hashable, Sendable {
    /// By the case's place in `RareEvent.allCases`.
    private var counts = [UInt64](repeating: 0, count: RareEvent.allCases.count)

    package init() {}

    package subscript(event: RareEvent) -> UInt64 {
        get { counts[event.index] }
        set { counts[event.index] = newValue }
    }
}

extension RareEvent {
    /// Its place among the cases. An enum without values is its number.
    var index: Int { Int(withUnsafeBytes(of: self) { $0[0] }) }
}
