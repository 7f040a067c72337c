import Simulation
import Spooling
import Testing
import WireContract

/// Three recordings, one before anybody runs and two while both do, in two months.
enum PairCanonical {
    static func play(_ world: PairWorld) throws {
        try world.record(world.bytes(700))
        world.start()
        world.run(for: .seconds(1))
        try world.record(world.bytes(5_000), fileExtension: "wav7")
        try world.record(world.bytes(1))
        world.drain()
        world.checkTheEnd()
    }
}

@Suite struct PairCanonicalTests {
    @Test func threeRecordingsCross() throws {
        let world = PairWorld()
        try PairCanonical.play(world)
        #expect(world.violations == [])
        #expect(world.monitor.ackCount == 3)
        #expect(world.watch.history.count(.deleted) == 3)
        #expect(world.watch.history.count(.enqueued) == 3)
        #expect(world.leftTemporaries == [])
    }

    @Test func aPairBeginsFromNothing() throws {
        let world = PairWorld(.pairNothing)
        try PairCanonical.play(world)
        #expect(world.violations == [])
    }
}
