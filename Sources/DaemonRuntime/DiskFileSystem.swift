// The real disk behind the seam: one system call for each call, no state of its own, the file descriptor as the handle.
//
// Everything is opened relative to a directory's descriptor, without following a link, without blocking (`O_NONBLOCK`: a
// FIFO or a file under a lease must not hang a daemon), without becoming somebody's terminal, and closed at exec.
// Extra calls happen in three places only: making a root with its parents, saying what kind of thing stood in the way of
// a directory, and repairing modes under a umask that takes bits from the owner himself.
//
// A call that a signal interrupts is repeated where `EINTR` means that nothing happened. A rename, an unlink, an
// exclusive creation may have had their effect on a network file system, so they answer `interrupted` and the caller looks.
// A sync is never repeated (law 5), and neither is a close (the descriptor is gone either way on Linux; repeating
// would close somebody else's).

package import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The disk of this machine.
package final class DiskFileSystem: FileSystem, Sendable {
    private static let fileFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    static let directoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
    private static let directoryMode: mode_t = 0o700
    private static let fileMode: mode_t = 0o600

    /// Whether the umask takes bits from the owner himself; only then do modes need a second call.
    private let umaskTakesOwnerBits: Bool

    /// Reads the umask, which POSIX allows only by setting it for a moment; it is set to the strictest that we want.
    package init() {
        let mask = umask(0o077)
        _ = umask(mask)
        umaskTakesOwnerBits = mask & 0o700 != 0
    }

    // MARK: Opening

    package func openRoot(_ path: String, create: Bool) throws(FileSystemError) -> OpenDirectory {
        let shown = RootPath.withoutTrailingSlashes(path)
        let descriptor = try RootPath(path).open(create: create) { made in self.repairMode(made, Self.directoryMode) }
        return OpenDirectory(handle: HandleNumber(descriptor), displayPath: shown, fileSystem: self)
    }

    package func openDirectory(
        _ name: FileName, in parent: borrowing OpenDirectory, create: Bool
    ) throws(FileSystemError) -> OpenDirectory {
        let at = parent.handle.rawValue
        let path = parent.displayPath(of: name)
        let open = {
            SystemCall.repeating { name.withTerminatedBytes { openat(at, $0, Self.directoryFlags | O_NOFOLLOW) } }
        }

        var opened = open()
        var made = false
        if create, opened == .failure(errno: ENOENT) {
            switch SystemCall.once({ name.withTerminatedBytes { mkdirat(at, $0, Self.directoryMode) } }) {
            case .value: made = true
            // Another process made it between our look and our call; that one is as good.
            case .failure(errno: EEXIST): break
            case .failure(let code): throw FileSystemError(.makeDirectory, path, .init(errno: code))
            }
            opened = open()
        }
        switch opened {
        case .value(let descriptor):
            let directory = OpenDirectory(
                handle: HandleNumber(Int32(descriptor)), displayPath: path, fileSystem: self)
            if made { repairMode(Int32(descriptor), Self.directoryMode) }
            return directory
        case .failure(let code):
            // Linux says `ENOTDIR` for a link under `O_DIRECTORY | O_NOFOLLOW`. A person wants to know which it is.
            if code == ENOTDIR, case .success(let status) = statusResult(of: name, at: at), status.kind == .symbolicLink
            {
                throw FileSystemError(.openDirectory, path, .isLink)
            }
            throw FileSystemError(.openDirectory, path, .init(errno: code))
        }
    }

    package func openSource(_ path: String) throws(FileSystemError) -> OpenFile {
        guard !path.utf8.contains(0) else { throw FileSystemError(.openSource, path, .other(EINVAL)) }
        // The user named it, so links are followed.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let opened = SystemCall.repeating { path.withCString { openat(AT_FDCWD, $0, flags) } }
        return try file(opened, .openSource, DisplayPath(path))
    }

    package func create(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        let at = directory.handle.rawValue
        let flags = O_RDWR | O_CREAT | O_EXCL | Self.fileFlags
        let opened = SystemCall.once { name.withTerminatedBytes { openat(at, $0, flags, Self.fileMode) } }
        let made = try file(opened, .create, directory.path(of: name))
        repairMode(made.handle.rawValue, Self.fileMode)
        return made
    }

    package func open(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        let at = directory.handle.rawValue
        let opened = SystemCall.repeating { name.withTerminatedBytes { openat(at, $0, O_RDWR | Self.fileFlags) } }
        return try file(opened, .open, directory.path(of: name))
    }

    private func file(
        _ opened: CallResult, _ operation: FileSystemError.Operation, _ path: DisplayPath
    ) throws(FileSystemError) -> OpenFile {
        switch opened {
        case .value(let descriptor):
            return OpenFile(handle: HandleNumber(Int32(descriptor)), path: path, fileSystem: self)
        case .failure(let code):
            throw FileSystemError(operation, path, .init(errno: code))
        }
    }

    /// Gives the owner his bits back. Best effort: the thing is open already, and whoever opens it next looks at its mode.
    private func repairMode(_ descriptor: Int32, _ mode: mode_t) {
        if umaskTakesOwnerBits { _ = fchmod(descriptor, mode) }
    }

    // MARK: Looking

    package func status(
        of name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> FileStatus {
        switch statusResult(of: name, at: directory.handle.rawValue) {
        case .success(let status): return status
        case .failure(let reason): throw FileSystemError(.status, directory.displayPath(of: name), reason.reason)
        }
    }

    package func status(of file: borrowing OpenFile) throws(FileSystemError) -> FileStatus {
        try status(ofDescriptor: file.handle.rawValue, file.displayPath)
    }

    package func status(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus {
        try status(ofDescriptor: directory.handle.rawValue, directory.displayPath)
    }

    private func status(
        ofDescriptor descriptor: Int32, _ path: @autoclosure () -> String
    ) throws(FileSystemError) -> FileStatus {
        var raw = stat()
        try check(SystemCall.repeating { fstat(descriptor, &raw) }, .status, path())
        return FileStatus(raw)
    }

    private struct ReasonError: Error { var reason: FileSystemError.Reason }

    private func statusResult(of name: FileName, at descriptor: Int32) -> Result<FileStatus, ReasonError> {
        var raw = stat()
        let answer = SystemCall.repeating {
            name.withTerminatedBytes { fstatat(descriptor, $0, &raw, AT_SYMLINK_NOFOLLOW) }
        }
        switch answer {
        case .value: return .success(FileStatus(raw))
        case .failure(let code): return .failure(ReasonError(reason: .init(errno: code)))
        }
    }

    package func forEachName(
        in directory: borrowing OpenDirectory, _ body: (FileName) -> Bool
    ) throws(FileSystemError) {
        let at = directory.handle.rawValue
        let path = directory.displayPath
        // A description of its own, opened anew: a `dup` would share its position with every other listing of this handle.
        let descriptor = Int32(try check(SystemCall.repeating { openat(at, ".", Self.directoryFlags) }, .list, path))
        guard let stream = fdopendir(descriptor) else {
            let code = errno
            _ = Self.closeDescriptor(descriptor)
            throw FileSystemError(.list, path, .init(errno: code))
        }
        defer { closedir(stream) }
        while true {
            // `readdir` says "end" and "error" with the same answer; only errno tells them apart.
            errno = 0
            guard let entry = readdir(stream) else {
                let code = errno
                if code == EINTR { continue }
                if code == 0 { return }
                throw FileSystemError(.list, path, .init(errno: code))
            }
            if let name = Self.name(of: entry), !body(name) { return }
        }
    }

    /// `nil` for `.` and `..`, and for a name longer than any that the pair can make or address (some file systems
    /// count 255 UTF-16 units, not bytes).
    private static func name(of entry: UnsafeMutablePointer<dirent>) -> FileName? {
        // The record may end before the 256 bytes that the type declares for the name, so the field is not copied.
        let start = UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
        let length = strlen(start.assumingMemoryBound(to: CChar.self))
        return FileName(bytes: UnsafeRawBufferPointer(start: start, count: length))
    }

    // MARK: Bytes

    package func read(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int {
        let descriptor = file.handle.rawValue
        // An offset that no file can have lies behind the end of every file.
        guard let offset = off_t(exactly: offset) else { return 0 }
        let answer = SystemCall.repeating { pread(descriptor, buffer.baseAddress, buffer.count, offset) }
        return try check(answer, .read, file.displayPath)
    }

    package func write(
        _ file: borrowing OpenFile, at offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws(FileSystemError) -> Int {
        let descriptor = file.handle.rawValue
        guard let offset = off_t(exactly: offset) else {
            throw FileSystemError(.write, file.displayPath, .fileTooLarge)
        }
        let answer = SystemCall.repeating { pwrite(descriptor, bytes.baseAddress, bytes.count, offset) }
        return try check(answer, .write, file.displayPath)
    }

    package func truncate(_ file: borrowing OpenFile, to byteCount: UInt64) throws(FileSystemError) {
        try check(SystemCall.truncate(file.handle.rawValue, to: byteCount), .truncate, file.displayPath)
    }

    // MARK: Durability

    package func sync(_ file: borrowing OpenFile) throws(FileSystemError) {
        try check(PlatformCalls.sync(file.handle.rawValue), .sync, file.displayPath)
    }

    package func sync(_ directory: borrowing OpenDirectory) throws(FileSystemError) {
        try check(PlatformCalls.sync(directory.handle.rawValue), .syncDirectory, directory.displayPath)
    }

    package var hasSyncAll: Bool { PlatformCalls.hasSyncFileSystem }

    package func syncAll(_ directory: borrowing OpenDirectory) throws(FileSystemError) {
        try check(PlatformCalls.syncFileSystem(directory.handle.rawValue), .syncAll, directory.displayPath)
    }

    // MARK: Names

    package func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) {
        let (from, to) = (source.handle.rawValue, target.handle.rawValue)
        let answer = name.withTerminatedBytes { name in
            newName.withTerminatedBytes { PlatformCalls.renameExclusively(from, name, to, $0) }
        }
        try check(answer, .publish, target.displayPath(of: newName))
    }

    package func unlink(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) {
        let answer = SystemCall.unlinkOnce(directory.handle.rawValue, name)
        // Linux says `EISDIR` for a directory, POSIX and Darwin `EPERM`; the latter reads as "not permitted", which is so.
        try check(answer, .unlink, directory.displayPath(of: name))
    }

    package func lock(_ file: borrowing OpenFile) throws(FileSystemError) -> Bool {
        let descriptor = file.handle.rawValue
        let answer = SystemCall.repeating { flock(descriptor, LOCK_EX | LOCK_NB) }
        if answer == .failure(errno: EWOULDBLOCK) { return false }
        try check(answer, .lock, file.displayPath)
        return true
    }

    package func space(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FreeSpace {
        let descriptor = directory.handle.rawValue
        var raw = statvfs()
        try check(SystemCall.repeating { fstatvfs(descriptor, &raw) }, .space, directory.displayPath)
        let unit = UInt64(raw.f_frsize)
        func bytes(_ blocks: some BinaryInteger) -> UInt64 {
            let (product, overflow) = UInt64(clamping: blocks).multipliedReportingOverflow(by: unit)
            return overflow ? .max : product
        }
        return FreeSpace(freeByteCount: bytes(raw.f_bavail), totalByteCount: bytes(raw.f_blocks))
    }

    package func close(_ handle: HandleNumber) {
        _ = Self.closeDescriptor(handle.rawValue)
    }

    static func closeDescriptor(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
            Darwin.close(descriptor)
        #else
            Glibc.close(descriptor)
        #endif
    }

    @discardableResult
    private func check(
        _ answer: CallResult, _ operation: FileSystemError.Operation, _ path: @autoclosure () -> String
    ) throws(FileSystemError) -> Int {
        switch answer {
        case .value(let value): return value
        case .failure(let code): throw FileSystemError(operation, path(), .init(errno: code))
        }
    }
}

extension FileStatus {
    /// No daemon changes who it is, and a look at a file need not ask for it.
    private static let ourselves = geteuid()

    init(_ raw: stat) {
        let kind: FileKind =
            switch raw.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .fifo
            case S_IFSOCK: .socket
            case S_IFBLK, S_IFCHR: .device
            default: .other
            }
        self.init(
            kind: kind, byteCount: UInt64(clamping: raw.st_size), isOurs: raw.st_uid == Self.ourselves,
            permissions: UInt16(raw.st_mode & 0o7777), linkCount: UInt64(raw.st_nlink), inode: UInt64(raw.st_ino),
            device: UInt64(truncatingIfNeeded: raw.st_dev))
    }
}
