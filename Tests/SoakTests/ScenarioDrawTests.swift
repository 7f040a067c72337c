import LinkFaults
import Replay
import Scenarios
import Simulation
import Testing

@testable import Soak

/// What seeds draw.
@Suite struct ScenarioDrawTests {
    private static let seeds = UInt64(1)...1_000
    /// Each once, for all tests.
    private static let drawn = seeds.map { ScenarioDraw.scenario(seed: $0) }

    @Test func everyDrawnScenarioReadsBackAsItWas() throws {
        for (seed, drawn) in zip(Self.seeds, Self.drawn) {
            let read = try ScenarioReader.read(text: drawn.text, file: "\(seed).json5")
            #expect(read == drawn, "seed \(seed)")
        }
    }

    @Test func aSeedDrawsTheSameEveryTimeAndNeighboursDrawOthers() {
        for seed in Self.seeds.prefix(50) {
            #expect(ScenarioDraw.scenario(seed: seed) == ScenarioDraw.scenario(seed: seed))
            #expect(ScenarioDraw.scenario(seed: seed).steps != ScenarioDraw.scenario(seed: seed + 1).steps)
        }
    }

    /// Some end with notes of a version to come, which are owed; what they owe is nothing else.
    @Test func aDrawnScenarioMayOweWhatIsOfTheFuture() throws {
        let owing = Self.drawn.filter(\.expectsToOwe)
        #expect((20...200).contains(owing.count), "\(owing.count)")
        for scenario in owing.prefix(5) {
            let report = World(scenario).run()
            #expect(report.outcome == .held, "\(report.complaints.joined(separator: "\n"))")
            guard case .record(let count, _) = try #require(scenario.steps.last).step else {
                Issue.record("\(scenario.text)")
                continue
            }
            #expect(report.census.recordings.count >= count)
        }
    }

    /// A restart heals too much: daemons that ran through all of the faults have to drain as well.
    @Test func someScenariosHealWithoutAnotherStart() {
        let count = Self.drawn.count { scenario in
            !scenario.steps.suffix(16).contains { if case .build = $0.step { true } else { false } }
        }
        #expect(count > 100, "\(count)")
    }

    @Test func aDrawnScenarioRunsTheSameTwiceAndHolds() {
        for seed in Self.seeds.prefix(30) {
            let reports = (0..<2).map { _ in World(ScenarioDraw.scenario(seed: seed)).run() }
            #expect(reports[0].digest == reports[1].digest, "seed \(seed)")
            #expect(reports[0].outcome == .held, "seed \(seed): \(reports[0].complaints.joined(separator: "\n"))")
        }
    }

    @Test func everyDrawnScenarioIsHealedAtItsEnd() {
        for (seed, drawn) in zip(Self.seeds, Self.drawn) {
            #expect(drawn.isHealed, "seed \(seed)")
            #expect((1...63).contains(drawn.recordingCount), "seed \(seed)")
            #expect(drawn.expectations.allSatisfy { $0 == TimedExpectation(at: nil, .owes) })
        }
    }

    /// Swarm testing: each verb, and each thing that a link does, is in some scenarios and missing from others.
    @Test func everyKindOfFaultIsDrawnAndIsMissingElsewhere() {
        var withWord: [String: Int] = [:]
        for drawn in Self.drawn {
            let text = drawn.text
            for word in Self.words where text.contains("\"\(word)\":") { withWord[word, default: 0] += 1 }
        }
        for word in Self.words {
            let count = withWord[word, default: 0]
            #expect(count > 10, "\(word): \(count) of 1,000")
            #expect(count < 900 || Self.healing.contains(word), "\(word): \(count) of 1,000")
        }
    }

    /// Every scenario ends with these.
    private static let healing = ["session", "handler", "container"]

    private static let words = [
        "stop", "kill", "before", "after", "session", "reachable", "handler", "rawMetadata", "rawUserInfo",
        "container", "wipe", "keepCopy", "restoreCopy", "replacePhone", "switchWatch", "veto", "delete", "cancel",
        "clock", "reboot", "drop", "forget", "fail", "failBare", "duplicate", "truncate", "alter", "silent", "delay",
        "burst", "outages", "stuckHead", "bandwidth", "only", "watchDisk", "phoneDisk", "stagingCap", "startsBoth",
        "payloadVersion", "ackVersion", "phoneUnderstands", "watchUnderstands",
    ]
}
