import Simulation
import Spooling
import Testing
import WireContract

/// Clocks that lie: the wall clock only names things, and the moments of an engine only pace it.
@Suite struct PairClockTests {
    private static let yearMilliseconds: UInt64 = 365 * 86_400 * 1_000

    @Test func theWallClockIsSetBackAndForwardByAYear() throws {
        let world = PairWorld()
        world.start()
        world.run(for: .seconds(1))
        let today = world.wallMilliseconds
        for offset in [today, today - Self.yearMilliseconds, today + Self.yearMilliseconds, today] {
            world.wallMilliseconds = offset
            try world.record(world.bytes(500))
            world.run(for: .seconds(3))
        }
        world.drain()
        world.checkTheEnd()
        #expect(world.violations == [])
        #expect(world.watch.history.count(.enqueued) == 4, "no storm")
        let months = Set(world.monitor.ids.map(\.monthBucket))
        #expect(months.count == 3)
    }

    /// The moment stands still: what is due is due once, and an unacked recording is not sent again.
    @Test func theMomentStandsStill() throws {
        let world = PairWorld()
        world.start()
        world.run(for: .seconds(1))
        try world.record(world.bytes(500))
        let engine = try #require(world.watchEngine)
        for _ in 0..<500 {
            for place in [Place.recordings, .toPhone, .toWatch, .spool] { engine.hear(.rescan, of: place) }
            _ = engine.step(at: world.now)
        }
        #expect(world.watch.history.count(.enqueued) == 1)
        let phone = try #require(world.phoneEngine)
        for _ in 0..<500 {
            for place in [Place.toPhone, .spool] { phone.hear(.rescan, of: place) }
            _ = phone.step(at: world.now)
        }
        #expect(world.monitor.ackCount == 1)
        world.drain()
        world.checkTheEnd()
        #expect(world.violations == [])
    }

    /// The machine slept for a year (`CLOCK_BOOTTIME` goes on): every wait is over at once, and each is one resend.
    @Test func theMomentLeapsAYear() throws {
        let world = PairWorld()
        world.watch.isWanted = true
        for _ in 0..<20 { try world.record(world.bytes(50)) }
        world.run(for: .seconds(2))
        #expect(world.entries.count == 20)
        // Taken, and not acked: somebody else took the entries.
        for entry in world.entries.prefix(10) { try world.disk.remove(entry) }
        world.run(for: .seconds(11))
        let before = world.watch.history.count(.enqueued) + world.watch.history.count(.requeued)
        world.now = world.now + .seconds(365 * 86_400)
        world.run(for: .milliseconds(1))
        let after = world.watch.history.count(.enqueued) + world.watch.history.count(.requeued)
        #expect(after - before <= 20, "at most one resend each")
        #expect(world.entries.count == 20)
        world.start()
        world.drain()
        world.checkTheEnd()
        #expect(world.violations == [])
    }
}
