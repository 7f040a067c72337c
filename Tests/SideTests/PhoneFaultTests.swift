import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

// Full disks and failing ones, at every call.

@Suite("Phone: a full disk, a failing disk")
struct PhoneFaultTests {
    private static func waiting(
        _ notes: [PhoneNote], capacityByteCount: UInt64? = nil
    ) throws -> (PhoneWorld, DiskImage) {
        var settings = PhoneSettings()
        if notes.count > 6 { settings.batchCount = 5 }
        let world = try PhoneWorld.started(
            SimulatedFileSystem(capacityByteCount: capacityByteCount), settings: settings)
        world.quit()
        world.disk.losePower(.everything)
        for note in notes { try world.deliver(note) }
        return (world, world.disk.snapshot())
    }

    /// Starts; while the start itself fails, starts again, as a person or a supervisor does.
    private func startStubbornly(_ world: PhoneWorld, _ injections: [Injection]) {
        world.startIfItCan(injections: injections)
        if world.engine == nil { world.startIfItCan() }
        #expect(world.engine != nil)
    }

    @Test(
        "every call fails once: nothing partial, nothing acked too early, and it goes on by itself",
        arguments: [
            FileSystemError.Reason.noSpace, .inputOutput, .notPermitted, .tooManyOpenFiles, .notFound,
        ])
    func everyCallOnce(reason: FileSystemError.Reason) throws {
        for count in [.inputOutput, .noSpace].contains(reason) ? [1, 6, 13] : [1] {
            let notes = (1...count).map { PhoneNote($0) }
            let (world, image) = try Self.waiting(notes)
            try world.start()
            world.run()
            let calls = world.instrument.callCount
            for call in 1...calls {
                for effect in [Injection.Effect.fail(reason), .failAfter(reason)] {
                    if case .failAfter = effect, reason != .inputOutput { continue }
                    world.disk.restore(image)
                    startStubbornly(world, [Injection(.call(call), effect)])
                    world.run()
                    let place =
                        "\(effect) at \(call): \(world.instrument.trace.first { $0.number == call }.map(\.description) ?? "")"
                    #expect(world.writtenFaults(notes) == [], "\(place)")
                    #expect(world.durableFaults(notes) == [], "\(place)")
                    world.run(seconds: 60)
                    try world.resendUnacked(notes, attempt: 2)
                    world.hearAndRun(seconds: 60)
                    #expect(world.endFaults(notes, mayLeaveTemporaries: true) == [], "\(place)")
                    #expect(try world.faultsAfterStart(notes) == [], "\(place), after a start")
                }
            }
        }
    }

    @Test("from every call on all of them fail for a while; then it goes on, without a restart once it was started")
    func forAWhile() throws {
        for reason in [FileSystemError.Reason.inputOutput, .noSpace, .readOnly] {
            let notes = (1...2).map { PhoneNote($0) }
            let (world, image) = try Self.waiting(notes)
            try world.start()
            let startCalls = world.instrument.callCount
            world.run()
            let calls = world.instrument.callCount
            for call in startCalls + 1...calls {
                world.disk.restore(image)
                try world.start(injections: [Injection(.everyCall(from: call), .fail(reason))])
                world.run(seconds: 25)
                #expect(world.writtenFaults(notes) == [], "\(reason) from \(call)")
                #expect(world.durableFaults(notes) == [], "\(reason) from \(call)")
                world.instrument.injections = []
                world.run(seconds: 60)
                try world.resendUnacked(notes, attempt: 2)
                world.hearAndRun(seconds: 60)
                #expect(world.endFaults(notes, mayLeaveTemporaries: true) == [], "\(reason) from \(call)")
                #expect(try world.faultsAfterStart(notes) == [], "\(reason) from \(call), after a start")
            }
        }
    }

