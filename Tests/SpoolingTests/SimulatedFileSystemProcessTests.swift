import Simulation
import Spooling
import Testing

/// Two processes on one disk, a full disk, other mounts, and files that are not ours.
struct SimulatedFileSystemProcessTests {
    private func reason(_ body: () throws(FileSystemError) -> Void) -> FileSystemError.Reason? {
        do throws(FileSystemError) {
            try body()
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("a lock excludes the other daemon until its holder is killed")
    func locks() throws {
        let disk = SimulatedFileSystem()
        let (watch, rival) = (disk.asProcess("watch"), disk.asProcess("rival"))
        let home = try watch.openRoot("/home", create: true)
        let held = try watch.create("lock", in: home)
        #expect(try watch.lock(held))
        let rivalHome = try rival.openRoot("/home", create: false)
        let wanted = try rival.open("lock", in: rivalHome)
        #expect(try !rival.lock(wanted))
        #expect(disk.lockHolder("/home/lock") == "watch")
        disk.kill(watch)
        #expect(try rival.lock(wanted))
        #expect(disk.lockHolder("/home/lock") == "rival")
    }

    @Test("a killed process keeps what it wrote and can do nothing more; its handles close without effect")
    func kill() throws {
        let disk = SimulatedFileSystem()
        let watch = disk.asProcess("watch")
        do {
            let home = try watch.openRoot("/home", create: true)
            let file = try watch.create("note", in: home)
            try watch.writeAll(file, at: 0, Array("audio".utf8))
            watch.kill()
            #expect(disk.openHandleCount == 0)
            #expect(reason { () throws(FileSystemError) in try watch.sync(file) } == .processIsDead)
            #expect(reason { () throws(FileSystemError) in try watch.unlink("note", in: home) } == .processIsDead)
            #expect(
                reason { () throws(FileSystemError) in _ = try watch.openRoot("/", create: false) } == .processIsDead)
            // A new process gets no handle that the old one would close.
            let next = disk.asProcess("watch")
            let nextHome = try next.openRoot("/home", create: false)
            try closeAll(home, file)
            #expect(try next.exists("note", in: nextHome))
        }
        #expect(disk.content("/home/note") == Array("audio".utf8))
        #expect(disk.openHandleCount == 0)
    }

    private func closeAll(_ directory: consuming OpenDirectory, _ file: consuming OpenFile) throws {
        _ = consume file
        _ = consume directory
    }

    @Test("a cut of the power ends every process")
    func powerEndsAll() throws {
        let disk = SimulatedFileSystem()
        let watch = disk.asProcess("watch")
        let home = try watch.openRoot("/home", create: true)
        let own = try disk.openRoot("/home", create: false)
        disk.losePower(.everything)
        #expect(!watch.isAlive)
        #expect(reason { () throws(FileSystemError) in try watch.sync(home) } == .processIsDead)
        #expect(reason { () throws(FileSystemError) in try disk.sync(own) } == .other(9))
        #expect(try disk.openRoot("/home", create: false).displayPath == "/home")
    }

    @Test("a process cannot use the handle of another")
    func foreignHandle() throws {
        let disk = SimulatedFileSystem()
        let home = try disk.asProcess("watch").openRoot("/home", create: true)
        let rival = disk.asProcess("rival")
        #expect(reason { () throws(FileSystemError) in try rival.sync(home) } == .other(9))
    }

    @Test("a full disk takes what fits, then nothing, and goes on when room is made")
    func fullDisk() throws {
        let disk = SimulatedFileSystem(capacityByteCount: 10 * 4096)
        let home = try disk.openRoot("/home", create: true)
        try disk.write([UInt8](repeating: 1, count: 4097), to: "/home/other")  // two blocks
        #expect(try disk.space(of: home).freeByteCount == 8 * 4096)
        let file = try disk.create("note", in: home)
        let bytes = [UInt8](repeating: 2, count: 40_000)
        let count = try bytes.withUnsafeBytes { try disk.write(file, at: 0, from: $0) }
        #expect(count == 8 * 4096)
        #expect(reason { () throws(FileSystemError) in try disk.writeAll(file, at: UInt64(count), [1]) } == .noSpace)
        #expect(reason { () throws(FileSystemError) in try disk.writeAll(file, at: 0, bytes) } == .noSpace)
        try disk.writeAll(file, at: 5, [3])  // what is there already may be written again
        #expect(try disk.create("empty", in: home).displayPath == "/home/empty")  // metadata is free
        try disk.unlink("other", in: home)
        try disk.writeAll(file, at: UInt64(count), [UInt8](repeating: 2, count: 2 * 4096))
        try disk.unlink("note", in: home)
        #expect(try disk.space(of: home).freeByteCount == 0)  // it is open still
        try letGo(file)
        #expect(try disk.space(of: home).freeByteCount == 10 * 4096)
        try disk.setCapacity(of: "/home", byteCount: 4096)
        #expect(
            reason { () throws(FileSystemError) in try disk.write([UInt8](repeating: 1, count: 4097), to: "/home/x") }
                == .noSpace)
    }

