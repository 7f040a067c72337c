package import Monitors
import Spooling
import WireContract

// What of a run must be the same in both worlds.
//
// The same scenario meets the same faults of the link in both, by (seed, ordinal, start, try); but not the same timing. A
// retry may come before a slow ack or not, an entry may be renamed by patience before it is taken or not, and then another
// try meets another fault. So these are *not* compared: moments, how often anything was sent, taken, acked or a duplicate,
// what the link did to which try, what was set aside on the way of a note that became final, and how recordings lie between
// each other (only where the scenario says `inOrder` are the first ingests of them in an order that is its).
//
// Compared is, for each recording, how far it came and on which way: its *marks*, each the first time that something
// happened, and the order of them that a cause gives:
//
// | mark | after |
// |---|---|
// | recorded | |
// | enqueued | recorded |
// | taken | enqueued |
// | staged | taken |
// | waits | staged |
// | setAside | staged or taken; only of a note that never became final, and with the reason |
// | ingested | staged, and waits if it waited |
// | vetoed | nothing: a veto can come before the note does |
// | acked | ingested or vetoed |
// | ackReceived | acked |
// | deleted | ackReceived |
//
// A first occurrence that comes before one that it must come after is an *inversion*. They are looked for where a promise
// hangs on them: acked after final, ackReceived after acked, deleted after ackReceived. The way before that is exempt,
// because what is told there is not what happened: a daemon says `enqueued` when the entry is visible, and the phone may
// have taken it by then; `record` returns when the recording is durable, and the watch may have sent it by then; and a
// killed phone takes the lines of a first delivery with it, so that those of a second come after the ingest of the first.
// (An ack is told before it is visible, as `intends`, and that is what counts for it.)
//
// Since a killed daemon takes the last lines of its journal with it, what must have happened for a later mark is filled in:
// what was taken was sent. Two things are never inferred from what came after: that a note was final before it was acked,
// which is the promise itself, and the ack that somebody else planted. Where only the `intends` of an ingest is left, a
// later ack or duplicate says that it happened; where only that of a deletion is, the last census does.

/// The order that causes give to what happened to each recording. Two runs of one scenario have equal ones.
package struct CausalOrder: Hashable, Sendable {
    package enum Mark: Hashable, Sendable {
        case recorded, enqueued, taken, staged, waits
        /// With the reason as the event has it.
        case setAside(reason: String)
        case vetoed, ingested, acked, ackReceived, deleted
    }

    package enum Outcome: String, Hashable, Sendable {
        /// Not final, and not known to wait.
        case pending
        case waits, setAside, ingested, vetoed, deletedByUser
    }

    /// `early` came before `late`, and must not.
    package struct Inversion: Hashable, Sendable {
        package var early: Mark
        package var late: Mark
    }

    package struct Recording: Hashable, Sendable {
        package var ordinal: Int
        /// In the order that causes give.
        package var marks: [Mark]
        package var inversions: [Inversion]
        package var outcome: Outcome
    }

    /// By ordinal.
    package private(set) var recordings: [Recording]
    /// The ordinals in the order of their first ingests; `nil` where that is not compared.
    package private(set) var ingests: [Int]?

    /// `inOrder`: the scenario expects the order of ingests between recordings.
    package init(_ entries: some Collection<HistoryEntry>, inOrder: Bool = false) {
        let numbers = NoteNumbers(entries)
        var trails = [NoteTrail](repeating: NoteTrail(), count: numbers.count)
        var census: Census?
        for (position, entry) in entries.enumerated() {
            if case .world(.census(let latest)) = entry.what { census = latest }
            guard let id = entry.id, let number = numbers[id] else { continue }
            trails[number - 1].observe(entry, at: position)
        }
        let left = census.map { Set($0.recordings.map(\.id)) }
        for (index, id) in numbers.ids.enumerated() {
            trails[index].settle(isOnWatch: left.map { $0.contains(id) })
        }
        recordings = trails.enumerated().map { $0.element.recording(ordinal: $0.offset + 1) }
        guard inOrder else { return }
        ingests = trails.enumerated().compactMap { index, trail in
            trail.first(.ingested).map { (position: $0, ordinal: index + 1) }
        }.sorted { $0.position < $1.position }.map(\.ordinal)
    }

    /// The first recording and the first place in which the two differ, in a sentence; `nil` when they are equal. This one
    /// is "here", the other "there".
    package func difference(from other: CausalOrder) -> String? {
        for (here, there) in zip(recordings, other.recordings) {
            if let text = here.difference(from: there) { return "recording \(here.ordinal): \(text)" }
        }
        if recordings.count != other.recordings.count {
            return "\(recordings.count) recordings here, \(other.recordings.count) there"
        }
        switch (ingests, other.ingests) {
        case (nil, nil): return nil
        case (_?, nil), (nil, _?): return "the order of ingests is compared on one side only"
        case (let here?, let there?):
            for (index, pair) in zip(here, there).enumerated() where pair.0 != pair.1 {
                return "ingest \(index + 1) is of recording \(pair.0) here, of recording \(pair.1) there"
            }
            return here.count == there.count ? nil : "\(here.count) ingests here, \(there.count) there"
        }
    }
}

extension CausalOrder.Recording {
    fileprivate func difference(from other: Self) -> String? {
        for index in 0..<max(marks.count, other.marks.count) {
            let here = index < marks.count ? marks[index] : nil
            let there = index < other.marks.count ? other.marks[index] : nil
            guard here != there else { continue }
            let place = index == 0 ? "at first" : "after \(marks[index - 1])"
            return "\(place) comes \(here.words) here, \(there.words) there"
        }
        for inversion in inversions where !other.inversions.contains(inversion) {
            return "\(inversion.early) came before \(inversion.late) here, and not there"
        }
        for inversion in other.inversions where !inversions.contains(inversion) {
            return "\(inversion.early) came before \(inversion.late) there, and not here"
        }
        return outcome == other.outcome ? nil : "it ended as \(outcome) here, as \(other.outcome) there"
    }
}

extension CausalOrder.Mark: CustomStringConvertible {
    package var description: String {
        switch self {
        case .recorded: "recorded"
        case .enqueued: "enqueued"
        case .taken: "taken"
        case .staged: "staged"
        case .waits: "waits"
        case .setAside(let reason): "setAside (\(reason))"
        case .vetoed: "vetoed"
        case .ingested: "ingested"
        case .acked: "acked"
        case .ackReceived: "ackReceived"
        case .deleted: "deleted"
        }
    }
}

extension CausalOrder.Mark? {
    fileprivate var words: String { map { "\($0)" } ?? "nothing" }
}
