import Foundation
import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

// P5 and P7: what cannot be verified is set aside, what cannot be understood waits.

@Suite("Phone: damaged deliveries and payloads of the future")
struct PhoneDamageTests {
    /// Delivers many damaged copies with a good note behind them; then nothing but the good one is in the container or
    /// acked, and every copy is in the quarantine.
    private func check(_ copies: [[UInt8]], of note: PhoneNote, _ what: String) throws -> [String] {
        let world = try PhoneWorld.started()
        let good = PhoneNote(77)
        for copy in copies { try world.deliver(copy, id: note.id) }
        try world.deliver(good)
        world.hearAndRun()
        #expect(world.containerFiles == [good.containerPath], "\(what)")
        #expect(world.acks() == [good.id], "\(what)")
        #expect(world.inQuarantine.count == copies.count, "\(what)")
        #expect(world.names(in: "/pair/spool/to-phone").isEmpty && world.phone("staging").isEmpty)
        #expect(world.engine?.isDrained == true)
        // The watch sends it again, whole.
        try world.deliver(note, attempt: 2)
        world.hearAndRun()
        #expect(world.acks() == [good.id, note.id])
        return world.quarantineReasons
    }

    @Test("every byte of an envelope altered in turn: never ingested, never acked, set aside with a reason")
    func everyByte() throws {
        let note = PhoneNote(1, byteCount: 40)
        #expect(note.envelope.count < 400)
        let copies = note.envelope.indices.map { index in
            var copy = note.envelope
            copy[index] ^= 0x41
            return copy
        }
        let reasons = Set(try check(copies, of: note, "altered"))
        #expect(reasons == ["bodyAltered", "dictionaryAltered", "sealAltered", "noSeal"])
    }

    @Test("every length that a cut transfer can have, the empty file too")
    func everyLength() throws {
        let note = PhoneNote(1, byteCount: 40)
        let copies = note.envelope.indices.map { Array(note.envelope[..<$0]) }
        let reasons = try check(copies, of: note, "cut")
        #expect(reasons.first == "empty")
        #expect(Set(reasons.dropFirst()) == ["noSeal"])
    }

    @Test(
        "garbage behind, in front, an ack among notes, a huge dictionary, an XML list, shared references without bound")
    func otherDamage() throws {
        let note = PhoneNote(1, byteCount: 40)
        func sealed(_ dictionary: [UInt8], kind: EnvelopeKind = .note) -> [UInt8] {
            note.body + dictionary
                + Seal(
                    kind: kind, bodyByteCount: UInt64(note.body.count), bodyChecksums: Checksums(of: note.body),
                    dictionary: dictionary, pairing: PairingID(rawValue: 0), fileExtension: .none
                ).bytes
        }
        let copies: [([UInt8], String)] = [
            (note.envelope + [0], "noSeal"), ([0] + note.envelope, "wrongLength"),
            (sealed(Array(repeating: 7, count: 70_000)), "payloadTooLarge"),
            (sealed(Array("<?xml version=\"1.0\"?><plist><dict/></plist>".utf8)), "malformedDictionary"),
            (sealed([]), "malformedDictionary"), (sealed([], kind: .ack), "wrongKind"),
            (sealed(Self.sharedReferences), "malformedDictionary"),
            (Array(repeating: 0, count: 5_000), "noSeal"),
        ]
        let reasons = try check(copies.map(\.0), of: note, "other")
        #expect(reasons == copies.map(\.1))
    }

    /// Arrays of many references to arrays of many references: 10^16 values in 300 bytes.
    private static var sharedReferences: [UInt8] {
        var objects: [[UInt8]] = (0..<8).map { level in
            [0xAF, 0x10, 100] + [UInt8](repeating: UInt8(level + 1), count: 100)
        }
        objects.append([0x09])
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for offset in offsets { bytes.appendBigEndian(UInt16(offset)) }
        bytes += [0, 0, 0, 0, 0, 0, 2, 1]
        bytes.appendBigEndian(UInt64(objects.count))
        bytes.appendBigEndian(UInt64(0))
        bytes.appendBigEndian(UInt64(table))
        return bytes
    }

