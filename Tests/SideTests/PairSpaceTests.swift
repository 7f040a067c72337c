import Simulation
import Spooling
import Testing
import WatchSide
import WireContract

/// Recordings, spool and phone share one small disk.
@Suite struct PairSpaceTests {
    private static let mebibyte: UInt64 = 1_024 * 1_024

    /// `record` fills the disk up to the reserve, and nothing is stuck: each note needs room twice for a moment.
    @Test(arguments: [64 * 1_024, 300_000])
    func recordedUpToTheReserve(_ byteCount: Int) throws {
        let world = PairWorld()
        try world.disk.setCapacity(of: "/", byteCount: 4 * Self.mebibyte)
        var refused = 0
        for _ in 0..<200 {
            do {
                try world.record(world.bytes(byteCount))
            } catch is PairWorld.RecordingRefused {
                refused += 1
                break
            }
        }
        #expect(refused == 1, "the reserve stays free")
        let recorded = world.monitor.ids.count
        #expect(recorded >= 3)
        world.start()
        world.drain()
        world.checkTheEnd()
        #expect(world.violations == [])
        #expect(world.monitor.ids.count == recorded)
        #expect(world.watch.startFailures == [] && world.phone.startFailures == [])
    }

    /// Many small notes fill the disk, and then somebody else takes a part of the reserve: less than the reserve is free
    /// before anything is sent, and sending frees nothing, since the container takes what the watch gives back.
    @Test func somebodyElseTakesAPartOfTheReserve() throws {
        let world = PairWorld()
        try world.disk.setCapacity(of: "/", byteCount: Self.mebibyte + 600 * 1_024)
        while (try? world.record(world.bytes(900))) != nil {}
        #expect(world.monitor.ids.count > 50)
        try world.disk.plant("/somebody-elses", bytes: [UInt8](repeating: 1, count: 400 * 1_024))
        world.start()
        // One at a time, and each of the others is refused once.
        world.drain(within: PairWorld.bound + .seconds(world.monitor.ids.count * EngineTiming.refusedSeconds))
        world.checkTheEnd()
        #expect(world.violations == [])
    }

    /// Somebody else takes all the room before any one call of a running pair, and gives it back a minute later.
    @Test(arguments: [Side.watch, .phone])
    func fullForAWhileAtEveryChange(_ side: Side) throws {
        let starting = PairWorld()
        starting.start()
        starting.run(for: .seconds(1))
        let first = try #require((side == .watch ? starting.watch : starting.phone).instrument).callCount + 1
        let count = try PairKillTests.callCount(side, .pairHome)
        for call in stride(from: first, through: count, by: 2) {
            let world = PairWorld()
            let seat = side == .watch ? world.watch : world.phone
            seat.plan = { [unowned world] _ in
                [Injection(.call(call), .before({ try? world.disk.setCapacity(of: "/", byteCount: 0) }))]
            }
            world.start()
            world.run(for: .seconds(1))
            for size in [700, 5_000, 1] { _ = try? world.record(world.bytes(size)) }
            world.run(for: .seconds(60))
            try world.disk.setCapacity(of: "/", byteCount: nil)
            try world.record(world.bytes(20))
            world.drain()
            world.checkTheEnd()
            #expect(world.violations == [], "full before call \(call) of \(count) of the \(side)")
            #expect(world.watch.startCount == 1 && world.phone.startCount == 1, "it goes on by itself")
            if !world.violations.isEmpty { return }
        }
    }

    /// The daemons are started on a full disk, which they alone can empty.
    @Test func startedOnAFullDisk() throws {
        let world = PairWorld()
        for size in [9_000, 700, 1] { try world.record(world.bytes(size)) }
        try world.disk.setCapacity(of: "/", byteCount: 0)
        world.start()
        world.run(for: .seconds(90))
        #expect(world.monitor.ids.count == 3)
        #expect(world.watch.startFailures == [] && world.phone.startCount >= 1)
        try world.disk.setCapacity(of: "/", byteCount: nil)
        world.drain()
        world.checkTheEnd()
        #expect(world.violations == [])
    }
}
