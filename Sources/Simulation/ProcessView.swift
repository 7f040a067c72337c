package import Spooling

/// A file system whose syncs can be made to fail as they do on a real kernel.
package protocol SyncFailing: FileSystem {
    /// What happens to a file's unsynced bytes when its sync fails: see `SimulatedFileSystem`.
    func abandonUnsynced(_ file: borrowing OpenFile)
    /// The same for every file on the device of a directory, when `syncAll` fails.
    func abandonAllUnsynced(_ directory: borrowing OpenDirectory)
}

/// The simulated disk as one process sees it: with its own handles and locks, until it is killed.
package final class ProcessView: FileSystem, SyncFailing {
    package let name: String
    private let kernel: Kernel
    private let process: SimulatedProcess

    init(_ kernel: Kernel, name: String) {
        self.kernel = kernel
        self.name = name
        process = kernel.start(name)
    }

    // Nothing of it is open any more: a handle keeps its view.
    deinit { kernel.kill(process) }

    package var isAlive: Bool { process.isAlive }

    /// Ends this process at once: its handles and locks go, what it wrote stays, every later call fails.
    package func kill() { kernel.kill(process) }

    package var hasSyncAll: Bool { true }

    // MARK: Opening

    package func openRoot(_ path: String, create: Bool) throws(FileSystemError) -> OpenDirectory {
        let number = try perform(.openRoot, DisplayPath(path)) { (image) throws(DiskFailure) in
            let inode = try create ? self.makeWay(path, &image) : image.resolve(path)
            return try self.checkedDirectory(inode, image)
        }
        return OpenDirectory(handle: opened(number, .directory), displayPath: path, fileSystem: self)
    }

    /// The directory at a path, made with its missing parents; the parent of each one made is synced.
    private func makeWay(_ path: String, _ image: inout DiskImage) throws(DiskFailure) -> InodeNumber {
        do {
            return try image.resolve(path)
        } catch  where error.reason == .notFound {
            let parts = path.split(separator: "/")
            guard !parts.isEmpty else { throw error }
            _ = try makeWay("/" + parts.dropLast().joined(separator: "/"), &image)
            let (directory, name) = try image.resolveParent(path)
            let made = try image.make(.directory, name, in: directory, permissions: 0o700)
            image.sync(directory)
            return made
        }
    }

    package func openDirectory(
        _ name: FileName, in parent: borrowing OpenDirectory, create: Bool
    ) throws(FileSystemError) -> OpenDirectory {
        let path = parent.path(of: name)
        let handle = parent.handle
        let number = try perform(.openDirectory, path) { (image) throws(DiskFailure) in
            let directory = try self.inode(handle)
            guard let there = image.child(name, of: directory) else {
                guard create else { throw DiskFailure(.notFound) }
                return try image.make(.directory, name, in: directory, permissions: 0o700)
            }
            return try self.checkedDirectory(there, image)
        }
        return OpenDirectory(
            handle: opened(number, .directory), displayPath: path.description, fileSystem: self)
    }

    private func checkedDirectory(_ number: InodeNumber, _ image: DiskImage) throws(DiskFailure) -> InodeNumber {
        guard image[number].kind == .directory else { throw DiskFailure(.notDirectory) }
        guard image[number].allows(4) else { throw DiskFailure(.notPermitted) }
        return number
    }

    package func openSource(_ path: String) throws(FileSystemError) -> OpenFile {
        let number = try perform(.openSource, DisplayPath(path)) { (image) throws(DiskFailure) in
            let number = try image.resolve(path)
            guard image[number].allows(4) else { throw DiskFailure(.notPermitted) }
            return number
        }
        return OpenFile(handle: opened(number, .readOnly), displayPath: path, fileSystem: self)
    }

    package func create(
        _ name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> OpenFile {
        let path = directory.path(of: name)
        let handle = directory.handle
        let number = try perform(.create, path) { (image) throws(DiskFailure) in
            try image.make(.regular, name, in: try self.inode(handle), permissions: 0o600)
        }
        return OpenFile(handle: opened(number, .readWrite), path: path, fileSystem: self)
    }

    package func open(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        let path = directory.path(of: name)
        let handle = directory.handle
        let number = try perform(.open, path) { (image) throws(DiskFailure) in
            guard let number = image.child(name, of: try self.inode(handle)) else { throw DiskFailure(.notFound) }
            switch image[number].kind {
            case .symbolicLink: throw DiskFailure(.isLink)
            case .directory: throw DiskFailure(.isDirectory)
            case .socket: throw DiskFailure(.other(6))  // ENXIO
            case .regular, .fifo, .device, .other: break
            }
            guard image[number].allows(6) else { throw DiskFailure(.notPermitted) }
            guard !image.mounts[image[number].mount].isReadOnly else { throw DiskFailure(.readOnly) }
            return number
        }
        return OpenFile(handle: opened(number, .readWrite), path: path, fileSystem: self)
    }

    // MARK: Looking

    package func status(
        of name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> FileStatus {
        let handle = directory.handle
        return try perform(.status, directory.path(of: name)) { (image) throws(DiskFailure) in
            guard let number = image.child(name, of: try self.inode(handle)) else { throw DiskFailure(.notFound) }
            return image.status(number)
        }
    }

    package func status(of file: borrowing OpenFile) throws(FileSystemError) -> FileStatus {
        let handle = file.handle
        return try perform(.status, file.path) { (image) throws(DiskFailure) in
            image.status(try self.inode(handle))
        }
    }

    package func status(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus {
        let handle = directory.handle
        return try perform(.status, directory.path) { (image) throws(DiskFailure) in
            image.status(try self.inode(handle))
        }
    }

    /// The names are those at the beginning of the call; `body` may make and remove some.
    package func forEachName(
        in directory: borrowing OpenDirectory, _ body: (FileName) -> Bool
    ) throws(FileSystemError) {
        let handle = directory.handle
        let table = try perform(.list, directory.path) { (image) throws(DiskFailure) in
            image[try self.inode(handle)].table
        }
        var isCutOff = false
        table.forEach(in: .written) { name, _ in
            isCutOff = !isAlive
            kernel.callCount += 1
            return !isCutOff && body(name)
        }
        if isCutOff { throw FileSystemError(.list, directory.path, .processIsDead) }
    }

    package func space(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FreeSpace {
        let handle = directory.handle
        return try perform(.space, directory.path) { (image) throws(DiskFailure) in
            let device = image.devices[image.mounts[image[try self.inode(handle)].mount].device]
            return FreeSpace(
                freeByteCount: device.freeBlockCount * DiskImage.blockByteCount, totalByteCount: device.totalByteCount)
        }
    }

    // MARK: Bytes

    package func read(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int {
        let handle = file.handle
        return try perform(.read, file.path) { (image) throws(DiskFailure) in
            let number = try self.inode(handle)
            try Self.checkHasBytes(image[number].kind)
            return image.read(number, at: offset, into: buffer)
        }
    }

    package func write(
        _ file: borrowing OpenFile, at offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws(FileSystemError) -> Int {
        let handle = file.handle
        return try perform(.write, file.path) { (image) throws(DiskFailure) in
            let number = try self.writableInode(handle)
            try Self.checkHasBytes(image[number].kind)
            return try image.write(number, at: offset, from: bytes)
        }
    }

    package func truncate(_ file: borrowing OpenFile, to byteCount: UInt64) throws(FileSystemError) {
        let handle = file.handle
        try perform(.truncate, file.path) { (image) throws(DiskFailure) in
            let number = try self.writableInode(handle)
            guard image[number].kind == .regular else { throw DiskFailure(.other(22)) }  // EINVAL
            try image.truncate(number, to: byteCount)
        }
    }

    private static func checkHasBytes(_ kind: FileKind) throws(DiskFailure) {
        switch kind {
        case .regular: break
        case .directory: throw DiskFailure(.isDirectory)
        // Nothing that the pair does may come here; a real device would answer with an effect.
        case .fifo, .socket, .device, .symbolicLink, .other: throw DiskFailure(.other(29))  // ESPIPE
        }
    }

    // MARK: Durability

    package func sync(_ file: borrowing OpenFile) throws(FileSystemError) {
        let handle = file.handle
        try perform(.sync, file.path) { (image) throws(DiskFailure) in
            image.sync(try self.inode(handle))
        }
    }

    package func sync(_ directory: borrowing OpenDirectory) throws(FileSystemError) {
        let handle = directory.handle
        try perform(.syncDirectory, directory.path) { (image) throws(DiskFailure) in
            image.sync(try self.inode(handle))
        }
    }

    package func syncAll(_ directory: borrowing OpenDirectory) throws(FileSystemError) {
        let handle = directory.handle
        try perform(.syncAll, directory.path) { (image) throws(DiskFailure) in
            image.makeAllDurable(device: image.mounts[image[try self.inode(handle)].mount].device)
        }
    }

    package func abandonUnsynced(_ file: borrowing OpenFile) {
        guard isAlive, let handle = try? kernel.handle(file.handle, of: process) else { return }
        kernel.image.abandonUnsyncedContent(handle.inode)
    }

    package func abandonAllUnsynced(_ directory: borrowing OpenDirectory) {
        guard isAlive, let handle = try? kernel.handle(directory.handle, of: process) else { return }
        kernel.image.abandonAllUnsyncedContent(onDeviceOf: handle.inode)
    }

    // MARK: Names and locks

    package func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) {
        let (from, to) = (source.handle, target.handle)
        try perform(.publish, target.path(of: newName)) { (image) throws(DiskFailure) in
            let (source, target) = (try self.inode(from), try self.inode(to))
            try image.publish(name, in: source, as: newName, in: target)
            self.kernel.watches.left(source, name)
            self.kernel.watches.came(target, newName)
        }
    }

    package func unlink(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) {
        let handle = directory.handle
        try perform(.unlink, directory.path(of: name)) { (image) throws(DiskFailure) in
            let directory = try self.inode(handle)
            try image.unlink(name, in: directory)
            self.kernel.watches.left(directory, name)
        }
    }

    package func lock(_ file: borrowing OpenFile) throws(FileSystemError) -> Bool {
        let handle = file.handle
        return try perform(.lock, file.path) { (_) throws(DiskFailure) in
            self.kernel.lock(handle, try self.inode(handle))
        }
    }

    package func close(_ handle: HandleNumber) { kernel.close(handle) }

    // MARK: News

    func addWatch(_ handle: HandleNumber, for interest: Interest, token: Int) {
        // A handle of a process that died in this very step leads nowhere.
        guard let inode = try? inode(handle) else { return }
        kernel.watches.add(process.number, inode, for: interest, token: token)
    }

    /// Ends all news of this process.
    package func forgetWatches() { kernel.watches.forget(process.number) }

    // MARK: Common to all calls

    private func perform<Value>(
        _ operation: FileSystemError.Operation, _ path: @autoclosure () -> DisplayPath,
        _ body: (inout DiskImage) throws(DiskFailure) -> Value
    ) throws(FileSystemError) -> Value {
        guard isAlive else { throw FileSystemError(operation, path(), .processIsDead) }
        kernel.callCount += 1
        do throws(DiskFailure) {
            let value = try body(&kernel.image)
            kernel.image.tidy()
            return value
        } catch {
            throw FileSystemError(operation, path(), error.reason)
        }
    }

    private func opened(_ number: InodeNumber, _ mode: Kernel.Mode) -> HandleNumber {
        kernel.open(number, mode, by: process)
    }

    private func inode(_ handle: HandleNumber) throws(DiskFailure) -> InodeNumber {
        try kernel.handle(handle, of: process).inode
    }

    private func writableInode(_ number: HandleNumber) throws(DiskFailure) -> InodeNumber {
        let handle = try kernel.handle(number, of: process)
        guard handle.mode == .readWrite else { throw DiskFailure(.other(9)) }  // EBADF
        return handle.inode
    }
}
