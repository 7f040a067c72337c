package import Monitors
import Spooling
import WireContract

// A history as a picture: a file in the Trace Event Format of Chrome's tracing (the JSON object format), which Perfetto
// opens.
//
// One process, "pair", with the threads watch, link, phone and world. What happens at a moment is on a thread: what ties a
// recording together as a slice of one microsecond, everything else as an instant. An arrow (a flow: `s`, `t`, `f`) leads
// through the slices of each recording, from `recorded` to `deleted`; flows bind to slices, which is why these are slices.
// What happens to a transfer while it lies between the two is on the link's thread, whoever told it.
//
// What lasts (a recording on the watch, an entry in the spool, a note on its way through the phone, an ack in the spool, a
// daemon) is a pair of async events, `b` and `e`. Slices of a thread must nest, and recordings overlap at will: a thousand
// entries may lie in the spool. Lanes (more threads, each with a slice that is complete) would have to be held back until
// their slice ends, and would be as many as the most that ever lay there. Async events are written as they come, and
// Perfetto packs all of one name into one group of rows, as few as there are overlaps. Each span has an id of its own,
// because spans of one id would be taken for nested ones, and two acks of one recording may be under way at once.
//
// In virtual time many things have one moment, and live ones may be nanoseconds apart. Slices on top of each other would be
// drawn as a tower and arrows between them as dots, so no entry is shown earlier than a microsecond after the slice before
// it, on whatever thread; a burst becomes a flight of stairs, in its order. Where that moved something, `momentNs` in its
// args is when it was. Times count from the first entry.

/// Writes a history for Perfetto or `chrome://tracing`.
package struct ChromeTrace {
    /// All of it in one string.
    package static func text(of entries: some Sequence<HistoryEntry>, title: String) -> String {
        var bytes: [UInt8] = []
        write(entries, title: title) { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Hands the file to `sink` in pieces of about 64 KiB, and holds no more than that, what is under way, and two words for
    /// each recording. `entries` are in the order of their history.
    package static func write(
        _ entries: some Sequence<HistoryEntry>, title: String, to sink: (borrowing [UInt8]) -> Void
    ) {
        var trace = ChromeTrace()
        trace.begin(title)
        for entry in entries {
            trace.add(entry)
            if trace.writer.bytes.count >= pieceByteCount { trace.writer.hand(to: sink) }
        }
        trace.end()
        trace.writer.hand(to: sink)
    }

    private static let pieceByteCount = 64 * 1_024

    /// The threads, in the order in which they are shown.
    enum Track: Int, CaseIterable {
        case watch = 1
        case link, phone, world
    }

    private var writer = TraceEventWriter()
    private var spans = TraceSpans()
    private var flows: [ULID: Flow] = [:]
    /// In the order in which they began.
    private var flowOrder: [ULID] = []
    private var numbers = NoteNumbers(asReturned: [])
    private var origin: Moment?
    /// Nothing is shown before this.
    private var earliest: UInt64 = 0

    /// What leads through one recording. The last point is held back, because it is an end or not by what comes after it.
    private enum Flow {
        case at(TracePoint, number: Int, isFirst: Bool)
        case ended
    }

    private mutating func begin(_ title: String) {
        writer.open(title: title)
        writer.metadata("process_name", track: nil, .text("name", "pair"))
        for track in Track.allCases {
            writer.metadata("thread_name", track: track, .text("name", "\(track)"))
            writer.metadata("thread_sort_index", track: track, .number("sort_index", UInt64(track.rawValue)))
        }
    }

    private mutating func end() {
        for span in spans.closeAll() { writer.span(.end, span, at: earliest, []) }
        for id in flowOrder {
            if case .at(let point, let number, isFirst: false) = flows[id] { writer.flow(.end, number, point) }
        }
        writer.close()
    }

    private mutating func add(_ entry: HistoryEntry) {
        let first = origin ?? entry.moment
        origin = first
        let moment = entry.moment.since(first).wholeNanoseconds
        let shown = max(moment, earliest)
        earliest = shown
        if case .world(.recordReturned(let id, _, _, _)) = entry.what { numbers.add(id) }
        let point = TracePoint(track: entry.track, nanoseconds: shown)
        var arguments = entry.arguments(ordinal: entry.id.flatMap { numbers[$0] })
        if shown != moment { arguments.append(.number("momentNs", moment)) }
        for change in TraceSpans.changes(of: entry) {
            switch change {
            case .begin(let kind):
                if let span = spans.begin(kind) { writer.span(.begin, span, at: shown, arguments) }
            case .end(let kind):
                if let span = spans.end(kind) { writer.span(.end, span, at: shown, []) }
            }
        }
        if let id = entry.id, let role = entry.flowRole {
            writer.slice(entry.title, point, arguments)
            earliest = shown + TraceEventWriter.sliceNanoseconds
            lead(through: id, point, role)
        } else {
            writer.instant(entry.title, point, entry.scope, arguments)
        }
    }

    private mutating func lead(through id: ULID, _ point: TracePoint, _ role: FlowRole) {
        switch flows[id] {
        case nil:
            // What comes last and alone, e.g. after a journal that lost its beginning, has nothing to be tied to.
            flowOrder.append(id)
            flows[id] = .at(point, number: flowOrder.count, isFirst: true)
        case .at(let held, let number, let isFirst):
            if role == .begins { return }
            writer.flow(isFirst ? .begin : .step, number, held)
            switch role {
            case .begins, .passes: flows[id] = .at(point, number: number, isFirst: false)
            case .ends:
                writer.flow(.end, number, point)
                flows[id] = .ended
            }
        case .ended:
            // A stray, a duplicate, a copy that was put back: the arrow has come to its end.
            break
        }
    }
}

/// Where something is shown.
struct TracePoint {
    var track: ChromeTrace.Track
    var nanoseconds: UInt64
}

/// What an entry is to the arrow of its recording.
enum FlowRole {
    /// It may begin there, and does not come back to it.
    case begins
    case passes, ends
}
