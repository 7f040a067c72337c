import Simulation
import Spooling

// Between a process of the virtual world and its disk: every call is announced before and after, and may be turned into
// a death, an error, or half of itself. It numbers nothing and decides nothing.

/// What becomes of one call.
enum CallFate {
    case carriedOut
    /// The process dies before the call has an effect, or after it.
    case dieBefore, dieAfter
    case fail(FileSystemError.Reason)
    /// A read or write moves half of what was asked.
    case short
}

protocol TapListener: AnyObject {
    func willCall(_ actor: CrashActor, _ operation: FileSystemError.Operation, _ path: DisplayPath) -> CallFate
    func didCall(_ actor: CrashActor)
}

final class Tap {
    private let inner: any FileSystem
    private let actor: CrashActor
    private unowned let listener: any TapListener

    init(_ inner: any FileSystem, _ actor: CrashActor, _ listener: any TapListener) {
        self.inner = inner
        self.actor = actor
        self.listener = listener
    }

    private func perform<Value: ~Copyable>(
        _ operation: FileSystemError.Operation, _ path: DisplayPath, onFailure: () -> Void = {},
        _ body: (_ isShort: Bool) throws(FileSystemError) -> Value
    ) throws(FileSystemError) -> Value {
        var isShort = false
        var dies = false
        switch listener.willCall(actor, operation, path) {
        case .carriedOut: break
        case .short: isShort = true
        case .dieAfter: dies = true
        case .dieBefore:
            (inner as? ProcessView)?.kill()
            throw FileSystemError(operation, path, .processIsDead)
        case .fail(let reason):
            onFailure()
            listener.didCall(actor)
            throw FileSystemError(operation, path, reason)
        }
        if dies {
            _ = try? body(false)
            (inner as? ProcessView)?.kill()
            throw FileSystemError(operation, path, .processIsDead)
        }
        do throws(FileSystemError) {
            let value = try body(isShort)
            listener.didCall(actor)
            return value
        } catch {
            listener.didCall(actor)
            throw error
        }
    }
}

extension Tap: FileSystem {
    func openRoot(_ path: String, create: Bool) throws(FileSystemError) -> OpenDirectory {
        try perform(.openRoot, DisplayPath(path)) { (_) throws(FileSystemError) in
            try self.inner.openRoot(path, create: create)
        }
    }

    func openDirectory(
        _ name: FileName, in parent: borrowing OpenDirectory, create: Bool
    ) throws(FileSystemError) -> OpenDirectory {
        try perform(.openDirectory, parent.path(of: name)) { (_) throws(FileSystemError) in
            try self.inner.openDirectory(name, in: parent, create: create)
        }
    }

    func openSource(_ path: String) throws(FileSystemError) -> OpenFile {
        try perform(.openSource, DisplayPath(path)) { (_) throws(FileSystemError) in try self.inner.openSource(path) }
    }

    func create(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        try perform(.create, directory.path(of: name)) { (_) throws(FileSystemError) in
            try self.inner.create(name, in: directory)
        }
    }

    func open(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        try perform(.open, directory.path(of: name)) { (_) throws(FileSystemError) in
            try self.inner.open(name, in: directory)
        }
    }

    func status(of name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus {
        try perform(.status, directory.path(of: name)) { (_) throws(FileSystemError) in
            try self.inner.status(of: name, in: directory)
        }
    }

    func status(of file: borrowing OpenFile) throws(FileSystemError) -> FileStatus {
        try perform(.status, file.path) { (_) throws(FileSystemError) in try self.inner.status(of: file) }
    }

    func status(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus {
        try perform(.status, directory.path) { (_) throws(FileSystemError) in try self.inner.status(of: directory) }
    }

    func forEachName(in directory: borrowing OpenDirectory, _ body: (FileName) -> Bool) throws(FileSystemError) {
        try perform(.list, directory.path) { (_) throws(FileSystemError) in
            try self.inner.forEachName(in: directory, body)
        }
    }

    func read(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try perform(.read, file.path) { (isShort) throws(FileSystemError) in
            let count = isShort ? (buffer.count + 1) / 2 : buffer.count
            return try self.inner.read(
                file, at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    func write(
        _ file: borrowing OpenFile, at offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try perform(.write, file.path) { (isShort) throws(FileSystemError) in
            let count = isShort ? (bytes.count + 1) / 2 : bytes.count
            return try self.inner.write(file, at: offset, from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    func truncate(_ file: borrowing OpenFile, to byteCount: UInt64) throws(FileSystemError) {
        try perform(.truncate, file.path) { (_) throws(FileSystemError) in
            try self.inner.truncate(file, to: byteCount)
        }
    }

    func sync(_ file: borrowing OpenFile) throws(FileSystemError) {
        let failing = inner as? any SyncFailing
        try perform(
            .sync, file.path, onFailure: { failing?.abandonUnsynced(file) },
            { (_) throws(FileSystemError) in try self.inner.sync(file) })
    }

    func sync(_ directory: borrowing OpenDirectory) throws(FileSystemError) {
        try perform(.syncDirectory, directory.path) { (_) throws(FileSystemError) in try self.inner.sync(directory) }
    }

    var hasSyncAll: Bool { inner.hasSyncAll }

    func syncAll(_ directory: borrowing OpenDirectory) throws(FileSystemError) {
        let failing = inner as? any SyncFailing
        try perform(
            .syncAll, directory.path, onFailure: { failing?.abandonAllUnsynced(directory) },
            { (_) throws(FileSystemError) in try self.inner.syncAll(directory) })
    }

    func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) {
        try perform(.publish, target.path(of: newName)) { (_) throws(FileSystemError) in
            try self.inner.publish(name, in: source, as: newName, in: target)
        }
    }

    func unlink(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) {
        try perform(.unlink, directory.path(of: name)) { (_) throws(FileSystemError) in
            try self.inner.unlink(name, in: directory)
        }
    }

    func lock(_ file: borrowing OpenFile) throws(FileSystemError) -> Bool {
        try perform(.lock, file.path) { (_) throws(FileSystemError) in try self.inner.lock(file) }
    }

    func space(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FreeSpace {
        try perform(.space, directory.path) { (_) throws(FileSystemError) in try self.inner.space(of: directory) }
    }

    /// Handles are the inner file system's, which closes them itself.
    func close(_ handle: HandleNumber) { inner.close(handle) }
}
