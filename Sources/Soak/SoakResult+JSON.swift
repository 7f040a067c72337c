package import LinkFaults
import Replay

// A result as a file: plain JSON, read back with the place of every mistake in it.

extension SoakResult {
    /// Of the file. Another one is refused.
    private static let format = 1

    package var json: JSONTree {
        .object([
            "format": .integer(Int64(Self.format)), "build": .string(build), "size": .string(size.rawValue),
            "askedFrom": tree(askedFrom), "askedTo": askedTo.map(tree), "done": done.tree,
            "seeds": tree(done.count), "largeSeeds": tree(largeCount), "recorded": tree(recordedCount),
            "verified": tree(verifiedCount), "events": tree(eventCount), "violated": tree(violatedCount),
            "undecided": tree(undecidedCount), "outcome": .string(outcome.rawValue),
            "kinds": .object(FaultKind.allCases.map { .init($0.rawValue, tree(kinds[$0.index])) }),
            "rare": .object(
                RareEvent.allCases.map { event in
                    let rare = self[event]
                    return .init(
                        event.rawValue,
                        .object([
                            "count": tree(rare.count), "seeds": tree(rare.seedCount),
                            "firstSeed": rare.firstSeed.map(tree),
                        ]))
                }),
            "missingRareEvents": .array(missingRareEvents.map { .string($0.rawValue) }),
            "failures": .array(
                failures.map { failure in
                    [
                        "seed": tree(failure.seed), "outcome": .string(failure.outcome.rawValue),
                        "signature": .string(failure.signature), "again": .string(failure.again),
                    ]
                }),
            "parts": .array(
                parts.map { part in
                    [
                        "machine": .string(part.machine), "jobs": .integer(Int64(part.jobs)),
                        "seconds": .real(part.seconds),
                    ]
                }),
        ])
    }

    /// Reads what `json` wrote. Strict: nothing unknown, nothing missing, and sums that fit.
    package init(_ tree: JSONTree, file: String) throws(ScenarioError) {
        let members = try Members(Node(file: file, tree: tree), Self.fields, accepts: "the result file of a soak")
        _ = try members.required(Fields.format)
        let askedFrom = try members.required(Fields.askedFrom)
        let askedTo = try members[Fields.askedTo]
        self.init(
            build: try members.required(Fields.build), size: try members.required(Fields.size), askedFrom: askedFrom,
            askedTo: askedTo)
        for range in try members.required(Fields.done) {
            guard !done.ranges.contains(where: { $0.overlaps(range) }) else {
                throw members.node.mistake(found: "a seed twice in \"done\"", accepted: "each seed once")
            }
            done.insert(range)
        }
        guard try members.required(Fields.seeds) == done.count else {
            throw members.node.mistake(
                found: "a count of seeds that is not that of \"done\"", accepted: "\(done.count)")
        }
        largeCount = try members.required(Fields.largeSeeds)
        recordedCount = try members.required(Fields.recorded)
        verifiedCount = try members.required(Fields.verified)
        eventCount = try members.required(Fields.events)
        violatedCount = try members.required(Fields.violated)
        undecidedCount = try members.required(Fields.undecided)
        kinds = try members.required(Fields.kinds)
        rare = try members.required(Fields.rare)
        failures = try members.required(Fields.failures)
        parts = try members.required(Fields.parts)
    }

