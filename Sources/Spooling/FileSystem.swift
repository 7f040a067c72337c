// The one seam through which both sides touch a disk.
//
// Stores never see a path of their own, a file descriptor or an errno: they hold `OpenDirectory` and `OpenFile` and call
// the functions below. `DiskFileSystem` (DaemonRuntime) carries them out with one system call each; `SimulatedFileSystem`
// (Simulation) keeps what was *written* apart from what is *durable* and can lose power. Every call is therefore a place
// that can be numbered, at which a test can kill, fail or cut the power. Closing is not such a place: it changes nothing
// that a reader after a crash could see.
//
// Names are relative to an open directory and are never followed through a link.

/// What a directory entry or an open file is.
package enum FileKind: Hashable, Sendable {
    case regular, directory, symbolicLink, fifo, socket, device, other
}

/// What the pair wants to know about a file. (`fstat`, `fstatat` with `AT_SYMLINK_NOFOLLOW`.)
package struct FileStatus: Hashable, Sendable {
    package var kind: FileKind
    package var byteCount: UInt64
    /// Whether the file belongs to the effective user of this process.
    package var isOurs: Bool
    /// The lower twelve bits of the mode.
    package var permissions: UInt16
    package var linkCount: UInt64
    package var inode: UInt64
    package var device: UInt64

    package init(
        kind: FileKind, byteCount: UInt64, isOurs: Bool, permissions: UInt16, linkCount: UInt64, inode: UInt64,
        device: UInt64
    ) {
        self.kind = kind
        self.byteCount = byteCount
        self.isOurs = isOurs
        self.permissions = permissions
        self.linkCount = linkCount
        self.inode = inode
        self.device = device
    }
}

/// Room on the file system that holds a directory. (`fstatvfs`; what an unprivileged process may use.)
package struct FreeSpace: Hashable, Sendable {
    package var freeByteCount: UInt64
    package var totalByteCount: UInt64

    package init(freeByteCount: UInt64, totalByteCount: UInt64) {
        self.freeByteCount = freeByteCount
        self.totalByteCount = totalByteCount
    }
}

/// A number that stands for something a file system has opened.
package struct HandleNumber: Hashable, Sendable {
    package let rawValue: Int32
    package init(_ rawValue: Int32) { self.rawValue = rawValue }
}

