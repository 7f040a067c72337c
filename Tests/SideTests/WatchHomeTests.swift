import Simulation
import Spooling
import Testing
import WireContract

/// The sign in the watch's home that saves the sync of its folders, and what it must never hide.
@Suite struct WatchHomeTests {
    private static let losses: [PowerLoss] = [.durableOnly, .everything] + (0..<24).map { .random(seed: $0) }

    private static func syncs(of home: InstrumentedFileSystem) -> [String] {
        home.trace.filter { $0.operation == .syncDirectory }.compactMap { $0.paths.last }
    }

    private static func isSigned(_ world: WatchWorld) -> Bool { world.disk.content("/watch/synced")?.isEmpty == false }

    @Test("whoever makes a home syncs it; whoever finds the sign does not")
    func syncedOnce() throws {
        let world = try WatchWorld()
        let first = InstrumentedFileSystem(world.disk.asProcess("record"))
        try world.record(1, on: first)
        #expect(Self.syncs(of: first).contains("/watch"))
        let second = InstrumentedFileSystem(world.disk.asProcess("record"))
        try world.record(1, on: second)
        #expect(Self.syncs(of: second) == ["/watch/recordings"])
    }

    @Test("a recorder that dies at any call of its opening, and a cut of the power behind the next one's recording")
    func diesWhileItMakesTheHome() throws {
        for loss in Self.losses {
            try Self.behindEachDeath { world, ids, words in
                #expect(ids.count == 1, "\(words)")
                world.disk.losePower(loss)
                #expect(ids.allSatisfy { world.recordings.contains($0) }, "\(words), \(loss)")
            }
        }
    }

    @Test("the power goes at any call of the opening, and again behind the next one's recording")
    func losesPowerTwice() throws {
        for loss in Self.losses {
            try Self.behindEachDeath(losing: loss) { world, ids, words in
                world.disk.losePower(.durableOnly)
                #expect(ids.count == 1 && ids.allSatisfy { world.recordings.contains($0) }, "\(words), \(loss)")
            }
        }
    }

    @Test("folders that somebody removed are made anew by one that dies: the old sign does not speak for them")
    func madeAnew() throws {
        func prepared() throws -> WatchWorld {
            let world = try WatchWorld()
            try world.record(1)
            try Self.removeRecordings(world)
            return world
        }
        let counted = try Self.countedRecord(prepared())
        #expect(Self.syncs(of: counted).contains("/watch"))
        try Self.behindEachDeath(in: prepared) { world, ids, words in
            world.disk.losePower(.durableOnly)
            #expect(ids.count == 1 && ids.allSatisfy { world.recordings.contains($0) }, "\(words)")
        }
    }

    private static func countedRecord(_ world: WatchWorld) throws -> InstrumentedFileSystem {
        let counted = InstrumentedFileSystem(world.disk.asProcess("record"))
        try world.record(1, on: counted)
        return counted
    }

    /// For each call of a recorder: it dies behind it, the power goes with it when there is a `loss`, the next recorder
    /// records, and `check` gets what that one told.
    private static func behindEachDeath(
        in makeWorld: () throws -> WatchWorld = { try WatchWorld() }, losing loss: PowerLoss? = nil,
        check: (WatchWorld, [ULID], String) throws -> Void
    ) throws {
        for number in 1...(try countedRecord(makeWorld()).callCount) {
            let world = try makeWorld()
            let doomed = InstrumentedFileSystem(
                world.disk.asProcess("record"), injections: [Injection(.call(number), .dieAfter)],
                onDeath: { if let loss { world.disk.losePower(loss) } })
            _ = try? world.record(1, on: doomed)
            try check(world, try world.record(1), "killed at call \(number)")
        }
    }

    private static func removeRecordings(_ world: WatchWorld) throws {
        for id in world.recordings { try world.disk.remove("/watch/recordings/\(id).note") }
        try world.disk.remove("/watch/recordings")
    }

    @Test("a copy of a home carries the sign and no sync: it does not count there")
    func copied() throws {
        let world = try WatchWorld()
        try world.record(1)
        let sign = try #require(world.disk.content("/watch/synced"))
        // The folder is another one, as in a copy.
        try world.disk.move("/watch/recordings", to: "/watch/recordings-before")
        try world.disk.makeDirectory("/watch/recordings")
        #expect(world.disk.content("/watch/synced") == sign)
        let traced = InstrumentedFileSystem(world.disk.asProcess("record"))
        let ids = try world.record(1, on: traced)
        #expect(Self.syncs(of: traced).contains("/watch"))
        world.disk.losePower(.durableOnly)
        #expect(ids.count == 1 && ids.allSatisfy { world.recordings.contains($0) })
    }

    @Test("a home of an older build has no sign, works, and gets one")
    func older() throws {
        let world = try WatchWorld()
        try world.record(1)
        try world.disk.remove("/watch/synced")
        let traced = InstrumentedFileSystem(world.disk.asProcess("record"))
        #expect(try world.record(1, on: traced).count == 1)
        #expect(Self.syncs(of: traced).contains("/watch"))
        #expect(Self.isSigned(world))
    }

    @Test("something strange under the sign's name is left alone, and costs a sync each time")
    func strange() throws {
        let world = try WatchWorld()
        try world.record(1)
        try world.disk.remove("/watch/synced")
        try world.disk.plant("/watch/synced", kind: .fifo)
        for _ in 0..<2 {
            let traced = InstrumentedFileSystem(world.disk.asProcess("record"))
            #expect(try world.record(1, on: traced).count == 1)
            #expect(Self.syncs(of: traced).contains("/watch"))
        }
        #expect(world.disk.status("/watch/synced")?.kind == .fifo)
    }
}
