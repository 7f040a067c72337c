import Simulation
import Spooling
import Testing
import WireContract

/// What a bad link, or somebody with a shell, does to what lies between the two.
@Suite struct PairLinkTests {
    private func world(_ recordings: Int = 3) throws -> PairWorld {
        let world = PairWorld()
        world.start()
        world.run(for: .seconds(1))
        for _ in 0..<recordings { try world.record(world.bytes(400)) }
        return world
    }

    private func finish(_ world: PairWorld, _ comment: Comment? = nil) {
        world.afterStep = nil
        world.drain()
        world.checkTheEnd()
        #expect(world.violations == [], comment)
    }

    @Test func lostAcksAreWrittenAgain() throws {
        let world = try world()
        world.afterStep = { [unowned world] seat in if seat.side == .phone { try? world.removeAcks() } }
        world.run(for: .seconds(120))
        #expect(world.watch.history.count(.deleted) == 0)
        // First waits 5, then 10, 20, 40, 40 seconds.
        let sends = world.watch.history.count(.enqueued)
        #expect((12...18).contains(sends), "\(sends) sends of three recordings in two minutes")
        #expect(world.monitor.ackCount == sends, "each delivery of what is final is acked")
        finish(world)
        #expect(world.phone.history.count(.duplicate) == world.watch.history.count(.enqueued) - 3)
    }

    @Test func doubledAcksDeleteOnce() throws {
        let world = try world()
        world.afterStep = { [unowned world] seat in if seat.side == .phone { try? world.doubleAcks() } }
        world.run(for: .seconds(5))
        finish(world)
        #expect(world.watch.history.count(.deleted) == 3)
        #expect(world.watch.history.count(.strayAck) >= 1)
        #expect(world.watch.history.count(.enqueued) == 3)
    }

    @Test func lateAcksOfWhatIsLongGoneAreStrays() throws {
        let world = try world()
        var kept: [(path: String, bytes: [UInt8])] = []
        world.afterStep = { [unowned world] seat in
            if seat.side == .phone { kept += world.acks.map { ($0, world.disk.content($0) ?? []) } }
        }
        world.drain()
        #expect(Set(kept.flatMap { PairMonitor.acks($0.bytes).map(\.id) }).count == 3)
        world.afterStep = nil
        let newer = try world.record(world.bytes(10))
        for (path, bytes) in kept { try world.disk.plant(path, bytes: bytes) }
        finish(world)
        #expect(world.watch.history.count(.strayAck) >= 3)
        #expect(world.watch.history.count(.deleted, newer) == 1)
    }

    @Test(arguments: PairWorld.Alteration.allCases)
    func alteredEntriesAreSentAgain(_ alteration: PairWorld.Alteration) throws {
        let world = try world()
        var left = 3
        world.afterStep = { [unowned world] seat in
            guard seat.side == .watch, left > 0, !world.entries.isEmpty else { return }
            left -= 1
            try? world.alterEntries(alteration)
        }
        world.run(for: .seconds(60))
        finish(world, "\(alteration)")
        #expect(world.phone.history.count(.setAside) >= 3)
    }

    /// The system forgot the transfers.
    @Test func removedEntriesAreSentAgain() throws {
        let world = try world()
        var left = 4
        world.afterStep = { [unowned world] seat in
            guard seat.side == .watch, left > 0, !world.entries.isEmpty else { return }
            left -= 1
            try? world.removeEntries()
        }
        world.run(for: .seconds(90))
        finish(world)
        #expect(world.watch.history.count(.enqueued) > 3)
    }

    /// A backup that links instead of copying has given an entry a second name: the phone never takes it, under whatever
    /// name it is queued anew.
    @Test func anEntryWithASecondNameIsSentAnew() throws {
        let world = PairWorld()
        world.watch.isWanted = true
        let id = try world.record(world.bytes(400))
        world.run(for: .seconds(1))
        let entry = try #require(world.entries.first)
        try world.disk.plant(entry, bytes: world.disk.content(entry) ?? [], linkCount: 2)
        world.monitor.lookForSecondNames()
        world.start()
        world.run(for: .seconds(20))
        #expect(world.phone.history.count(.refused) == 1 && world.phone.history.count(.taken) == 0)
        finish(world)
        #expect(world.watch.history.count(.enqueued, id) == 2)
        #expect(world.disk.content(entry) != nil, "what is not a plain file of ours is left alone")
    }

