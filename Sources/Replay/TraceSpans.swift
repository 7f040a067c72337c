import Monitors
import Spooling
import WireContract

/// What lasts, and is under way. ChromeTrace.swift says how it is shown.
struct TraceSpans {
    enum Kind: Hashable {
        case runs(Side)
        case onWatch(ULID)
        /// A recording has at most one entry in the spool.
        case inSpool(ULID)
        case onPhone(ULID)
        /// By the entry's name, because several acks of one recording may be under way; by the id where none is told.
        case ack(FileName)
        case namelessAck(ULID)
    }

    struct Span {
        var number: Int
        var name: String
        var track: ChromeTrace.Track
    }

    enum Change {
        case begin(Kind)
        case end(Kind)
    }

    private var open: [Kind: Int] = [:]
    private var count = 0

    /// `nil` when it is under way already: a second copy of a delivery, a recording that was told of twice.
    mutating func begin(_ kind: Kind) -> Span? {
        guard open[kind] == nil else { return nil }
        count += 1
        open[kind] = count
        return Span(number: count, name: kind.name, track: kind.track)
    }

    /// `nil` when it never began.
    mutating func end(_ kind: Kind) -> Span? {
        open.removeValue(forKey: kind).map { Span(number: $0, name: kind.name, track: kind.track) }
    }

    /// What is still under way at the end, in the order in which it began.
    mutating func closeAll() -> [Span] {
        defer { open = [:] }
        return open.map { Span(number: $0.value, name: $0.key.name, track: $0.key.track) }
            .sorted { $0.number < $1.number }
    }

    // MARK: What begins and ends what

    static func changes(of entry: HistoryEntry) -> [Change] {
        switch entry.what {
        case .pair(let event): event.phase == .did ? changes(of: event, entry.source) : []
        case .world(let event): changes(of: event)
        }
    }

    private static func changes(of event: PairEvent, _ source: HistoryEntry.Source) -> [Change] {
        guard let id = event.subject else { return [] }
        let ack = event.name.map { Kind.ack($0) } ?? .namelessAck(id)
        switch event.kind {
        case .recorded, .found: return [.begin(.onWatch(id))]
        case .deleted: return [.end(.onWatch(id))]
        case .enqueued: return [.begin(.inSpool(id))]
        // A new name is a new try.
        case .requeued: return [.end(.inSpool(id)), .begin(.inSpool(id))]
        case .transferFinished, .cancelled: return [.end(.inSpool(id))]
        case .lostByLink: return source == .phone ? [.end(.inSpool(id))] : [.end(ack)]
        case .taken: return [.end(.inSpool(id)), .begin(.onPhone(id))]
        case .ingested, .duplicate, .waits, .vetoed, .discarded: return [.end(.onPhone(id))]
        case .setAside: return source == .phone ? [.end(.onPhone(id))] : [.end(ack)]
        case .acked: return [.begin(ack)]
        case .ackReceived: return [.end(ack)]
        case .strayAck: return [.end(ack)]
        case .started, .stopped, .paired, .refused, .failed, .spoolReopened, .damagedByLink, .spoolFull, .staged,
            .userDeleted, .containerLost:
            return []
        }
    }

    private static func changes(of event: WorldEvent) -> [Change] {
        switch event {
        case .recordReturned(let id, _, _, _): [.begin(.onWatch(id))]
        case .removedByHand(let id): [.end(.onWatch(id))]
        case .started(let side, _): [.begin(.runs(side))]
        case .stopped(let side), .killed(let side): [.end(.runs(side))]
        case .powerLost: [.end(.runs(.watch)), .end(.runs(.phone))]
        case .wiped, .copyKept, .restored, .phoneReplaced, .watchSwitched, .containerLocked, .containerSignedOut,
            .containerOpened, .containerTouched, .vetoAsked, .vetoAnswered, .deleteAsked, .deleteAnswered,
            .entryPlanted, .ackPlanted, .faultsBegan, .faultsEnded, .historyGap, .census:
            []
        }
    }
}

extension TraceSpans.Kind {
    /// All of one kind have one name: that is what Perfetto groups by.
    fileprivate var name: String {
        switch self {
        case .runs(let side): "\(side.rawValue) runs"
        case .onWatch: "recording on the watch"
        case .inSpool: "entry in the spool"
        case .onPhone: "note in the phone"
        case .ack, .namelessAck: "ack in the spool"
        }
    }

    fileprivate var track: ChromeTrace.Track {
        switch self {
        case .runs: .world
        case .onWatch: .watch
        case .inSpool, .ack, .namelessAck: .link
        case .onPhone: .phone
        }
    }
}

extension PairEvent {
    /// The recording that it is about. What cannot be read has no id; then the name of its entry says which was meant.
    fileprivate var subject: ULID? { id ?? name.flatMap { EntryName(ending: $0)?.id } }
}
