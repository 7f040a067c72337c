import LinkFaults
import Replay
import Scenarios
import Simulation
import Testing

@testable import Soak

/// What seeds draw.
@Suite struct ScenarioDrawTests {
    private static let seeds = UInt64(1)...1_000

    @Test func everyDrawnScenarioReadsBackAsItWas() throws {
        for seed in Self.seeds {
            let drawn = ScenarioDraw.scenario(seed: seed)
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

    @Test func aDrawnScenarioRunsTheSameTwiceAndHolds() {
        for seed in Self.seeds.prefix(30) {
            let reports = (0..<2).map { _ in World(ScenarioDraw.scenario(seed: seed)).run() }
            #expect(reports[0].digest == reports[1].digest, "seed \(seed)")
            #expect(reports[0].outcome == .held, "seed \(seed): \(reports[0].complaints.joined(separator: "\n"))")
        }
    }

    @Test func everyDrawnScenarioIsHealedAtItsEnd() {
        for seed in Self.seeds {
            let drawn = ScenarioDraw.scenario(seed: seed)
            #expect(drawn.isHealed, "seed \(seed)")
            #expect((1...63).contains(drawn.recordingCount), "seed \(seed)")
            #expect(drawn.expectations.isEmpty)
        }
    }

    /// Swarm testing: each verb, and each thing that a link does, is in some scenarios and missing from others.
    @Test func everyKindOfFaultIsDrawnAndIsMissingElsewhere() {
        var withWord: [String: Int] = [:]
        for seed in Self.seeds {
            let text = ScenarioDraw.scenario(seed: seed).text
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
