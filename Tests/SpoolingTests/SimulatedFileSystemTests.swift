import Simulation
import Spooling
import Testing

/// The simulated disk against the prose at its head.
struct SimulatedFileSystemTests {
    private func write(
        _ text: String, _ name: FileName, in directory: borrowing OpenDirectory, of disk: any FileSystem,
        sync: Bool = false
    ) throws(FileSystemError) {
        let file = try disk.create(name, in: directory)
        try disk.writeAll(file, at: 0, Array(text.utf8))
        if sync { try disk.sync(file) }
    }

    @Test("it gives the answers that the seam promises")
    func conforms() {
        #expect(FileSystemConformance.run(on: SimulatedFileSystem(), at: "/pair") == [])
    }

    @Test("an instrument that injects nothing changes no answer")
    func instrumentConforms() {
        let instrument = InstrumentedFileSystem(SimulatedFileSystem().asProcess("watch"))
        #expect(FileSystemConformance.run(on: instrument, at: "/pair") == [])
        #expect(instrument.trace.count == instrument.callCount)
    }

    @Test("synced and renamed without syncing the directory: after a power cut it has its temporary name")
    func renameIsLost() throws {
        let disk = SimulatedFileSystem()
        let root = try disk.openRoot("/home", create: true)
        try write("audio", "temporary", in: root, of: disk, sync: true)
        try disk.sync(root)
        try disk.publish("temporary", in: root, as: "final", in: root)
        #expect(disk.paths() == ["/home", "/home/final"])
        disk.losePower(.durableOnly)
        #expect(disk.paths() == ["/home", "/home/temporary"])
        #expect(disk.content("/home/temporary") == Array("audio".utf8))
    }

    @Test("a synced file in a directory that was never synced is gone")
    func nameIsLost() throws {
        let disk = SimulatedFileSystem()
        let root = try disk.openRoot("/home", create: true)
        try write("audio", "final", in: root, of: disk, sync: true)
        disk.losePower(.durableOnly)
        #expect(disk.paths() == ["/home"])
    }

