import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

// Law 12: pairings, spools that vanish, spools on other disks; and requests from other commands.

@Suite("Phone: pairings, spools and requests")
struct PhonePairingTests {
    @Test("a phone keeps its pairing over restarts; a new phone on the same spool makes a new one")
    func newPhone() throws {
        let world = try PhoneWorld.started()
        let first = try #require(world.engine?.pairing)
        try world.start()
        #expect(world.engine?.pairing == first)
        world.quit()
        try world.disk.remove("/pair/phone")
        try world.start()
        let second = try #require(world.engine?.pairing)
        #expect(second != first)
        let told = world.history.events.filter { $0.kind == .paired || $0.kind == .started }
        #expect(told.map(\.kind) == [.paired, .started, .started, .paired, .started])
        #expect(told.map(\.pairing) == [first, first, first, second, second])
        #expect(world.names(in: "/pair/spool/pairing").contains { $0.hasSuffix(second.description) })
        let note = PhoneNote(1)
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.ackEntries().map(\.seal.pairing) == [second])
    }

    @Test("killed at every call of a first start, the next one has one pairing that home and spool agree on")
    func firstStartKilled() throws {
        let world = PhoneWorld()
        try world.start()
        let calls = world.instrument.callCount
        world.quit()
        for call in 1...calls {
            for loss in [nil, PowerLoss.durableOnly, .random(seed: UInt64(call))] {
                let world = PhoneWorld()
                if let loss { world.onDeath = { $0.disk.losePower(loss) } }
                world.startIfItCan(injections: [Injection(.call(call), .dieAfter)])
                world.run()
                world.quit()
                world.onDeath = nil
                try world.start()
                world.run()
                let pairing = try #require(world.engine?.pairing)
                let ends = ["/pair/phone/pairing", "/pair/spool/pairing"].map { world.names(in: $0).last?.suffix(16) }
                #expect(
                    ends == [pairing.description[...], pairing.description[...]],
                    "\(call), \(loss.map { "\($0)" } ?? "killed")")
                let note = PhoneNote(1)
                try world.deliver(note)
                world.hearAndRun()
                #expect(world.endFaults([note]) == [])
            }
        }
    }

    @Test("switched to another spool and back, an ack goes only over the pairing that its delivery came by")
    func switched() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1, version: 2)
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.phone("staging").count == 1)
        // Another watch's spool; the phone's later build understands the note there.
        world.settings.understands = 2
        world.spoolPath = "/pair/other"
        try world.start()
        world.run(seconds: 60)
        #expect(world.containerFiles == [note.containerPath])
        #expect(world.visibleAcks().isEmpty)
        #expect(world.history.count(.acked, phase: .intends) == 0, "nobody is about to ack it over this pairing")
        #expect(world.engine?.isDrained == true)
        world.spoolPath = "/pair/spool"
        try world.start()
        world.run(seconds: 60)
        #expect(world.visibleAcks().isEmpty, "the first watch sends again; then it is acked")
        try world.deliver(note, attempt: 2)
        world.hearAndRun()
        #expect(world.acks() == [note.id])
        #expect(world.ackEntries().map(\.seal.pairing) == [try #require(world.engine?.pairing)])
    }

    @Test(
        "a note that was cut short in the inbox by a switch of spools is ingested, and not acked over the other pairing"
    )
    func switchedInInbox() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        try world.deliver(note)
        world.instrument.injections = [
            Injection(
                .first { operation, paths in operation == .publish && paths[1].contains("/staging/") }, .dieBefore)
        ]
        world.hearAndRun()
        #expect(world.phone("inbox").count == 1)
        world.spoolPath = "/pair/other"
        try world.start()
        world.run(seconds: 30)
        #expect(world.containerFiles == [note.containerPath] && world.visibleAcks().isEmpty)
    }

    @Test("a spool that is deleted and made again while the phone runs is opened anew")
    func spoolExchanged() throws {
        let world = try PhoneWorld.started()
        let first = PhoneNote(1)
        try world.deliver(first)
        world.hearAndRun()
        let generation = try #require(world.engine?.placesGeneration)
        let pairing = world.engine?.pairing
        try world.disk.remove("/pair/spool")
        world.run(seconds: 30)
        #expect(world.disk.status("/pair/spool/to-phone")?.kind == .directory)
        #expect(world.history.count(.spoolReopened) == 1)
        #expect(world.engine?.placesGeneration == generation + 1)
        #expect(world.engine?.pairing != pairing)
        let second = PhoneNote(2)
        try world.deliver(second)
        try world.deliver(first, attempt: 2)
        world.hearAndRun()
        #expect(Set(world.acks()) == [second.id, first.id])
        #expect(world.endFaults([first, second]) == [])
        #expect(world.disk.lockHolder("/pair/spool/phone.lock") == "phone")
    }

    @Test("only the queue's directory is exchanged: noticed too")
    func queueExchanged() throws {
        let world = try PhoneWorld.started()
        try world.disk.remove("/pair/spool/to-phone")
        try world.disk.makeDirectory("/pair/spool/to-phone")
        world.run(seconds: 11)
        let note = PhoneNote(1)
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.acks() == [note.id])
    }

    @Test("a spool that cannot be opened is waited for without spinning, and the phone is not drained without it")
    func spoolUnusable() throws {
        let world = try PhoneWorld.started()
        try world.disk.remove("/pair/spool")
        try world.disk.makeDirectory("/pair/spool", permissions: 0o777)
        world.run(seconds: 60)
        #expect(world.engine?.isDrained == false)
        try world.disk.remove("/pair/spool")
        world.run(seconds: 11)
        #expect(world.engine?.isDrained == true)
        let note = PhoneNote(1)
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.acks() == [note.id])
    }

    @Test("a command opens the home alone, without a spool, and is asked again only when something is due")
    func homeOnly() throws {
        let world = try PhoneWorld.started()
        world.quit()
        let view = world.disk.asProcess("command")
        let engine = try PhoneEngine(
            homePath: "/pair/phone", spoolPath: nil, settings: PhoneSettings(),
            surroundings: Surroundings(
                fileSystem: view, history: PhoneHistory(), random: { 4 }, shouldStop: { false }, holder: "command"))
        #expect(
            engine.perform(try #require(Request(nonce: 1, verb: .veto, subject: PhoneNote.id(1).description))) == .done)
        #expect(engine.step(at: world.now) > world.now)
        #expect(engine.isDrained)
    }

    @Test("a second phone on one home, or on one end of a spool, is told who holds it")
    func twoHolders() throws {
        let world = try PhoneWorld.started()
        for (home, spool) in [("/pair/phone", "/pair/third"), ("/pair/second", "/pair/spool")] {
            #expect {
                _ = try PhoneEngine(
                    homePath: home, spoolPath: spool, settings: PhoneSettings(),
                    surroundings: Surroundings(
                        fileSystem: world.disk.asProcess("rival"), history: PhoneHistory(), random: { 5 },
                        shouldStop: { false }, holder: "rival"))
            } throws: { error in
                guard case .held(_, let holder) = error as? FolderError else { return false }
                return holder == "test"
            }
        }
        let note = PhoneNote(1)
        try world.deliver(note)
        world.hearAndRun()
        #expect(world.acks() == [note.id])
    }

    @Test("a spool on another disk: one copy more, nothing else", arguments: [nil, "/pair"] as [String?])
    func otherDisk(sharing: String?) throws {
        let world = PhoneWorld()
        try world.disk.makeDirectory("/pair")
        try world.disk.mount("/pair/spool", sharingDeviceOf: sharing)
        try world.start()
        world.run()
        let notes = (1...6).map { PhoneNote($0, byteCount: 5_000) }
        for note in notes { try world.deliver(note) }
        try world.disk.write([1, 2, 3], to: "/pair/spool/to-phone/strange")
        world.hearAndRun()
        #expect(world.endFaults(notes) == [])
        #expect(world.quarantineReasons == ["strangeName"])
        #expect(world.inQuarantine.map(\.holdsBytes) == [false])
    }

    @Test("a spool on another disk, killed or without power at every call")
    func otherDiskKilled() throws {
        let world = PhoneWorld()
        try world.disk.makeDirectory("/pair")
        try world.disk.mount("/pair/spool")
        try world.start()
        world.run()
        world.quit()
        world.disk.losePower(.everything)
        let note = PhoneNote(1)
        try world.deliver(note)
        let image = world.disk.snapshot()
        try world.start()
        world.run()
        let calls = world.instrument.callCount
        for call in 1...calls {
            for loss in [nil, PowerLoss.random(seed: UInt64(call))] {
                world.disk.restore(image)
                var faults: [String] = []
                if let loss {
                    world.onDeath = {
                        faults = $0.durableFaults([note])
                        $0.disk.losePower(loss)
                    }
                }
                world.startIfItCan(injections: [Injection(.call(call), .dieAfter)])
                world.run()
                world.quit()
                #expect(faults == [])
                try world.takeAcks()
                try world.finish([note])
                #expect(world.endFaults([note]) == [], "at \(call)")
            }
        }
    }

    // MARK: Requests

    @Test("a request file is answered; two requests at once both are; a verb of the other side is unknown")
    func requests() throws {
        let world = try PhoneWorld.started()
        let ids = [PhoneNote.id(1), PhoneNote.id(2)]
        for (index, id) in ids.enumerated() {
            try world.disk.write([], to: "/pair/phone/requests/000000000000010\(index).veto.\(id).request")
        }
        try world.disk.write([], to: "/pair/phone/requests/not a request")
        world.run(seconds: 11)
        #expect(
            world.phone("requests") == [
                "0000000000000100.done.answer", "0000000000000101.done.answer", "not a request",
            ])
        #expect(world.phone("vetoes") == ids.map(\.description))
        #expect(try world.ask(.cancel, ids[0].description) == .unknown)
    }

    @Test("a holder is killed at every call of a request: it is carried out once, and answered by the next holder")
    func requestKilled() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        try world.deliver(note)
        world.hearAndRun()
        world.quit()
        world.disk.losePower(.everything)
        try world.disk.plant("/pair/phone/requests/00000000000000aa.delete.\(note.id).request")
        let image = world.disk.snapshot()
        try world.start()
        world.run()
        let calls = world.instrument.callCount
        for call in 1...calls {
            world.disk.restore(image)
            world.startIfItCan(injections: [Injection(.call(call), .dieAfter)])
            world.run()
            try world.start()
            world.run()
            let answers = world.phone("requests")
            // A start sweeps answers; that of a request that was taken away before the death is among them.
            #expect(
                [["00000000000000aa.done.answer"], ["00000000000000aa.already.answer"], []].contains(answers),
                "\(answers) at \(call)")
            #expect(world.containerFiles.isEmpty)
            #expect(world.outcomes(isDurable: true)[note.id] == .deleted)
        }
    }

    @Test("600 requests are taken up, more than one look takes")
    func manyRequests() throws {
        let world = try PhoneWorld.started()
        for index in 0..<600 as Range<UInt64> {
            let request = try #require(
                Request(nonce: index, verb: .veto, subject: PhoneNote.id(Int(index)).description))
            try world.disk.write([], to: "/pair/phone/requests/\(request.fileName)")
        }
        world.run(seconds: 11)
        #expect(world.phone("vetoes").count == 600)
        #expect(world.phone("requests").allSatisfy { $0.hasSuffix(".done.answer") })
    }
}
