import LinkFaults
import Monitors
import Replay
import Scenarios
import Simulation
import Spooling
import Testing

@testable import Soak

/// The table of rare events, and how they are recognised.
@Suite struct RareEventTests {
    /// What happens in a scenario that a person would write for it.
    private func events(_ text: String) throws -> RareCounts {
        let scenario = try ScenarioReader.read(text: text, file: "test")
        let world = World(scenario)
        let watch = RareEventWatch(scenario)
        world.history.listener = watch
        #expect(world.run().outcome == .held)
        return watch.counts
    }

    @Test func theTableHasFortyRowsAndASentenceForEach() {
        #expect(RareEvent.allCases.count >= 40)
        #expect(Set(RareEvent.allCases.map(\.sentence)).count == RareEvent.allCases.count)
        for (index, event) in RareEvent.allCases.enumerated() {
            #expect(event.sentence.hasSuffix(".") && event.sentence.count > 20)
            #expect(event.index == index)
        }
        for (index, kind) in FaultKind.allCases.enumerated() { #expect(kind.index == index) }
    }

    @Test func nothingRareHappensOnACleanLink() throws {
        let counts = try events("{ name: 'x', shows: 'y', steps: [{ at: 0, record: 3 }] }")
        let seen = RareEvent.allCases.filter { counts[$0] > 0 && $0 != .ackOvertakesReport }
        #expect(seen.isEmpty, "\(seen)")
    }

    @Test func aLostAckIsEarnedAgain() throws {
        let counts = try events(
            """
            { name: 'x', shows: 'y', steps: [{ at: 0, record: 1 }],
              settings: { link: { toWatch: { only: [{ try: 1, drop: true }] } } } }
            """)
        #expect(counts[.ackLostThenEarnedAgain] == 1)
        #expect(counts[.duplicateOfFinalNote] == 1)
        #expect(counts[.arrivesAlteredThenWhole] == 0)
    }

    @Test func aDeathBetweenContainerAndLedgerIsCountedOnceAndADeathElsewhereIsNot() throws {
        func scenario(_ kill: String) -> String {
            """
            { name: 'x', shows: 'y', steps: [
              { at: 0, kill: 'phone', \(kill) }, { at: 1, record: 1 }, { at: 30, start: 'phone' }] }
            """
        }
        let inside = try events(scenario("after: { operation: 'publish', path: 'container/' }"))
        #expect(inside[.killBetweenContainerAndLedger] == 1)
        #expect(inside[.powerCutBetweenPublishAndSync] == 0)
        let outside = try events(scenario("before: { operation: 'publish', path: 'container/' }"))
        #expect(outside[.killBetweenContainerAndLedger] == 0)
        #expect(outside[.killInTheCut] == 1)
    }

    @Test func aPayloadOfTheFutureIsIngestedAfterAnUpgrade() throws {
        let counts = try events(
            """
            { name: 'x', shows: 'y', settings: { payloadVersion: 2 }, steps: [
              { at: 0, record: 1 }, { at: 600, build: 'phone', understands: 2 }] }
            """)
        #expect(counts[.futureIngestedAfterUpgrade] == 1)
        #expect(counts[.futureComesTwice] > 0)
    }

    @Test func aLockedContainerWithANoteInStagingIsSeen() throws {
        let counts = try events(
            """
            { name: 'x', shows: 'y', steps: [
              { at: 0, container: 'locked' }, { at: 1, record: 1 }, { at: 100, container: 'open' }] }
            """)
        #expect(counts[.lockedWithNotesWaiting] > 0)
        #expect(counts[.signedOutWithNotesWaiting] == 0)
    }

    /// Listening changes nothing of a run.
    @Test func aRunThatIsListenedToIsTheSameRun() {
        for seed in UInt64(0)..<20 {
            let drawn = ScenarioDraw.scenario(seed: seed)
            let world = World(drawn)
            world.history.listener = RareEventWatch(drawn)
            #expect(world.run().digest == World(drawn).run().digest)
        }
    }

    @Test func aSeedOfSixteenIsLargeAndSizesDrawWhatTheySay() throws {
        let seeds = UInt64(0)..<4_000
        let large = seeds.filter { DrawSize.mixed.isLarge(seed: $0) }
        #expect((150...350).contains(large.count))
        for seed in seeds.prefix(200) {
            let drawn = ScenarioDraw.draw(seed: seed, .large)
            #expect((500...4_003).contains(drawn.scenario.recordingCount), "seed \(seed)")
            #expect(drawn.scenario.isHealed && drawn.isLarge, "seed \(seed)")
            #expect(ScenarioDraw.draw(seed: seed, .small).scenario == ScenarioDraw.scenario(seed: seed))
        }
        let drawn = ScenarioDraw.draw(seed: 3, .large).scenario
        #expect(try ScenarioReader.read(text: drawn.text, file: "3.json5") == drawn)
    }
}
