import LinkFaults
import PhoneSide
import Simulation
import Spooling
import Testing
import WatchSide
import WireContract

/// While the link holds the head of a queue, what arrives behind it one by one costs no listing each: a backlog would be
/// quadratic.
@Suite struct BacklogCostTests {
    private static let count = 200

    /// Nothing arrives before five seconds are over.
    private static func outage(_ direction: WritableKeyPath<LinkPlan, DirectionPlan>, now: Moment) -> LinkConditions {
        var conditions = LinkConditions()
        conditions.plan[keyPath: direction].outages = [Outage(start: .zero, end: .seconds(5))]
        conditions.origin = now
        return conditions
    }

    /// Listings of a directory among the calls.
    private static func listings(_ instrument: InstrumentedFileSystem, of directory: String) -> Int {
        instrument.trace.count { $0.operation == .list && $0.paths.last == directory }
    }

    private static func taken(_ world: PhoneWorld) -> [FileName] {
        world.history.events.filter { $0.kind == .taken && $0.phase == .did }.compactMap(\.name)
    }

    @Test func notesThatArriveBehindAHeldHeadAreNotListed() throws {
        let world = try PhoneWorld.started()
        let start = world.now
        world.engine?.follow(Self.outage(\.toPhone, now: start), at: start)
        world.run()
        world.instrument.clearTrace()
        var arrived: [FileName] = []
        for ordinal in 0..<Self.count {
            let path = try world.deliver(PhoneNote(ordinal))
            let name = try #require(FileName(String(path.split(separator: "/").last ?? "")))
            arrived.append(name)
            world.now = world.now + .milliseconds(20)
            world.engine?.hear(.names([name.partial, name]), of: .toPhone)
            world.run()
            #expect(world.engine?.isDrained == false)
        }
        #expect(Self.taken(world).isEmpty, "the link holds them")
        // None is due: no full look lies in these four seconds.
        let held = Self.listings(world.instrument, of: "\(world.spoolPath)/to-phone")
        #expect(held == 0, "\(held) listings")
        world.run(seconds: 20)
        #expect(Self.taken(world) == arrived, "in the order of names, each once")
        #expect(world.acks().count == Self.count)
        // Full looks every ten seconds, and nothing else.
        let all = Self.listings(world.instrument, of: "\(world.spoolPath)/to-phone")
        #expect((2...4).contains(all), "\(all) listings")
        #expect(world.engine?.isDrained == true)
    }

    /// A name that is heard of late, and sorts before the head, becomes the head.
    @Test func whatIsHeardOfLateStillComesInTheOrderOfNames() throws {
        let world = try PhoneWorld.started()
        world.engine?.follow(Self.outage(\.toPhone, now: world.now), at: world.now)
        world.run()
        var names: [FileName] = []
        for ordinal in 0..<8 {
            let path = try world.deliver(PhoneNote(ordinal))
            names.append(try #require(FileName(String(path.split(separator: "/").last ?? ""))))
        }
        for name in names.reversed() {
            world.engine?.hear(.names([name]), of: .toPhone)
            world.run()
        }
        // Gone again before its turn, and told of twice.
        try world.disk.remove("\(world.spoolPath)/to-phone/\(names[3])")
        world.engine?.hear(.names([names[3], names[5]]), of: .toPhone)
        world.run(seconds: 6)
        #expect(Self.taken(world) == names.filter { $0 != names[3] })
    }

    @Test func acksThatArriveBehindAHeldHeadAreNotListed() throws {
        let world = try WatchWorld()
        let ids = try world.record(Self.count)
        let view = world.disk.asProcess("watch")
        let instrument = InstrumentedFileSystem(view)
        try world.start(on: instrument)
        let engine = try #require(world.engine)
        func run() {
            for _ in 0..<1_000 {
                if engine.step(at: world.now) > world.now { return }
            }
            Issue.record("it does not come to rest")
        }
        run()
        engine.follow(Self.outage(\.toWatch, now: world.now), at: world.now)
        run()
        instrument.clearTrace()
        for id in ids {
            let name = try world.ack(id)
            world.now = world.now + .milliseconds(20)
            engine.hear(.names([name]), of: .toWatch)
            run()
        }
        #expect(world.log.all(.ackReceived).isEmpty, "the link holds them")
        let held = Self.listings(instrument, of: "/spool/to-watch")
        #expect(held == 0, "\(held) listings")
        world.now = world.now + .seconds(2)
        run()
        #expect(world.log.all(.ackReceived).map(\.id) == ids, "in the order of names, each once")
        #expect(world.recordings.isEmpty && world.acks.isEmpty)
        #expect(Self.listings(instrument, of: "/spool/to-watch") == 0)
        view.kill()
    }

    /// On a disk with much room the other recordings are neither listed nor looked at; on one with little they are.
    @Test func recordingLooksAtTheOthersOnlyWhereTheyMayMatter() throws {
        for (capacity, looks) in [(nil, false), (8 << 20, false), (4 << 20, true)] as [(UInt64?, Bool)] {
            let world = try WatchWorld(capacityByteCount: capacity)
            // 1.4 MiB, of which a second copy must find room beside the reserve.
            try world.record(1, seconds: 93)
            let view = world.disk.asProcess("record")
            let instrument = InstrumentedFileSystem(view)
            #expect(try world.record(1, on: instrument).count == 1)
            let count = Self.listings(instrument, of: "/watch/recordings")
            #expect((count > 0) == looks, "\(String(describing: capacity)): \(count) listings")
            view.kill()
        }
    }
}