    @Test("written, not synced, renamed, and the directory synced: published with zero bytes")
    func publishedEmpty() throws {
        let disk = SimulatedFileSystem()
        let root = try disk.openRoot("/home", create: true)
        try write("audio", "temporary", in: root, of: disk)
        try disk.publish("temporary", in: root, as: "final", in: root)
        try write("neighbour", "neighbour", in: root, of: disk, sync: true)
        try disk.sync(root)
        let before = disk.snapshot()
        disk.losePower(.durableOnly)
        #expect(disk.content("/home/final") == [])
        #expect(disk.content("/home/neighbour") == Array("neighbour".utf8))

        var found: Set<[UInt8]> = []
        for seed in 0..<60 {
            disk.restore(before)
            disk.losePower(.random(seed: UInt64(seed)))
            found.insert(try #require(disk.content("/home/final")))
        }
        // Nothing, a length without its bytes, and all of it: and no fourth state of five bytes in one page.
        #expect(found == [[], [0, 0, 0, 0, 0], Array("audio".utf8)])
    }

    @Test("law 1 in full: what was told survives every cut")
    func lawOneHolds() throws {
        for seed in 0..<60 {
            let disk = SimulatedFileSystem()
            let root = try disk.openRoot("/home", create: true)
            try write("audio", "temporary", in: root, of: disk, sync: true)
            try disk.publish("temporary", in: root, as: "final", in: root)
            try disk.sync(root)
            try write("more", "more", in: root, of: disk)
            disk.losePower(seed == 0 ? .durableOnly : .random(seed: UInt64(seed)))
            #expect(disk.content("/home/final") == Array("audio".utf8))
            #expect(disk.content("/home/temporary") == nil)
        }
    }

    @Test("a directory whose parent was not synced takes its synced files with it")
    func newDirectoryIsLost() throws {
        let disk = SimulatedFileSystem()
        let root = try disk.openRoot("/home", create: true)
        let month = try disk.openDirectory("2025-01", in: root, create: true)
        try write("audio", "note", in: month, of: disk, sync: true)
        try disk.sync(month)
        #expect(disk.durableContent("/home/2025-01/note") == nil)
        try disk.sync(root)
        #expect(disk.durableContent("/home/2025-01/note") == Array("audio".utf8))
    }

    @Test("a folder that the user named is durable with its parents as soon as it is open")
    func rootIsDurable() throws {
        let disk = SimulatedFileSystem()
        _ = try disk.openRoot("/a/b/c", create: true)
        disk.losePower(.durableOnly)
        #expect(disk.paths() == ["/a", "/a/b", "/a/b/c"])
    }

    @Test("between two directories: the source synced alone loses the file, the target alone keeps both names")
    func renameAcross() throws {
        for (isTargetSynced, expected) in [
            (false, ["/home", "/home/source", "/home/target"]),
            (true, ["/home", "/home/source", "/home/source/note", "/home/target", "/home/target/note"]),
        ] {
            let disk = SimulatedFileSystem()
            try moveAcross(disk, isTargetSynced: isTargetSynced)
            disk.losePower(.durableOnly)
            #expect(disk.paths() == expected)
            if isTargetSynced { #expect(disk.status("/home/target/note")?.linkCount == 2) }
        }
    }

    @Test("with a journal either directory's sync brings the whole rename", arguments: [false, true])
    func renameAcrossAtomic(isTargetSynced: Bool) throws {
        let disk = SimulatedFileSystem(renameAcrossDirectories: .atomic)
        try moveAcross(disk, isTargetSynced: isTargetSynced)
        disk.losePower(.durableOnly)
        #expect(disk.paths() == ["/home", "/home/source", "/home/target", "/home/target/note"])
        #expect(disk.status("/home/target/note")?.linkCount == 1)
    }

    private func moveAcross(_ disk: SimulatedFileSystem, isTargetSynced: Bool) throws {
        let root = try disk.openRoot("/home", create: true)
        let source = try disk.openDirectory("source", in: root, create: true)
        let target = try disk.openDirectory("target", in: root, create: true)
        try write("audio", "note", in: source, of: disk, sync: true)
        try disk.sync(source)
        try disk.sync(root)
        try disk.publish("note", in: source, as: "note", in: target)
        if isTargetSynced { try disk.sync(target) } else { try disk.sync(source) }
    }

    @Test("one barrier makes everything on its device durable, and nothing on another")
    func barrier() throws {
        let disk = SimulatedFileSystem()
        _ = try disk.openRoot("/home", create: true)
        try disk.mount("/spool")
        let home = try disk.openRoot("/home", create: false)
        let spool = try disk.openRoot("/spool", create: false)
        let inner = try disk.openDirectory("inner", in: home, create: true)
        try write("here", "note", in: inner, of: disk)
        try write("there", "note", in: spool, of: disk)
        try disk.syncAll(home)
        disk.losePower(.durableOnly)
        #expect(disk.paths() == ["/home", "/home/inner", "/home/inner/note", "/spool"])
        #expect(disk.content("/home/inner/note") == Array("here".utf8))
    }

    @Test("everything survives a cut that comes after the cache was flushed")
    func everythingSurvives() throws {
        let disk = SimulatedFileSystem()
        let root = try disk.openRoot("/home", create: true)
        let inner = try disk.openDirectory("inner", in: root, create: true)
        for index in 0..<40 {
            let name = try #require(FileName("n\(index)"))
            try write("note \(index)", name, in: root, of: disk, sync: index % 3 == 0)
            let isMoved = index % 2 == 0
            if isMoved { try disk.publish(name, in: root, as: name, in: inner) }
            if index % 5 == 0 { try disk.sync(inner) }
            if index % 14 == 0 { try disk.unlink(name, in: inner) }
            if index % 14 == 7 { try disk.unlink(name, in: root) }
        }
        let (paths, contents) = (disk.paths(), disk.paths().map { disk.content($0) })
        disk.losePower(.everything)
        #expect(disk.paths() == paths)
        #expect(disk.paths().map { disk.content($0) } == contents)
        #expect(disk.durablePaths() == paths)
    }

    @Test("the same seed leaves the same disk, and pages of a torn write are whole")
    func randomLoss() throws {
        let disk = SimulatedFileSystem()
        let root = try disk.openRoot("/home", create: true)
        let file = try disk.create("big", in: root)
        try disk.sync(root)
        try disk.writeAll(file, at: 100, [UInt8](repeating: 9, count: 40_000))
        let before = disk.snapshot()
        var isTorn = false
        for seed in 0..<20 {
            disk.restore(before)
            disk.losePower(.random(seed: UInt64(seed)))
            let after = disk.snapshot()
            disk.restore(before)
            disk.losePower(.random(seed: UInt64(seed)))
            #expect(disk.snapshot() == after)
            let content = try #require(disk.content("/home/big"))
            for page in stride(from: 4096, to: content.count, by: 4096) {
                let bytes = content[page..<min(page + 4096, content.count)]
                #expect(Set(bytes).count == 1)
                if bytes.first == 0 { isTorn = true }
            }
        }
        #expect(isTorn)
    }

    @Test("a failed sync: a second one succeeds and proves nothing")
    func failedSync() throws {
        let disk = SimulatedFileSystem()
        let view = disk.asProcess("watch")
        let instrument = InstrumentedFileSystem(view, injections: [Injection(.nth(1, .sync), .fail(.inputOutput))])
        let root = try instrument.openRoot("/home", create: true)
        let file = try instrument.create("note", in: root)
        try instrument.sync(root)
        try instrument.writeAll(file, at: 0, Array("audio".utf8))
        #expect(throws: FileSystemError(.sync, "/home/note", .inputOutput)) { try instrument.sync(file) }
        try instrument.sync(file)
        #expect(disk.content("/home/note") == Array("audio".utf8))
        #expect(disk.durableContent("/home/note") == [])
        try instrument.writeAll(file, at: 0, Array("again".utf8))
        try instrument.sync(file)
        #expect(disk.durableContent("/home/note") == Array("again".utf8))
    }

    @Test("a directory that nobody syncs does not grow for ever, and what the sweep takes was not needed")
    func longLife() throws {
        let disk = SimulatedFileSystem(capacityByteCount: 1 << 20)
        let root = try disk.openRoot("/spool", create: true)
        try write("kept", "kept", in: root, of: disk, sync: true)
        for _ in 0..<20_000 {
            try write("entry", "entry", in: root, of: disk)
            try disk.unlink("entry", in: root)
        }
        #expect(disk.unsyncedChanges().count <= 50_000)
        #expect(disk.content("/spool/kept") == Array("kept".utf8))
        #expect(try disk.space(of: root).freeByteCount == (1 << 20) - 4096)
        disk.losePower(.random(seed: 1))
        #expect(disk.content("/spool/kept") == Array("kept".utf8))
    }
}
