package import Spooling
import WireContract

// The judge: all seven monitors over one history, and what they come to.
//
// One broken promise breaks others: a phone that acks too early makes the watch lose a recording. So for each recording only
// the first violation is told. Where one entry shows several, causes come before effects: what the daemon did wrong before
// what was lost by it.

/// Judges one history, entry by entry, while it happens or afterwards.
package struct Judge: Sendable {
    package private(set) var chronicle: Chronicle
    /// For each recording the first, in the order in which they showed; at most `mostViolations` of them.
    package private(set) var violations: [Violation] = []
    /// How many more there were.
    package private(set) var untoldCount = 0

    private var onlyAnAckDeletes = OnlyAnAckDeletes()
    private var theUnknownWaits = TheUnknownWaits()
    private var bytesAreTheBytes = BytesAreTheBytes()
    private var once = Once()
    private var anAckIsTrue = AnAckIsTrue()
    private var nothingIsLost = NothingIsLost()
    private var itDrains = ItDrains()

    private var trail: Trail
    private var accused: Set<ULID> = []
    package static let mostViolations = 1_000

    /// `policy` is what the watch runs with. `drainWithin` replaces the bound that follows from it. `trailCount` is how many
    /// entries are kept for explanations, some hundred bytes each.
    package init(policy: RetryPolicy, drainWithin: Duration? = nil, trailCount: Int = 65_536) {
        chronicle = Chronicle(policy: policy, drainWithin: drainWithin)
        trail = Trail(capacity: trailCount)
    }

    /// Takes the next entry. Entries come in their order; the moments of a live history may be a little out of it.
    package mutating func observe(_ entry: HistoryEntry) {
        chronicle.begin(entry)
        chronicle.currentTrail = trail.append(entry, previous: chronicle.currentTrail)
        switch entry.source {
        case .watch:
            if let violation = onlyAnAckDeletes.observe(entry, chronicle) { tell(violation) }
            if let violation = nothingIsLost.observe(entry, chronicle) { tell(violation) }
            if let violation = itDrains.observe(entry, chronicle) { tell(violation) }
        case .phone:
            if let violation = theUnknownWaits.observe(entry, chronicle) { tell(violation) }
            if let violation = bytesAreTheBytes.observe(entry, chronicle) { tell(violation) }
            if let violation = once.observe(entry, chronicle) { tell(violation) }
            if let violation = anAckIsTrue.observe(entry, chronicle) { tell(violation) }
        case .world: break
        }
        chronicle.take(entry)
        if case .world(.census(let census)) = entry.what { compare(census) }
    }

    /// The verdict, once nothing is under way any more and somebody looked at the disks.
    package mutating func finish(_ census: Census) -> Verdict {
        compare(census)
        if !violations.isEmpty { return .violated(violations) }
        let undrained = itDrains.undrained(census, chronicle)
        return undrained.isEmpty ? .held : .undecided(undrained)
    }

    private mutating func compare(_ census: Census) {
        let found =
            onlyAnAckDeletes.finish(census, chronicle) + theUnknownWaits.finish(census, chronicle)
            + bytesAreTheBytes.finish(census, chronicle) + once.finish(census, chronicle)
            + anAckIsTrue.finish(census, chronicle) + nothingIsLost.finish(census, chronicle)
            + itDrains.finish(census, chronicle)
        for violation in found { tell(violation) }
    }

    private mutating func tell(_ violation: Violation) {
        if let id = violation.id {
            guard accused.insert(id).inserted else { return }
        } else if violations.contains(where: { $0.id == nil && $0.why == violation.why }) {
            // Every later look at the disks shows it again.
            return
        }
        guard violations.count < Self.mostViolations else {
            untoldCount += 1
            return
        }
        var told = violation
        let last = violation.id.flatMap { chronicle.index(of: $0) }.map { chronicle[$0].trail } ?? 0
        told.explanation = trail.lines(last: last, world: chronicle[0].trail)
        violations.append(told)
    }
}