    /// Nobody takes it: now and then it gets a new, last name, and stays one entry.
    @Test func anEntryThatNobodyTakesIsQueuedAnew() throws {
        let world = PairWorld()
        world.watch.isWanted = true
        try world.record(world.bytes(400))
        world.run(for: .seconds(200))
        #expect(world.watch.history.count(.enqueued) == 1)
        // Patience: 30 seconds, then 40 at most.
        let renames = world.watch.history.count(.requeued)
        #expect((4...6).contains(renames), "\(renames) renames in 200 seconds")
        #expect(world.entries.count == 1)
        world.start()
        finish(world)
    }

    enum Wiped: CaseIterable { case spool, toPhone, toWatch, pairing }

    /// In the middle of everything, while both run.
    @Test(arguments: Wiped.allCases, [true, false])
    func theSpoolIsWiped(_ what: Wiped, _ goesAltogether: Bool) throws {
        for moment in 0..<12 {
            let world = try world()
            var steps = 0
            world.afterStep = { [unowned world] _ in
                steps += 1
                guard steps == moment else { return }
                let path =
                    switch what {
                    case .spool: PairPath.spool
                    case .toPhone: PairPath.spool + "/to-phone"
                    case .toWatch: PairPath.spool + "/to-watch"
                    case .pairing: PairPath.spool + "/pairing"
                    }
                if goesAltogether { try? world.disk.remove(path) } else { try? world.wipe(path) }
            }
            world.run(for: .seconds(15))
            finish(world, "\(what) behind step \(moment)")
        }
    }

    enum PhonePart: CaseIterable { case home, container, ledger, staging, inbox, pairing }

    /// A new phone, or one that lost a part of what it had. It is stopped meanwhile.
    @Test(arguments: PhonePart.allCases)
    func thePhoneIsWiped(_ part: PhonePart) throws {
        for moment in 0..<12 {
            let world = try world()
            var steps = 0
            world.afterStep = { [unowned world] _ in
                steps += 1
                guard steps == moment else { return }
                world.kill(world.phone)
                world.monitor.phoneWasWiped()
                let path =
                    switch part {
                    case .home: PairPath.phone
                    case .container: PairPath.phone + "/container"
                    case .ledger: PairPath.phone + "/ledger"
                    case .staging: PairPath.phone + "/staging"
                    case .inbox: PairPath.phone + "/inbox"
                    case .pairing: PairPath.phone + "/pairing"
                    }
                try? world.disk.remove(path)
            }
            world.run(for: .seconds(15))
            try world.record(world.bytes(12))
            finish(world, "\(part) behind step \(moment)")
        }
    }

    /// The container is signed out, or another one is put in its place, under a running phone. What was acked was final
    /// once; what comes again is ingested again before it is acked.
    @Test(arguments: [true, false])
    func theContainerIsWipedUnderARunningPhone(_ goesAltogether: Bool) throws {
        for moment in 0..<12 {
            let world = try world()
            var steps = 0
            world.afterStep = { [unowned world] seat in
                if seat.side == .phone, steps < 20 { try? world.removeAcks() }
                steps += 1
                guard steps == moment else { return }
                world.monitor.phoneWasWiped()
                let path = PairPath.phone + "/container"
                if goesAltogether { try? world.disk.remove(path) } else { try? world.wipe(path) }
            }
            world.run(for: .seconds(15))
            finish(world, "behind step \(moment)")
            // Every ack was lost until then, so the watch had all of them and sent them again.
            for id in world.monitor.ids.suffix(3) {
                #expect(world.monitor.heldPaths(of: id).count == 1)
            }
        }
    }

    enum LedgerLoss: CaseIterable { case removed, emptied, withoutItsFile, movedAway, exchanged }

