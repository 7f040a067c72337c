import LinkFaults
package import Monitors
import Replay
package import Scenarios
import Spooling
import WireContract

// Recognises rare events in a history while it grows, as a monitor watches a promise: entry by entry, a few words of memory
// for each note, and nothing that the run could notice. It judges nothing.
//
// What the history does not tell (the session, the wall clock, a head that sticks) comes from the scenario's own steps, taken
// at their moments. Where two readings of a history are possible it counts only what is certain, or what its sentence says.

/// Listens to one run.
package final class RareEventWatch: HistoryListener {
    private var state: RareEventState

    package init(_ scenario: Scenario) { state = RareEventState(scenario) }

    package func hear(_ entry: HistoryEntry) { state.hear(entry) }

    /// What happened so far.
    package var counts: RareCounts { state.counts }
}

/// What is known of one note.
struct WatchedNote {
    struct Flags: OptionSet {
        let rawValue: UInt32
        /// An entry lies in the spool, and no report came.
        static let outstanding = Flags(rawValue: 1 << 0)
        static let inInbox = Flags(rawValue: 1 << 1)
        static let staged = Flags(rawValue: 1 << 2)
        static let waits = Flags(rawValue: 1 << 3)
        static let final = Flags(rawValue: 1 << 4)
        /// Final, and not acked since it was found to be.
        static let ackOwed = Flags(rawValue: 1 << 5)
        /// Acked, and the watch has not read it.
        static let ackPending = Flags(rawValue: 1 << 6)
        static let ackLost = Flags(rawValue: 1 << 7)
        static let deleting = Flags(rawValue: 1 << 8)
        static let deleted = Flags(rawValue: 1 << 9)
        static let damaged = Flags(rawValue: 1 << 10)
        /// The link took the transfer that is outstanding.
        static let lost = Flags(rawValue: 1 << 11)
        static let containerLost = Flags(rawValue: 1 << 12)
        static let cancelled = Flags(rawValue: 1 << 13)
        static let announced = Flags(rawValue: 1 << 14)
    }

    let id: ULID
    var flags: Flags = []
    var recordedAt: Moment
    var enqueuedAt = Moment.zero
    var requeuedAt = Moment(nanoseconds: .max)
    /// Of the ack that the watch read last.
    var ackName: UInt64 = 0
    /// In which start of the phone it was taken or staged, and of the watch the ack was read.
    var phoneStart: UInt32 = 0
    var watchStart: UInt32 = 0
    var tries: UInt32 = 0
    var takenCount: UInt32 = 0
    var enqueuePower: UInt16 = 0
    var ackPower: UInt16 = 0
    var finalPhone: UInt16 = 0
    var waitsUnderstands: UInt16 = 0
}

struct RareEventState {
    var counts = RareCounts()
    /// By ordinal, from 1 at index 1. An ordinal that nobody recorded has a place too.
    var notes: [WatchedNote] = [WatchedNote(id: ULID(high: 0, low: 0), recordedAt: .zero)]
    var outstandingCount = 0
    var ackOwedCount = 0
    var ackPendingCount = 0
    var deletingCount = 0
    var announcedCount = 0
    var waitingCount = 0
    /// Those that wait are not among them.
    var stagedCount = 0
    var ackCount = 0

    var watch = WatchedSide()
    var phone = WatchedSide()
    var powerEpoch: UInt16 = 1
    var phoneEpoch: UInt16 = 1
    var container = ContainerState.open
    var phoneAsideCount = 0
    var ackCountAtCopy: Int?
    var lastIngestedOrdinal = 0
    var lastEnqueue: (ordinal: Int, at: Moment) = (0, .zero)
    var session = SessionState.active
    var stuckHead: StuckHead?

    private let steps: [TimedStep]
    private var nextStep = 0
    private var nextStepAt: Moment
    private let firstWait: Duration
    static let shortly = Duration.seconds(1)
    private static let long = Duration.seconds(5)
    private static let eightDays = Duration.seconds(8 * 86_400)
    private static let windowCount = 1_000

    init(_ scenario: Scenario) {
        steps = scenario.steps
        firstWait = scenario.settings.policy.first
        stuckHead = scenario.settings.link.toPhone.stuckHead
        nextStepAt = scenario.steps.first.map { .zero + $0.at } ?? Moment(nanoseconds: .max)
    }

    mutating func count(_ event: RareEvent) { counts[event] += 1 }

    /// The note with that id; 0 for what nobody recorded in this run.
    func index(of id: ULID?) -> Int {
        guard let id else { return 0 }
        let ordinal = id.ordinal
        return ordinal < notes.count && notes[ordinal].id == id ? ordinal : 0
    }

    mutating func hear(_ entry: HistoryEntry) {
        if entry.moment >= nextStepAt { takeSteps(until: entry.moment) }
        switch entry.what {
        case .pair(let event):
            switch entry.source {
            case .watch: hearWatch(event, at: entry.moment)
            case .phone: hearPhone(event, at: entry.moment)
            case .world: break
            }
        case .world(let event): hearWorld(event, at: entry.moment)
        }
    }

    private mutating func takeSteps(until moment: Moment) {
        while nextStepAt <= moment {
            switch steps[nextStep].step {
            case .session(let new): session = new
            case .link(let plan): stuckHead = plan.toPhone.stuckHead
            case .clock(let seconds):
                if seconds < 0, .seconds(0 - seconds) > firstWait, outstandingCount > 0 {
                    count(.clockBackPastTheRetry)
                }
            case .record, .start, .stop, .kill, .reachable, .handler, .rawMetadata, .rawUserInfo, .build, .capacity,
                .container, .wipe, .keepCopy, .restoreCopy, .replacePhone, .switchWatch, .veto, .delete, .cancel,
                .reboot:
                break
            }
            nextStep += 1
            nextStepAt = nextStep < steps.count ? .zero + steps[nextStep].at : Moment(nanoseconds: .max)
        }
    }