/// A path for messages. Its text is put together when somebody reads it: most calls succeed, and none of those needs it.
package struct DisplayPath: Hashable, Sendable, CustomStringConvertible {
    private let directory: String
    private let name: FileName?

    package init(_ path: String) {
        directory = path
        name = nil
    }

    package init(_ name: FileName, in directory: String) {
        self.directory = directory
        self.name = name
    }

    package var description: String {
        guard let name else { return directory }
        return "\(directory)/\(name)"
    }

    /// Two are equal that read alike.
    package static func == (left: DisplayPath, right: DisplayPath) -> Bool { left.description == right.description }
    package func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// An open file. It has one owner and is closed, and its lock released, when that owner lets go of it.
package struct OpenFile: ~Copyable {
    package let handle: HandleNumber
    /// For messages only; never used to open anything.
    package let path: DisplayPath
    private let fileSystem: any FileSystem

    package init(handle: HandleNumber, path: DisplayPath, fileSystem: any FileSystem) {
        self.handle = handle
        self.path = path
        self.fileSystem = fileSystem
    }

    package init(handle: HandleNumber, displayPath: String, fileSystem: any FileSystem) {
        self.init(handle: handle, path: DisplayPath(displayPath), fileSystem: fileSystem)
    }

    deinit { fileSystem.close(handle) }

    package var displayPath: String { path.description }
}

/// An open directory. It has one owner and is closed when that owner lets go of it.
package struct OpenDirectory: ~Copyable {
    package let handle: HandleNumber
    /// For messages, and for the event loop, which asks the kernel for news of this directory.
    package let displayPath: String
    private let fileSystem: any FileSystem

    package init(handle: HandleNumber, displayPath: String, fileSystem: any FileSystem) {
        self.handle = handle
        self.displayPath = displayPath
        self.fileSystem = fileSystem
    }

    deinit { fileSystem.close(handle) }

    package var path: DisplayPath { DisplayPath(displayPath) }

    /// The path of a name in this directory, for messages only.
    package func displayPath(of name: FileName) -> String { path(of: name).description }
    package func path(of name: FileName) -> DisplayPath { DisplayPath(name, in: displayPath) }
}

/// The disk, as far as the pair uses it. All errors are `FileSystemError`; none is a trap.
package protocol FileSystem: AnyObject {
    /// Opens a directory that the *user* named (a home, a spool); links on the way to it are his and are followed. With
    /// `create`, makes it and its missing parents (mode 0700), and syncs the parent of each one made.
    func openRoot(_ path: String, create: Bool) throws(FileSystemError) -> OpenDirectory

    /// Opens the directory `name` in `parent`, not following a link. With `create`, makes it (mode 0700) when it is
    /// missing; the caller syncs `parent` before it relies on that.
    func openDirectory(
        _ name: FileName, in parent: borrowing OpenDirectory, create: Bool
    ) throws(FileSystemError) -> OpenDirectory

    /// Opens a file that the *user* named, for reading. Never blocks on a FIFO.
    func openSource(_ path: String) throws(FileSystemError) -> OpenFile

    /// Makes the file `name` (mode 0600) for reading and writing; fails with `exists` when the name is taken, also by
    /// a dangling link.
    func create(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile

    /// Opens the file `name` for reading and writing, not following a link, never blocking. What kind of file it is,
    /// is for the caller to ask first: see `openOurs`.
    func open(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile

    /// Status of a name, not following a link.
    func status(of name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus
    func status(of file: borrowing OpenFile) throws(FileSystemError) -> FileStatus
    func status(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus

    /// Calls `body` with every name in the directory except `.` and `..`, in no particular order, until it returns
    /// `false`. Holds a few names at a time, so a directory that somebody filled with a million names costs time only.
    func forEachName(
        in directory: borrowing OpenDirectory, _ body: (FileName) -> Bool
    ) throws(FileSystemError)

    /// Reads up to `buffer.count` bytes at `offset`; fewer than asked is allowed, 0 is the end of the file.
    func read(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int

    /// Writes up to `bytes.count` bytes at `offset` and says how many; fewer than asked is allowed.
    func write(
        _ file: borrowing OpenFile, at offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws(FileSystemError) -> Int

    func truncate(_ file: borrowing OpenFile, to byteCount: UInt64) throws(FileSystemError)

    /// Content and length durable (`fsync`; `F_FULLFSYNC` on Darwin). A failure is final for this file: what is on
    /// disk is unknown, and a second call that succeeds would prove nothing (the kernel marks failed pages clean).
    func sync(_ file: borrowing OpenFile) throws(FileSystemError)

    /// The directory's names durable.
    func sync(_ directory: borrowing OpenDirectory) throws(FileSystemError)

    /// Whether `syncAll` exists here. (Linux: `syncfs`. Darwin has none.)
    var hasSyncAll: Bool { get }

    /// One barrier: everything written so far on the file system that holds `directory` is durable, names included.
    func syncAll(_ directory: borrowing OpenDirectory) throws(FileSystemError)

    /// Gives a file its new name, in one step, and never replaces: fails with `exists` when the name is taken.
    /// (`renameat2` with `RENAME_NOREPLACE`; `renameatx_np` with `RENAME_EXCL`.) Fails with `crossDevice` when the two
    /// directories are not on one mount. Durable only after both directories are synced.
    func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError)

    func unlink(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError)

    /// Takes the file's exclusive lock if nobody holds it, and says whether it did. The lock dies with the `OpenFile`
    /// and with its process, however that ends (`flock`).
    func lock(_ file: borrowing OpenFile) throws(FileSystemError) -> Bool

    func space(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FreeSpace

    // The same call for several, in any order, or at once where that is faster: on many disks a call that frees blocks, or
    // makes them durable, waits for the device, and several wait together. Each answers what failed, one by one. Whoever
    // does not say otherwise makes the calls one after the other.

    func unlinkEach(_ names: [FileName], in directory: borrowing OpenDirectory) -> [FileSystemError?]
    func truncateEach(_ cuts: [FileCut]) -> [FileSystemError?]
    func syncEach(_ files: [FileBox]) -> [FileSystemError?]
    func syncEach(
        _ first: borrowing OpenDirectory, _ second: borrowing OpenDirectory
    ) -> (FileSystemError?, FileSystemError?)

    /// What `carrier` says of the first bytes of each.
    func checksumsEach(_ bodies: [FileBody], by carrier: SliceCarrier) -> [Result<Checksums?, FileSystemError>]

    /// A hint: what was written there may go to the disk by now. Promises nothing, and nothing depends on it.
    func startWriting(_ file: borrowing OpenFile, at offset: UInt64, byteCount: Int)

    /// `syncAll`, with `work` done while the disk is at it, or behind it where that cannot be; in either case before the answer.
    /// Nothing that `work` does is covered, nor may it depend on the answer. `isDone` tells it whether the disk waits for it.
    func syncAll(_ directory: borrowing OpenDirectory, beside work: (_ isDone: () -> Bool) -> Void)
        throws(FileSystemError)

    /// Does both before it returns, at once where that is faster. They share nothing that either changes.
    func together(_ first: @Sendable () -> Void, _ second: () -> Void)

    /// Called by the `deinit` of a handle, and by nothing else.
    func close(_ handle: HandleNumber)
}

/// A file, and the length that it is to have.
package struct FileCut {
    package let file: FileBox
    package let byteCount: UInt64

    package init(_ file: FileBox, to byteCount: UInt64) {
        self.file = file
        self.byteCount = byteCount
    }
}

/// A file, and how many of its first bytes are meant.
package struct FileBody {
    package let file: FileBox
    package let byteCount: UInt64

    package init(_ file: FileBox, byteCount: UInt64) {
        self.file = file
        self.byteCount = byteCount
    }
}

extension FileSystem {
    package func unlinkEach(_ names: [FileName], in directory: borrowing OpenDirectory) -> [FileSystemError?] {
        var failures: [FileSystemError?] = []
        for name in names {
            do throws(FileSystemError) {
                try unlink(name, in: directory)
                failures.append(nil)
            } catch {
                failures.append(error)
            }
        }
        return failures
    }

    package func truncateEach(_ cuts: [FileCut]) -> [FileSystemError?] {
        cuts.map { cut in
            do throws(FileSystemError) {
                try truncate(cut.file.file, to: cut.byteCount)
                return nil
            } catch {
                return error
            }
        }
    }

    package func syncEach(_ files: [FileBox]) -> [FileSystemError?] {
        files.map { box in
            do throws(FileSystemError) {
                try sync(box.file)
                return nil
            } catch {
                return error
            }
        }
    }

    package func syncEach(
        _ first: borrowing OpenDirectory, _ second: borrowing OpenDirectory
    ) -> (FileSystemError?, FileSystemError?) {
        func failure(_ directory: borrowing OpenDirectory) -> FileSystemError? {
            do throws(FileSystemError) {
                try sync(directory)
                return nil
            } catch {
                return error
            }
        }
        return (failure(first), failure(second))
    }

    package func checksumsEach(
        _ bodies: [FileBody], by carrier: SliceCarrier
    ) -> [Result<Checksums?, FileSystemError>] {
        bodies.map { carrier.result(of: $0) }
    }

    package func startWriting(_ file: borrowing OpenFile, at offset: UInt64, byteCount: Int) {}

    package func syncAll(
        _ directory: borrowing OpenDirectory, beside work: (_ isDone: () -> Bool) -> Void
    ) throws(FileSystemError) {
        var failure: FileSystemError?
        do throws(FileSystemError) { try syncAll(directory) } catch { failure = error }
        work { true }
        if let failure { throw failure }
    }

    package func together(_ first: @Sendable () -> Void, _ second: () -> Void) {
        first()
        second()
    }
}
