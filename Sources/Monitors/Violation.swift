package import Spooling
package import WireContract

/// The seven sentences of the promise. `Docs/Architecture.md` has them in full.
package enum Promise: Int, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    case nothingIsLost = 1
    case onlyAnAckDeletes, anAckIsTrue, once, bytesAreTheBytes, itDrains, theUnknownWaits

    package var title: String {
        switch self {
        case .nothingIsLost: "nothing is lost"
        case .onlyAnAckDeletes: "only an ack deletes"
        case .anAckIsTrue: "an ack is true"
        case .once: "once"
        case .bytesAreTheBytes: "bytes are the bytes"
        case .itDrains: "it drains"
        case .theUnknownWaits: "the unknown waits"
        }
    }

    package var description: String { "P\(rawValue)" }
}

/// A promise that was broken.
package struct Violation: Hashable, Sendable {
    package var promise: Promise
    package var moment: Moment
    /// The entry at which it showed; `nil` when a look at the disks showed it.
    package var sequence: UInt64?
    package var id: ULID?
    /// In a sentence.
    package var why: String
    /// What happened to that recording, in order, a line each, with what the world did in between.
    package var explanation: [String] = []

    package init(_ promise: Promise, _ entry: HistoryEntry, _ id: ULID?, _ why: String) {
        self.promise = promise
        moment = entry.moment
        sequence = entry.sequence
        self.id = id
        self.why = why
    }

    package init(_ promise: Promise, _ census: Census, _ id: ULID?, _ why: String) {
        self.promise = promise
        moment = census.moment
        sequence = nil
        self.id = id
        self.why = why
    }
}

/// A recording of which nobody can say yet whether it drains: time ran out first.
package struct Undrained: Hashable, Sendable {
    package var id: ULID
    /// By when it has to be gone; `nil` while faults are on or a side is down.
    package var deadline: Moment?

    package init(id: ULID, deadline: Moment?) {
        self.id = id
        self.deadline = deadline
    }
}

/// What the judge says of a whole history.
package enum Verdict: Hashable, Sendable {
    case held
    /// At least one, in the order in which they showed; for each recording only the first, since what follows from a broken
    /// promise is its consequence.
    case violated([Violation])
    case undecided([Undrained])
}

/// One promise, watched over a history.
///
/// `observe` comes once an entry, *before* the chronicle takes it in: what a monitor reads there is what was so when the
/// entry happened.
package protocol Monitor: Sendable {
    static var promise: Promise { get }
    init()
    mutating func observe(_ entry: HistoryEntry, _ chronicle: Chronicle) -> Violation?
    /// Compares with the disks. Called at the end, and whenever a history holds a census.
    mutating func finish(_ census: Census, _ chronicle: Chronicle) -> [Violation]
}
