import Simulation
import Spooling
import Testing
import WatchSide
import WireContract

@Suite struct WatchEngineTests {
    @Test func aRecordingCrossesAndIsDeletedOnItsAck() throws {
        let world = try WatchWorld()
        let ids = try world.record(3)
        try world.start()
        world.settle()
        #expect(world.entries.map(\.id) == ids)
        for entry in world.entries {
            let sent = world.disk.content("/spool/to-phone/\(entry)")
            #expect(sent == world.disk.content("/watch/recordings/\(entry.id).note"))
            #expect(world.disk.status("/spool/to-phone/\(entry)")?.linkCount == 1)
        }
        try world.takeAll()
        world.settle()
        #expect(world.log.all(.transferFinished).count == 3)
        #expect(world.recordings == ids)
        for id in ids { try world.ack(id) }
        world.settle()
        #expect(world.recordings == [] && world.acks == [])
        #expect(world.engine?.isDrained == true)
        let paired = world.log.events.filter { $0.kind == .paired }
        #expect(paired.map(\.pairing) == [WatchWorld.pairing])
        for kind in [PairEvent.Kind.ackReceived, .deleted] {
            let told = world.log.events.filter { $0.kind == kind }
            #expect(told.count == (kind == .deleted ? 6 : 3) && told.allSatisfy { $0.pairing == WatchWorld.pairing })
        }
        world.kill()
        try world.start()
        #expect(world.log.all(.started).map(\.pairing) == [nil, WatchWorld.pairing])
    }

    /// The phone is exchanged while a batch of acks is read: what the one before wrote does not count any more, though it
    /// lies in the same batch.
    @Test func anAckOfTheFormerPhoneInTheSameBatchIsSetAside() throws {
        let world = try WatchWorld()
        let ids = try world.record(3)
        try world.start()
        world.settle()
        let other = PairingID(rawValue: 0xBEEF)
        world.log.onEvent = { [unowned world] event in
            guard event.kind == .ackReceived, event.id == ids[0] else { return }
            #expect(throws: Never.self) { try world.pair(other) }
        }
        try world.ack(ids[0])
        try world.ack(ids[1], pairing: other)
        try world.ack(ids[2])
        world.settle()
        world.log.onEvent = nil
        #expect(world.log.all(.deleted).map(\.id) == [ids[0], ids[1]])
        #expect(world.log.all(.deleted).map(\.pairing) == [WatchWorld.pairing, other])
        #expect(world.recordings == [ids[2]])
        #expect(world.quarantine.map(\.reason) == [.otherPairing])
    }

    @Test func aDoubledAckDeletesOnceAndAnotherIsAStray() throws {
        let world = try WatchWorld()
        let ids = try world.record(2)
        try world.start()
        world.settle()
        try world.ack(ids[0])
        try world.ack(ids[0])
        world.settle()
        #expect(world.log.all(.deleted).map(\.id) == [ids[0]])
        #expect(world.entries.map(\.id) == [ids[1]])
        try world.ack(ids[0])
        world.settle()
        #expect(world.log.all(.strayAck).map(\.id) == [ids[0]])
        #expect(world.log.all(.strayAck).map(\.pairing) == [WatchWorld.pairing])
        #expect(world.acks == [] && world.recordings == [ids[1]])
    }

    @Test func anAcksNameIsNotBelieved() throws {
        let world = try WatchWorld()
        let ids = try world.record(2)
        try world.start()
        world.settle()
        try world.ack(ids[0], named: ids[1])
        world.settle()
        #expect(world.recordings == [ids[1]])
    }

    @Test func whatWasAckedWhileTheDaemonWasDownIsDeletedAndNotSent() throws {
        let world = try WatchWorld()
        let ids = try world.record(3)
        try world.ack(ids[1])
        try world.start()
        world.settle()
        #expect(world.recordings == [ids[0], ids[2]])
        #expect(world.log.all(.enqueued).map(\.id) == [ids[0], ids[2]])
        #expect(world.log.all(.strayAck).isEmpty)
    }

