import Monitors
import Scenarios
import Spooling
import WireContract

// What the phone says.

extension RareEventState {
    mutating func hearPhone(_ event: PairEvent, at now: Moment) {
        let index = index(of: event.id)
        switch event.kind {
        case .taken: taken(index, at: now)
        case .staged: staged(index)
        case .ingested:
            if event.phase == .intends { set(.announced, true, index) } else { ingested(event, index) }
        case .acked: if event.phase == .did { acked(index) }
        case .duplicate: duplicate(event, index)
        case .waits:
            set(.waits, true, index)
            set(.staged, false, index)
            notes[index].waitsUnderstands = UInt16(clamping: phone.understands)
        case .vetoed:
            let isInStaging = has(.staged, index) || has(.waits, index)
            if event.detail == nil, isInStaging, !has(.final, index) { count(.vetoOfStagedNote) }
            set(.ackOwed, true, index)
            set(.staged, false, index)
        case .discarded:
            set(.inInbox, false, index)
            set(.announced, false, index)
            count(event.detail == "cut and not published" ? .killInTheCut : .nobodyHandlesIt)
        case .failed: failed(event.detail ?? "", index)
        case .containerLost: set(.containerLost, true, index)
        case .setAside: setAside(event.detail)
        case .lostByLink: set(.lost, true, index)
        case .damagedByLink: set(.damaged, true, index)
        case .started: phone.hasRecovered()
        case .stopped, .paired, .refused, .spoolReopened, .recorded, .found, .enqueued, .requeued, .transferFinished,
            .ackReceived, .strayAck, .deleted, .cancelled, .spoolFull, .userDeleted:
            break
        }
    }

    private mutating func taken(_ index: Int, at now: Moment) {
        guard index != 0 else { return }
        notes[index].takenCount += 1
        if notes[index].takenCount == 5 { count(.takenFiveTimes) }
        if let began = phone.firstStartAt, began > .zero, notes[index].enqueuedAt < began, notes[index].takenCount == 1
        {
            count(.sentBeforeThePhoneEverRan)
        }
        takenFromHead(index, at: now)
        set(.inInbox, true, index)
        notes[index].phoneStart = phone.start
    }

    private mutating func staged(_ index: Int) {
        guard index != 0 else { return }
        if has(.inInbox, index), notes[index].phoneStart != phone.start { count(.killBeforeReceiving) }
        set(.inInbox, false, index)
        set(.staged, true, index)
        notes[index].phoneStart = phone.start
    }

    private mutating func ingested(_ event: PairEvent, _ index: Int) {
        guard index != 0 else { return }
        let wasAnnounced = has(.announced, index)
        // With neither, it put nothing there: the container had it.
        let isFromContainer = event.byteCount == nil && event.checksums == nil
        if isFromContainer { count(wasAnnounced ? .killBetweenContainerAndLedger : .ledgerLearnsFromContainer) }
        if has(.waits, index), phone.understands > Int(notes[index].waitsUnderstands) {
            count(.futureIngestedAfterUpgrade)
        } else if has(.staged, index), notes[index].phoneStart != phone.start, !isFromContainer {
            count(.killBeforeIngest)
        }
        if has(.final, index), !isFromContainer {
            if notes[index].finalPhone != phoneEpoch {
                count(.newPhoneIngestsAgain)
            } else if has(.containerLost, index) {
                count(.wipedNoteIngestedAgain)
            }
        }
        if !has(.final, index) {
            if index < lastIngestedOrdinal { count(.laterNoteFinalFirst) }
            if has(.damaged, index) { count(.arrivesAlteredThenWhole) }
        }
        lastIngestedOrdinal = max(lastIngestedOrdinal, index)
        notes[index].finalPhone = phoneEpoch
        set(.announced, false, index)
        set(.containerLost, false, index)
        set(.waits, false, index)
        set(.staged, false, index)
        set(.final, true, index)
        set(.ackOwed, true, index)
    }

    private mutating func acked(_ index: Int) {
        ackCount += 1
        guard index != 0 else { return }
        if has(.ackLost, index) { count(.ackLostThenEarnedAgain) }
        if has(.ackPending, index), notes[index].ackPower != powerEpoch { count(.powerTakesAnAck) }
        set(.ackLost, false, index)
        set(.ackOwed, false, index)
        set(.ackPending, true, index)
        notes[index].ackPower = powerEpoch
    }

    private mutating func duplicate(_ event: PairEvent, _ index: Int) {
        if event.name != nil {
            count(.resendMeetsItsCopy)
            if has(.waits, index) { count(.futureComesTwice) }
        } else if event.detail == nil {
            count(.duplicateOfFinalNote)
            set(.ackOwed, true, index)
        } else {
            count(.userDeletedComesAgain)
            set(.ackOwed, true, index)
        }
        if !has(.waits, index) { set(.staged, false, index) }
    }

    private mutating func failed(_ detail: String, _ index: Int) {
        if detail.hasPrefix("the ack's transfer failed") {
            set(.ackOwed, true, index)
            return count(.ackTransferFails)
        }
        if detail.hasSuffix("staging is full of payloads that wait") { return count(.stagingFull) }
        if detail.contains(FileSystemError.Reason.noSpace.description) {
            if has(.ackOwed, index) { count(.diskFullWithAckOwed) }
            if has(.staged, index), !has(.final, index) { count(.diskFullInIngest) }
        } else if stagedCount > 0, detail.contains(FileSystemError.Reason.notPermitted.description) {
            switch container {
            case .open: break
            case .locked: count(.lockedWithNotesWaiting)
            case .signedOut: count(.signedOutWithNotesWaiting)
            }
        }
    }

    private mutating func setAside(_ detail: String?) {
        if detail == QuarantineReason.idReused.description { count(.idReused) }
        phoneAsideCount += 1
        if phoneAsideCount == QuarantineCaps.standard.itemCount + 1 { count(.quarantineFull) }
    }
}
