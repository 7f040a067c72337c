import LinkFaults
import Simulation
import Spooling
import Testing
import WatchSide
import WireContract

/// What is refused for weeks costs little, is told once, and goes on soon after the refusal ends.
@Suite struct RefusalCostTests {
    /// A watch whose calls are counted.
    private final class Counted {
        let world: WatchWorld
        let instrument: InstrumentedFileSystem
        let engine: WatchEngine
        let view: ProcessView

        init(_ world: WatchWorld) throws {
            self.world = world
            view = world.disk.asProcess("watch")
            instrument = InstrumentedFileSystem(view)
            try world.start(on: instrument)
            engine = try #require(world.engine)
        }

        deinit { view.kill() }

        /// Steps as the engine asks for it.
        func run(_ duration: Duration = .zero) {
            let end = world.now + duration
            var stepsAtOnce = 0
            while true {
                let next = engine.step(at: world.now)
                stepsAtOnce = next > world.now ? 0 : stepsAtOnce + 1
                if stepsAtOnce > 1_000 {
                    Issue.record("it does not come to rest")
                    return
                }
                if next > end { break }
                world.now = max(world.now, next)
            }
            world.now = max(world.now, end)
        }

        func listings(of directory: String) -> Int {
            instrument.trace.count { $0.operation == .list && $0.paths.last == directory }
        }

        func calls(_ operation: FileSystemError.Operation, _ part: String) -> Int {
            instrument.trace.count { $0.operation == operation && $0.paths.contains { $0.contains(part) } }
        }
    }

    @Test func aSpoolOnAFullDiskIsToldOfOnceAndAskedLessAndLessOften() throws {
        let watch = try Counted(WatchWorld())
        let world = watch.world
        try world.record(1)
        watch.run()
        // A spool has to be made anew, and the disk lets nobody.
        try world.disk.remove("/spool")
        watch.instrument.injections = [
            Injection(
                .every { operation, paths in operation == .write && paths.contains { $0.hasPrefix("/spool/") } },
                .fail(.noSpace))
        ]
        watch.instrument.clearTrace()
        watch.engine.hear(.rescan, of: .spool)
        watch.run(.seconds(86_400))
        let told = world.log.all(.failed)
        #expect(told.count == 1, "each try has a temporary with another name: \(told.compactMap(\.detail).prefix(3))")
        let tries = watch.calls(.create, "/spool/format-")
        #expect((86_400 / 30...86_400 / 30 + 8).contains(tries), "\(tries) tries in a day")
        watch.instrument.injections = []
        watch.run(.seconds(30))
        #expect(world.log.all(.spoolReopened).count == 1)
        watch.run(.seconds(200))
        #expect(world.entries.count == 1)
    }

    @Test func thePhoneTooAsksLessAndLessOftenAndIsToldOfOnce() throws {
        let world = try PhoneWorld.started()
        try world.disk.remove(world.spoolPath)
        let isFormat = { (paths: [String]) in paths.contains { $0.contains("/spool/format-") } }
        world.instrument.injections = [
            Injection(.every { operation, paths in operation == .write && isFormat(paths) }, .fail(.noSpace))
        ]
        world.instrument.clearTrace()
        world.engine?.hear(.rescan, of: .spool)
        world.run(seconds: 86_400)
        func told(_ kind: PairEvent.Kind) -> Int { world.history.events.count { $0.kind == kind } }
        #expect(told(.failed) == 1)
        let tries = world.instrument.trace.count { $0.operation == .create && isFormat($0.paths) }
        #expect((86_400 / 30...86_400 / 30 + 8).contains(tries), "\(tries) tries in a day")
        world.instrument.injections = []
        world.run(seconds: 30)
        #expect(told(.spoolReopened) == 1)
        #expect(world.engine?.isDrained == true)
    }

