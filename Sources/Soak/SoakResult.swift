package import Replay
import Scenarios

// What a soak came to: one value for a run, for a shard of it, and for what is merged from many machines. Adding is all that
// is done to it, so it does not matter in which order, where, and in how many parts the seeds were run.

package struct SoakResult: Hashable, Sendable {
    /// One run that did not hold.
    package struct Failure: Hashable, Sendable {
        package var seed: UInt64
        package var outcome: RunReport.Outcome
        /// In which way: what two failures of one fault have in common.
        package var signature: String
        /// The line that repeats it.
        package var again: String

        package init(seed: UInt64, outcome: RunReport.Outcome, signature: String, again: String) {
            self.seed = seed
            self.outcome = outcome
            self.signature = signature
            self.again = again
        }
    }

    package struct Rare: Hashable, Sendable {
        package var count: UInt64 = 0
        package var seedCount: UInt64 = 0
        package var firstSeed: UInt64?
    }

    /// A part of the work: what ran where, for how long.
    package struct Part: Hashable, Sendable {
        package var machine: String
        package var jobs: Int
        package var seconds: Double

        package init(machine: String, jobs: Int, seconds: Double) {
            self.machine = machine
            self.jobs = jobs
            self.seconds = seconds
        }
    }

    /// Of the program that ran: another one where the code is another.
    package var build: String
    package var size: DrawSize
    /// What the campaign was asked to do; without an upper end where time ends it.
    package var askedFrom: UInt64
    package var askedTo: UInt64?
    package var done = SeedSet()
    package var largeCount: UInt64 = 0
    package var recordedCount: UInt64 = 0
    package var verifiedCount: UInt64 = 0
    package var eventCount: UInt64 = 0
    package var undecidedCount: UInt64 = 0
    package var violatedCount: UInt64 = 0
    /// In how many seeds each kind of fault was on, by its place among the cases.
    package var kinds = [UInt64](repeating: 0, count: FaultKind.allCases.count)
    package var rare = [Rare](repeating: Rare(), count: RareEvent.allCases.count)
    /// By seed; the first so many.
    package var failures: [Failure] = []
    package var parts: [Part] = []

    package static let mostFailures = 500
    /// From so many transfers on each rare event has to have happened.
    package static let campaignCount: UInt64 = 1_000_000

    package init(build: String, size: DrawSize, askedFrom: UInt64, askedTo: UInt64?) {
        self.build = build
        self.size = size
        self.askedFrom = askedFrom
        self.askedTo = askedTo
    }

    package subscript(event: RareEvent) -> Rare { rare[event.index] }

    // MARK: Adding

    /// Takes a run in. `again` makes the line that repeats it, when it did not hold.
    package mutating func add(_ drawn: Drawn, _ report: RunReport, _ counts: RareCounts, again: (UInt64) -> String) {
        let seed = drawn.scenario.seed
        done.insert(seed)
        if drawn.isLarge { largeCount += 1 }
        recordedCount += UInt64(report.recordedCount)
        verifiedCount += UInt64(report.verifiedCount)
        eventCount += report.entryCount
        for kind in drawn.kinds { kinds[kind.index] += 1 }
        for event in RareEvent.allCases where counts[event] > 0 {
            rare[event.index].add(counts[event], seedCount: 1, firstSeed: seed)
        }
        switch report.outcome {
        case .held: return
        case .undecided: undecidedCount += 1
        case .violated: violatedCount += 1
        }
        let signature = FailureSignature(report)?.words ?? report.outcome.rawValue
        insert(Failure(seed: seed, outcome: report.outcome, signature: signature, again: again(seed)))
    }

    private mutating func insert(_ failure: Failure) {
        let place = failures.firstIndex { $0.seed > failure.seed } ?? failures.endIndex
        failures.insert(failure, at: place)
        if failures.count > Self.mostFailures { failures.removeLast() }
    }

    /// Adds what another result has. Whether they may be added is for `SoakMerge` to say.
    package mutating func add(_ other: SoakResult) {
        done.formUnion(other.done)
        askedFrom = min(askedFrom, other.askedFrom)
        if let mine = askedTo, let theirs = other.askedTo { askedTo = max(mine, theirs) } else { askedTo = nil }
        largeCount += other.largeCount
        recordedCount += other.recordedCount
        verifiedCount += other.verifiedCount
        eventCount += other.eventCount
        undecidedCount += other.undecidedCount
        violatedCount += other.violatedCount
        for index in kinds.indices { kinds[index] += other.kinds[index] }
        for index in rare.indices {
            let theirs = other.rare[index]
            guard let first = theirs.firstSeed else { continue }
            rare[index].add(theirs.count, seedCount: theirs.seedCount, firstSeed: first)
        }
        for failure in other.failures { insert(failure) }
        parts += other.parts
    }

    // MARK: What it says

    /// Rare events that a campaign of this size must have seen, and that never happened. Empty for fewer transfers.
    package var missingRareEvents: [RareEvent] {
        guard verifiedCount >= Self.campaignCount else { return [] }
        return RareEvent.allCases.filter { self[$0].count == 0 && (size != .small || !$0.needsManyNotes) }
    }

    package var outcome: RunReport.Outcome {
        if violatedCount > 0 || !missingRareEvents.isEmpty { return .violated }
        return undecidedCount > 0 ? .undecided : .held
    }

    package var coreSeconds: Double { parts.reduce(0) { $0 + $1.seconds * Double($1.jobs) } }

    package var longestSeconds: Double { parts.map(\.seconds).max() ?? 0 }
}

extension SoakResult.Rare {
    fileprivate mutating func add(_ count: UInt64, seedCount: UInt64, firstSeed: UInt64) {
        self.count += count
        self.seedCount += seedCount
        self.firstSeed = min(self.firstSeed ?? .max, firstSeed)
    }
}

extension FaultKind {
    /// Its place among the cases. An enum without values is its number.
    var index: Int { Int(withUnsafeBytes(of: self) { $0[0] }) }
}

extension FailureSignature {
    /// On one line.
    package var words: String {
        switch self {
        case .violated(let promise, let why, _): "\(promise): \(why)"
        case .unmet(let text): "unmet: \(text)"
        case .trouble(let text): "trouble: \(text)"
        case .undecided: "undecided"
        }
    }
}
