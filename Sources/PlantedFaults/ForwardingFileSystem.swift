import Simulation
import Spooling

/// A way to the disk that does nothing of its own: what wrong code does otherwise is overridden.
class ForwardingFileSystem: FileSystem, SyncFailing {
    let inner: any FileSystem

    init(_ inner: any FileSystem) { self.inner = inner }

    func openRoot(_ path: String, create: Bool) throws(FileSystemError) -> OpenDirectory {
        try inner.openRoot(path, create: create)
    }

    func openDirectory(
        _ name: FileName, in parent: borrowing OpenDirectory, create: Bool
    ) throws(FileSystemError) -> OpenDirectory {
        try inner.openDirectory(name, in: parent, create: create)
    }

    func openSource(_ path: String) throws(FileSystemError) -> OpenFile { try inner.openSource(path) }

    func create(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        try inner.create(name, in: directory)
    }

    func open(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        try inner.open(name, in: directory)
    }

    func status(
        of name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> FileStatus {
        try inner.status(of: name, in: directory)
    }

    func status(of file: borrowing OpenFile) throws(FileSystemError) -> FileStatus {
        try inner.status(of: file)
    }

    func status(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus {
        try inner.status(of: directory)
    }

    func forEachName(
        in directory: borrowing OpenDirectory, _ body: (FileName) -> Bool
    ) throws(FileSystemError) {
        try inner.forEachName(in: directory, body)
    }

    func read(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try inner.read(file, at: offset, into: buffer)
    }

    func write(
        _ file: borrowing OpenFile, at offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try inner.write(file, at: offset, from: bytes)
    }

    func truncate(_ file: borrowing OpenFile, to byteCount: UInt64) throws(FileSystemError) {
        try inner.truncate(file, to: byteCount)
    }

    func sync(_ file: borrowing OpenFile) throws(FileSystemError) { try inner.sync(file) }

    func sync(_ directory: borrowing OpenDirectory) throws(FileSystemError) { try inner.sync(directory) }

    var hasSyncAll: Bool { inner.hasSyncAll }

    func syncAll(_ directory: borrowing OpenDirectory) throws(FileSystemError) { try inner.syncAll(directory) }

    func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) {
        try inner.publish(name, in: source, as: newName, in: target)
    }

    func unlink(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) {
        try inner.unlink(name, in: directory)
    }

    func lock(_ file: borrowing OpenFile) throws(FileSystemError) -> Bool { try inner.lock(file) }

    func space(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FreeSpace {
        try inner.space(of: directory)
    }

    func close(_ handle: HandleNumber) { inner.close(handle) }

    // An instrument above asks this of whatever is below it.

    func abandonUnsynced(_ file: borrowing OpenFile) {
        (inner as? any SyncFailing)?.abandonUnsynced(file)
    }

    func abandonAllUnsynced(_ directory: borrowing OpenDirectory) {
        (inner as? any SyncFailing)?.abandonAllUnsynced(directory)
    }
}

extension OpenDirectory {
    /// Whether this is the folder `name` of a home or a spool.
    func isFolder(_ name: String) -> Bool { displayPath.hasSuffix("/" + name) }
}