    /// More acks than one step reads: nothing is sent before the last of them was.
    @Test func aBacklogOfAcksIsReadBeforeAnythingIsSent() throws {
        let world = try WatchWorld()
        let ids = try world.record(600, seconds: 0)
        for id in ids { try world.ack(id) }
        try world.start()
        world.settle()
        #expect(world.log.all(.enqueued).isEmpty && world.log.all(.strayAck).isEmpty)
        #expect(world.recordings == [] && world.engine?.isDrained == true)
    }

    @Test func aLostAckMeansSendingAgainAndNothingIsSentEarly() throws {
        let world = try WatchWorld()
        let ids = try world.record(1)
        try world.start()
        world.settle()
        try world.takeAll()
        world.settle()
        world.pass(.seconds(9))
        #expect(world.entries.isEmpty)
        world.pass(.seconds(1))
        #expect(world.entries.map(\.id) == ids)
        try world.takeAll()
        world.settle()
        world.pass(.seconds(19))
        #expect(world.entries.isEmpty)
        world.pass(.seconds(1))
        #expect(world.entries.map(\.attempt) == [2].map { $0 + 1 })
    }

    @Test func patienceRenamesAndDoesNotCopy() throws {
        let world = try WatchWorld()
        try world.record(2)
        try world.start()
        world.settle()
        let before = world.entries
        let inodes = before.map { world.disk.status("/spool/to-phone/\($0)")?.inode }
        world.pass(.seconds(60))
        let after = world.entries
        #expect(after.count == 2 && after.map(\.id) == before.map(\.id))
        #expect(before.allSatisfy { old in after.allSatisfy { old < $0 } })
        #expect(after.map { world.disk.status("/spool/to-phone/\($0)")?.inode } == inodes)
        #expect(world.log.all(.requeued).count == 2)
    }

    @Test func aRestartFindsItsEntriesAndSendsNothingTwice() throws {
        let world = try WatchWorld()
        let ids = try world.record(5)
        try world.start()
        world.settle()
        world.kill()
        let before = world.entries
        try world.record(1)
        try world.start()
        world.settle()
        #expect(world.entries.prefix(5) == before[...])
        #expect(world.entries.count == 6 && world.log.all(.enqueued).count == 6)
        #expect(Set(world.entries.map(\.id)).isSuperset(of: ids))
    }

    /// A daemon that finds three recordings and an ack for one of them, and gets a second ack, until `doomed` dies.
    private func play(_ world: WatchWorld, _ injections: [Injection]) throws -> (
        ids: [ULID], doomed: InstrumentedFileSystem, view: ProcessView
    ) {
        let ids = try world.record(3)
        try world.ack(ids[1])
        let view = world.disk.asProcess("doomed")
        let doomed = InstrumentedFileSystem(view, injections: injections)
        if (try? world.start(on: doomed)) != nil {
            world.settle()
            if !doomed.isDead {
                try world.ack(ids[0])
                world.settle()
            }
        }
        return (ids, doomed, view)
    }