    @Test func aPhoneThatCannotBeOpenedTakesNoStartNumber() throws {
        let world = try PhoneWorld.started()
        let starts = world.phone("starts")
        world.quit()
        try world.disk.remove(world.spoolPath)
        for _ in 1...5 {
            #expect(throws: FolderError.self) {
                try world.start(injections: [
                    Injection(
                        .every { operation, paths in
                            operation == .write && paths.contains { $0.hasPrefix(world.spoolPath) }
                        }, .fail(.noSpace))
                ])
            }
        }
        #expect(world.phone("starts") == starts)
    }

    @Test func onADiskWithoutAnyRoomATryIsNoNewsToTheOtherSide() throws {
        let disk = SimulatedFileSystem()
        try disk.makeDirectory("/spool")
        let view = disk.asProcess("watch")
        try disk.setCapacity(of: "/", byteCount: 0)
        let before = disk.changeCount
        for nonce: UInt64 in 1...3 {
            #expect(throws: FolderError.self) {
                _ = try view.openFolder(.spool, at: "/spool", create: true, nonce: nonce)
            }
        }
        #expect(disk.changeCount == before)
        try disk.setCapacity(of: "/", byteCount: nil)
        _ = try view.openFolder(.spool, at: "/spool", create: true, nonce: 4)
        view.kill()
    }

    @Test func aSpoolThatTakesNoEntryIsToldOfOnce() throws {
        let watch = try Counted(WatchWorld())
        let world = watch.world
        let ids = try world.record(3)
        watch.instrument.injections = [
            Injection(
                .every { operation, paths in operation == .create && paths.contains { $0.contains("/to-phone/") } },
                .fail(.inputOutput))
        ]
        watch.run(.seconds(3_600))
        #expect(world.log.all(.failed).count == 1)
        let tries = watch.calls(.create, "/to-phone/")
        #expect((3_600 / 30...3_600 / 30 + 8).contains(tries), "\(tries) tries in an hour")
        watch.instrument.injections = []
        watch.run(.seconds(30))
        #expect(world.entries.map(\.id) == ids)
        // It went well; when it happens again, that is news.
        try world.takeAll()
        watch.engine.hear(.rescan, of: .toPhone)
        watch.instrument.injections = [
            Injection(
                .every { operation, paths in operation == .create && paths.contains { $0.contains("/to-phone/") } },
                .fail(.inputOutput))
        ]
        watch.run(.seconds(60))
        #expect(world.log.all(.failed).count == 2)
    }

    /// One ack that the disk does not let us read, among many that come and go.
    @Test func anAckThatCannotBeReadCostsAListingAPause() throws {
        let watch = try Counted(WatchWorld())
        let world = watch.world
        let ids = try world.record(300)
        watch.run()
        let bad = try world.ack(ids[0])
        watch.instrument.injections = [
            Injection(
                .every { operation, paths in operation == .read && paths.contains { $0.contains("\(bad)") } },
                .fail(.inputOutput))
        ]
        watch.engine.hear(.names([bad]), of: .toWatch)
        watch.run(.seconds(200))
        watch.instrument.clearTrace()
        for id in ids.dropFirst() {
            watch.engine.hear(.names([try world.ack(id)]), of: .toWatch)
            watch.run(.seconds(1))
        }
        watch.run(.seconds(30))
        #expect(world.recordings == [ids[0]])
        #expect(world.log.all(.failed).count == 1)
        // A pass for every pause of thirty seconds, and a full look in each.
        let listings = watch.listings(of: "/spool/to-watch")
        #expect(listings <= 2 * 330 / 30 + 2, "\(listings) listings in 330 seconds")
        watch.instrument.injections = []
        watch.run(.seconds(60))
        #expect(world.recordings == [] && world.acks == [])
    }

    /// While the head of the acks waits for its moment, nobody could act on what a full look would find.
    @Test func aHeldQueueOfAcksIsNotListedByTheLooksAround() throws {
        let watch = try Counted(WatchWorld())
        let world = watch.world
        let ids = try world.record(200)
        watch.run()
        var conditions = LinkConditions()
        conditions.plan.toWatch.outages = [Outage(start: .zero, end: .seconds(600))]
        conditions.origin = world.now
        watch.engine.follow(conditions, at: world.now)
        watch.run()
        let start = world.now
        watch.engine.hear(.names([try world.ack(ids[0])]), of: .toWatch)
        watch.run()
        watch.instrument.clearTrace()
        for id in ids.dropFirst() {
            let name = try world.ack(id)
            // Of every other one nobody hears.
            if id.ordinal % 2 == 0 { watch.engine.hear(.names([name]), of: .toWatch) }
            watch.run(.seconds(2))
        }
        let held = watch.listings(of: "/spool/to-watch")
        #expect(held <= 1, "\(held) listings in \(world.now.since(start))")
        #expect(world.log.all(.ackReceived).isEmpty)
        watch.run(.seconds(600) - world.now.since(start))
        #expect(world.log.all(.ackReceived).map(\.id) == ids, "in the order of names, each once")
        #expect(world.recordings == [] && world.acks == [])
        #expect(watch.listings(of: "/spool/to-watch") <= held + 2)
    }
}
