import Scenarios
import Soak
import Spooling
import Testing

@Suite("What the live soak plays")
struct LiveDrawTests {
    private static let length = Duration.seconds(30)

    @Test("a storm is a function of its seed and reads back from its text", arguments: 0..<40 as Range<UInt64>)
    func readsBack(seed: UInt64) throws {
        let storm = LiveDraw.storm(seed: seed, length: Self.length)
        #expect(storm == LiveDraw.storm(seed: seed, length: Self.length))
        #expect(try ScenarioReader.read(text: storm.text, file: "storm.json5") == storm)
    }

    @Test(
        "every storm records, kills, loses 30 % each way, and is healed at its end", arguments: 0..<40 as Range<UInt64>)
    func heals(seed: UInt64) {
        let storm = LiveDraw.storm(seed: seed, length: Self.length)
        #expect(storm.recordingCount > 0)
        #expect(storm.steps.contains { if case .kill(_, .now) = $0.step { true } else { false } })
        for direction in [storm.settings.link.toPhone, storm.settings.link.toWatch] {
            #expect(direction.chances.contains { $0.fault == .drop && $0.chance.rawValue == 0.3 })
        }
        #expect(storm.steps.allSatisfy { $0.at <= Self.length })
        let last = storm.steps.suffix(6).map(\.step)
        for step: Step in [.start(.watch), .start(.phone), .capacity(.phone, .unlimited), .container(.open)] {
            #expect(last.contains(step))
        }
    }

    @Test("nobody vetoes a note that a full watch could not record", arguments: 0..<40 as Range<UInt64>)
    func people(seed: UInt64) {
        let steps = LiveDraw.storm(seed: seed, length: Self.length).steps.map(\.step)
        let hasPeople = steps.contains {
            switch $0 {
            case .veto, .delete: true
            default: false
            }
        }
        #expect(!hasPeople || !steps.contains(.capacity(.watch, .full)))
    }

    @Test("a standing pair of a weekend fits into a scenario, and nobody is killed in it")
    func weekend() throws {
        let standing = LiveDraw.standing(seed: 1, length: .seconds(3 * 86_400))
        #expect(standing.steps.count <= Scenario.mostSteps && standing.recordingCount > 1_000)
        #expect(
            standing.steps.allSatisfy {
                switch $0.step {
                case .kill, .reboot: false
                default: true
                }
            })
        #expect(try ScenarioReader.read(text: standing.text, file: "standing.json5") == standing)
    }
}

@Suite("Whether something grows without end")
struct GrowthTests {
    private func growth(_ value: (Int) -> UInt64) -> Growth {
        var growth = Growth()
        for second in 0..<100 { growth.add(value(second), at: .seconds(Int64(second))) }
        return growth
    }

    @Test("one descriptor lost every ten seconds is found")
    func leak() { #expect(growth { UInt64(10 + $0 / 10) }.increase == 3) }

    @Test("ups and downs are none, nor is a beginning that fills its caches")
    func steady() {
        #expect(growth { UInt64(10 + $0 % 7) }.increase == 0)
        #expect(growth { UInt64(min($0, 20)) }.increase == 0)
    }

    @Test("one high value at the end is no leak")
    func peak() { #expect(growth { $0 == 99 ? 1_000 : 10 }.increase == 0) }

    @Test("few values say nothing")
    func few() {
        var growth = Growth()
        for second in 1..<Growth.leastCount { growth.add(1, at: .seconds(Int64(second))) }
        #expect(growth.increase == nil)
    }
}