    // MARK: P7

    /// Dictionaries that this build does not understand, by what is wrong with them.
    private static let misunderstood: [(String, @Sendable (inout PropertyListDictionary) -> Void)] = [
        ("version missing", { $0["v"] = nil }), ("version 2", { $0["v"] = .integer(2) }),
        ("version 0", { $0["v"] = .integer(0) }), ("version -1", { $0["v"] = .integer(-1) }),
        ("version true", { $0["v"] = .boolean(true) }), ("version 1.0", { $0["v"] = .real(1) }),
        ("version beyond Int", { $0["v"] = .unsigned(.max) }), ("version a string", { $0["v"] = .string("1") }),
        ("id missing", { $0["id"] = nil }), ("id with a way out", { $0["id"] = .string("../../../../etc/passwd") }),
        ("id in lower case", { $0["id"] = .string("01hf7yat00003g000000000001") }),
        ("id of 27", { $0["id"] = .string("01HF7YAT00003G0000000000011") }),
        ("id with NUL", { $0["id"] = .string("01HF7YAT00003G00000000000\0") }),
        ("id a number", { $0["id"] = .integer(4) }),
        ("id overflows", { $0["id"] = .string("8ZZZZZZZZZZZZZZZZZZZZZZZZZ") }),
        ("recordedAt missing", { $0["recordedAt"] = nil }),
        ("recordedAt NaN", { $0["recordedAt"] = .date(secondsSinceReferenceDate: .nan) }),
        ("recordedAt 1e300", { $0["recordedAt"] = .date(secondsSinceReferenceDate: 1e300) }),
        ("recordedAt a number", { $0["recordedAt"] = .real(1) }), ("duration missing", { $0["duration"] = nil }),
        ("duration negative", { $0["duration"] = .real(-1) }),
        ("duration infinite", { $0["duration"] = .real(.infinity) }),
        ("duration a string", { $0["duration"] = .string("1") }),
    ]

