package import Monitors
package import Simulation

// The table of planted faults. Each imitates wrong code at the seam: it does to the disk what that code would do, and says
// what it would say, so that a bench that finds it would find the code. None is in a daemon.
//
// What is not in here, because it breaks no promise:
// - an inbox that a start throws away: what the watch sends again comes again;
// - a sweep of the watch that takes the temporary of a living `record`: the rename fails, and `record` says so;
// - start numbers that repeat and nothing more: names have a nonce, a name that exists is passed over, nobody keeps a cursor.
//   `sequenceNumberReused` is the design in which somebody does.

/// One of them.
package enum PlantedFault: String, CaseIterable, Sendable {
    // What the two say to each other.
    case deletesAtDidFinish, deletesAtCancel, sourceDeletedBeforeAckMatches, ackOfAnotherPairingDeletes
    case failedTransferDropsRecording, acksAtStaging, acksFailedIngest, quarantineHoldsTheOnlyCopy
    case ingestsADuplicateTwice
    // What lies on the disk, and whether it stays.
    case recorderDoesNotSync, ackNotDurable, renameBeforeSync, noDirectorySyncAfterPublish, ackBeforeLedgerSync
    case failedSyncRetried, acceptsAlteredBytes, lengthTrustedWithoutChecksum, requeueMakesASecondEntry
    case sequenceNumberReused, sweepDeletesLiveTemporary
    // What a start makes of it.
    case recoveryNotIdempotent, unlinkBeforeVetoRecord, ledgerRowLost, vetoForgottenAtRestart
    case containerWipedNotNoticed, startSweepsRecordings
    // When something is done, and whether ever.
    case retryCap, patienceNeverEnds, windowNeverReopens, wallClockDecides, stalledForeverAfterFull
    // What another build wrote.
    case dropsFuturePayload, acksFuturePayload, waitingKeptTwice, forwardGateLetsNewerThrough, ackVersionIgnored

    package enum Family: String, CaseIterable, Sendable {
        case `protocol`, spool, recovery, timing, versions
    }

    package var family: Family {
        switch self {
        case .deletesAtDidFinish, .deletesAtCancel, .sourceDeletedBeforeAckMatches, .ackOfAnotherPairingDeletes,
            .failedTransferDropsRecording, .acksAtStaging, .acksFailedIngest, .quarantineHoldsTheOnlyCopy,
            .ingestsADuplicateTwice:
            .protocol
        case .recorderDoesNotSync, .ackNotDurable, .renameBeforeSync, .noDirectorySyncAfterPublish,
            .ackBeforeLedgerSync, .failedSyncRetried, .acceptsAlteredBytes, .lengthTrustedWithoutChecksum,
            .requeueMakesASecondEntry, .sequenceNumberReused, .sweepDeletesLiveTemporary:
            .spool
        case .recoveryNotIdempotent, .unlinkBeforeVetoRecord, .ledgerRowLost, .vetoForgottenAtRestart,
            .containerWipedNotNoticed, .startSweepsRecordings:
            .recovery
        case .retryCap, .patienceNeverEnds, .windowNeverReopens, .wallClockDecides, .stalledForeverAfterFull: .timing
        case .dropsFuturePayload, .acksFuturePayload, .waitingKeptTwice, .forwardGateLetsNewerThrough,
            .ackVersionIgnored:
            .versions
        }
    }

    /// The promises that it breaks in its scenario, and no others.
    package var breaks: [Promise] {
        switch self {
        case .recorderDoesNotSync, .failedTransferDropsRecording, .startSweepsRecordings: [.nothingIsLost]
        case .deletesAtDidFinish, .deletesAtCancel, .sourceDeletedBeforeAckMatches, .ackOfAnotherPairingDeletes,
            .ackVersionIgnored:
            [.onlyAnAckDeletes]
        case .acksAtStaging, .acksFailedIngest, .quarantineHoldsTheOnlyCopy, .ackNotDurable, .renameBeforeSync,
            .noDirectorySyncAfterPublish, .ackBeforeLedgerSync, .failedSyncRetried, .unlinkBeforeVetoRecord,
            .containerWipedNotNoticed:
            [.anAckIsTrue]
        case .ingestsADuplicateTwice, .recoveryNotIdempotent, .ledgerRowLost, .vetoForgottenAtRestart: [.once]
        case .acceptsAlteredBytes, .lengthTrustedWithoutChecksum: [.bytesAreTheBytes]
        case .retryCap, .patienceNeverEnds, .windowNeverReopens, .wallClockDecides, .stalledForeverAfterFull,
            .requeueMakesASecondEntry, .sequenceNumberReused, .sweepDeletesLiveTemporary:
            [.itDrains]
        case .dropsFuturePayload, .acksFuturePayload, .waitingKeptTwice, .forwardGateLetsNewerThrough:
            [.theUnknownWaits]
        }
    }

    /// A new one, for one run.
    package func make() -> any Plant {
        switch self {
        case .deletesAtDidFinish: WrongDeletion(.transferFinished)
        case .deletesAtCancel: WrongDeletion(.transferCancelled)
        case .sourceDeletedBeforeAckMatches: WrongDeletion(.ackOfAnother)
        case .ackOfAnotherPairingDeletes: AckOfAnotherPairingDeletes()
        case .failedTransferDropsRecording: FailedTransferDropsRecording()
        case .acksAtStaging: WrongAck(.staged)
        case .acksFailedIngest: WrongAck(.ingestFailed)
        case .quarantineHoldsTheOnlyCopy: WrongAck(.setAside)
        case .ingestsADuplicateTwice: SecondIngest(.duplicate)
        case .recorderDoesNotSync: SkippedSyncs(.recorder)
        case .ackNotDurable: SkippedSyncs(.all)
        case .renameBeforeSync: SkippedSyncs(.noteContent)
        case .noDirectorySyncAfterPublish: SkippedSyncs(.month)
        case .ackBeforeLedgerSync: SkippedSyncs(.ledgerRows)
        case .failedSyncRetried: FailedSync(isRetried: true)
        case .acceptsAlteredBytes: AcceptsAlteredBytes()
        case .lengthTrustedWithoutChecksum: LengthTrustedWithoutChecksum()
        case .requeueMakesASecondEntry: WrongRequeue(.second)
        case .sequenceNumberReused: SequenceNumberReused()
        case .sweepDeletesLiveTemporary: SweepDeletesLiveTemporary()
        case .recoveryNotIdempotent: SecondIngest(.recovery)
        case .unlinkBeforeVetoRecord: SkippedSyncs(.vetoes)
        case .ledgerRowLost: LedgerRowLost()
        case .vetoForgottenAtRestart: VetoForgottenAtRestart()
        case .containerWipedNotNoticed: ContainerWipedNotNoticed()
        case .startSweepsRecordings: StartSweepsRecordings()
        case .retryCap: EntriesHeldBack(.retryCap)
        case .patienceNeverEnds: WrongRequeue(.never)
        case .windowNeverReopens: EntriesHeldBack(.window)
        case .wallClockDecides: EntriesHeldBack(.wallClock)
        case .stalledForeverAfterFull: StalledForeverAfterFull()
        case .dropsFuturePayload: DropsWhatWaits()
        case .acksFuturePayload: WrongAck(.waits)
        case .waitingKeptTwice: WaitingKeptTwice()
        case .forwardGateLetsNewerThrough: VersionIgnored(by: .phone)
        case .ackVersionIgnored: VersionIgnored(by: .watch)
        }
    }
}

/// What is planted to see that nothing comes of it.
package enum HarmlessPlant: CaseIterable, Sendable {
    /// Forwards everything and says what was said.
    case nothing
    /// The sync of one note's content fails, and nobody believes a second one.
    case failingSync

    /// A new one, for one run.
    package func make() -> any Plant {
        switch self {
        case .nothing: ActingPlant()
        case .failingSync: FailedSync(isRetried: false)
        }
    }
}