    private func letGo(_ file: consuming OpenFile) throws { _ = consume file }

    @Test("blocks that were freed by a cut of the power are free")
    func roomAfterPowerLoss() throws {
        let disk = SimulatedFileSystem(capacityByteCount: 4 * 4096)
        _ = try disk.openRoot("/home", create: true)
        try disk.write([UInt8](repeating: 1, count: 3 * 4096), to: "/home/lost")
        disk.losePower(.durableOnly)
        let home = try disk.openRoot("/home", create: false)
        #expect(try disk.space(of: home).freeByteCount == 4 * 4096)
    }

    @Test("a file is not published on another device, nor on another mount of the same one")
    func crossDevice() throws {
        let disk = SimulatedFileSystem()
        let home = try disk.openRoot("/home", create: true)
        try disk.mount("/spool", capacityByteCount: 4096)
        try disk.mount("/bound", sharingDeviceOf: "/home")
        let spool = try disk.openRoot("/spool", create: false)
        let bound = try disk.openRoot("/bound", create: false)
        _ = try disk.create("note", in: home)
        for other in 0..<2 {
            let failure = reason { () throws(FileSystemError) in
                if other == 0 {
                    try disk.publish("note", in: home, as: "note", in: spool)
                } else {
                    try disk.publish("note", in: home, as: "note", in: bound)
                }
            }
            #expect(failure == .crossDevice)
        }
        #expect(try disk.status(of: spool).device != disk.status(of: home).device)
        #expect(try disk.status(of: bound).device == disk.status(of: home).device)
        #expect(try disk.space(of: spool).totalByteCount == 4096)
        #expect(disk.content("/home/note") == [])
    }

    @Test("what is not a plain file of ours is refused, and a link is never followed")
    func refusals() throws {
        let disk = SimulatedFileSystem()
        let home = try disk.openRoot("/home", create: true)
        try disk.plant("/home/secret", bytes: [1])
        try disk.plant("/home/link", kind: .symbolicLink, target: "secret")
        try disk.plant("/home/dangling", kind: .symbolicLink, target: "/nowhere")
        try disk.plant("/home/fifo", kind: .fifo)
        try disk.plant("/home/foreign", permissions: 0o666, isOurs: false)
        try disk.plant("/home/open", permissions: 0o644)
        try disk.plant("/home/shared", linkCount: 2)
        let expected: [(FileName, Refusal)] = [
            ("link", .notAPlainFile(.symbolicLink)), ("fifo", .notAPlainFile(.fifo)), ("foreign", .foreignOwner),
            ("open", .tooOpen(permissions: 0o644)), ("shared", .hardLinked(count: 2)),
        ]
        for (name, refusal) in expected {
            #expect(reason { () throws(FileSystemError) in _ = try disk.openOurs(name, in: home) } == .refused(refusal))
        }
        #expect(reason { () throws(FileSystemError) in _ = try disk.open("link", in: home) } == .isLink)
        #expect(reason { () throws(FileSystemError) in _ = try disk.create("dangling", in: home) } == .exists)
        #expect(
            reason { () throws(FileSystemError) in _ = try disk.openDirectory("link", in: home, create: false) }
                == .notDirectory)
        // The user's own links are followed.
        try disk.plant("/short", kind: .symbolicLink, target: "home")
        #expect(try disk.openSource("/short/link").displayPath == "/short/link")
        #expect(try disk.status(of: disk.openRoot("/short", create: true)).inode == disk.status(of: home).inode)
        try disk.plant("/loop", kind: .symbolicLink, target: "loop")
        #expect(reason { () throws(FileSystemError) in _ = try disk.openRoot("/loop", create: false) } == .isLink)
    }

    @Test("a folder that vanished and came back is another one, and the open handle sees neither name nor file")
    func spoolVanished() throws {
        let disk = SimulatedFileSystem()
        let old = try disk.openRoot("/spool", create: true)
        try disk.write([1], to: "/spool/entry")
        try disk.remove("/spool")
        #expect(reason { () throws(FileSystemError) in _ = try disk.create("entry", in: old) } == .notFound)
        #expect(try disk.sortedNames(in: old) == [])
        let new = try disk.openRoot("/spool", create: true)
        #expect(try disk.status(of: new).inode != disk.status(of: old).inode)
    }

    @Test("a read-only mount is read and not changed")
    func readOnly() throws {
        let disk = SimulatedFileSystem()
        let home = try disk.openRoot("/home", create: true)
        try disk.write([1], to: "/home/note")
        try disk.setReadOnly("/home", true)
        #expect(reason { () throws(FileSystemError) in _ = try disk.create("new", in: home) } == .readOnly)
        #expect(reason { () throws(FileSystemError) in try disk.unlink("note", in: home) } == .readOnly)
        #expect(reason { () throws(FileSystemError) in _ = try disk.open("note", in: home) } == .readOnly)
        #expect(try disk.status(of: disk.openSource("/home/note")).byteCount == 1)
    }
}