    /// The fields of a result file.
    private enum Fields {
        static let format = Field("format", Shape<Int>.integer(SoakResult.format...SoakResult.format))
        static let build = Field("build", Shape<String>.text(most: 100, accepts: "the digest of a program"))
        static let size = Field("size", Shape<DrawSize>.choice)
        static let askedFrom = Field("askedFrom", Shape<UInt64>.seed)
        static let askedTo = Field("askedTo", Shape<UInt64>.seed)
        static let done = Field("done", Shape<[Range<UInt64>]>.list(of: range, most: 100_000))
        static let seeds = Field("seeds", Shape<UInt64>.seed)
        static let largeSeeds = Field("largeSeeds", Shape<UInt64>.seed)
        static let recorded = Field("recorded", Shape<UInt64>.seed)
        static let verified = Field("verified", Shape<UInt64>.seed)
        static let events = Field("events", Shape<UInt64>.seed)
        static let violated = Field("violated", Shape<UInt64>.seed)
        static let undecided = Field("undecided", Shape<UInt64>.seed)
        /// Follows from the rest, for whoever reads only this.
        static let outcome = Field("outcome", Shape<RunReport.Outcome>.choice)
        static let kinds = Field("kinds", byName(FaultKind.allCases.map(\.rawValue), Shape<UInt64>.seed))
        static let rare = Field("rare", byName(RareEvent.allCases.map(\.rawValue), rareShape))
        static let missing = Field("missingRareEvents", Shape<[RareEvent]>.list(of: .choice, most: 1_000))
        static let failures = Field("failures", Shape<[Failure]>.list(of: failure, most: SoakResult.mostFailures))
        static let parts = Field("parts", Shape<[Part]>.list(of: part, most: 100_000))

        private static let range = Shape<[UInt64]>.list(of: .seed, most: 2, least: 2).map { bounds in
            bounds[0] < bounds[1] ? bounds[0]..<bounds[1] : nil
        }

        private static let rareShape: Shape<Rare> = {
            let count = Field("count", Shape<UInt64>.seed)
            let seeds = Field("seeds", Shape<UInt64>.seed)
            let first = Field("firstSeed", Shape<UInt64>.seed)
            return .object([count.erased, seeds.erased, first.erased]) { members throws(ScenarioError) in
                Rare(
                    count: try members.required(count), seedCount: try members.required(seeds),
                    firstSeed: try members[first])
            }
        }()

        private static let failure: Shape<Failure> = {
            let seed = Field("seed", Shape<UInt64>.seed)
            let outcome = Field("outcome", Shape<RunReport.Outcome>.choice)
            let signature = Field("signature", Shape<String>.text(most: 10_000, accepts: "a sentence"))
            let again = Field("again", Shape<String>.text(most: 10_000, accepts: "a command"))
            return .object([seed.erased, outcome.erased, signature.erased, again.erased]) {
                members throws(ScenarioError) in
                Failure(
                    seed: try members.required(seed), outcome: try members.required(outcome),
                    signature: try members.required(signature), again: try members.required(again))
            }
        }()

        private static let part: Shape<Part> = {
            let machine = Field("machine", Shape<String>.text(most: 1_000, accepts: "a name"))
            let jobs = Field("jobs", Shape<Int>.integer(1...1_000_000))
            let seconds = Field("seconds", Shape<Double>.number(0...1e12))
            return .object([machine.erased, jobs.erased, seconds.erased]) { members throws(ScenarioError) in
                Part(
                    machine: try members.required(machine), jobs: try members.required(jobs),
                    seconds: try members.required(seconds))
            }
        }()

        /// An object that has exactly these names; the values in their order.
        private static func byName<Value: Sendable>(_ names: [String], _ shape: Shape<Value>) -> Shape<[Value]> {
            let fields = names.map { Field($0, shape) }
            return .object(fields.map(\.erased)) { members throws(ScenarioError) in
                var values: [Value] = []
                for field in fields { values.append(try members.required(field)) }
                return values
            }
        }
    }

    private static var fields: [AnyField] {
        [
            Fields.format.erased, Fields.build.erased, Fields.size.erased, Fields.askedFrom.erased,
            Fields.askedTo.erased, Fields.done.erased, Fields.seeds.erased, Fields.largeSeeds.erased,
            Fields.recorded.erased, Fields.verified.erased, Fields.events.erased, Fields.violated.erased,
            Fields.undecided.erased, Fields.outcome.erased, Fields.kinds.erased, Fields.rare.erased,
            Fields.missing.erased, Fields.failures.erased, Fields.parts.erased,
        ]
    }
}

private func tree(_ number: UInt64) -> JSONTree { Int64(exactly: number).map { .integer($0) } ?? .unsigned(number) }

extension SeedSet {
    fileprivate var tree: JSONTree {
        .array(ranges.map { .array([number($0.lowerBound), number($0.upperBound)]) })
    }

    private func number(_ seed: UInt64) -> JSONTree { Int64(exactly: seed).map { .integer($0) } ?? .unsigned(seed) }
}
