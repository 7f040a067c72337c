// The disk of a daemon that runs with `--link FILE`: the real one, with what a live run of a scenario needs to inject.
//
// - Death at a call. A scenario kills a side before or after its n-th call through the seam, or the first call of a kind to
//   a path. From outside nobody can hit such a place, so the daemon counts its calls and kills itself: SIGKILL, with no
//   clean-up, exactly what the kernel or a user would do to it there. Calls are counted while an order is in force, from
//   when it was taken in; closing is no call.
// - Small disks. A scenario fills a disk, and a machine has no small ones to spare. So much may lie under some folders
//   together; what would need more is answered as a full disk would: `noSpace`, a short write, little free space.
//
// How the room is counted: content in blocks of 4 KiB, names are free, as on the simulated disk; nothing can be made where
// no block is left. A journal is outside the seam and does not count. Two daemons whose folders share a limit look at the
// same folders, and may both take the last block: a real disk has no such race, and the pair does not depend on it.
//
// Without `--link FILE` a daemon uses `DiskFileSystem`, with nothing in between. `--die-at N` puts a second one of these
// around either (`CallDeath`).

import LinkFaults
package import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

package final class SteeredFileSystem {
    package typealias Operation = FileSystemError.Operation

    private let inner: any FileSystem
    private let side: Side
    private let death: () -> Void

    private var limits: [DiskLimit]
    /// The point of the order that is in force, and the calls since it is.
    private var point: DiePoint?
    private(set) var callCount = 0
    /// How many of these made something durable.
    private(set) var syncCount = 0
    /// The highest number of an order that was taken in.
    private var lastNumber: Int

    static let blockByteCount: UInt64 = 4_096
    /// Looked at to see how much lies under a limit's folders; what is beyond counts nothing.
    private static let mostNames = 100_000
    private static let mostDepth = 32

    /// The disk of a process that starts. It obeys an order that is there already only when that says so (`isFresh`).
    /// - Parameter death: ends this process and does not return; tests put something else here.
    package init(
        _ inner: any FileSystem, side: Side, atStart steering: Steering,
        death: @escaping () -> Void = SteeredFileSystem.killThisProcess
    ) {
        self.inner = inner
        self.side = side
        self.death = death
        limits = steering.disks
        let order = steering.die.flatMap { $0.side == side ? $0 : nil }
        lastNumber = order?.number ?? 0
        if let order, order.isFresh { point = order.point }
    }

    /// From the next call on, these are in force.
    package func follow(_ steering: Steering) {
        limits = steering.disks
        guard let order = steering.die, order.side == side, order.number > lastNumber else { return }
        lastNumber = order.number
        point = order.point
        callCount = 0
        syncCount = 0
    }

    package static func killThisProcess() {
        _ = kill(getpid(), SIGKILL)
        // Nothing of this process may happen any more, however long the signal takes.
        while true { pause() }
    }

    /// Makes one call, and dies before or after it when that is ordered.
    private func perform<Value: ~Copyable>(
        _ operation: Operation, _ paths: @autoclosure () -> [String], _ body: () throws(FileSystemError) -> Value
    ) throws(FileSystemError) -> Value {
        guard let due = point else { return try body() }
        callCount += 1
        if operation == .sync || operation == .syncDirectory || operation == .syncAll { syncCount += 1 }
        let isDue: Bool
        let isAfter: Bool
        switch due {
        case .beforeCall(let number): (isDue, isAfter) = (number == callCount, false)
        case .afterCall(let number): (isDue, isAfter) = (number == callCount, true)
        case .before(let wanted, let part):
            (isDue, isAfter) = (wanted == operation && paths().contains { $0.holds(part) }, false)
        case .after(let wanted, let part):
            (isDue, isAfter) = (wanted == operation && paths().contains { $0.holds(part) }, true)
        }
        guard isDue else { return try body() }
        point = nil
        if !isAfter { death() }
        // Whether the call succeeds or not.
        defer { if isAfter { death() } }
        return try body()
    }

    // MARK: Room

    /// How much more may lie at a path, in whole blocks, and how much in all; `nil` where nothing limits it.
    private func space(at path: String) -> FreeSpace? {
        var space: FreeSpace?
        for limit in limits where limit.covers(path) {
            let blockCount = limit.byteCount / Self.blockByteCount
            // Nothing to look for where there is no room anyway.
            let used = blockCount == 0 ? 0 : usedBlockCount(limit)
            let free = (blockCount > used ? blockCount - used : 0) * Self.blockByteCount
            space = FreeSpace(
                freeByteCount: min(space?.freeByteCount ?? .max, free),
                totalByteCount: min(space?.totalByteCount ?? .max, limit.byteCount))
        }
        return space
    }

    private func isFull(_ path: String) -> Bool { space(at: path)?.freeByteCount == 0 }

    private struct Walk {
        var blockCount: UInt64 = 0
        var nameCount = 0
    }

    private func usedBlockCount(_ limit: DiskLimit) -> UInt64 {
        var walk = Walk()
        for path in limit.paths {
            // What is not there holds nothing; what cannot be read is not the pair's.
            guard let root = try? inner.openRoot(path, create: false) else { continue }
            add(root, depth: 0, to: &walk)
        }
        return walk.blockCount
    }

    private func add(_ directory: borrowing OpenDirectory, depth: Int, to walk: inout Walk) {
        var names: [FileName] = []
        let most = Self.mostNames - walk.nameCount
        try? inner.forEachName(in: directory) { name in
            guard names.count < most else { return false }
            names.append(name)
            return true
        }
        walk.nameCount += names.count
        for name in names {
            // Gone since: another process of the pair moves and deletes.
            guard let status = try? inner.status(of: name, in: directory) else { continue }
            switch status.kind {
            case .regular: walk.blockCount += Self.blockCount(status.byteCount)
            case .directory:
                guard depth < Self.mostDepth, depth > 0 || name != JournalFile.folderName,
                    let inside = try? inner.openDirectory(name, in: directory, create: false)
                else { continue }
                add(inside, depth: depth + 1, to: &walk)
            case .symbolicLink, .fifo, .socket, .device, .other: break
            }
        }
    }

    private static func blockCount(_ byteCount: UInt64) -> UInt64 {
        byteCount / blockByteCount + (byteCount % blockByteCount == 0 ? 0 : 1)
    }

    /// How long a file may become; `nil` where nothing limits it.
    private func longest(_ file: borrowing OpenFile, _ operation: Operation) throws(FileSystemError) -> UInt64? {
        guard let free = space(at: file.displayPath)?.freeByteCount else { return nil }
        let status: FileStatus
        do throws(FileSystemError) {
            status = try inner.status(of: file)
        } catch {
            throw FileSystemError(operation, file.displayPath, error.reason)
        }
        let own = Self.blockCount(status.byteCount) * Self.blockByteCount
        return own.addingReportingOverflow(free).overflow ? .max : own + free
    }
}