    @Test func killedAtAnyCallItStartsAgainAndFinishes() throws {
        let callCount = try play(WatchWorld(), []).doomed.callCount
        #expect(callCount > 100)
        for number in 1...callCount {
            for effect in [Injection.Effect.dieBefore, .dieAfter] {
                let world = try WatchWorld()
                let (ids, doomed, view) = try play(world, [Injection(.call(number), effect)])
                #expect(doomed.isDead)
                view.kill()
                // Whatever is left, nothing but what was acked is gone, and no copy is cut.
                #expect(world.recordings.contains(ids[2]), "killed at call \(number)")
                for entry in world.entries where world.recordings.contains(entry.id) {
                    #expect(
                        world.disk.content("/spool/to-phone/\(entry)")
                            == world.disk.content("/watch/recordings/\(entry.id).note"), "killed at call \(number)")
                }
                world.kill()
                try world.start()
                world.settle()
                #expect(world.temporaries == [], "killed at call \(number)")
                let sent = world.entries.map(\.id)
                #expect(Set(sent).count == sent.count, "two entries for one recording, killed at call \(number)")
                for id in ids { try world.ack(id) }
                world.settle()
                #expect(world.recordings == [] && world.acks == [], "killed at call \(number)")
            }
        }
    }

    @Test func anErrorAtAnyCallIsSurvived() throws {
        for reason in [FileSystemError.Reason.inputOutput, .noSpace, .tooManyOpenFiles] {
            // What can have its effect and fail all the same.
            for after in reason == .inputOutput ? [false, true] : [false] {
                var callCount = 0
                var number = 0
                repeat {
                    number += 1
                    let world = try WatchWorld()
                    let ids = try world.record(3)
                    try world.ack(ids[1])
                    let effect: Injection.Effect = after ? .failAfter(reason) : .fail(reason)
                    let faulty = InstrumentedFileSystem(
                        world.disk.asProcess("watch"), injections: [Injection(.call(number), effect)])
                    if (try? world.start(on: faulty)) == nil { try world.start(on: faulty) }
                    world.settle()
                    world.pass(.seconds(30))
                    let sent = world.entries.map(\.id)
                    #expect(sent.sorted() == [ids[0], ids[2]], "\(reason) \(after) at call \(number)")
                    for id in ids { try world.ack(id) }
                    world.settle()
                    world.pass(.seconds(30))
                    callCount = faulty.callCount
                    #expect(world.recordings == [] && world.acks == [], "\(reason) \(after) at call \(number)")
                    // One that could not be taken back is the phone's: it acks again, and that ack is a stray.
                    #expect(world.entries.count <= 1, "\(reason) \(after) at call \(number)")
                } while number < min(callCount, 400)
            }
        }
    }

    @Test func withoutAPairingAcksWait() throws {
        let world = try WatchWorld(isPaired: false)
        let ids = try world.record(1)
        try world.start()
        world.settle()
        #expect(world.entries.map(\.id) == ids)
        try world.ack(ids[0])
        world.settle()
        #expect(world.recordings == ids && world.acks.count == 1)
        try world.pair(WatchWorld.pairing)
        world.settle()
        #expect(world.log.all(.paired).count == 1)
        #expect(world.recordings == [] && world.acks == [])
    }

    @Test func aPairingIsAdoptedDurablyBeforeAnAckUnderItCounts() throws {
        let world = try WatchWorld()
        let ids = try world.record(1)
        try world.ack(ids[0])
        let faulty = InstrumentedFileSystem(
            world.disk.asProcess("watch"),
            injections: [
                Injection(
                    .every { $0 == .syncDirectory && $1.last == "/watch/pairing" }, .fail(.inputOutput))
            ])
        try world.start(on: faulty)
        world.settle()
        world.pass(.seconds(5))
        #expect(world.recordings == ids && world.log.all(.ackReceived).isEmpty)
        faulty.injections = []
        world.pass(.seconds(5))
        #expect(world.recordings == [])
    }

    @Test func anAckOfAnotherPairingIsSetAsideAndANewPhoneIsTakenUp() throws {
        let world = try WatchWorld()
        let ids = try world.record(2)
        try world.start()
        world.settle()
        let other = PairingID(rawValue: 0xBEEF)
        try world.ack(ids[0], pairing: other)
        world.settle()
        #expect(world.recordings == ids)
        #expect(world.quarantine.map(\.reason.description) == ["otherPairing"])
        try world.pair(other)
        try world.ack(ids[0], pairing: other)
        try world.ack(ids[1])
        world.settle()
        #expect(world.recordings == [ids[1]])
        #expect(world.quarantine.map(\.reason.description) == ["otherPairing", "otherPairing"])
    }

    @Test func aSpoolThatVanishesAndComesBackIsOpenedAnew() throws {
        let world = try WatchWorld()
        let ids = try world.record(2)
        try world.start()
        world.settle()
        let generation = world.engine?.placesGeneration ?? -1
        try world.disk.remove("/spool")
        try world.pair(WatchWorld.pairing)
        world.settle()
        #expect(world.log.all(.spoolReopened).count == 1)
        #expect(world.engine?.placesGeneration != generation)
        #expect(world.log.all(.transferFinished).count == 2)
        world.pass(.seconds(10))
        #expect(world.entries.map(\.id) == ids)
    }

    @Test func aSecondDaemonIsTurnedAwayAndTheLockDiesWithItsHolder() throws {
        let world = try WatchWorld()
        try world.start()
        let first = world.engine
        #expect(throws: FolderError.held(path: "/watch", holder: "the test")) { try world.start() }
        withExtendedLifetime(first) {}
        world.kill()
        // The failed start left nothing behind.
        try world.start()
    }

    @Test func aFullDiskSendsNothingKeepsTheReserveAndGoesOnWithRoom() throws {
        let mebibyte: UInt64 = 1_024 * 1_024
        let world = try WatchWorld()
        let ids = try world.record(4, seconds: 40)  // 640 kB each
        let used: UInt64 = 4 * 640_000
        try world.disk.setCapacity(of: "/", byteCount: used + 2 * mebibyte)
        try world.start()
        world.settle()
        #expect(world.entries.map(\.id) == [ids[0]])
        #expect(world.log.all(.spoolFull).count == 1)
        #expect(world.temporaries == [])
        world.pass(.seconds(30))
        #expect(world.log.all(.spoolFull).count == 1)
        try world.ack(ids[0])
        world.settle()
        world.pass(.seconds(4))
        #expect(world.entries.first?.id == ids[1])
        try world.disk.setCapacity(of: "/", byteCount: nil)
        world.pass(.seconds(4))
        #expect(world.entries.map(\.id) == Array(ids.dropFirst()))
    }

    @Test func aRecordingThatRottedIsSentOnceAndThenReportedAndKept() throws {
        let world = try WatchWorld()
        let ids = try world.record(2)
        let path = "/watch/recordings/\(ids[0]).note"
        guard var bytes = world.disk.content(path) else {
            Issue.record("not recorded")
            return
        }
        bytes[100] ^= 1
        try world.disk.write(bytes, to: path)
        try world.start()
        world.settle()
        // The first try is a plain copy; whoever takes it sets it aside and says nothing.
        #expect(world.entries.map(\.id) == ids && world.log.all(.failed).isEmpty)
        try world.takeAll()
        world.settle()
        world.pass(.seconds(70))
        #expect(world.entries.map(\.id) == [ids[1]])
        #expect(world.recordings == ids && world.temporaries == [])
        let report = world.log.all(.failed).first
        #expect(report?.id == ids[0] && report?.detail?.contains("its own checksums") == true)
    }

    @Test func aStopInTheMiddleOfALongCopyLeavesNoEntry() throws {
        let world = try WatchWorld()
        try world.record(1, seconds: 200)  // 3.2 MB: several slices
        try world.start()
        world.shouldStop = true
        _ = world.engine?.step(at: world.now)
        #expect(world.entries == [] && world.temporaries == [])
        #expect(world.log.all(.failed).isEmpty && world.log.all(.enqueued).isEmpty)
    }

    @Test func aCancelTakesTheEntryBackAndItIsSentAgainLater() throws {
        let world = try WatchWorld()
        let ids = try world.record(1)
        try world.start()
        world.settle()
        for (nonce, answer) in [(UInt64(1), Answer.done), (2, .unknown)] {
            guard let request = Request(nonce: nonce, verb: .cancel, subject: ids[0].description) else { return }
            try world.disk.write([], to: "/watch/requests/\(request.fileName)")
            world.settle()
            #expect(world.disk.content("/watch/requests/\(answer.fileName(for: nonce))") != nil)
            #expect(world.disk.content("/watch/requests/\(request.fileName)") == nil)
        }
        #expect(world.entries == [] && world.recordings == ids)
        #expect(world.log.all(.cancelled).count == 1)
        world.pass(.seconds(10))
        #expect(world.entries.map(\.id) == ids)
    }

    @Test func aRecordingRemovedByHandIsReportedAndForgotten() throws {
        let world = try WatchWorld()
        let ids = try world.record(2)
        try world.start()
        world.settle()
        try world.disk.remove("/watch/recordings/\(ids[0]).note")
        world.settle()
        #expect(world.log.all(.failed).map(\.id) == [ids[0]])
        #expect(world.engine?.node.count == 1)
    }
}
