import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

// P3 and P4: an ack is true, and a note is there once.

@Suite("Phone: once, and acked again only while it is true")
struct PhoneOnceTests {
    /// A phone that has ingested and acked `note`; the ack was taken away.
    private func having(_ note: PhoneNote, settings: PhoneSettings = PhoneSettings()) throws -> PhoneWorld {
        let world = try PhoneWorld.started(settings: settings)
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.acks() == [note.id])
        try world.takeAcks()
        return world
    }

    private func resend(_ note: PhoneNote, to world: PhoneWorld) throws {
        try world.deliver(note, attempt: 2)
        world.hearAndRun()
    }

    // MARK: Duplicates

    @Test("a duplicate of a final note is acked again and ingested once")
    func duplicate() throws {
        let note = PhoneNote(1)
        let world = try having(note)
        let inode = world.disk.status(note.containerPath)?.inode
        try resend(note, to: world)
        #expect(world.acks() == [note.id])
        #expect(world.disk.status(note.containerPath)?.inode == inode)
        #expect(world.containerFiles == [note.containerPath])
        #expect(world.phone("staging").isEmpty && world.phone("inbox").isEmpty)
        #expect(world.engine?.isDrained == true)
    }

    @Test("five deliveries at once of one note become one file and at least one ack")
    func fiveAtOnce() throws {
        let note = PhoneNote(1)
        let world = try PhoneWorld.started()
        for attempt in 1...5 { try world.deliver(note, attempt: attempt) }
        world.hearAndRun()
        #expect(world.containerFiles == [note.containerPath])
        #expect(world.disk.content(note.containerPath) == note.body)
        #expect(Set(world.acks()) == [note.id])
        #expect(world.endFaults([note]) == [])
        #expect(world.inQuarantine.isEmpty)
    }

    @Test("a resend that meets its own first copy in staging is dropped; the first one goes on")
    func meetsItself() throws {
        let note = PhoneNote(1)
        let world = try PhoneWorld.started()
        // The month cannot be made, so the first copy waits in staging.
        world.instrument.injections = [
            Injection(
                .every { operation, paths in operation == .openDirectory && paths[0].hasSuffix("2023-11") },
                .fail(.noSpace))
        ]
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.phone("staging").count == 1)
        try resend(note, to: world)
        #expect(world.phone("staging").count == 1 && world.phone("inbox").isEmpty)
        #expect(world.history.count(.duplicate) == 1)
        #expect(world.acks().isEmpty)
        #expect(world.engine?.isDrained == false)
        world.instrument.injections = []
        world.run(seconds: 60)
        #expect(world.endFaults([note]) == [])
        #expect(world.acks() == [note.id])
    }

    @Test(
        "two notes of one id with other bytes: the first one counts, the other one is idReused, never acked for itself")
    func idReused() throws {
        let note = PhoneNote(1)
        let other = PhoneNote(1, body: PhoneNote.body(50, byteCount: 300))
        let world = try PhoneWorld.started()
        try world.deliver(note)
        try world.deliver(other, attempt: 2)
        world.hearAndRun()
        #expect(world.containerFiles == [note.containerPath])
        #expect(world.disk.content(note.containerPath) == note.body)
        #expect(world.acks() == [note.id])
        #expect(world.quarantineReasons == ["idReused"])
        try resend(other, to: world)
        #expect(world.acks() == [note.id])
        #expect(world.quarantineReasons == ["idReused", "idReused"])
        #expect(world.engine?.isDrained == true)
    }

    // MARK: P3: the container lost it

    @Test(
        "whatever became of the container after the ack, a resend is ingested again and then acked",
        arguments: [
            "file removed", "file altered", "file cut", "file a directory", "month removed", "container removed",
            "container exchanged", "container exchanged while it was down",
        ])
    func containerLost(what: String) throws {
        let note = PhoneNote(1)
        let world = try having(note)
        switch what {
        case "file removed": try world.disk.remove(note.containerPath)
        case "file altered":
            var bytes = note.body
            bytes[100] ^= 1
            try world.disk.write(bytes, to: note.containerPath)
        case "file cut": try world.disk.write(Array(note.body.dropLast()), to: note.containerPath)
        case "file a directory":
            try world.disk.remove(note.containerPath)
            try world.disk.makeDirectory(note.containerPath)
        case "month removed": try world.disk.remove("/pair/phone/container/2023-11")
        case "container removed": try world.disk.remove("/pair/phone/container")
        case "container exchanged":
            try world.disk.remove("/pair/phone/container")
            try world.disk.makeDirectory("/pair/phone/container")
        case "container exchanged while it was down":
            world.quit()
            try world.disk.remove("/pair/phone/container")
            try world.disk.makeDirectory("/pair/phone/container")
            try world.start()
            world.run()
        default: Issue.record("no such story: \(what)")
        }
        #expect(world.acks().isEmpty)
        world.instrument.clearTrace()
        try resend(note, to: world)
        #expect(world.disk.content(note.containerPath) == note.body)
        #expect(world.endFaults([note]) == [])
        #expect(world.history.count(.containerLost) == 1)
        let isAside = ["file altered", "file cut", "file a directory"].contains(what)
        #expect(world.quarantineReasons == (isAside ? ["containerAltered"] : []))
        // And once more the same way, to the end.
        try world.takeAcks()
        try resend(note, to: world)
        #expect(world.endFaults([note]) == [])
    }

    @Test("the container vanishes between an ingest that failed after its rename and the resend")
    func containerLostUnfinished() throws {
        let note = PhoneNote(1)
        let world = try PhoneWorld.started()
        world.instrument.injections = [
            Injection(
                .first { operation, paths in operation == .syncDirectory && paths[0].hasSuffix("2023-11") },
                .fail(.inputOutput))
        ]
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.acks().isEmpty)
        try world.disk.remove("/pair/phone/container")
        for attempt in 2...3 where world.acks().isEmpty {
            try world.deliver(note, attempt: attempt)
            world.hearAndRun(seconds: 60)
        }
        #expect(world.endFaults([note]) == [])
    }

    @Test("a container that cannot be written is waited for; the note stays in staging and goes on by itself")
    func lockedContainer() throws {
        let note = PhoneNote(1)
        let world = try PhoneWorld.started()
        world.instrument.injections = [
            Injection(
                .every { _, paths in paths[paths.count - 1].hasPrefix("/pair/phone/container") }, .fail(.notPermitted))
        ]
        try world.deliver(note)
        world.hearAndRun(seconds: 300)
        #expect(world.acks().isEmpty)
        #expect(world.phone("staging").count == 1)
        func told() -> Int { world.history.events.count { $0.kind == .failed } }
        #expect(told() == 1, "the same trouble is told once")
        let locked = world.instrument.injections
        world.instrument.injections = []
        world.run(seconds: 31)
        #expect(world.endFaults([note]) == [])
        // All went well for longer than any wait; when it happens again, that is news.
        world.run(seconds: 80)
        world.instrument.injections = locked
        try world.deliver(PhoneNote(2))
        world.hearAndRun(seconds: 300)
        #expect(told() == 2)
    }

    // MARK: P4: the user's delete, the lost ledger

    @Test(
        "what the user deleted is acked when it comes again and does not come back, also after a restart",
        arguments: [false, true])
    func deleted(isRestarted: Bool) throws {
        let note = PhoneNote(1)
        let world = try having(note)
        #expect(try world.ask(.delete, note.id.description) == .done)
        #expect(world.containerFiles.isEmpty)
        #expect(!world.disk.durablePaths().contains(note.containerPath))
        #expect(try world.ask(.delete, note.id.description) == .already)
        if isRestarted {
            try world.start()
            world.run()
        }
        try resend(note, to: world)
        #expect(world.acks() == [note.id])
        #expect(world.containerFiles.isEmpty)
        #expect(world.phone("staging").isEmpty)
        // Other bytes under that id too: the user does not want the id back.
        #expect(world.engine?.isDrained == true)
    }

    @Test("a delete is refused before the ingest, and unknown for what nobody knows")
    func deleteTooEarly() throws {
        let world = try PhoneWorld.started()
        #expect(try world.ask(.delete, PhoneNote.id(9).description) == .unknown)
        #expect(try world.ask(.delete, "not-an-id") == .unknown)
    }

    @Test(
        "the ledger is lost: the same bytes are acked and not copied, also under another extension; other bytes are idReused",
        arguments: ["m4a", "wav", ""])
    func ledgerLost(fileExtension: String) throws {
        let note = PhoneNote(1)
        let world = try having(note)
        world.quit()
        for name in world.phone("ledger") { try world.disk.remove("/pair/phone/ledger/\(name)") }
        try world.start()
        world.run()
        let inode = world.disk.status(note.containerPath)?.inode
        let other = PhoneNote(1, body: PhoneNote.body(60, byteCount: 300), fileExtension: fileExtension)
        try resend(other, to: world)
        #expect(world.acks().isEmpty)
        #expect(world.quarantineReasons == ["idReused"])
        try resend(PhoneNote(1, fileExtension: fileExtension), to: world)
        #expect(world.acks() == [note.id])
        #expect(world.containerFiles == [note.containerPath])
        #expect(world.disk.status(note.containerPath)?.inode == inode)
        #expect(world.outcomes(isDurable: true) == [note.id: .ingested])
        // The new row knows the old extension: the container is probed where the file is.
        try world.takeAcks()
        try resend(note, to: world)
        #expect(world.acks() == [note.id])
        #expect(world.containerFiles == [note.containerPath])
    }

    @Test("the ledger is lost while the container is exchanged for one that holds the note under another extension")
    func ledgerLostContainerExchanged() throws {
        let note = PhoneNote(1, fileExtension: "wav")
        let world = try PhoneWorld.started()
        // A container that was restored from elsewhere, put in the place of ours while we run.
        try world.disk.remove("/pair/phone/container")
        try world.disk.makeDirectory("/pair/phone/container")
        try world.disk.makeDirectory("/pair/phone/container/2023-11")
        try world.disk.write(note.body, to: note.containerPath)
        try resend(PhoneNote(1, fileExtension: "m4a"), to: world)
        #expect(world.containerFiles(of: note.id) == [note.containerPath])
        #expect(world.acks() == [note.id])
    }

    @Test("ledger and container are lost: what the watch still has is new again")
    func bothLost() throws {
        let note = PhoneNote(1)
        let world = try having(note)
        #expect(try world.ask(.delete, note.id.description) == .done)
        world.quit()
        for name in world.phone("ledger") { try world.disk.remove("/pair/phone/ledger/\(name)") }
        try world.start()
        world.run()
        try resend(note, to: world)
        #expect(world.endFaults([note]) == [])
    }

    @Test("a user deletes what only the container knew")
    func deleteUnknown() throws {
        let note = PhoneNote(1)
        let world = try having(note)
        world.quit()
        for name in world.phone("ledger") { try world.disk.remove("/pair/phone/ledger/\(name)") }
        try world.start()
        world.run()
        #expect(try world.ask(.delete, note.id.description) == .done)
        #expect(world.containerFiles.isEmpty)
        try resend(note, to: world)
        #expect(world.acks() == [note.id] && world.containerFiles.isEmpty)
    }

    // MARK: Vetoes

    @Test("a veto before the note arrives: acked, not ingested; repeated: already; never undone by a restart")
    func vetoBefore() throws {
        let note = PhoneNote(1)
        let world = try PhoneWorld.started()
        #expect(try world.ask(.veto, note.id.description) == .done)
        #expect(world.acks().isEmpty, "nothing arrived yet")
        #expect(try world.ask(.veto, note.id.description) == .already)
        try world.start()
        world.run()
        #expect(try world.ask(.veto, note.id.description) == .already)
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.acks() == [note.id])
        #expect(world.containerFiles.isEmpty && world.phone("staging").isEmpty)
        try world.start()
        world.run()
        try resend(note, to: world)
        #expect(world.acks() == [note.id, note.id])
        #expect(world.containerFiles.isEmpty)
        #expect(try world.ask(.delete, note.id.description) == .unknown)
    }

    @Test("a veto while an ingest is tried again wins: the note is dropped and acked")
    func vetoWhileRetrying() throws {
        let note = PhoneNote(1)
        let world = try PhoneWorld.started()
        world.instrument.injections = [
            Injection(
                .every { operation, paths in operation == .openDirectory && paths[0].hasSuffix("2023-11") },
                .fail(.noSpace))
        ]
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.acks().isEmpty)
        #expect(try world.ask(.veto, note.id.description) == .done)
        #expect(world.acks() == [note.id])
        #expect(world.phone("staging").isEmpty)
        world.instrument.injections = []
        world.run(seconds: 100)
        #expect(world.containerFiles.isEmpty)
        #expect(world.engine?.isDrained == true)
    }

    @Test("a veto after the ingest is refused, also when the ledger was lost, and when only the rename was done")
    func vetoAfter() throws {
        let note = PhoneNote(1)
        let world = try having(note)
        #expect(try world.ask(.veto, note.id.description) == .refused)
        world.quit()
        for name in world.phone("ledger") { try world.disk.remove("/pair/phone/ledger/\(name)") }
        try world.start()
        world.run()
        #expect(try world.ask(.veto, note.id.description) == .refused)
        // The rename is the commit point; everything behind it fails.
        let second = PhoneNote(2)
        world.instrument.injections = [
            Injection(
                .every { operation, paths in operation == .syncDirectory && paths[0].hasSuffix("staging") },
                .fail(.inputOutput))
        ]
        try world.deliver(second)
        world.hearAndRun()
        #expect(world.containerFiles.contains(second.containerPath))
        #expect(try world.ask(.veto, second.id.description) == .refused)
        world.instrument.injections = []
        try resend(second, to: world)
        #expect(world.acks() == [second.id])
        #expect(world.containerFiles.contains(second.containerPath))
    }

    @Test("a veto whose directory cannot be synced is not done, and may be asked for again")
    func vetoFails() throws {
        let note = PhoneNote(1)
        let world = try PhoneWorld.started()
        world.instrument.injections = [
            Injection(
                .first { operation, paths in operation == .syncDirectory && paths[0].hasSuffix("vetoes") },
                .fail(.inputOutput))
        ]
        #expect(try world.ask(.veto, note.id.description) == .failed)
        #expect(try world.ask(.veto, note.id.description) == .done)
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.acks() == [note.id] && world.containerFiles.isEmpty)
    }
}
