import Simulation
import Spooling
import Testing

/// The instrument, and what a trace proves.
struct SimulatedFileSystemInstrumentTests {
    /// What a store does: law 1, with the steps that a bug may leave out.
    private func publishNote(
        on disk: any FileSystem, syncsFile: Bool = true, syncsDirectory: Bool = true
    ) throws(FileSystemError) {
        let home = try disk.openRoot("/home", create: true)
        let recordings = try disk.openDirectory("recordings", in: home, create: true)
        try disk.sync(home)
        let file = try disk.create("t", in: recordings)
        try disk.writeAll(file, at: 0, [UInt8](repeating: 5, count: 6000))
        if syncsFile { try disk.sync(file) }
        try disk.publish("t", in: recordings, as: "note", in: recordings)
        if syncsDirectory { try disk.sync(recordings) }
        _ = try disk.status(of: "note", in: recordings)  // here somebody is told
    }

    @Test("killed before and after every call: the note is whole or not there, and told means durable")
    func killEverywhere() throws {
        let counting = InstrumentedFileSystem(SimulatedFileSystem().asProcess("watch"))
        try publishNote(on: counting)
        #expect(counting.callCount == 9)
        for call in 1...counting.callCount {
            for effect in [Injection.Effect.dieBefore, .dieAfter] {
                for loss in [nil, PowerLoss.durableOnly, .everything, .random(seed: UInt64(call))] {
                    let disk = SimulatedFileSystem()
                    let instrument = InstrumentedFileSystem(
                        disk.asProcess("watch"), injections: [Injection(.call(call), effect)])
                    #expect(throws: FileSystemError.self) { try publishNote(on: instrument) }
                    #expect(instrument.isDead)
                    #expect(disk.openHandleCount == 0)
                    if let loss { disk.losePower(loss) }
                    let content = disk.content("/home/recordings/note")
                    #expect(content == nil || content?.count == 6000)
                    if call == counting.callCount { #expect(content != nil) }
                }
            }
        }
    }

    @Test("what is in the call's way: a reason, half a write, a late error, a rival")
    func effects() throws {
        let disk = SimulatedFileSystem()
        let instrument = InstrumentedFileSystem(disk.asProcess("watch"))
        let home = try instrument.openRoot("/home", create: true)
        instrument.injections = [Injection(.nth(1, .create), .fail(.tooManyOpenFiles))]
        #expect(throws: FileSystemError(.create, "/home/a", .tooManyOpenFiles)) {
            _ = try instrument.create("a", in: home)
        }
        #expect(disk.paths() == ["/home"])
        instrument.injections = [Injection(.nth(2, .create), .failAfter(.interrupted))]
        #expect(throws: FileSystemError(.create, "/home/a", .interrupted)) { _ = try instrument.create("a", in: home) }
        #expect(disk.paths() == ["/home", "/home/a"])
        #expect(disk.openHandleCount == 1)

        let file = try instrument.open("a", in: home)
        instrument.injections = [
            Injection(.every { operation, _ in operation == .write || operation == .read }, .short)
        ]
        let count = try [1, 2, 3, 4, 5].withUnsafeBytes {
            try instrument.write(file, at: 0, from: .init(rebasing: $0[..<5]))
        }
        #expect(count == 3)
        instrument.clearTrace()
        try instrument.writeAll(file, at: 0, [1, 2, 3, 4, 5])
        #expect(try instrument.readAll(file, at: 0, byteCount: 5) == [1, 2, 3, 4, 5])
        #expect(instrument.trace.count(of: .write) == 3)
        #expect(instrument.trace.count(of: .read) == 3)

        instrument.injections = [
            Injection(.first { operation, _ in operation == .publish }, .before { try? disk.plant("/home/b") })
        ]
        #expect(throws: FileSystemError(.publish, "/home/b", .exists)) {
            try instrument.publish("a", in: home, as: "b", in: home)
        }
        try instrument.publish("a", in: home, as: "c", in: home)
    }

    @Test("death inside a listing ends the listing, and the trace says who died")
    func deathInListing() throws {
        let disk = SimulatedFileSystem()
        let view = disk.asProcess("watch")
        let instrument = InstrumentedFileSystem(
            view, injections: [Injection(.nth(1, .unlink), .dieAfter)], onDeath: { disk.losePower(.durableOnly) })
        let home = try instrument.openRoot("/home", create: true)
        for number in 0..<5 { try disk.plant("/home/n\(number)") }
        var listed = 0
        #expect(throws: FileSystemError(.list, "/home", .processIsDead)) {
            try instrument.forEachName(in: home) { name in
                listed += 1
                return (try? instrument.unlinkIfThere(name, in: home)) == nil
            }
        }
        #expect(listed == 1)
        #expect(!view.isAlive)
        // The name that was removed is back: nobody synced the directory.
        #expect(disk.paths().count == 6)
        #expect(instrument.trace.map(\.outcome) == [.returned, .failed(.processIsDead), .died])
        #expect(throws: FileSystemError(.space, "/home", .processIsDead)) { _ = try instrument.space(of: home) }
    }

    @Test("from a call on, everything fails")
    func fromNow() throws {
        let instrument = InstrumentedFileSystem(
            SimulatedFileSystem(), injections: [Injection(.everyCall(from: 3), .fail(.inputOutput))])
        #expect(throws: FileSystemError(.syncDirectory, "/home", .inputOutput)) { try publishNote(on: instrument) }
        #expect(throws: FileSystemError(.openRoot, "/home", .inputOutput)) { try publishNote(on: instrument) }
        #expect(instrument.trace.map(\.number) == [1, 2, 3, 4])
    }

    @Test("a trace tells which step of law 1 was left out")
    func durabilityOrder() throws {
        let path = "/home/recordings/note"
        for (syncsFile, syncsDirectory, violationCount) in [
            (true, true, 0), (false, true, 1), (true, false, 1), (false, false, 2),
        ] {
            let instrument = InstrumentedFileSystem(SimulatedFileSystem())
            try publishNote(on: instrument, syncsFile: syncsFile, syncsDirectory: syncsDirectory)
            let told = try #require(instrument.trace.lastIndex(of: .status, path))
            let found = DurabilityOrder.violations(in: instrument.trace, of: path, before: told)
            #expect(found.count == violationCount, "\(found)")
            // Before the publish there is nothing to be durable.
            #expect(!DurabilityOrder.violations(in: instrument.trace, of: path, before: 5).isEmpty)
        }
    }

    @Test("a sync that comes too late, or before the last write, or that failed, counts for nothing")
    func durabilityOrderOfBadSyncs() throws {
        func violations(_ body: (InstrumentedFileSystem, borrowing OpenDirectory, borrowing OpenFile) throws -> Void)
            throws -> Int
        {
            let instrument = InstrumentedFileSystem(SimulatedFileSystem())
            let home = try instrument.openRoot("/home", create: true)
            let file = try instrument.create("t", in: home)
            try instrument.writeAll(file, at: 0, [1])
            try body(instrument, home, file)
            return DurabilityOrder.violations(in: instrument.trace, of: "/home/n", before: instrument.trace.count).count
        }
        #expect(
            try violations { disk, home, file in
                try disk.sync(file)
                try disk.writeAll(file, at: 1, [2])
                try disk.publish("t", in: home, as: "n", in: home)
                try disk.sync(home)
            } == 1)
        #expect(
            try violations { disk, home, file in
                try disk.publish("t", in: home, as: "n", in: home)
                try disk.sync(file)
                try disk.sync(home)
            } == 1)
        #expect(
            try violations { disk, home, file in
                try disk.syncAll(home)
                try disk.sync(home)
                try disk.publish("t", in: home, as: "n", in: home)
            } == 1)
        #expect(
            try violations { disk, home, file in
                try disk.syncAll(home)
                try disk.publish("t", in: home, as: "n", in: home)
                try disk.syncAll(home)
            } == 0)
        #expect(
            try violations { disk, home, file in
                disk.injections = [Injection(.nth(1, .sync), .fail(.inputOutput))]
                try? disk.sync(file)
                try disk.publish("t", in: home, as: "n", in: home)
                try disk.sync(home)
            } == 1)
    }
}