    @Test(
        "what is not understood waits in staging, once however often it is sent, named by its id or its checksums, not acked"
    )
    func waits() throws {
        let world = try PhoneWorld.started()
        let notes = Self.misunderstood.enumerated().map { index, story in PhoneNote(index, change: story.1) }
        for attempt in 1...3 {
            for note in notes { try world.deliver(note, attempt: attempt) }
            world.hearAndRun()
        }
        let good = PhoneNote(500)
        try world.deliver(good)
        world.hearAndRun()
        let staged = world.phone("staging")
        #expect(staged.count == notes.count)
        for (note, story) in zip(notes, Self.misunderstood) {
            let sums = Checksums(of: note.body)
            let hasID = !story.0.hasPrefix("id ")
            let first = hasID ? note.id.description : sums.crc32.hex(digits: 8) + sums.adler32.hex(digits: 8)
            let names = staged.filter { $0.hasPrefix(first + "-") }
            #expect(names.count == 1, "\(story.0)")
            if let name = names.first {
                #expect(world.disk.content("/pair/phone/staging/\(name)") == note.envelope, "\(story.0)")
            }
        }
        #expect(world.acks() == [good.id])
        #expect(world.containerFiles == [good.containerPath])
        #expect(world.inQuarantine.isEmpty)
        #expect(
            Set(world.history.events.filter { $0.kind == .waits }.map(\.checksums))
                == Set(notes.map { Checksums(of: $0.body) }))
        #expect(world.history.count(.waits) == notes.count)
        #expect(world.engine?.isDrained == false, "a payload of the future is something owed")
        #expect(world.disk.openHandleCount < 40, "those that wait hold no descriptors")
        // A restart changes nothing; and only what the later build understands leaves.
        try world.start()
        world.run()
        #expect(world.phone("staging") == staged)
        world.settings.understands = 2
        try world.start()
        world.run()
        let upgraded = notes[1]
        #expect(world.acks() == [good.id, upgraded.id])
        #expect(world.disk.content(upgraded.containerPath) == upgraded.body)
        #expect(world.phone("staging").count == notes.count - 1)
    }

    @Test("unknown keys, an integer duration and a malformed time zone are no reason to wait")
    func lenient() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1) {
            $0["more"] = .array([.integer(1)])
            $0["duration"] = .integer(4)
            $0["tz"] = .integer(4)
        }
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.acks() == [note.id])
    }

    @Test(
        "one id, first as a payload of the future and then understood: ingested once; the one that waited is a duplicate later"
    )
    func bothVersions() throws {
        let world = try PhoneWorld.started()
        let future = PhoneNote(1, version: 2)
        let present = PhoneNote(1)
        try world.deliver(future)
        try world.deliver(present, attempt: 2)
        world.hearAndRun()
        #expect(world.acks() == [present.id])
        #expect(world.phone("staging").count == 1)
        world.settings.understands = 2
        try world.start()
        world.run()
        #expect(world.containerFiles == [present.containerPath])
        #expect(world.phone("staging").isEmpty)
        #expect(world.acks() == [present.id, present.id])
    }

    @Test("over the staging cap an entry stays in the spool, understood notes go past it, and an upgrade lets it go on")
    func stagingCap() throws {
        var settings = PhoneSettings()
        settings.stagingCapByteCount = 2_000
        let world = try PhoneWorld.started(settings: settings)
        let future = (1...6).map { PhoneNote($0, byteCount: 500, version: 2) }
        for note in future { try world.deliver(note) }
        let good = PhoneNote(9)
        try world.deliver(good)
        world.hearAndRun()
        let waiting = world.phone("staging").count
        #expect(waiting == 2)
        #expect(world.names(in: "/pair/spool/to-phone").count == 6 - waiting)
        #expect(world.acks() == [good.id])
        #expect(world.history.events.contains { $0.detail?.contains("7015") == true })
        #expect(world.engine?.isDrained == false)
        world.run(seconds: 600)
        #expect(
            world.history.events.count { $0.detail?.contains("7015") == true } == 6 - waiting, "said once for each")
        // A resend of one that waits already needs no room: it is dropped.
        try world.deliver(future[0], attempt: 2)
        world.hearAndRun(seconds: 20)
        #expect(world.names(in: "/pair/spool/to-phone").count == 6 - waiting)
        world.settings.understands = 2
        try world.start()
        world.run(seconds: 20)
        #expect(world.endFaults(future + [good]) == [])
    }

    @Test("one that is larger than the cap alone still waits in staging: at least one may")
    func largerThanCap() throws {
        var settings = PhoneSettings()
        settings.stagingCapByteCount = 10
        let world = try PhoneWorld.started(settings: settings)
        try world.deliver(PhoneNote(1, version: 2))
        world.hearAndRun()
        #expect(world.phone("staging").count == 1)
    }

    // MARK: A recording of an envelope

    @Test("a body that is itself a sealed note crosses unharmed, and what is inside is not ingested")
    func nested() throws {
        let inner = PhoneNote(2)
        let outer = PhoneNote(1, body: inner.envelope, fileExtension: "note")
        let world = try PhoneWorld.started()
        try world.deliver(outer)
        world.hearAndRun()
        #expect(world.endFaults([outer]) == [])
        #expect(world.acks() == [outer.id])
    }

    @Test("a body that is a sealed note, killed or without power at every call")
    func nestedKilled() throws {
        let inner = PhoneNote(2)
        let outer = PhoneNote(1, body: inner.envelope, fileExtension: "note")
        let world = try PhoneWorld.started()
        world.quit()
        world.disk.losePower(.everything)
        try world.deliver(outer)
        let image = world.disk.snapshot()
        try world.start()
        world.run()
        let calls = world.instrument.callCount
        for call in 1...calls {
            for seed in 0..<5 as Range<UInt64> {
                world.disk.restore(image)
                if seed > 0 { world.onDeath = { $0.disk.losePower(.random(seed: seed + UInt64(call))) } }
                world.startIfItCan(injections: [Injection(.call(call), .dieAfter)])
                world.run()
                world.quit()
                try world.takeAcks()
                try world.finish([outer])
                #expect(world.endFaults([outer]) == [], "at \(call), seed \(seed)")
                #expect(world.containerFiles(of: inner.id).isEmpty)
            }
        }
    }
}
