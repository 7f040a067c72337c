import Simulation
import Spooling
import Testing
import WatchSide
import WireContract

/// Several acks in one file, as the watch meets them.
@Suite struct WatchAckFileTests {
    /// Each is an ack of its own, with a transfer of its own in the history; one that is a stray holds up none.
    @Test func acksInOneFileDeleteEachTheirRecording() throws {
        let world = try WatchWorld()
        let ids = try world.record(4)
        try world.start()
        world.settle()
        let stranger = ULID(high: 0x0123_4567_89AB_CDEF, low: 1)
        let file = try world.ackTogether([ids[2], stranger, ids[0], ids[2]])
        world.settle()
        #expect(Set(world.log.all(.deleted).map(\.id)) == [ids[0], ids[2]])
        #expect(world.log.all(.strayAck).contains { $0.id == stranger })
        #expect(world.recordings == [ids[1], ids[3]] && world.acks == [])
        let entry = try #require(EntryName(file))
        #expect(
            world.log.all(.ackReceived).map(\.name)
                == [ids[2], stranger, ids[0], ids[2]].map { entry.carrying($0).fileName })
    }

    /// The file is the only word of all of them: as long as one has not done its work it stays.
    @Test func aFileOfAcksStaysUntilTheLastOfThemHasDoneItsWork() throws {
        let world = try WatchWorld()
        let ids = try world.record(3)
        let instrument = InstrumentedFileSystem(world.disk.asProcess("watch"))
        try world.start(on: instrument)
        world.settle()
        instrument.injections = [
            Injection(
                .every { operation, paths in operation == .unlink && paths[0].contains("recordings/\(ids[1])") },
                .fail(.inputOutput))
        ]
        let file = try world.ackTogether(ids)
        world.settle()
        #expect(world.recordings == [ids[1]] && world.acks == [file])
        instrument.injections = []
        world.now = world.now + .seconds(60)
        world.settle()
        #expect(world.recordings == [] && world.acks == [])
        #expect(Set(world.log.all(.deleted).map(\.id)) == Set(ids))
    }

    /// More than are acted on at a time, in few files: nothing is forgotten between two of them.
    @Test func thousandsOfAcksInFewFiles() throws {
        let world = try WatchWorld()
        let ids = try world.record(900)
        try world.start()
        world.settle()
        try world.takeAll()
        for start in stride(from: 0, to: ids.count, by: 200) {
            try world.ackTogether(Array(ids[start..<min(ids.count, start + 200)]))
        }
        world.settle()
        #expect(world.recordings == [] && world.acks == [])
        #expect(world.log.all(.deleted).map(\.id) == ids)
    }

    /// A phone writes all of a file over one pairing. One of another in between: whoever wrote that is not believed.
    @Test func aFileWithAnAckOfAnotherPairingIsSetAsideWhole() throws {
        let world = try WatchWorld()
        let ids = try world.record(3)
        try world.start()
        world.settle()
        let other = PairingID(rawValue: 0xBEEF)
        try world.ackTogether(ids, pairings: [WatchWorld.pairing, other, WatchWorld.pairing])
        world.settle()
        #expect(world.recordings == ids && world.acks == [])
        #expect(world.quarantine.map(\.reason) == [.otherPairing])
    }
}
