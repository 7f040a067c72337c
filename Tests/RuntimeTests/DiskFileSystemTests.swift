import DaemonRuntime
import Foundation
import Spooling
import Testing

@Suite("The real disk behind the seam") struct DiskFileSystemTests {
    let disk = DiskFileSystem()
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("publish moves a file to a free name and never replaces one that is taken")
    func publishNeverReplaces() throws {
        let root = try disk.openRoot(folder.path, create: false)
        let other = try disk.openDirectory("other", in: root, create: true)
        for (name, byte) in [("a", UInt8(1)), ("b", UInt8(2))] {
            let file = try disk.create(FileName(name)!, in: root)
            try disk.writeAll(file, at: 0, [byte])
        }
        try disk.publish("a", in: root, as: "final", in: other)
        let error = failure { try disk.publish("b", in: root, as: "final", in: other) }
        #expect(error?.reason == .exists)
        #expect(error?.operation == .publish)
        #expect(error?.path == folder.file("other/final"))
        #expect(error?.mayHaveHappened == false)

        let final = try disk.openOurs("final", in: other)
        #expect(try disk.readAll(final.file, at: 0, byteCount: 9) == [1])
        #expect(try disk.sortedNames(in: root) == ["b", "other"])
        #expect(failure { try disk.publish("a", in: root, as: "again", in: other) }?.reason == .notFound)
    }

