import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

@Suite("Phone: a note is ingested and acked")
struct PhoneIngestTests {
    @Test("a note arrives to the byte, under its month and extension, and is acked once")
    func oneNote() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.disk.content("/pair/phone/container/2023-11/\(note.id).m4a") == note.body)
        #expect(world.containerFiles == [note.containerPath])
        #expect(world.acks() == [note.id])
        #expect(world.phone("inbox").isEmpty && world.phone("staging").isEmpty)
        #expect(world.names(in: "/pair/spool/to-phone").isEmpty)
        #expect(world.engine?.isDrained == true)
        #expect(world.inQuarantine.isEmpty)
        world.run(seconds: 3_600)
        #expect(world.acks() == [note.id], "nothing is acked again that was not sent again")
    }

    @Test(
        "the month is the UTC one of the id, and a note without extension has none",
        arguments: [
            ("wav", UInt64(1_704_067_199_000), "2023-12"), ("", 1_704_067_200_000, "2024-01"),
            ("caf", 951_782_400_000, "2000-02"), ("A1b2C3d4", 0, "1970-01"),
        ])
    func monthAndExtension(fileExtension: String, milliseconds: UInt64, month: String) throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(0, fileExtension: fileExtension, milliseconds: milliseconds)
        try world.deliver(note)
        world.hearAndRun()
        let name = fileExtension.isEmpty ? "\(note.id)" : "\(note.id).\(fileExtension)"
        #expect(world.containerFiles == ["/pair/phone/container/\(month)/\(name)"])
        #expect(world.disk.content("/pair/phone/container/\(month)/\(name)") == note.body)
        #expect(world.acks() == [note.id])
    }

    @Test("200 notes over three months, all there to the byte, each acked once, in order")
    func manyNotes() throws {
        let world = try PhoneWorld.started()
        let notes = (0..<200).map { index in
            PhoneNote(
                index, byteCount: 100 + index * 37, fileExtension: index % 3 == 0 ? "" : "wav",
                milliseconds: PhoneNote.standardMilliseconds + UInt64(index % 3) * 2_678_400_000)
        }
        for note in notes { try world.deliver(note) }
        world.hearAndRun()
        for note in notes { #expect(world.disk.content(note.containerPath) == note.body) }
        #expect(world.containerFiles.count == 200)
        #expect(world.acks() == notes.map(\.id))
        #expect(world.engine?.isDrained == true)
        #expect(world.disk.openHandleCount < 40, "nothing stays open: \(world.disk.openHandleCount)")
    }

    @Test("a resend under another extension does not make a second file")
    func otherExtension() throws {
        let world = try PhoneWorld.started()
        try world.deliver(PhoneNote(1, fileExtension: "m4a"))
        world.hearAndRun()
        try world.deliver(PhoneNote(1, fileExtension: "wav"), attempt: 2)
        world.hearAndRun()
        let note = PhoneNote(1)
        #expect(world.containerFiles == [note.containerPath])
        #expect(world.acks() == [note.id, note.id])
    }

    @Test("an ack carries the pairing of the spool and the version of the settings")
    func ackFields() throws {
        var settings = PhoneSettings()
        settings.ackVersion = 3
        let world = try PhoneWorld.started(settings: settings)
        let note = PhoneNote(1)
        try world.deliver(note)
        world.hearAndRun()
        let ack = try #require(world.ackEntries().first)
        #expect(ack.seal.pairing == world.engine?.pairing)
        #expect(ack.dictionary["ackV"] == .integer(3))
        #expect(ack.dictionary["ackID"] == .string(note.id.description))
        #expect(world.disk.status(ack.path)?.permissions == 0o600)
    }

    @Test("what is told of an ingest names its bytes, and of an ack its pairing; intended and done")
    func told() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        try world.deliver(note)
        world.hearAndRun()
        let ingests = world.history.events.filter { $0.kind == .ingested }
        #expect(ingests.map(\.phase) == [.intends, .did])
        for ingest in ingests {
            #expect(ingest.byteCount == UInt64(note.body.count))
            #expect(ingest.checksums == Checksums(of: note.body))
        }
        let acks = world.history.events.filter { $0.kind == .acked }
        #expect(acks.map(\.phase) == [.intends, .did])
        #expect(acks.map(\.pairing) == [world.engine?.pairing, world.engine?.pairing])
        #expect(world.engine?.pairing != nil)
    }

    @Test("a long recording crosses in slices; told to stop in between, the phone stops and a start finishes")
    func longRecording() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1, byteCount: 3 * SliceCarrier.sliceByteCount + 17)
        try world.deliver(note)
        world.shouldStop = true
        _ = world.engine?.step(at: world.now)
        #expect(world.containerFiles.isEmpty)
        world.shouldStop = false
        try world.start()
        world.run()
        #expect(world.disk.content(note.containerPath) == note.body)
        #expect(world.acks() == [note.id])
    }
}
