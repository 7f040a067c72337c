import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

// Law 9 and strange names: what lies in the spool may be anything.

@Suite("Phone: what lies in the spool may be anything")
struct PhoneRefusalTests {
    private static let folder = "/pair/spool/to-phone"

    @Test(
        "what is not a plain file of ours is reported once, left alone, and holds nothing up",
        arguments: [
            "link", "dangling link", "fifo", "socket", "device", "directory", "foreign", "0644", "0666", "0700 dir",
            "0620", "hard link",
        ])
    func refused(what: String) throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        // In front of the note in the order of names, once under an entry's name, once under a strange one.
        for path in ["\(Self.folder)/\(world.entryName(PhoneNote.id(5)))", "\(Self.folder)/0-strange"] {
            let bytes = PhoneNote(5).envelope
            switch what {
            case "link": try world.disk.plant(path, kind: .symbolicLink, target: "/pair/phone/lock")
            case "dangling link": try world.disk.plant(path, kind: .symbolicLink, target: "/nowhere")
            case "fifo": try world.disk.plant(path, kind: .fifo)
            case "socket": try world.disk.plant(path, kind: .socket)
            case "device": try world.disk.plant(path, kind: .device)
            case "directory", "0700 dir": try world.disk.makeDirectory(path)
            case "foreign": try world.disk.plant(path, bytes: bytes, permissions: 0o666, isOurs: false)
            case "0644": try world.disk.plant(path, bytes: bytes, permissions: 0o644)
            case "0666": try world.disk.plant(path, bytes: bytes, permissions: 0o666)
            case "0620": try world.disk.plant(path, bytes: bytes, permissions: 0o620)
            case "hard link": try world.disk.plant(path, bytes: bytes, linkCount: 2)
            default: Issue.record("no such story: \(what)")
            }
        }
        let before = world.names(in: Self.folder).map { world.disk.status("\(Self.folder)/\($0)") }
        try world.deliver(note)
        world.instrument.clearTrace()
        world.hearAndRun()
        #expect(world.acks() == [note.id])
        #expect(world.engine?.isDrained == true)
        for _ in 0..<10 { world.hearAndRun(seconds: 30) }
        #expect(world.history.count(.refused) == 2)
        let after = world.names(in: Self.folder).map { world.disk.status("\(Self.folder)/\($0)") }
        #expect(after == before)
        #expect(
            !world.instrument.trace.contains {
                [.read, .open, .unlink].contains($0.operation) && $0.paths[0].contains("0-strange")
            }, "never opened, never read")
        #expect(world.containerFiles == [note.containerPath] && world.inQuarantine.isEmpty)
    }

    @Test("strange names go to the quarantine, whatever is in them; what others are writing is left alone")
    func strangeNames() throws {
        let world = try PhoneWorld.started()
        let good = PhoneNote(9)
        let entry = world.entryName(good.id)
        let names: [[UInt8]] = [
            [0xFF, 0xFE, 0x80], Array("...".utf8), Array("..note".utf8), Array(repeating: 0x61, count: 255),
            Array(world.entryName(good.id, kind: .ack).utf8), Array(entry.lowercased().utf8),
            Array(entry.replacing("-00001.note", with: "0-00001.note").utf8), Array("\(entry) ".utf8),
            Array("a\nb\u{1B}[31m".utf8), Array("\(good.id).note".utf8), Array(".hidden".utf8),
            Array("9999999999-9999999999-ffffffff-\(good.id)-00001.NOTE".utf8),
        ]
        let rival = world.disk.asProcess("rival")
        let spool = try rival.openRoot(Self.folder, create: false)
        for bytes in names + [Array("\(entry).part".utf8)] {
            let name = try #require(FileName(bytes: bytes))
            let file = try rival.create(name, in: spool)
            try rival.writeAll(file, at: 0, good.envelope)
        }
        try world.deliver(good)
        world.hearAndRun()
        #expect(world.acks() == [good.id])
        #expect(world.quarantineReasons == names.map { _ in "strangeName" })
        #expect(world.names(in: Self.folder) == ["\(entry).part"])
        #expect(world.engine?.isDrained == true)
        #expect(world.inQuarantine.allSatisfy { $0.subject.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } })
    }

    @Test("an entry whose name tells another id than its payload is set aside, in the spool and in the inbox")
    func nameLies() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        try world.deliver(note.envelope, id: PhoneNote.id(2))
        let pairing = try #require(world.engine?.pairing)
        try world.disk.write(note.envelope, to: "/pair/phone/inbox/\(pairing).\(world.entryName(PhoneNote.id(3)))")
        world.hearAndRun(seconds: 30)
        #expect(world.acks().isEmpty && world.containerFiles.isEmpty)
        #expect(world.quarantineReasons == ["strangeName", "strangeName"])
        #expect(world.engine?.isDrained == true)
    }

    @Test(
        "20,000 strange names: all set aside, the quarantine stays within its cap, the note behind them is not starved")
    func flood() throws {
        let world = try PhoneWorld.started()
        world.instrument.keepsTrace = false
        for index in 0..<20_000 { try world.disk.write([], to: "\(Self.folder)/!strange\(index)") }
        let note = PhoneNote(1)
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.names(in: Self.folder).isEmpty)
        #expect(world.acks() == [note.id])
        #expect(world.inQuarantine.count == QuarantineCaps.standard.itemCount)
        #expect(world.engine?.isDrained == true)
    }

    @Test("9,500 links in front of a note: it is not starved, and the phone does not spin")
    func refusedFlood() throws {
        let world = try PhoneWorld.started()
        world.instrument.keepsTrace = false
        for index in 0..<9_500 {
            try world.disk.plant("\(Self.folder)/!link\(index)", kind: .symbolicLink, target: "/nowhere")
        }
        let note = PhoneNote(1)
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.acks() == [note.id])
        #expect(world.engine?.isDrained == true)
        #expect(world.names(in: Self.folder).count == 9_500)
        world.run(seconds: 21)
        let second = PhoneNote(2)
        try world.deliver(second)
        world.hearAndRun()
        #expect(world.acks() == [note.id, second.id])
        #expect(world.history.count(.refused) <= 9_500)
    }

    @Test("an entry that vanishes while the phone looks at it is nothing")
    func cancelled() throws {
        for nth in 1...12 {
            let world = try PhoneWorld.started()
            let path = try world.deliver(PhoneNote(1))
            let calls = world.instrument.callCount
            let disk = world.disk
            world.instrument.injections = [Injection(.call(calls + nth), .before { try? disk.remove(path) })]
            try world.deliver(PhoneNote(2))
            world.hearAndRun(seconds: 30)
            #expect(Set(world.acks()).isSubset(of: [PhoneNote(1).id, PhoneNote(2).id]))
            #expect(world.acks().contains(PhoneNote(2).id))
            #expect(world.engine?.isDrained == true)
            #expect(world.writtenFaults([PhoneNote(1), PhoneNote(2)]) == [])
        }
    }

    @Test("an altered copy in front of a whole one does not take that one with it")
    func alteredFirst() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        var altered = note.envelope
        altered[3] ^= 1
        try world.deliver(altered, id: note.id)
        try world.deliver(note, attempt: 2)
        world.hearAndRun()
        #expect(world.acks() == [note.id])
        #expect(world.quarantineReasons == ["bodyAltered"])
    }
}