    /// Under a running phone: a sync of what has no name any more proves nothing, and what the phone knows comes back.
    @Test(arguments: LedgerLoss.allCases, [true, false])
    func theLedgerIsWipedUnderARunningPhone(_ loss: LedgerLoss, _ areAcksLost: Bool) throws {
        for moment in 0..<12 {
            let world = try world()
            var steps = 0
            world.afterStep = { [unowned world] seat in
                if areAcksLost, seat.side == .phone, steps < 20 { try? world.removeAcks() }
                steps += 1
                guard steps == moment else { return }
                let path = PairPath.phone + "/ledger"
                do {
                    switch loss {
                    case .removed: try world.disk.remove(path)
                    case .emptied: try world.wipe(path)
                    case .withoutItsFile: try world.disk.paths(directlyIn: path).forEach(world.disk.remove)
                    case .movedAway: try world.move(path, to: "/pair/phone/journal")
                    case .exchanged:
                        try world.wipe(path)
                        try world.disk.plant(path + "/0000000500.ledger", bytes: [1, 2, 3])
                    }
                } catch {
                    Issue.record("\(loss) behind step \(moment): \(error)")
                }
            }
            world.run(for: .seconds(15))
            finish(world, "\(loss) behind step \(moment)")
            #expect(world.phone.startCount == 1)
            // Also after a start, from the disk alone.
            world.losePower(.durableOnly)
            try world.record(world.bytes(12))
            finish(world, "\(loss) behind step \(moment), and a power cut")
        }
    }

    @Test func theWatchIsPutBackToAnOlderCopy() throws {
        for moment in 0..<12 {
            let world = try world()
            let old = world.copy(of: PairPath.watch)
            try world.record(world.bytes(30))
            var steps = 0
            world.afterStep = { [unowned world] _ in
                steps += 1
                guard steps == moment else { return }
                world.kill(world.watch)
                try? world.put(old, at: PairPath.watch)
                world.monitor.watchWasReplaced()
            }
            world.run(for: .seconds(15))
            try world.record(world.bytes(12))
            finish(world, "behind step \(moment)")
        }
    }

    @Test func thePhoneIsPutBackToAnOlderCopy() throws {
        for moment in 0..<14 {
            let world = try world(1)
            world.run(for: .milliseconds(1))
            let old = world.copy(of: PairPath.phone)
            for size in [30, 300] { try world.record(world.bytes(size)) }
            var steps = 0
            world.afterStep = { [unowned world] _ in
                steps += 1
                guard steps == moment else { return }
                world.kill(world.phone)
                try? world.put(old, at: PairPath.phone)
                world.monitor.phoneWasWiped()
            }
            world.run(for: .seconds(15))
            try world.record(world.bytes(12))
            finish(world, "behind step \(moment)")
        }
    }

    /// The spool of another pair is put under the path, with its note, its ack and its pairing; later our own comes back.
    @Test(arguments: [true, false])
    func theSpoolIsSwappedWithThatOfAnotherPair(_ comesBack: Bool) throws {
        let other = PairWorld(seed: 99)
        other.watch.isWanted = true
        try other.record(other.bytes(77))
        other.run(for: .seconds(1))
        #expect(other.entries.count == 1)
        let theirs = other.copy(of: PairPath.spool)
        for moment in 0..<12 {
            let world = try world()
            try world.put(theirs, at: "/other-spool")
            var steps = 0
            world.monitor.spoolPaths = [PairPath.spool, "/our-spool", "/other-spool"]
            world.afterStep = { [unowned world] _ in
                steps += 1
                if steps == moment {
                    try? world.move(PairPath.spool, to: "/our-spool")
                    try? world.move("/other-spool", to: PairPath.spool)
                } else if comesBack, steps == moment + 9 {
                    try? world.move(PairPath.spool, to: "/other-spool")
                    try? world.move("/our-spool", to: PairPath.spool)
                }
            }
            world.run(for: .seconds(30))
            try world.record(world.bytes(12))
            finish(world, "behind step \(moment)")
        }
    }

    /// P7: it waits in staging, once, however often it comes, until a build runs that understands it.
    @Test func aPayloadOfTheFutureWaits() throws {
        let world = try world()
        let id = try world.record(world.bytes(60), payloadVersion: 2)
        world.run(for: .seconds(200))
        #expect(world.watch.history.count(.enqueued, id) > 3)
        let staged = world.disk.paths().filter { $0.hasPrefix(PairPath.staging) }
        #expect(staged.count == 1)
        world.kill(world.phone)
        world.run(for: .seconds(100))
        #expect(world.disk.paths().filter { $0.hasPrefix(PairPath.staging) } == staged)
        world.kill(world.phone)
        world.phoneSettings.understands = 2
        world.monitor.theFutureHasCome()
        finish(world)
    }
}