    @Test("checksums of many files on several threads are those of one after the other, each with its own file")
    func checksumsTogether() throws {
        let root = try disk.openRoot(folder.path, create: false)
        let bodies = try (0..<9).map { number in
            let file = try disk.create(FileName("\(number)")!, in: root)
            // Some end within a slice, some span several.
            let byteCount = 100_000 + number * 150_001
            try disk.writeAll(file, at: 0, (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
            // One is shorter than is asked for.
            return FileBody(FileBox(file), byteCount: UInt64(byteCount + (number == 4 ? 1 : 0)))
        }
        let carrier = SliceCarrier(fileSystem: disk, shouldStop: { false })
        let together = try disk.checksumsEach(bodies, by: carrier).map { try $0.get() }
        #expect(together == (try bodies.map { try carrier.result(of: $0).get() }))
        #expect(together[4] == nil && Set(together.compactMap { $0 }).count == 8)
        #expect(disk.checksumsEach([], by: carrier).isEmpty)
    }

    @Test("publish does not replace a dangling link either, and create calls it taken")
    func danglingLink() throws {
        let root = try disk.openRoot(folder.path, create: false)
        try #require(symlink("nowhere", folder.file("link")) == 0)
        _ = try disk.create("a", in: root)
        #expect(failure { _ = try disk.create("link", in: root) }?.reason == .exists)
        #expect(failure { _ = try disk.open("link", in: root) }?.reason == .isLink)
        #expect(failure { _ = try disk.openDirectory("link", in: root, create: false) }?.reason == .isLink)
        #expect(failure { _ = try disk.openDirectory("link", in: root, create: true) }?.reason == .isLink)
        #expect(failure { try disk.publish("a", in: root, as: "link", in: root) }?.reason == .exists)
        #expect(try disk.status(of: "link", in: root).kind == .symbolicLink)
        #expect(
            failure { _ = try disk.openOurs("link", in: root) }?.reason == .refused(.notAPlainFile(.symbolicLink)))
        // A link to a real directory is not followed: a home's directory exchanged for one leads nowhere.
        _ = try disk.openDirectory("real", in: root, create: true)
        try #require(symlink("real", folder.file("alias")) == 0)
        #expect(failure { _ = try disk.openDirectory("alias", in: root, create: true) }?.reason == .isLink)
    }

    @Test("a FIFO is opened without waiting for its other end")
    func fifoNeverBlocks() async throws {
        try #require(mkfifo(folder.file("fifo"), 0o600) == 0)
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            // In a process of its own, which the alarm ends when it hangs.
            alarm(20)
            let disk = DiskFileSystem()
            let root = try disk.openRoot(path, create: false)
            // First this one: once somebody has a FIFO open for both, opening it for reading waits for nobody.
            let source = try disk.openSource(path + "/fifo")
            let fifo = try disk.open("fifo", in: root)
            let kinds = [try disk.status(of: source).kind, try disk.status(of: fifo).kind]
            exit(kinds == [.fifo, .fifo] ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("what is no plain file is refused, each kind with its reason")
    func otherKinds() throws {
        let root = try disk.openRoot(folder.path, create: false)
        try #require(mkfifo(folder.file("fifo"), 0o600) == 0)
        #expect(failure { _ = try disk.openOurs("fifo", in: root) }?.reason == .refused(.notAPlainFile(.fifo)))
        _ = try disk.openDirectory("sub", in: root, create: true)
        #expect(failure { _ = try disk.open("sub", in: root) }?.reason == .isDirectory)
        #expect(failure { _ = try disk.open("none", in: root) }?.reason == .notFound)
        #expect(failure { _ = try disk.openDirectory("fifo", in: root, create: true) }?.reason == .notDirectory)
        #expect(failure { _ = try disk.openSource(folder.file("none")) }?.operation == .openSource)
    }

    @Test("reading and writing at an offset, cutting, and the end of the file")
    func bytes() throws {
        let root = try disk.openRoot(folder.path, create: false)
        let file = try disk.create("a", in: root)
        try disk.writeAll(file, at: 3, [7, 8, 9])
        #expect(try disk.readAll(file, at: 0, byteCount: 100) == [0, 0, 0, 7, 8, 9])
        try disk.truncate(file, to: 4)
        #expect(try disk.status(of: file).byteCount == 4)
        #expect(try disk.readAll(file, at: 4, byteCount: 1) == [])
        #expect(try disk.readAll(file, at: .max, byteCount: 1) == [])
        #expect(failure { try disk.writeAll(file, at: .max, [1]) }?.reason == .fileTooLarge)
        #expect(failure { try disk.truncate(file, to: .max) }?.reason == .fileTooLarge)
        try disk.sync(file)
        try disk.sync(root)
        if disk.hasSyncAll { try disk.syncAll(root) }
        let status = try disk.status(of: "a", in: root)
        #expect(status == (try disk.status(of: file)))
        #expect(status.isOurs && status.linkCount == 1 && status.permissions == 0o600)
        #expect(try disk.status(of: root).kind == .directory)
        try disk.unlink("a", in: root)
        #expect(failure { try disk.unlink("a", in: root) }?.reason == .notFound)
        let space = try disk.space(of: root)
        #expect(space.freeByteCount <= space.totalByteCount && space.totalByteCount > 0)
    }

    #if os(Linux)
        @Test("Linux has one barrier for a whole file system") func barrier() { #expect(disk.hasSyncAll) }
    #endif

    @Test("modes do not depend on the umask")
    func umaskIndependent() async throws {
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            umask(0o277)
            let disk = DiskFileSystem()
            let root = try disk.openRoot(path + "/home/deep", create: true)
            _ = try disk.create("file", in: root)
            _ = try disk.openDirectory("directory", in: root, create: true)
            let modes = [
                try disk.status(of: root).permissions, try disk.status(of: "file", in: root).permissions,
                try disk.status(of: "directory", in: root).permissions,
            ]
            exit(modes == [0o700, 0o600, 0o700] ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("openRoot makes missing parents, follows the user's links, and says what stands in the way")
    func roots() throws {
        #expect(failure { _ = try disk.openRoot(folder.file("a/b"), create: false) }?.reason == .notFound)
        let deep = try disk.openRoot(folder.file("a/b//c/"), create: true)
        #expect(deep.displayPath == folder.file("a/b//c"))
        #expect(try disk.status(of: deep).permissions == 0o700)
        _ = try disk.openRoot(folder.file("a/b/c"), create: true)
        _ = try disk.openRoot(folder.file("a/new/../other"), create: true)
        #expect(FileManager.default.fileExists(atPath: folder.file("a/other")))

        try #require(symlink("a", folder.file("alias")) == 0)
        _ = try disk.openRoot(folder.file("alias/under"), create: true)
        #expect(FileManager.default.fileExists(atPath: folder.file("a/under")))

        _ = FileManager.default.createFile(atPath: folder.file("plain"), contents: nil)
        #expect(failure { _ = try disk.openRoot(folder.file("plain"), create: true) }?.reason == .notDirectory)
        #expect(failure { _ = try disk.openRoot(folder.file("plain/x"), create: true) }?.reason == .notDirectory)
        #expect(failure { _ = try disk.openRoot("", create: true) }?.reason == .notFound)
        #expect(failure { _ = try disk.openRoot("a\0b", create: true) }?.reason == .other(EINVAL))
    }

    @Test("every listing begins at the beginning, sees new names, can stop, and leaves nothing open")
    func listing() throws {
        let root = try disk.openRoot(folder.path, create: false)
        let numbers = (0..<300).map { FileName("name-\($0)")! }
        for name in numbers { _ = try disk.create(name, in: root) }
        var seen = 0
        try disk.forEachName(in: root) { _ in
            seen += 1
            return seen < 5
        }
        #expect(seen == 5)
        #expect(try disk.sortedNames(in: root) == numbers.sorted())
        _ = try disk.create("zz-new", in: root)
        #expect(try disk.sortedNames(in: root) == numbers.sorted() + ["zz-new"])
        #if os(Linux)
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == folder.path
            }
            #expect(open.count == 1, "only the handle itself is open")
        #endif
    }

    @Test("a name of any bytes comes back as it was")
    func anyBytes() throws {
        #if os(Linux)
            let names = [[0xFF, 0xFE], [0xC3], Array("\u{65}\u{301}".utf8), Array("\u{E9}".utf8), [0x0A, 0x20]]
        #else
            // APFS takes UTF-8 only and calls canonically equal names equal.
            let names = [Array("\u{E9}".utf8), [0x0A, 0x20]]
        #endif
        let root = try disk.openRoot(folder.path, create: false)
        let wanted =
            names.map { FileName(bytes: $0.map { UInt8($0) })! } + [
                FileName(bytes: [UInt8](repeating: 97, count: 255))!
            ]
        for name in wanted { _ = try disk.create(name, in: root) }
        #expect(try disk.sortedNames(in: root) == wanted.sorted())
        for name in wanted { try disk.unlink(name, in: root) }
        #expect(try disk.sortedNames(in: root) == [])
    }

    @Test("a lock keeps another descriptor out and is free when its owner lets go")
    func lockExcludes() throws {
        let root = try disk.openRoot(folder.path, create: false)
        let second: OpenFile
        do {
            let first = try disk.create("lock", in: root)
            second = try disk.open("lock", in: root)
            #expect(try disk.lock(first))
            #expect(try disk.lock(second) == false)
        }
        #expect(try disk.lock(second))
    }

    @Test("a lock dies with a process that is killed")
    func lockDiesWithItsProcess() async throws {
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let disk = DiskFileSystem()
            let root = try disk.openRoot(path, create: false)
            let file = try disk.create("lock", in: root)
            guard try disk.lock(file) else { exit(EXIT_FAILURE) }
            _ = try disk.create("it-was-locked", in: root)
            kill(getpid(), SIGKILL)
            // Not reached; keeps the lock's owner alive up to here.
            _ = try disk.lock(file)
        }
        let root = try disk.openRoot(path, create: false)
        #expect(try disk.exists("it-was-locked", in: root))
        let file = try disk.open("lock", in: root)
        #expect(try disk.lock(file))
    }

    #if os(Linux)
        @Test("an error says operation, path and reason")
        func errorsSpeak() throws {
            let devices = try disk.openRoot("/dev", create: false)
            let full = try disk.open("full", in: devices)
            let error = failure { try disk.writeAll(full, at: 0, [1]) }
            #expect(error == FileSystemError(.write, "/dev/full", .noSpace))
            #expect(error?.description.contains("/dev/full: no space left") == true)
            // procfs knows no exclusive rename, and no rename at all.
            let proc = try disk.openRoot("/proc/self", create: false)
            #expect(failure { _ = try disk.create("x", in: proc) }?.operation == .create)
        }

        @Test("what lies on another file system cannot be published here")
        func crossDevice() throws {
            let root = try disk.openRoot(folder.path, create: false)
            let memory = try disk.openRoot("/dev/shm", create: false)
            try #require(try disk.status(of: root).device != disk.status(of: memory).device)
            _ = try disk.create("a", in: root)
            let error = failure { try disk.publish("a", in: root, as: "watchferry-never-made", in: memory) }
            #expect(error?.reason == .crossDevice)
        }
    #endif

    @Test("a full disk says so, for bytes and for names", .enabled(if: SmallDisk.canMount, "\(SmallDisk.why)"))
    func fullDisk() throws {
        let small = try SmallDisk(byteCount: 65_536)
        let root = try disk.openRoot(small.path, create: false)
        let file = try disk.create("big", in: root)
        let error = failure { try disk.writeAll(file, at: 0, [UInt8](repeating: 1, count: 200_000)) }
        #expect(error?.reason == .noSpace)
        #expect(error?.operation == .write)
        #expect(error?.mayHaveHappened == true)
        #expect(try disk.space(of: root).freeByteCount == 0)
    }
}
