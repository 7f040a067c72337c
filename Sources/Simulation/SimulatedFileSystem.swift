// A disk in memory that keeps what was *written* apart from what is *durable*.
//
// After the crash tests of SQLite (src/test6.c, which remembers every unsynced write and keeps, drops or scrambles it)
// and the simulated storage of TigerBeetle (src/testing/storage.zig, whose faults come from one seed). What it holds:
//
// - Inodes. A regular file has its written bytes and its durable bytes; a directory its written and its durable names.
//   Every call reads and changes the written view, at once and atomically. Links, FIFOs, sockets and devices exist only
//   because a test planted them, as strange owners, permissions and second names do: they are there to be refused.
// - Sync. A file's sync makes its bytes and length durable and *not* its name; a directory's sync makes its names
//   durable and *not* the bytes of the files that they stand for; `syncAll` makes both durable on its device, and nothing
//   on another. A new directory is durable when its parent is synced. That is what POSIX promises and no more: a program
//   that is right here is right on ext4, xfs, btrfs and APFS, which all do a little more each in its own way. Two other
//   models do that little more; `DiskModel.swift` says for each of the three what may be lost.
// - Power. `losePower` takes all processes, their handles and locks, and leaves a state that this model allows; see
//   `PowerLoss`. It must be survived because phones and watches run out of battery, at any instruction.
// - Processes. Each daemon has a `ProcessView`: its own handles and locks. `kill` takes them, keeps everything that was
//   written (death of a process loses nothing that it wrote), and every later call of that view fails with
//   `processIsDead`. It must be survived because the system kills background apps without asking.
// - Room. A device has a capacity; content counts in blocks of 4 KiB, metadata is free. A write that does not fit writes
//   what fits and says so; the next one fails with `noSpace`. An unlinked file gives its blocks back when nobody has it
//   open. It must be survived because audio fills disks, and whoever is out of room must still be able to delete.
// - Mounts. A path may be the root of another device, or of the same one mounted twice: `publish` over that border fails
//   with `crossDevice`. It must be survived because users put a spool on another disk.
// - Locks are `flock`'s: of an open file, exclusive between and within processes, gone with the handle or the process.
// - A failed sync (injected, see `InstrumentedFileSystem`) leaves the file's pages marked clean: readable, and never made
//   durable by a later sync that says it succeeded. It must be survived because Linux does this (law 5).
//
// Not here: access times, quotas, other users' processes, holes in files, checksums that fail (write other bytes with
// `write(_:to:)` for that). Listing order is scattered on purpose, and the same in every run.

package import Spooling

extension FileSystemError.Reason {
    /// Every call of a process that was killed. No errno has this number.
    package static let processIsDead = FileSystemError.Reason.other(-1)
}