extension String {
    fileprivate func holds(_ part: String) -> Bool { part.isEmpty || contains(part) }
}

extension DiskLimit {
    fileprivate func covers(_ path: String) -> Bool {
        paths.contains { $0 == "/" || path == $0 || path.hasPrefix($0 + "/") }
    }
}

extension SteeredFileSystem: FileSystem {
    package func openRoot(_ path: String, create: Bool) throws(FileSystemError) -> OpenDirectory {
        try perform(.openRoot, [path]) { () throws(FileSystemError) in
            guard create, self.isFull(RootPath.withoutTrailingSlashes(path)) else {
                return try self.inner.openRoot(path, create: create)
            }
            do throws(FileSystemError) {
                return try self.inner.openRoot(path, create: false)
            } catch {
                throw error.reason == .notFound ? FileSystemError(.makeDirectory, path, .noSpace) : error
            }
        }
    }

    package func openDirectory(
        _ name: FileName, in parent: borrowing OpenDirectory, create: Bool
    ) throws(FileSystemError) -> OpenDirectory {
        let path = parent.displayPath(of: name)
        return try perform(.openDirectory, [path]) { () throws(FileSystemError) in
            guard create, self.isFull(path) else {
                return try self.inner.openDirectory(name, in: parent, create: create)
            }
            do throws(FileSystemError) {
                return try self.inner.openDirectory(name, in: parent, create: false)
            } catch {
                throw error.reason == .notFound ? FileSystemError(.makeDirectory, path, .noSpace) : error
            }
        }
    }

    package func openSource(_ path: String) throws(FileSystemError) -> OpenFile {
        try perform(.openSource, [path]) { () throws(FileSystemError) in try self.inner.openSource(path) }
    }

