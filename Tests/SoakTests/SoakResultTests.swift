import Foundation
import LinkFaults
import Monitors
import Replay
import Scenarios
import Simulation
import Spooling
import Testing

@testable import Soak

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Results of soaks: sets of seeds, files, sums, and reports.
@Suite struct SoakResultTests {
    private func soak(_ seeds: Range<UInt64>, of asked: Range<UInt64>, build: String = "a") -> SoakResult {
        var result = SoakResult(build: build, size: .small, askedFrom: asked.lowerBound, askedTo: asked.upperBound)
        for seed in seeds {
            let drawn = ScenarioDraw.draw(seed: seed, .small)
            let world = World(drawn.scenario)
            let watch = RareEventWatch(drawn.scenario)
            world.history.listener = watch
            result.add(drawn, world.run(), watch.counts) { "again \($0)" }
        }
        return result
    }

    private func file(_ name: String, _ seeds: Range<UInt64>, build: String = "a", size: DrawSize = .mixed)
        -> (file: String, result: SoakResult)
    {
        var result = SoakResult(build: build, size: size, askedFrom: 0, askedTo: 100)
        result.done.insert(seeds)
        return (name, result)
    }

    /// A seed that costs too much must not hold up a soak, nor be passed over.
    @Test func aRunThatCostsTooMuchIsCutShortAndUndecided() throws {
        let drawn = ScenarioDraw.draw(seed: 1, .small)
        func run(limit: UInt64) -> RunReport {
            let world = World(bounded: drawn.scenario)
            #expect(world.callLimit == World.mostCalls)
            world.callLimit = limit
            return world.run()
        }
        let whole = World(bounded: drawn.scenario).run()
        #expect(whole.outcome == .held && whole.callLimit == nil)
        #expect((1_000..<World.mostCalls / 100).contains(whole.callCount), "\(whole.callCount) calls")
        #expect(run(limit: whole.callCount).digest == whole.digest)
        let cut = run(limit: 500)
        #expect(cut.outcome == .undecided)
        #expect(cut.complaints.first == "cut short: it took more than 500 calls")
        #expect((501..<whole.callCount / 2).contains(cut.callCount), "\(cut.callCount) of \(whole.callCount) calls")
        #expect(run(limit: 500).digest == cut.digest, "at the same place every time")
        var result = SoakResult(build: "a", size: .small, askedFrom: 1, askedTo: 2)
        result.add(drawn, cut, RareCounts()) { "again \($0)" }
        #expect(result.outcome == .undecided && result.undecidedCount == 1)
        #expect(result.failures.map(\.signature) == ["trouble: cut short, since it took too many calls"])
    }

    // MARK: Sets

    @Test func aSetOfSeedsIsWhatWasPutIn() {
        var set = SeedSet()
        for seed in [UInt64(5), 3, 4, 9, 1, 0, 8, 20, 2] { set.insert(seed) }
        #expect(set.description == "0..<6, 8..<10, 20..<21")
        #expect(set.count == 9)
        #expect(set.missing(from: 0..<22).description == "6..<8, 10..<20, 21..<22")
        set.insert(4..<20)
        #expect(set.description == "0..<21")
        #expect(SeedSet(0..<5).firstOverlap(with: SeedSet(4..<9)) == 4..<5)
        #expect(SeedSet(0..<5).firstOverlap(with: SeedSet(5..<9)) == nil)
    }

    @Test func shardsAreTheWholeAndDoNotOverlap() {
        for (lower, upper, count) in [(UInt64(0), UInt64(10), 3), (7, 8, 4), (0, .max, 7), (100, 1_100, 1)] {
            var next = lower
            for number in 1...count {
                let shard = SeedSet.shard(number, of: count, lower..<upper)
                #expect(shard.lowerBound == next)
                next = shard.upperBound
            }
            #expect(next == upper)
        }
    }

    // MARK: Sums

    @Test func shardsMergedAreTheRunThatWasNotSharded() throws {
        let asked = UInt64(0)..<60
        let whole = soak(asked, of: asked)
        let shards = (1...4).map { number in
            (file: "\(number)", result: soak(SeedSet.shard(number, of: 4, asked), of: asked))
        }
        #expect(try SoakMerge.merge(shards) == whole)
        // In any order.
        #expect(try SoakMerge.merge([shards[2], shards[0], shards[3], shards[1]]) == whole)
        #expect(whole.verifiedCount > 100 && whole[.ackOvertakesReport].count > 0)
    }

