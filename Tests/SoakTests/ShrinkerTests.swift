import Monitors
import Replay
import Scenarios
import Simulation
import Spooling
import Testing
import WireContract

@testable import Soak

/// From a large scenario that fails to a small one that fails in the same way.
@Suite struct ShrinkerTests {
    /// A watch that forgets a recording when it queues it anew: seen only where a transfer lay untouched for long.
    private final class ForgetsWhatItQueuesAnew: Plant {
        func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem { inner }

        func tells(_ event: PairEvent, by process: PlantedProcess, disk: any FileSystem) -> [PairEvent] {
            guard process == .watch, event.kind == .requeued, let id = event.id else { return [event] }
            return [event, PairEvent(.deleted, id: id)]
        }
    }

    private static func planted(_ scenario: Scenario) -> RunReport {
        World(scenario, plant: ForgetsWhatItQueuesAnew()).run()
    }

    /// The first seeds whose scenarios meet the fault: it takes a transfer that nobody takes.
    private static let failing: [Scenario] = Array(
        (1...UInt64(400)).lazy.map { ScenarioDraw.scenario(seed: $0) }
            .filter { $0.steps.count >= 30 && FailureSignature(planted($0)) != nil }.prefix(3))

    @Test func largeScenariosShrinkToFewStepsAndTheSamePromise() throws {
        let scenarios = Self.failing
        #expect(scenarios.count == 3)
        for scenario in scenarios {
            let report = Self.planted(scenario)
            let failure = try #require(FailureSignature(report))
            var shrinker = try #require(Shrinker(sameAs: report, budget: .init(runCount: 400), run: Self.planted))
            let small = shrinker.shrink(scenario)
            let again = Self.planted(try ScenarioReader.read(text: small.text, file: "small.json5"))
            #expect(small.steps.count <= 10, "\(small.text)")
            #expect(try #require(FailureSignature(again)).isSame(as: failure))
            #expect(shrinker.runCount <= 400)
        }
    }

    @Test func shrinkingTwiceGivesTheSame() throws {
        let scenario = try #require(Self.failing.first)
        func shrunk() throws -> Scenario {
            var shrinker = try #require(
                Shrinker(sameAs: Self.planted(scenario), budget: .init(runCount: 300), run: Self.planted))
            return shrinker.shrink(scenario)
        }
        #expect(try shrunk() == shrunk())
    }

    /// Not to drain in time is another failure than a forgotten recording, and so is not to be decided.
    @Test func anotherFailureIsNotTheSame() throws {
        let scenario = try #require(Self.failing.first)
        let original = try #require(FailureSignature(Self.planted(scenario)))
        let late = try ScenarioReader.read(
            text: """
                {
                  name: 'Late', shows: 'A link that takes longer than the time to drain.',
                  settings: { drainWithin: '1s', link: { toPhone: { delay: '5s' } } },
                  steps: [{ at: '0s', record: 1 }],
                }
                """, file: "late.json5")
        let other = try #require(FailureSignature(World(late).run()))
        #expect(other.isAboutDraining)
        #expect(!other.isSame(as: original) && !original.isSame(as: other))
        #expect(!FailureSignature.undecided.isSame(as: original))
    }

    /// What did not drain is only looked for where it should: the healing stays.
    @Test func whatDoesNotDrainStaysHealed() throws {
        let late = try ScenarioReader.read(
            text: """
                {
                  name: 'Late', shows: 'A first try is dropped, and the second comes after the time to drain.',
                  settings: { drainWithin: '1s', link: { toPhone: { only: [{ try: 1, drop: true }] } } },
                  steps: [
                    { at: '0s', record: { count: 5, bytes: '2KiB' } }, { at: '1s', stop: 'phone' },
                    { at: '2s', record: 3 }, { at: '3s', session: 'inactive' }, { at: '4s', session: 'active' },
                    { at: '5s', start: 'phone' }, { at: '5s', link: {} },
                  ],
                }
                """, file: "late.json5")
        let report = World(late).run()
        let failure = try #require(FailureSignature(report))
        #expect(failure.isAboutDraining)
        var shrinker = try #require(Shrinker(sameAs: report, budget: .init(runCount: 200)))
        let small = shrinker.shrink(late)
        #expect(small.isHealed && small.steps.count < late.steps.count, "\(small.text)")
        #expect(try #require(FailureSignature(World(small).run())).isSame(as: failure))
    }

    @Test func whatHeldIsNotShrunk() {
        let scenario = Scenario(name: "Nothing", shows: "Nothing.", seed: 1, steps: [])
        #expect(Shrinker(sameAs: World(scenario).run()) == nil)
    }
}
