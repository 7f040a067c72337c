package import Spooling

// The disk as a process of its own: each call goes to a view that is new after every loss of power.
extension SimulatedFileSystem: FileSystem, SyncFailing {
    package func openRoot(_ path: String, create: Bool) throws(FileSystemError) -> OpenDirectory {
        try ownView.openRoot(path, create: create)
    }

    package func openDirectory(
        _ name: FileName, in parent: borrowing OpenDirectory, create: Bool
    ) throws(FileSystemError) -> OpenDirectory {
        try ownView.openDirectory(name, in: parent, create: create)
    }

    package func openSource(_ path: String) throws(FileSystemError) -> OpenFile { try ownView.openSource(path) }

    package func create(
        _ name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> OpenFile {
        try ownView.create(name, in: directory)
    }

    package func open(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        try ownView.open(name, in: directory)
    }

    package func status(
        of name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> FileStatus {
        try ownView.status(of: name, in: directory)
    }

    package func status(of file: borrowing OpenFile) throws(FileSystemError) -> FileStatus {
        try ownView.status(of: file)
    }

    package func status(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus {
        try ownView.status(of: directory)
    }

    package func forEachName(
        in directory: borrowing OpenDirectory, _ body: (FileName) -> Bool
    ) throws(FileSystemError) {
        try ownView.forEachName(in: directory, body)
    }

    package func read(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try ownView.read(file, at: offset, into: buffer)
    }

    package func write(
        _ file: borrowing OpenFile, at offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try ownView.write(file, at: offset, from: bytes)
    }

    package func truncate(_ file: borrowing OpenFile, to byteCount: UInt64) throws(FileSystemError) {
        try ownView.truncate(file, to: byteCount)
    }

    package func sync(_ file: borrowing OpenFile) throws(FileSystemError) { try ownView.sync(file) }

    package func sync(_ directory: borrowing OpenDirectory) throws(FileSystemError) { try ownView.sync(directory) }

    package var hasSyncAll: Bool { ownView.hasSyncAll }

    package func syncAll(_ directory: borrowing OpenDirectory) throws(FileSystemError) {
        try ownView.syncAll(directory)
    }

    package func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) {
        try ownView.publish(name, in: source, as: newName, in: target)
    }

    package func unlink(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) {
        try ownView.unlink(name, in: directory)
    }

    package func lock(_ file: borrowing OpenFile) throws(FileSystemError) -> Bool { try ownView.lock(file) }

    package func space(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FreeSpace {
        try ownView.space(of: directory)
    }

    package func close(_ handle: HandleNumber) { kernel.close(handle) }

    package func abandonUnsynced(_ file: borrowing OpenFile) { ownView.abandonUnsynced(file) }

    package func abandonAllUnsynced(_ directory: borrowing OpenDirectory) { ownView.abandonAllUnsynced(directory) }
}