    @Test func whatDoesNotAddUpIsRefusedWithTheReason() {
        func refusal(_ files: [(file: String, result: SoakResult)]) -> SoakMerge.Refusal? {
            do throws(SoakMerge.Refusal) {
                _ = try SoakMerge.merge(files)
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal([file("a", 0..<50), file("b", 50..<100)]) == nil)
        #expect(refusal([file("a", 0..<50), file("b", 60..<100)]) == .gap(SeedSet(50..<60)))
        #expect(refusal([file("a", 0..<50)]) == .gap(SeedSet(50..<100)))
        #expect(
            refusal([file("a", 0..<50), file("c", 50..<100), file("b", 49..<60)])
                == .overlap(file: "b", other: "a", 49..<50))
        #expect(refusal([file("a", 0..<50), file("a", 0..<50)]) == .overlap(file: "a", other: "a", 0..<50))
        #expect(
            refusal([file("a", 0..<50), file("b", 50..<100, build: "other")])
                == .otherBuild(file: "b", "other", first: "a", "a"))
        #expect(
            refusal([file("a", 0..<50), file("b", 50..<100, size: .large)])
                == .otherSize(file: "b", .large, first: "a", .mixed))
        #expect(refusal([]) == .nothing)
        #expect("\(SoakMerge.Refusal.gap(SeedSet(50..<60)))".contains("50..<60"))
    }

    // MARK: Files

    @Test func aResultReadsBackAsItWas() throws {
        var result = soak(0..<30, of: 0..<30)
        result.failures = [.init(seed: .max - 1, outcome: .violated, signature: "P1: \"lost\" \u{1}", again: "x")]
        result.parts = [.init(machine: "one", jobs: 2, seconds: 1.25)]
        let read = try SoakResult(try JSONTree.read(result.json.text, file: "r"), file: "r")
        #expect(read == result)
        var open = result
        open.askedTo = nil
        #expect(try SoakResult(try JSONTree.read(open.json.text, file: "r"), file: "r") == open)
    }

    @Test func aFileThatIsNoResultIsRefused() throws {
        let text = soak(0..<3, of: 0..<3).json.text
        for (old, new) in [
            ("\"format\": 1", "\"format\": 2"), ("\"done\": [[0, 3]]", "\"done\": [[0, 2]]"),
            ("\"done\": [[0, 3]]", "\"done\": [[0, 2], [1, 3]]"), ("\"done\": [[0, 3]]", "\"done\": [[3, 0]]"),
            ("\"verified\": ", "\"verified\": -"), ("\"build\"", "\"bild\""),
            ("\"ackForNobody\"", "\"ackForSomebody\""),
        ] {
            let damaged = text.replacingOccurrences(of: old, with: new)
            #expect(damaged != text, "\(old)")
            #expect(throws: ScenarioError.self) {
                try SoakResult(try JSONTree.read(damaged, file: "r"), file: "r")
            }
        }
    }

    // MARK: Reports

    @Test func aCampaignInWhichARareEventNeverHappenedHasFailed() {
        var result = SoakResult(build: "a", size: .mixed, askedFrom: 0, askedTo: 1)
        for event in RareEvent.allCases where event != .idReused { result.rare[event.index].count = 1 }
        result.verifiedCount = SoakResult.campaignCount - 1
        #expect(result.outcome == .held && result.missingRareEvents.isEmpty)
        result.verifiedCount += 1
        #expect(result.outcome == .violated && result.missingRareEvents == [.idReused])
        #expect(result.lines.contains { $0.contains("idReused never happened") })
        #expect(result.junit().contains("<failure message=\"it never happened\""))
        // Small scenarios cannot fill a window.
        result.rare[RareEvent.idReused.index].count = 1
        result.rare[RareEvent.windowFull.index].count = 0
        #expect(result.missingRareEvents == [.windowFull])
        result.size = .small
        #expect(result.missingRareEvents.isEmpty)
    }

    @Test func aFailureIsInTheTableWithTheLineThatRepeatsIt() {
        var result = soak(0..<3, of: 0..<3)
        result.violatedCount = 1
        result.failures = [.init(seed: 2, outcome: .violated, signature: "P1: lost", again: "soak 2")]
        #expect(result.lines.contains("violated   seed 2: P1: lost"))
        #expect(result.lines.contains("    again: soak 2"))
        #expect(result.lines.last == "violated")
        for event in RareEvent.allCases { #expect(result.lines.contains { $0.hasSuffix(event.sentence) }) }
    }

    /// As CI systems demand it: a suite's counts are those of its cases, and every attribute that they read is there.
    @Test func theJUnitFileIsWellFormedAndItsCountsAreTrue() throws {
        var result = soak(0..<3, of: 0..<3)
        result.violatedCount = 1
        result.failures = [
            .init(seed: 2, outcome: .violated, signature: "P1: <lost> & \"gone\"\u{1}", again: "soak '2..<3' && x")
        ]
        let reader = JUnitReader()
        let parser = XMLParser(data: Data(result.junit().utf8))
        parser.delegate = reader
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(reader.mistakes.isEmpty, "\(reader.mistakes)")
        let suite = try #require(reader.suite)
        #expect(suite["tests"] == "\(reader.count["testcase"] ?? 0)")
        #expect(suite["failures"] == "1" && reader.count["failure"] == 1)
        #expect(suite["skipped"] == "\(reader.count["skipped"] ?? 0)")
        #expect(reader.messages == ["P1: <lost> & \"gone\"\u{FFFD}"])
    }
}

/// The form that Jenkins, GitLab and others read (jenkinsci/xunit-plugin's junit-10.xsd): which elements there are, in what,
/// and which attributes they must have.
private final class JUnitReader: NSObject, XMLParserDelegate {
    private static let parents = [
        "testsuites": "", "testsuite": "testsuites", "properties": "testsuite", "property": "properties",
        "testcase": "testsuite", "failure": "testcase", "skipped": "testcase",
    ]
    private static let required = [
        "testsuite": ["name", "tests", "failures", "errors", "time"], "property": ["name", "value"],
        "testcase": ["name", "classname", "time"], "failure": ["message", "type"],
    ]
    private var path: [String] = []
    var count: [String: Int] = [:]
    var suite: [String: String]?
    var messages: [String] = []
    var mistakes: [String] = []

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        if Self.parents[name] != path.last ?? "" { mistakes.append("\(name) in \(path)") }
        for attribute in Self.required[name] ?? [] where attributes[attribute] == nil {
            mistakes.append("\(name) without \(attribute)")
        }
        if let time = attributes["time"], Double(time) == nil { mistakes.append("time \(time)") }
        count[name, default: 0] += 1
        if name == "testsuite" { suite = attributes }
        if name == "failure", let message = attributes["message"] { messages.append(message) }
        path.append(name)
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        path.removeLast()
    }
}