    @Test("changes fail while reads succeed, as on a full or read-only disk: no spinning, and it goes on")
    func changesFail() throws {
        let changes: Set<FileSystemError.Operation> = [
            .create, .write, .publish, .unlink, .truncate, .makeDirectory, .sync, .syncDirectory, .syncAll,
        ]
        for operation in changes.sorted(by: { $0.rawValue < $1.rawValue }) {
            let world = try PhoneWorld.started()
            let notes = (1...6).map { PhoneNote($0) }
            // A copy of the first is in staging already, so that its resend has to be dropped.
            world.instrument.injections = [
                Injection(
                    .every { found, paths in found == .publish && paths[1].contains("container") }, .fail(.noSpace))
            ]
            try world.deliver(notes[0])
            world.hearAndRun()
            world.instrument.injections = [Injection(.every { found, _ in found == operation }, .fail(.noSpace))]
            for note in notes { try world.deliver(note, attempt: 2) }
            world.hearAndRun(seconds: 120)
            #expect(world.writtenFaults(notes) == [] && world.durableFaults(notes) == [], "\(operation)")
            world.instrument.injections = []
            world.run(seconds: 60)
            try world.resendUnacked(notes, attempt: 3)
            world.hearAndRun(seconds: 60)
            #expect(world.endFaults(notes, mayLeaveTemporaries: operation == .unlink) == [], "\(operation)")
        }
    }

    @Test(
        "the disk has room for n blocks and no more, for every n until it passes; with room again it goes on by itself")
    func capacities() throws {
        let notes = (1...3).map { PhoneNote($0, byteCount: 9_000) }
        var passed = false
        var tried = 0
        let (world, image) = try Self.waiting(notes)
        let space = try world.disk.space(of: world.disk.openRoot("/pair", create: false))
        let usedByteCount = space.totalByteCount - space.freeByteCount
        for blocks in 0..<40 where !passed {
            tried += 1
            world.disk.restore(image)
            try world.disk.setCapacity(of: "/pair", byteCount: usedByteCount + UInt64(blocks) * 4_096)
            world.startIfItCan()
            world.run(seconds: 60)
            #expect(world.writtenFaults(notes) == [] && world.durableFaults(notes) == [], "\(blocks) blocks")
            if Set(world.acks()).count == 3 { passed = true }
            try world.disk.setCapacity(of: "/pair", byteCount: nil)
            if world.engine == nil { try world.start() }
            world.run(seconds: 60)
            #expect(world.endFaults(notes) == [], "\(blocks) blocks")
        }
        #expect(passed && tried > 2)
    }

    /// The kernel marks pages clean that it could not write, also those of files that nobody has looked at yet.
    @Test(
        "a barrier that fails spoils what lies in the queue too: it is written anew, also by the next phone",
        arguments: [false, true])
    func failedBarrierSpoilsTheQueue(isRestarted: Bool) throws {
        let notes = (1...13).map { PhoneNote($0) }
        let (world, _) = try Self.waiting(notes)
        var hasFailed = false
        let fails = Injection(
            .first { operation, _ in
                hasFailed = hasFailed || operation == .syncAll
                return operation == .syncAll
            }, .fail(.inputOutput))
        let dies = Injection(.first { _, _ in hasFailed }, .dieBefore)
        world.startIfItCan(injections: isRestarted ? [fails, dies] : [fails])
        world.run()
        #expect(world.instrument.isDead == isRestarted)
        if isRestarted {
            try world.start()
            world.run()
        }
        #expect(world.acks().count >= 8, "what was not in the batch goes on")
        #expect(world.durableFaults(notes) == [])
        world.run(seconds: 60)
        try world.resendUnacked(notes, attempt: 2)
        world.hearAndRun(seconds: 60)
        #expect(world.endFaults(notes, mayLeaveTemporaries: true) == [])
    }