    package func create(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        let path = directory.displayPath(of: name)
        return try perform(.create, [path]) { () throws(FileSystemError) in
            if self.isFull(path), try !self.inner.exists(name, in: directory) {
                throw FileSystemError(.create, path, .noSpace)
            }
            return try self.inner.create(name, in: directory)
        }
    }

    package func open(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        try perform(.open, [directory.displayPath(of: name)]) { () throws(FileSystemError) in
            try self.inner.open(name, in: directory)
        }
    }

    package func status(
        of name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> FileStatus {
        try perform(.status, [directory.displayPath(of: name)]) { () throws(FileSystemError) in
            try self.inner.status(of: name, in: directory)
        }
    }

    package func status(of file: borrowing OpenFile) throws(FileSystemError) -> FileStatus {
        try perform(.status, [file.displayPath]) { () throws(FileSystemError) in try self.inner.status(of: file) }
    }

    package func status(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus {
        try perform(.status, [directory.displayPath]) { () throws(FileSystemError) in
            try self.inner.status(of: directory)
        }
    }

    package func forEachName(
        in directory: borrowing OpenDirectory, _ body: (FileName) -> Bool
    ) throws(FileSystemError) {
        try perform(.list, [directory.displayPath]) { () throws(FileSystemError) in
            try self.inner.forEachName(in: directory, body)
        }
    }

    package func read(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try perform(.read, [file.displayPath]) { () throws(FileSystemError) in
            try self.inner.read(file, at: offset, into: buffer)
        }
    }

    package func write(
        _ file: borrowing OpenFile, at offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try perform(.write, [file.displayPath]) { () throws(FileSystemError) in
            guard let longest = try self.longest(file, .write), !bytes.isEmpty else {
                return try self.inner.write(file, at: offset, from: bytes)
            }
            guard longest > offset else { throw FileSystemError(.write, file.displayPath, .noSpace) }
            let count = Int(min(UInt64(bytes.count), longest - offset))
            return try self.inner.write(file, at: offset, from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    package func truncate(_ file: borrowing OpenFile, to byteCount: UInt64) throws(FileSystemError) {
        try perform(.truncate, [file.displayPath]) { () throws(FileSystemError) in
            // What becomes shorter is below its own length, so it always may.
            if let longest = try self.longest(file, .truncate), byteCount > longest {
                throw FileSystemError(.truncate, file.displayPath, .noSpace)
            }
            try self.inner.truncate(file, to: byteCount)
        }
    }

    package func sync(_ file: borrowing OpenFile) throws(FileSystemError) {
        try perform(.sync, [file.displayPath]) { () throws(FileSystemError) in try self.inner.sync(file) }
    }

    package func sync(_ directory: borrowing OpenDirectory) throws(FileSystemError) {
        try perform(.syncDirectory, [directory.displayPath]) { () throws(FileSystemError) in
            try self.inner.sync(directory)
        }
    }

    package var hasSyncAll: Bool { inner.hasSyncAll }

    package func syncAll(_ directory: borrowing OpenDirectory) throws(FileSystemError) {
        try perform(.syncAll, [directory.displayPath]) { () throws(FileSystemError) in
            try self.inner.syncAll(directory)
        }
    }

    package func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) {
        let paths = [source.displayPath(of: name), target.displayPath(of: newName)]
        try perform(.publish, paths) { () throws(FileSystemError) in
            try self.inner.publish(name, in: source, as: newName, in: target)
        }
    }

    package func unlink(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) {
        try perform(.unlink, [directory.displayPath(of: name)]) { () throws(FileSystemError) in
            try self.inner.unlink(name, in: directory)
        }
    }

    package func lock(_ file: borrowing OpenFile) throws(FileSystemError) -> Bool {
        try perform(.lock, [file.displayPath]) { () throws(FileSystemError) in try self.inner.lock(file) }
    }

    package func space(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FreeSpace {
        try perform(.space, [directory.displayPath]) { () throws(FileSystemError) in
            let real = try self.inner.space(of: directory)
            guard let limited = self.space(at: directory.displayPath) else { return real }
            return FreeSpace(
                freeByteCount: min(real.freeByteCount, limited.freeByteCount),
                totalByteCount: min(real.totalByteCount, limited.totalByteCount))
        }
    }

    /// Handles are the inner file system's, which closes them itself.
    package func close(_ handle: HandleNumber) { inner.close(handle) }
}
