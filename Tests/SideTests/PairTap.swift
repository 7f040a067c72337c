import Simulation
import Spooling

/// Told of every change of a name that reached the disk.
protocol PairObserver: AnyObject {
    func willPublish(_ path: String, as newPath: String, by process: String)
    func didPublish(_ path: String, as newPath: String, by process: String)
    func willUnlink(_ path: String, by process: String)
    func didUnlink(_ path: String, by process: String)
    func didCreate(_ path: String, by process: String)
}

/// A process's way to the disk, below the instrument: it sees the calls that have an effect, whatever is injected above
/// it, and shows them to the monitor in the very moment in which they happen.
final class PairTap: FileSystem, SyncFailing {
    private let view: ProcessView
    private let observer: any PairObserver

    init(_ view: ProcessView, _ observer: any PairObserver) {
        self.view = view
        self.observer = observer
    }

    func openRoot(_ path: String, create: Bool) throws(FileSystemError) -> OpenDirectory {
        try view.openRoot(path, create: create)
    }

    func openDirectory(
        _ name: FileName, in parent: borrowing OpenDirectory, create: Bool
    ) throws(FileSystemError) -> OpenDirectory {
        try view.openDirectory(name, in: parent, create: create)
    }

    func openSource(_ path: String) throws(FileSystemError) -> OpenFile { try view.openSource(path) }

    func create(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        let file = try view.create(name, in: directory)
        observer.didCreate(directory.displayPath(of: name), by: view.name)
        return file
    }

    func open(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        try view.open(name, in: directory)
    }

    func status(of name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus {
        try view.status(of: name, in: directory)
    }

    func status(of file: borrowing OpenFile) throws(FileSystemError) -> FileStatus { try view.status(of: file) }

    func status(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus {
        try view.status(of: directory)
    }

    func forEachName(
        in directory: borrowing OpenDirectory, _ body: (FileName) -> Bool
    ) throws(FileSystemError) {
        try view.forEachName(in: directory, body)
    }

    func read(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try view.read(file, at: offset, into: buffer)
    }

    func write(
        _ file: borrowing OpenFile, at offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try view.write(file, at: offset, from: bytes)
    }

    func truncate(_ file: borrowing OpenFile, to byteCount: UInt64) throws(FileSystemError) {
        try view.truncate(file, to: byteCount)
    }

    func sync(_ file: borrowing OpenFile) throws(FileSystemError) { try view.sync(file) }

    func sync(_ directory: borrowing OpenDirectory) throws(FileSystemError) { try view.sync(directory) }

    var hasSyncAll: Bool { view.hasSyncAll }

    func syncAll(_ directory: borrowing OpenDirectory) throws(FileSystemError) { try view.syncAll(directory) }

    func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) {
        let path = source.displayPath(of: name)
        let newPath = target.displayPath(of: newName)
        // A dead process's calls have no effect, so nothing is about to happen.
        if view.isAlive { observer.willPublish(path, as: newPath, by: view.name) }
        try view.publish(name, in: source, as: newName, in: target)
        observer.didPublish(path, as: newPath, by: view.name)
    }

    func unlink(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) {
        let path = directory.displayPath(of: name)
        if view.isAlive { observer.willUnlink(path, by: view.name) }
        try view.unlink(name, in: directory)
        observer.didUnlink(path, by: view.name)
    }

    func lock(_ file: borrowing OpenFile) throws(FileSystemError) -> Bool { try view.lock(file) }

    func space(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FreeSpace {
        try view.space(of: directory)
    }

    func close(_ handle: HandleNumber) { view.close(handle) }

    func abandonUnsynced(_ file: borrowing OpenFile) { view.abandonUnsynced(file) }

    func abandonAllUnsynced(_ directory: borrowing OpenDirectory) { view.abandonAllUnsynced(directory) }
}
