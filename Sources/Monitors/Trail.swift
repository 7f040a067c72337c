import Spooling
import WireContract

// The trail: the last so many entries of a history, chained by recording, so that a violation can be explained without
// keeping or repeating everything. Its memory is fixed; what is older than it reaches is said to be missing.

struct Trail: Sendable {
    private struct Item: Sendable {
        var entry: HistoryEntry
        /// The number of the entry before it of the same recording; 0 for none.
        var previous: UInt64
    }

    private let capacity: Int
    private var items: [Item] = []
    /// How many came; they are numbered from 1.
    private var count: UInt64 = 0
    private var beginning: Moment?
    private static let mostLines = 200

    /// Rounded up to a power of two.
    init(capacity: Int) {
        var rounded = 1
        while rounded < capacity { rounded *= 2 }
        self.capacity = rounded
    }

    /// Keeps an entry, whose recording's last one before it was number `previous`, and answers its own number.
    mutating func append(_ entry: HistoryEntry, previous: UInt64) -> UInt64 {
        if beginning == nil { beginning = entry.moment }
        count += 1
        if items.count < capacity {
            items.append(Item(entry: entry, previous: previous))
        } else {
            items[Int(truncatingIfNeeded: count - 1) & (capacity - 1)] = Item(entry: entry, previous: previous)
        }
        return count
    }

    private func chain(from last: UInt64) -> (items: [(number: UInt64, entry: HistoryEntry)], isCut: Bool) {
        var found: [(number: UInt64, entry: HistoryEntry)] = []
        var number = last
        while number != 0 {
            guard number + UInt64(capacity) > count else { return (found.reversed(), true) }
            let item = items[Int(truncatingIfNeeded: number - 1) & (capacity - 1)]
            found.append((number, item.entry))
            number = item.previous
        }
        return (found.reversed(), false)
    }

    /// What happened to the recording whose last entry is number `last`, with what the world did since its first;
    /// `world` is the last entry about no recording.
    func lines(last: UInt64, world: UInt64) -> [String] {
        let own = chain(from: last)
        let first = own.items.first?.number ?? 0
        let around = chain(from: world).items.filter { $0.number > first && $0.entry.isOfTheWorld }
        let all = (own.items + around).sorted { $0.number < $1.number }
        var lines = own.isCut ? ["(what came before is not kept)"] : []
        if all.count > Self.mostLines {
            lines += all.prefix(Self.mostLines / 4).map { $0.entry.line(since: beginning) }
            lines.append("(\(all.count - Self.mostLines) more)")
            lines += all.suffix(Self.mostLines - Self.mostLines / 4).map { $0.entry.line(since: beginning) }
        } else {
            lines += all.map { $0.entry.line(since: beginning) }
        }
        return lines
    }
}

extension HistoryEntry {
    /// Whether it belongs into the story of every recording.
    fileprivate var isOfTheWorld: Bool {
        switch what {
        case .world(.census): false
        case .world: true
        case .pair(let event):
            switch event.kind {
            case .started, .stopped, .paired, .spoolReopened: true
            case .refused, .setAside, .failed, .recorded, .found, .enqueued, .requeued, .transferFinished, .ackReceived,
                .strayAck, .deleted, .cancelled, .spoolFull, .taken, .staged, .duplicate, .waits, .ingested, .acked,
                .vetoed, .userDeleted, .discarded, .containerLost, .lostByLink, .damagedByLink:
                false
            }
        }
    }

    /// On one line, for a person: `+12.345678 s  phone  ingested 4096 bytes, try 2`.
    func line(since beginning: Moment?) -> String {
        let elapsed = moment.nanoseconds - min(moment.nanoseconds, beginning?.nanoseconds ?? 0)
        let seconds = elapsed / 1_000_000_000
        let microseconds = elapsed % 1_000_000_000 / 1_000
        let time = "+\(seconds).\(microseconds.decimal(digits: 6)) s"
        switch (what, source) {
        case (.pair(let event), .watch): return "\(time)  watch  \(event.line)"
        case (.pair(let event), .phone): return "\(time)  phone  \(event.line)"
        case (.pair(let event), .world): return "\(time)  world  \(event.line)"
        case (.world(let event), _): return "\(time)  world  \(event.line(watch: watchNumber))"
        }
    }
}

extension PairEvent {
    fileprivate var line: String {
        var text = phase == .intends ? "is about to: \(kind.rawValue)" : kind.rawValue
        if let byteCount { text += ", \(byteCount) bytes" }
        if let attempt { text += ", try \(attempt)" }
        if let name { text += ", \(name)" }
        if let pairing { text += ", pairing \(pairing)" }
        if let detail { text += " (\(detail))" }
        return text
    }
}

extension WorldEvent {
    fileprivate func line(watch: UInt8) -> String {
        switch self {
        case .recordReturned(_, let byteCount, _, let version):
            "record returned, \(byteCount) bytes, version \(version)"
        case .started(let side, let build):
            "started the \(side.rawValue), which understands \(build.understands) and writes \(build.writes)"
        case .stopped(let side): "stopped the \(side.rawValue)"
        case .killed(let side): "killed the \(side.rawValue)"
        case .powerLost: "the power went"
        case .wiped(.container): "wiped the container"
        case .wiped(.ledger): "wiped the ledger"
        case .wiped(.spool): "wiped the spool"
        case .wiped(.home(let side)): "wiped the \(side.rawValue)"
        case .copyKept(let side): "kept a copy of the \(side.rawValue)"
        case .restored(let side): "put the kept copy of the \(side.rawValue) back"
        case .phoneReplaced: "replaced the phone by a new one"
        case .watchSwitched(let number): "switched the phone to watch \(number)"
        case .containerLocked: "locked the container"
        case .containerSignedOut: "signed out of the container"
        case .containerOpened: "unlocked the container, or signed in again"
        case .containerTouched: "changed something in the container"
        case .removedByHand: "removed the recording by hand"
        case .vetoAsked: "asked for a veto"
        case .vetoAnswered(_, let isDone): isDone ? "the veto was answered: done" : "the veto was answered: not done"
        case .deleteAsked: "asked to delete it"
        case .deleteAnswered(_, let isDone):
            isDone ? "the delete was answered: done" : "the delete was answered: not done"
        case .entryPlanted(_, _, let version):
            "sent an entry of its own, version \(version.map(String.init) ?? "unusable")"
        case .ackPlanted(_, let pairing): "sent an ack of its own over pairing \(pairing)"
        case .faultsBegan: "faults began"
        case .faultsEnded: "faults ended"
        case .historyGap(let side): "something of the \(side.rawValue)'s history is missing"
        case .census: "looked at the disks"
        }
    }
}
