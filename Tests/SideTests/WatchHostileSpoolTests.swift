import Simulation
import Spooling
import Testing
import WatchSide
import WireContract

/// Whatever lies in `to-watch`, what is behind it is acted on, and nothing but an ack of ours deletes.
@Suite struct WatchHostileSpoolTests {
    private func valid(_ id: ULID) -> [UInt8] {
        WatchWorld.ack(IngestAck(id: id.description).dictionary(version: 1), pairing: WatchWorld.pairing)
    }

    @Test func poisonIsSetAsideWithItsReasonAndBlocksNothing() throws {
        let world = try WatchWorld()
        let ids = try world.record(2)
        try world.start()
        world.settle()
        let good = valid(ids[0])
        var altered = good
        altered[3] ^= 1
        var noID = PropertyListDictionary()
        noID["ackV"] = .integer(1)
        var path = noID
        path["ackID"] = .string("../../../../watch/recordings")
        var truth = noID
        truth["ackV"] = .boolean(true)
        truth["ackID"] = .string(ids[0].description)
        var body = Array("body".utf8)
        let dictionary = Array(good.dropLast(Seal.byteCount))
        body +=
            dictionary
            + Seal(
                kind: .ack, bodyByteCount: 4, bodyChecksums: Checksums(of: Array("body".utf8)), dictionary: dictionary,
                pairing: WatchWorld.pairing, fileExtension: .none
            ).bytes
        let note =
            dictionary
            + Seal(
                kind: .note, bodyByteCount: 0, bodyChecksums: .ofNothing, dictionary: dictionary,
                pairing: WatchWorld.pairing, fileExtension: .none
            ).bytes
        let xml = Array("<?xml version=\"1.0\"?><plist version=\"1.0\"><dict/></plist>".utf8)
        let xmlAck =
            xml
            + Seal(
                kind: .ack, bodyByteCount: 0, bodyChecksums: .ofNothing, dictionary: xml, pairing: WatchWorld.pairing,
                fileExtension: .none
            ).bytes
        let poison: [([UInt8], String)] = [
            ([], "empty"), (Array(good.dropLast(1)), "noSeal"), (Array(good.dropFirst(1)), "wrongLength"),
            (altered, "dictionaryAltered"), ([UInt8](repeating: 0x41, count: 3_000_000), "noSeal"),
            (body, "wrongLength"), (note, "wrongKind"), (xmlAck, "malformedDictionary"),
            (WatchWorld.ack(noID, pairing: WatchWorld.pairing), "unknownAck"),
            (WatchWorld.ack(path, pairing: WatchWorld.pairing), "unknownAck"),
            (WatchWorld.ack(truth, pairing: WatchWorld.pairing), "unknownAck"),
            (
                WatchWorld.ack(IngestAck(id: ids[0].description).dictionary(version: 2), pairing: WatchWorld.pairing),
                "unknownAck"
            ),
        ]
        for (bytes, _) in poison { try world.disk.write(bytes, to: "/spool/to-watch/\(world.ackName(ids[0]))") }
        try world.ack(ids[1])
        world.settle()
        #expect(world.quarantine.map(\.reason.description) == poison.map(\.1))
        #expect(world.recordings == [ids[0]] && world.acks == [])
        try world.ack(ids[0])
        world.settle()
        #expect(world.recordings == [])
    }

    @Test func whatIsNoPlainFileOfOursIsReportedOnceAndLeftAlone() throws {
        let world = try WatchWorld()
        let ids = try world.record(1)
        try world.start()
        world.settle()
        let directory = "/spool/to-watch"
        let bytes = valid(ids[0])
        try world.disk.plant("/elsewhere", bytes: bytes)
        try world.disk.plant("\(directory)/\(world.ackName(ids[0]))", kind: .symbolicLink, target: "/elsewhere")
        try world.disk.plant("\(directory)/\(world.ackName(ids[0]))", kind: .fifo)
        try world.disk.plant("\(directory)/\(world.ackName(ids[0]))", kind: .device)
        try world.disk.plant("\(directory)/\(world.ackName(ids[0]))", kind: .socket)
        try world.disk.plant("\(directory)/\(world.ackName(ids[0]))", bytes: bytes, isOurs: false)
        try world.disk.plant("\(directory)/\(world.ackName(ids[0]))", bytes: bytes, permissions: 0o644)
        try world.disk.plant("\(directory)/\(world.ackName(ids[0]))", bytes: bytes, linkCount: 2)
        try world.disk.makeDirectory("\(directory)/\(world.ackName(ids[0]))")
        try world.disk.plant("\(directory)/strange", kind: .symbolicLink, target: "/elsewhere")
        let left = world.acks
        world.settle()
        world.pass(.seconds(60))
        #expect(world.recordings == ids && world.quarantine == [])
        #expect(world.acks == left)
        #expect(world.log.all(.refused).count == left.count)
        try world.ack(ids[0])
        world.settle()
        #expect(world.recordings == [])
    }

    @Test func strangeNamesAreSetAsideAndTemporariesOfThePhoneAreNot() throws {
        let world = try WatchWorld()
        let ids = try world.record(1)
        try world.start()
        for number in 0..<200 { try world.disk.write(valid(ids[0]), to: "/spool/to-watch/strange \(number)") }
        try world.disk.write(valid(ids[0]), to: "/spool/to-watch/\(world.ackName(ids[0])).part")
        let escapes: [UInt8] = [0x1B, 0x5B, 0x32, 0x4A, 0xFF]
        guard let odd = FileName(bytes: escapes) else { return }
        #expect(odd.description == "\\x1b[2J\\xff")
        world.settle()
        #expect(world.quarantine.count == 200)
        #expect(world.quarantine.allSatisfy { $0.reason == .strangeName })
        #expect(world.acks.count == 1 && world.recordings == ids)
    }

    /// More links than anybody can remember, all in front of one ack.
    @Test func thousandsOfLinksInFrontDoNotHideAnAck() throws {
        let world = try WatchWorld()
        let ids = try world.record(1)
        try world.start()
        world.settle()
        for _ in 0..<5_000 {
            try world.disk.plant(
                "/spool/to-watch/\(world.ackName(ids[0]))", kind: .symbolicLink, target: "/elsewhere")
        }
        try world.ack(ids[0])
        world.settle()
        #expect(world.recordings == [])
        #expect(world.acks.count == 5_000)
        #expect(world.log.all(.refused).count <= 1_024)
    }

    @Test func strangeThingsAmongTheRecordingsAreReportedOnceAndLeftAlone() throws {
        let world = try WatchWorld()
        let ids = try world.record(1)
        try world.disk.plant("/watch/recordings/notes.txt", bytes: [1])
        try world.disk.plant("/elsewhere", bytes: [1, 2, 3])
        let link = ULID(high: 1, low: 1)
        try world.disk.plant("/watch/recordings/\(link).note", kind: .symbolicLink, target: "/elsewhere")
        try world.start()
        world.settle()
        world.pass(.seconds(30))
        #expect(world.entries.map(\.id) == ids)
        #expect(world.log.all(.refused).count == 2)
        try world.ack(ids[0])
        try world.ack(link)
        world.settle()
        // A link is no recording: its ack is a stray, and the watch has drained.
        #expect(world.engine?.isDrained == true)
        #expect(world.disk.content("/elsewhere") == [1, 2, 3])
    }
}