/// The disk, its processes, and everything that a test does to it from outside. Used as a `FileSystem` itself, it is a
/// process of its own, which is started anew after each loss of power.
package final class SimulatedFileSystem {
    let kernel: Kernel
    var ownView: ProcessView

    /// - Parameter capacityByteCount: of the root's device; `nil` for as much as anybody wants.
    package init(
        capacityByteCount: UInt64? = nil, model: DiskModel = .posix,
        renameAcrossDirectories: RenameAcrossDirectories? = nil
    ) {
        kernel = Kernel(
            DiskImage(
                capacityByteCount: capacityByteCount, model: model,
                renameAcrossDirectories: renameAcrossDirectories ?? model.renameAcrossDirectories))
        ownView = ProcessView(kernel, name: "disk")
    }

    /// A new process that uses this disk.
    package func asProcess(_ name: String) -> ProcessView { ProcessView(kernel, name: name) }

    /// Ends a process at once: its handles and locks go, what it wrote stays.
    package func kill(_ view: ProcessView) { view.kill() }

    /// Ends every process and leaves on the disk what `loss` says.
    package func losePower(_ loss: PowerLoss) {
        kernel.killAll()
        kernel.image.losePower(loss)
        ownView = ProcessView(kernel, name: "disk")
    }

    /// The disk as a value, to come back to it. Handles and locks are not part of it.
    package func snapshot() -> DiskImage {
        var image = kernel.image
        if kernel.handleCount > 0 { image.closeAll() }
        return image
    }

    /// Ends every process and puts back what `snapshot` gave.
    package func restore(_ image: DiskImage) {
        kernel.killAll()
        kernel.image = image
        ownView = ProcessView(kernel, name: "disk")
    }

    // MARK: What a test looks at

    /// Every path that is there, sorted level by level.
    package func paths() -> [String] { kernel.image.paths(in: .written) }

    /// Every path that is there after the worst cut of the power.
    package func durablePaths() -> [String] { kernel.image.paths(in: .durable) }

    /// The bytes of the file at a path, or `nil` when there is none.
    package func content(_ path: String) -> [UInt8]? {
        (try? kernel.image.resolve(path)).map { kernel.image[$0].written }
    }

    /// The bytes that a path has after the worst cut of the power, or `nil` when it has no file then.
    package func durableContent(_ path: String) -> [UInt8]? {
        (try? kernel.image.resolve(path, in: .durable)).map { kernel.image[$0].durable }
    }

    package func status(_ path: String) -> FileStatus? {
        (try? kernel.image.resolve(path, followsLast: false)).map { kernel.image.status($0) }
    }

    /// The name of the process that holds the lock of the file at a path.
    package func lockHolder(_ path: String) -> String? {
        (try? kernel.image.resolve(path)).flatMap { kernel.lockHolder($0) }
    }

    /// What was changed since it was last synced, in the order in which it was done: what a cut of the power chooses from.
    package func unsyncedChanges() -> [UnsyncedChange] { kernel.image.unsyncedChanges() }

    /// How many handles are open, over all processes.
    package var openHandleCount: Int { kernel.handleCount }

    // MARK: What other programs of the same user do (unsynced, as they do it)

    /// Writes a whole file, made if it is missing.
    package func write(
        _ bytes: [UInt8], to path: String, permissions: UInt16 = 0o600
    ) throws(FileSystemError) {
        try change(.write, path) { (image) throws(DiskFailure) in
            let (directory, name) = try image.resolveParent(path)
            let number: InodeNumber
            if let there = image.child(name, of: directory) {
                number = there
                try image.truncate(number, to: 0)
            } else {
                number = try image.make(.regular, name, in: directory, permissions: permissions)
            }
            image[number].permissions = permissions
            var failure: DiskFailure?
            bytes.withUnsafeBytes { buffer in
                do throws(DiskFailure) {
                    let count = try image.write(number, at: 0, from: buffer)
                    if count < buffer.count { failure = DiskFailure(.noSpace) }
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
        }
    }

    /// Removes a file, or a directory with all that is in it.
    package func remove(_ path: String) throws(FileSystemError) {
        try change(.unlink, path) { (image) throws(DiskFailure) in
            let (directory, name) = try image.resolveParent(path)
            try image.removeTree(name, in: directory)
        }
    }

    package func move(_ path: String, to newPath: String) throws(FileSystemError) {
        try change(.publish, path) { (image) throws(DiskFailure) in
            let (directory, name) = try image.resolveParent(path)
            let (target, newName) = try image.resolveParent(newPath)
            try image.publish(name, in: directory, as: newName, in: target)
        }
    }

    /// Makes a directory; its parent is there.
    package func makeDirectory(_ path: String, permissions: UInt16 = 0o700) throws(FileSystemError) {
        try change(.makeDirectory, path) { (image) throws(DiskFailure) in
            let (directory, name) = try image.resolveParent(path)
            _ = try image.make(.directory, name, in: directory, permissions: permissions)
        }
    }

    // MARK: The stage (durable at once: it was there before)

    /// Puts something into a directory that is there, in the place of what has that name.
    ///
    /// - Parameters:
    ///   - linkCount: how many names the file has; the others are out of sight.
    ///   - target: where a symbolic link leads.
    package func plant(
        _ path: String, kind: FileKind = .regular, bytes: [UInt8] = [], permissions: UInt16 = 0o600,
        isOurs: Bool = true, linkCount: UInt64 = 1, target: String = ""
    ) throws(FileSystemError) {
        try change(.create, path) { (image) throws(DiskFailure) in
            let (directory, name) = try image.resolveParent(path)
            if image.child(name, of: directory) != nil { try image.removeTree(name, in: directory) }
            let number = try image.make(kind, name, in: directory, permissions: permissions)
            image[number].isOurs = isOurs
            image[number].extraLinkCount = linkCount - 1
            image[number].linkTarget = target
            image.devices[image.mounts[image[number].mount].device].usedBlockCount +=
                DiskImage.blockCount(bytes.count)
            image[number].written = bytes
            image[number].durable = bytes
            image.makeDurable(directory)
        }
    }

    /// Makes `path`, whose parent is there, the root of another mount.
    ///
    /// - Parameter sharingDeviceOf: a path whose device is mounted here once more; otherwise the device is new.
    package func mount(
        _ path: String, capacityByteCount: UInt64? = nil, sharingDeviceOf shared: String? = nil
    ) throws(FileSystemError) {
        try change(.makeDirectory, path) { (image) throws(DiskFailure) in
            let (directory, name) = try image.resolveParent(path)
            let device: Int
            if let shared {
                device = image.mounts[image[try image.resolve(shared)].mount].device
            } else {
                device = image.devices.count
                image.devices.append(DiskImage.Device(capacityByteCount: capacityByteCount))
            }
            let number = try image.make(.directory, name, in: directory, permissions: 0o700)
            image[number].mount = image.mounts.count
            image.mounts.append(DiskImage.Mount(device: device, root: number))
            image.makeDurable(directory)
        }
    }

    /// Sets how much the device that holds `path` takes, from now on; less than is used means that it is full.
    package func setCapacity(of path: String, byteCount: UInt64?) throws(FileSystemError) {
        try change(.space, path) { (image) throws(DiskFailure) in
            image.devices[image.mounts[image[try image.resolve(path)].mount].device].capacityByteCount = byteCount
        }
    }

    /// Makes the mount that holds `path` refuse every change, as a kernel does after an error of the medium.
    package func setReadOnly(_ path: String, _ isReadOnly: Bool) throws(FileSystemError) {
        try change(.space, path) { (image) throws(DiskFailure) in
            image.mounts[image[try image.resolve(path)].mount].isReadOnly = isReadOnly
        }
    }

    private func change(
        _ operation: FileSystemError.Operation, _ path: String,
        _ body: (inout DiskImage) throws(DiskFailure) -> Void
    ) throws(FileSystemError) {
        do throws(DiskFailure) {
            try body(&kernel.image)
        } catch {
            throw FileSystemError(operation, path, error.reason)
        }
        kernel.image.tidy()
    }
}
