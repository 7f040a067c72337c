import Monitors
import Scenarios
import Spooling
import WireContract

// What the world does.

/// One of the two daemons.
struct WatchedSide {
    var isUp = false
    /// Down, and by a kill.
    var isDead = false
    private(set) var start: UInt32 = 0
    private(set) var startedAt = Moment.zero
    private(set) var firstStartAt: Moment?
    var understands = 1
    /// Started, and not yet come to say so itself.
    private var isRecovering = false
    private var killCount = 0

    mutating func begins(at now: Moment) {
        isUp = true
        isDead = false
        isRecovering = true
        start += 1
        startedAt = now
        if firstStartAt == nil { firstStartAt = now }
    }

    mutating func hasRecovered() {
        isRecovering = false
        killCount = 0
    }

    /// Whether it was killed twice since it was up last.
    mutating func dies() -> Bool {
        killCount += 1
        defer {
            isUp = false
            isDead = true
            isRecovering = false
        }
        return isRecovering && killCount == 2
    }
}

extension RareEventState {
    mutating func hearWorld(_ event: WorldEvent, at now: Moment) {
        switch event {
        case .recordReturned(let id, _, _, _): recorded(id, at: now)
        case .started(.watch, _): watch.begins(at: now)
        case .started(.phone, let build):
            if build.understands < phone.understands, waitingCount > 0 { count(.downgradeWhileNotesWait) }
            phone.understands = build.understands
            phone.begins(at: now)
        case .stopped(.watch): watch.isUp = false
        case .stopped(.phone): phone.isUp = false
        case .killed(let side): killed(side)
        case .powerLost: powerLost()
        case .wiped(let part): wiped(part)
        case .copyKept(.phone): ackCountAtCopy = ackCount
        case .restored(.phone):
            if let ackCountAtCopy, ackCount > ackCountAtCopy { count(.olderPhoneComesBack) }
            forgetThePhone()
        case .phoneReplaced:
            phoneEpoch += 1
            forgetThePhone()
        case .watchSwitched: if outstandingCount > 0 { count(.switchedWithBacklog) }
        case .containerLocked: container = .locked
        case .containerSignedOut: container = .signedOut
        case .containerOpened: container = .open
        case .vetoAsked(let id): if has(.final, index(of: id)) { count(.vetoComesTooLate) }
        case .copyKept(.watch), .restored(.watch), .containerTouched, .removedByHand, .vetoAnswered, .deleteAsked,
            .deleteAnswered, .entryPlanted, .ackPlanted, .faultsBegan, .faultsEnded, .historyGap, .census:
            break
        }
    }

    private mutating func killed(_ side: Side) {
        let isTwice: Bool
        switch side {
        case .watch:
            if ackPendingCount > 0 { count(.killBetweenAckAndDelete) }
            if deletingCount > 0 { count(.killWhileDeleting) }
            for index in notes.indices where deletingCount > 0 { set(.deleting, false, index) }
            isTwice = watch.dies()
        case .phone:
            if ackOwedCount > 0 { count(.killWithAckOwed) }
            isTwice = phone.dies()
        }
        if isTwice { count(.killTwiceInOneRecovery) }
        if watch.isDead, phone.isDead, outstandingCount + ackPendingCount + ackOwedCount > 0 { count(.bothDead) }
    }

    private mutating func powerLost() {
        if phone.isDead, announcedCount > 0 { count(.powerCutBetweenPublishAndSync) }
        powerEpoch += 1
        (watch.isUp, phone.isUp, watch.isDead, phone.isDead) = (false, false, false, false)
    }

    private mutating func wiped(_ part: Monitors.WipedPart) {
        switch part {
        case .container: if ackPendingCount > 0 { count(.containerWipedAfterAck) }
        case .ledger: if phone.isUp { count(.ledgerWipedWhilePhoneRuns) }
        case .spool: if outstandingCount > 0 { count(.spoolWipedWithEntries) }
        case .home: break
        }
    }

    /// Its home is another one: what lay in its inbox and in staging, and what it owed, is gone.
    private mutating func forgetThePhone() {
        phoneAsideCount = 0
        for index in notes.indices {
            for flag in [WatchedNote.Flags.inInbox, .staged, .waits, .ackOwed, .announced] { set(flag, false, index) }
        }
    }
}