    /// Changes a flag and keeps its count.
    mutating func set(_ flag: WatchedNote.Flags, _ isOn: Bool, _ index: Int) {
        guard index != 0, notes[index].flags.contains(flag) != isOn else { return }
        let change = isOn ? 1 : -1
        if isOn { notes[index].flags.insert(flag) } else { notes[index].flags.remove(flag) }
        switch flag {
        case .outstanding: outstandingCount += change
        case .ackOwed: ackOwedCount += change
        case .ackPending: ackPendingCount += change
        case .deleting: deletingCount += change
        case .announced: announcedCount += change
        case .waits: waitingCount += change
        case .staged: stagedCount += change
        case _: break
        }
    }

    func has(_ flag: WatchedNote.Flags, _ index: Int) -> Bool { notes[index].flags.contains(flag) }

    // MARK: The watch

    private mutating func hearWatch(_ event: PairEvent, at now: Moment) {
        let index = index(of: event.id)
        switch event.kind {
        case .recorded:
            if let id = event.id { recorded(id, at: now) }
        case .enqueued: enqueued(index, at: now)
        case .requeued:
            count(.newNameAfterPatience)
            notes[index].requeuedAt = now
            lastEnqueue = (index, now)
        case .transferFinished: finished(event, index)
        case .ackReceived: ackReceived(event, index)
        case .strayAck: if index == 0 { count(.ackForNobody) }
        case .deleted:
            if event.phase == .intends { set(.deleting, true, index) } else { deleted(index, at: now) }
        case .found: if has(.deleted, index) { count(.deletedNoteComesBack) }
        case .cancelled: set(.cancelled, true, index)
        case .lostByLink: set(.ackLost, true, index)
        case .spoolFull: count(.noRoomInTheSpool)
        case .setAside: ackSetAside(event.detail ?? "")
        case .started: watch.hasRecovered()
        case .stopped, .paired, .refused, .failed, .spoolReopened, .damagedByLink, .taken, .staged, .duplicate, .waits,
            .ingested, .acked, .vetoed, .userDeleted, .discarded, .containerLost:
            break
        }
    }

    /// What was refused leaves its ordinals free.
    mutating func recorded(_ id: ULID, at now: Moment) {
        let ordinal = id.ordinal
        guard ordinal >= notes.count else { return }
        if ordinal > notes.count { count(.recordRefused) }
        while notes.count < ordinal { notes.append(notes[0]) }
        notes.append(WatchedNote(id: id, recordedAt: now))
    }

    private mutating func enqueued(_ index: Int, at now: Moment) {
        lastEnqueue = (index, now)
        guard index != 0 else { return }
        if has(.outstanding, index), notes[index].enqueuePower != powerEpoch { count(.powerTakesAnEntry) }
        set(.outstanding, true, index)
        set(.lost, false, index)
        notes[index].tries += 1
        notes[index].enqueuedAt = now
        notes[index].requeuedAt = Moment(nanoseconds: .max)
        notes[index].enqueuePower = powerEpoch
        if outstandingCount == Self.windowCount { count(.windowFull) }
    }

    private mutating func finished(_ event: PairEvent, _ index: Int) {
        if event.name == nil {
            if session != .active { count(.sendRefusedBySession) }
            return
        }
        if has(.lost, index), event.detail == "delivered" { count(.reportedAndNeverArrived) }
        set(.outstanding, false, index)
    }

    private mutating func ackReceived(_ event: PairEvent, _ index: Int) {
        guard index != 0 else { return }
        if has(.outstanding, index) { count(.ackOvertakesReport) }
        set(.ackPending, false, index)
        let name = event.name.map(Self.digest) ?? 0
        // The very ack because of which an earlier start deleted it.
        if has(.deleted, index), notes[index].ackName == name, notes[index].watchStart != watch.start {
            count(.strayAckOfOwnDeletion)
        }
        notes[index].ackName = name
        notes[index].watchStart = watch.start
    }

    private static func digest(_ name: FileName) -> UInt64 {
        // FNV-1a.
        name.bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    private mutating func deleted(_ index: Int, at now: Moment) {
        set(.deleting, false, index)
        set(.outstanding, false, index)
        guard index != 0, !has(.deleted, index) else { return }
        set(.deleted, true, index)
        if now.since(notes[index].recordedAt) > Self.eightDays { count(.stalledEightDays) }
        if notes[index].tries >= 20 { count(.twentyTries) }
        if has(.cancelled, index) { count(.cancelledAndSentAgain) }
    }

    private mutating func ackSetAside(_ detail: String) {
        if detail.hasPrefix(QuarantineReason.otherPairing.description) { count(.ackOfFormerPairing) }
        if detail.hasPrefix(QuarantineReason.unknownAck.description) { count(.ackOfTheFuture) }
    }

    /// What of a stuck head a delivery shows.
    mutating func takenFromHead(_ index: Int, at now: Moment) {
        let note = notes[index]
        if note.requeuedAt <= now, now.since(note.requeuedAt) <= Self.shortly { count(.patienceFreesTheHead) }
        switch stuckHead {
        case .untilNextEnqueue:
            let (other, at) = lastEnqueue
            if other != index, now.since(at) <= Self.shortly, at.since(note.enqueuedAt) > Self.long {
                count(.enqueueFreesTheHead)
            }
        case .untilRestart:
            if now.since(phone.startedAt) <= Self.shortly, phone.startedAt.since(note.enqueuedAt) > Self.long {
                count(.restartFreesTheHead)
            }
        case nil: break
        }
    }
}
