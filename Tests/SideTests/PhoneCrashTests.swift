import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

// kill -9 and the loss of power at every call of the seam.

@Suite("Phone: killed or without power at every call")
struct PhoneCrashTests {
    /// A phone that is stopped, and whose spool holds `notes`; made once, put back for every point.
    ///
    /// Many make several batches: while the barrier of one is under way, some of the next set out.
    private static func waiting(_ notes: [PhoneNote]) throws -> (PhoneWorld, DiskImage) {
        var settings = PhoneSettings()
        if notes.count > 6 { settings.batchCount = 5 }
        let world = try PhoneWorld.started(settings: settings)
        world.quit()
        world.disk.losePower(.everything)
        for note in notes { try world.deliver(note) }
        return (world, world.disk.snapshot())
    }

    /// How many calls a start and the whole work take.
    private static func callCount(_ world: PhoneWorld) throws -> Int {
        try world.start()
        world.run()
        return world.instrument.callCount
    }

    @Test(
        "killed before and after every call, it finishes; nothing partial, nothing acked too early",
        arguments: [1, 6, 13])
    func killed(count: Int) throws {
        let notes = (1...count).map { PhoneNote($0) }
        let (world, image) = try Self.waiting(notes)
        let calls = try Self.callCount(world)
        #expect(calls > 60)
        for call in 1...calls {
            for effect in [Injection.Effect.dieBefore, .dieAfter] {
                world.disk.restore(image)
                world.startIfItCan(injections: [Injection(.call(call), effect)])
                world.run()
                #expect(world.instrument.isDead)
                let place =
                    "\(effect) at \(call) of \(calls): \(world.instrument.trace.last { $0.outcome == .died }.map(\.description) ?? "")"
                #expect(world.writtenFaults(notes) == [], "\(place)")
                try world.finish(notes)
                #expect(world.endFaults(notes) == [], "\(place)")
            }
        }
    }

    @Test(
        "the power fails before and after every call; an ack in view is of a durable note",
        arguments: [
            [PowerLoss.durableOnly], [.everything], [.random(seed: 1), .random(seed: 2), .random(seed: 3)],
        ])
    func powerLost(losses: [PowerLoss]) throws {
        for count in [1, 6, 13] {
            let notes = (1...count).map { PhoneNote($0, byteCount: $0 == 2 ? 9_000 : 300) }
            let (world, image) = try Self.waiting(notes)
            let calls = try Self.callCount(world)
            for call in 1...calls {
                for (index, loss) in losses.enumerated() where count == 1 || call % losses.count == index {
                    world.disk.restore(image)
                    var faults: [String] = []
                    world.onDeath = { world in
                        faults = world.durableFaults(notes)
                        world.disk.losePower(loss)
                    }
                    let effect: Injection.Effect = (call + index) % 2 == 0 ? .dieBefore : .dieAfter
                    world.startIfItCan(injections: [Injection(.call(call), effect)])
                    world.run()
                    world.quit()
                    #expect(faults == [], "\(loss) at \(call)")
                    // The entries may be gone with the power; the watch has the recordings.
                    try world.clearBrokenAcks()
                    try world.finish(notes)
                    #expect(world.endFaults(notes) == [], "\(loss), \(effect) at \(call) of \(calls)")
                }
            }
        }
    }

    @Test("killed again in the recovery, at 400 pairs of calls out of all")
    func killedTwice() throws {
        let notes = (1...2).map { PhoneNote($0) }
        let (world, image) = try Self.waiting(notes)
        let calls = try Self.callCount(world)
        var random = SplitMix64(seed: 20)
        for _ in 0..<400 {
            let first = Int(random.next() % UInt64(calls)) + 1
            let second = Int(random.next() % UInt64(calls)) + 1
            let withPower = random.happens(1, in: 3)
            let seed = random.next()
            world.disk.restore(image)
            world.startIfItCan(injections: [Injection(.call(first), .dieAfter)])
            world.run()
            var faults = world.writtenFaults(notes)
            if withPower {
                world.onDeath = { world in
                    faults += world.durableFaults(notes)
                    world.disk.losePower(.random(seed: seed))
                }
            }
            world.startIfItCan(injections: [Injection(.call(second), .dieBefore)])
            world.run()
            world.quit()
            #expect(faults == [], "\(first), then \(second)")
            if withPower { try world.clearBrokenAcks() }
            try world.finish(notes)
            #expect(world.endFaults(notes) == [], "\(first), then \(second), power: \(withPower)")
        }
    }