    @Test(
        "a failed sync of the content: these bytes are thrown away, never synced again, and come again from the watch")
    func failedContentSync() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        world.instrument.injections = [
            Injection(
                .first { operation, paths in operation == .sync && paths[0].contains("to-phone") }, .fail(.inputOutput))
        ]
        try world.deliver(note)
        world.instrument.clearTrace()
        world.hearAndRun(seconds: 300)
        #expect(world.acks().isEmpty && world.containerFiles.isEmpty)
        #expect(world.phone("staging").isEmpty && world.phone("inbox").isEmpty)
        #expect(world.instrument.trace.filter { $0.operation == .sync && $0.paths[0].contains("to-phone") }.count == 1)
        try world.deliver(note, attempt: 2)
        world.hearAndRun()
        #expect(world.endFaults([note]) == [])
    }

    @Test("a failed barrier for a batch: all its bytes are thrown away")
    func failedBarrier() throws {
        let world = try PhoneWorld.started()
        let notes = (1...6).map { PhoneNote($0) }
        world.instrument.injections = [Injection(.nth(1, .syncAll), .fail(.inputOutput))]
        for note in notes { try world.deliver(note) }
        world.hearAndRun(seconds: 60)
        #expect(world.acks().isEmpty && world.containerFiles.isEmpty && world.phone("staging").isEmpty)
        try world.resendUnacked(notes, attempt: 2)
        world.hearAndRun()
        #expect(world.endFaults(notes) == [])
    }

    /// Found by the crash lab: the first was written anew for its neighbour's sake, and no barrier covered the copy.
    @Test("a neighbour's sync fails and the container takes no name for a while: what is acked then is durable")
    func failedSyncOfANeighbour() throws {
        let world = try PhoneWorld.started()
        let notes = (1...2).map { PhoneNote($0) }
        var syncCount = 0
        world.instrument.injections = [
            Injection(
                .every { operation, paths in
                    guard operation == .sync, paths[0].contains("to-phone") else { return false }
                    syncCount += 1
                    return syncCount == 2
                }, .fail(.inputOutput)),
            Injection(
                .every { operation, paths in operation == .publish && paths[1].contains("container") }, .fail(.noSpace)),
        ]
        for note in notes { try world.deliver(note) }
        world.hearAndRun()
        #expect(syncCount == 2)
        world.instrument.injections = []
        world.run(seconds: 60)
        #expect(world.acks() == [notes[0].id])
        #expect(world.durableFaults(notes) == [])
        try world.resendUnacked(notes, attempt: 2)
        world.hearAndRun()
        #expect(world.endFaults(notes) == [])
    }

    @Test("a failed ledger sync: a new generation has the rows that were durable, and only it is written from then on")
    func failedLedgerSync() throws {
        for nth in 1...2 {
            let world = try PhoneWorld.started()
            let first = PhoneNote(1)
            try world.deliver(first)
            world.hearAndRun()
            let before = try #require(world.phone("ledger").last)
            var count = 0
            world.instrument.injections = [
                Injection(
                    .every { operation, paths in
                        guard operation == .sync, paths[0].contains("/ledger/") else { return false }
                        count += 1
                        return count == nth
                    }, .fail(.inputOutput))
            ]
            let second = PhoneNote(2)
            try world.deliver(second)
            world.instrument.clearTrace()
            world.hearAndRun(seconds: 60)
            #expect(world.acks() == [first.id])
            try world.deliver(second, attempt: 2)
            world.hearAndRun(seconds: 60)
            #expect(world.endFaults([first, second]) == [], "sync \(nth)")
            #expect(world.phone("ledger") != [before] && world.phone("ledger").count == 1)
            world.disk.losePower(.durableOnly)
            #expect(world.outcomes(isDurable: true) == [first.id: .ingested, second.id: .ingested])
        }
    }

    @Test("every call of a new ledger generation fails once: rows known to be durable are kept, and notes go on")
    func failedRegeneration() throws {
        for offset in 0..<14 {
            for effect in [Injection.Effect.fail(.inputOutput), .failAfter(.inputOutput)] {
                let world = try PhoneWorld.started()
                let notes = (1...2).map { PhoneNote($0) }
                try world.deliver(notes[0])
                world.hearAndRun()
                var failed = false
                var seen = 0
                world.instrument.injections = [
                    Injection(
                        .first { operation, paths in operation == .sync && paths[0].contains("/ledger/") },
                        .fail(.inputOutput)),
                    Injection(
                        .every { _, paths in
                            guard paths.contains(where: { $0.contains("/pair/phone/ledger") }) else { return false }
                            // Behind the failed sync only: calls on the ledger before it are the row's write.
                            seen += 1
                            if !failed, seen == offset + 2 {
                                failed = true
                                return true
                            }
                            return false
                        }, effect),
                ]
                for attempt in 1...4 {
                    if world.acks().contains(notes[1].id) { break }
                    try world.deliver(notes[1], attempt: attempt)
                    world.hearAndRun(seconds: 60)
                }
                #expect(world.endFaults(notes, mayLeaveTemporaries: true) == [], "\(effect) at \(offset)")
                world.quit()
                world.disk.losePower(.durableOnly)
                #expect(world.outcomes(isDurable: true) == [notes[0].id: .ingested, notes[1].id: .ingested])
            }
        }
    }

    @Test(
        "1,000 notes that cannot be ingested for now hold no descriptors; those that a start finds, of three batches at most"
    )
    func descriptors() throws {
        let world = try PhoneWorld.started()
        world.instrument.keepsTrace = false
        let notes = (1...1_000).map { PhoneNote($0) }
        let full = Injection(
            .every { found, paths in found == .openDirectory && paths[0].hasSuffix("2023-11") }, .fail(.noSpace))
        world.instrument.injections = [full]
        for note in notes { try world.deliver(note) }
        world.hearAndRun(seconds: 5)
        #expect(world.phone("staging").count == 1_000)
        #expect(world.disk.openHandleCount < 40, "\(world.disk.openHandleCount)")
        var most = 0
        let disk = world.disk
        let watching = Injection(
            .every { _, _ in
                most = max(most, disk.openHandleCount)
                return false
            }, .short)
        try world.start(injections: [watching])
        world.run(seconds: 60)
        #expect(world.endFaults(notes) == [])
        #expect(most < PhoneSettings().mostAheadCount + 40, "\(most)")
    }

    @Test("a daemon that takes notes for weeks keeps nothing of what it has done")
    func directivesAreForgotten() throws {
        let world = try PhoneWorld.started()
        for number in 1...40 { try world.deliver(PhoneNote(number)) }
        world.hearAndRun(seconds: 5)
        #expect(world.acks().count == 40)
        #expect(world.engine?.directives.keptCount == 0)
    }

    @Test("one staged file cannot be read for ever (a bad sector): the resend takes its place")
    func badSector() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        let path = try world.deliver(note)
        world.instrument.injections = [
            // The body only: the seal was read when it was taken.
            Injection(
                .every { operation, paths in
                    operation == .read && (paths[0] == path || paths[0].contains("/staging/"))
                        && world.names(in: "/pair/phone/staging").count == 1
                }, .fail(.inputOutput))
        ]
        world.hearAndRun(seconds: 100)
        #expect(world.acks().isEmpty)
        try world.deliver(note, attempt: 2)
        world.hearAndRun(seconds: 60)
        #expect(world.endFaults([note]) == [])
    }

    @Test("an ack that failed is written for a resend, and from then on nothing is owed")
    func drainedBehindAResend() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        world.instrument.injections = [
            Injection(
                .every { operation, paths in operation == .create && paths[0].contains("to-watch") }, .fail(.noSpace))
        ]
        try world.deliver(note)
        world.hearAndRun(seconds: 100)
        #expect(world.engine?.isDrained == false)
        world.instrument.injections = []
        try world.deliver(note, attempt: 2)
        world.hearAndRun(seconds: 1)
        #expect(world.acks().count == 1)
        #expect(world.engine?.isDrained == true, "the next try of the failed one is due for nobody")
    }

    @Test("an ack that cannot be written is owed until it can, with waits that grow to half a minute")
    func ackRetries() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        var moments: [Moment] = []
        world.instrument.injections = [
            Injection(
                .every { operation, paths in
                    guard operation == .create, paths[0].contains("to-watch") else { return false }
                    moments.append(world.now)
                    return true
                }, .fail(.noSpace))
        ]
        try world.deliver(note)
        world.hearAndRun(seconds: 200)
        #expect(world.containerFiles == [note.containerPath] && world.acks().isEmpty)
        #expect(world.engine?.isDrained == false)
        let waits = zip(moments, moments.dropFirst()).map { $1.since($0) }
        #expect(Array(waits.prefix(6)) == [2, 4, 8, 16, 30, 30].map { Duration.seconds($0) })
        world.instrument.injections = []
        world.run(seconds: 30)
        #expect(world.acks() == [note.id])
        #expect(world.engine?.isDrained == true)
    }
}