    @Test("power that fails some time after a kill and a restart: what the restart acked is durable")
    func powerAfterKill() throws {
        let notes = (1...2).map { PhoneNote($0) }
        let (world, image) = try Self.waiting(notes)
        let calls = try Self.callCount(world)
        for call in 1...calls {
            world.disk.restore(image)
            world.startIfItCan(injections: [Injection(.call(call), .dieAfter)])
            world.run()
            try world.start()
            world.run()
            #expect(world.durableFaults(notes) == [], "killed after \(call)")
            world.quit()
        }
    }

    @Test("a sync of the content fails and the process is killed before it could throw the bytes away")
    func failedSyncThenKilled() throws {
        let note = PhoneNote(1)
        let (world, _) = try Self.waiting([note])
        try world.start(injections: [
            Injection(
                .first { operation, paths in operation == .sync && paths[0].contains("to-phone") }, .fail(.inputOutput)),
            Injection(
                .first { operation, paths in operation == .unlink && paths[0].contains("/staging/") }, .dieBefore),
        ])
        world.run()
        #expect(world.instrument.isDead)
        try world.start()
        world.run()
        // The kernel has marked the lost pages clean: a second sync would say that all is well.
        #expect(world.durableFaults([note]) == [])
        try world.finish([note])
        #expect(world.endFaults([note]) == [])
    }

    @Test("killed at every call of a delete, a veto and a lost container, it comes to the same end")
    func killedInRequests() throws {
        let notes = (1...3).map { PhoneNote($0) }
        let (world, _) = try Self.waiting(notes)
        try world.start()
        world.run()
        try world.takeAcks()
        // 1 is deleted by the user, 2 is wiped from the container and sent again, 4 is vetoed and then comes.
        let vetoed = PhoneNote(4)
        world.quit()
        try world.disk.remove(notes[1].containerPath)
        try world.disk.plant("/pair/phone/requests/00000000000000aa.delete.\(notes[0].id).request")
        try world.disk.plant("/pair/phone/requests/00000000000000ab.veto.\(vetoed.id).request")
        for note in [notes[0], notes[1], vetoed] { try world.deliver(note, attempt: 2) }
        let image = world.disk.snapshot()
        let calls = try Self.callCount(world)
        for call in 1...calls {
            world.disk.restore(image)
            var faults: [String] = []
            world.onDeath = { world in
                faults = world.durableFaults(notes)
                world.disk.losePower(call % 2 == 0 ? .everything : .random(seed: UInt64(call)))
            }
            world.startIfItCan(injections: [Injection(.call(call), .dieAfter)])
            world.run()
            world.quit()
            #expect(faults == [], "at \(call)")
            try world.clearBrokenAcks()
            world.onDeath = nil
            try world.start()
            world.run()
            #expect(try [.done, .already].contains(world.ask(.delete, notes[0].id.description)))
            #expect(try [.done, .already].contains(world.ask(.veto, vetoed.id.description)))
            try world.resendUnacked([notes[0], notes[1], vetoed], attempt: 3)
            world.hearAndRun(seconds: 60)
            #expect(world.containerFiles == [notes[1].containerPath, notes[2].containerPath], "at \(call)")
            // The power may bring back the first acks, which were taken: true ones, of 1, 2 and 3.
            #expect(
                Set(world.acks()).subtracting([notes[2].id]) == [notes[0].id, notes[1].id, vetoed.id], "at \(call)")
            #expect(world.phone("staging").isEmpty && world.phone("inbox").isEmpty)
        }
    }
}

extension PhoneWorld {
    /// What the watch makes of acks that the power took the bytes of: it takes them away and waits on.
    func clearBrokenAcks() throws { try takeAcks() }
}
