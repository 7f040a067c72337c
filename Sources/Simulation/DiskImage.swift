// What lies on the simulated disk, as a value: it can be copied, compared, kept and put back.
//
// One rule holds it together: *durable plus the unsynced changes in their order gives written*. Every change is made in
// the written view at once and appended to the list of its inode; a sync moves the list into the durable view. So what
// a cut of the power may leave is a choice over those lists, and nothing else. (One exception: the pages that a failed
// sync gave up, see `abandonUnsyncedContent`.)

package import Spooling

/// The number of a file or directory on the simulated disk. Never used twice.
package struct InodeNumber: Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package static func < (left: InodeNumber, right: InodeNumber) -> Bool { left.rawValue < right.rawValue }
}

/// One change that no sync has made durable yet.
package struct UnsyncedChange: Hashable, Sendable {
    package enum Change: Hashable, Sendable {
        case addName(FileName, InodeNumber)
        case removeName(FileName, InodeNumber)
        /// A rename within one directory: one change, because it is atomic.
        case rename(FileName, to: FileName, InodeNumber)
        case write(offset: UInt64, bytes: [UInt8])
        case truncate(byteCount: UInt64)
    }

    /// The order of all changes of a disk. The two halves of a rename between directories share one number.
    package let sequence: UInt64
    /// The file or directory that was changed.
    package let inode: InodeNumber
    package let change: Change
    /// For half of a rename between two directories: the directory that has the other half.
    package let counterpart: InodeNumber?
}

/// Whether a rename between two directories is one step on the medium.
package enum RenameAcrossDirectories: Hashable, Sendable {
    /// POSIX promises nothing: the new name and the removal of the old one become durable each with its directory. A cut
    /// in between leaves both names (and a link count of 2), or none.
    case twoHalves
    /// What journals do (ext4, xfs, btrfs, APFS): both or neither, and a sync of either directory brings both.
    case atomic
}

/// A call that the simulated kernel turned down.
struct DiskFailure: Error, Hashable {
    let reason: FileSystemError.Reason
    init(_ reason: FileSystemError.Reason) { self.reason = reason }
}

struct Inode: Hashable, Sendable {
    var kind: FileKind
    var permissions: UInt16
    var isOurs = true
    /// Names of a planted file that lie outside what the test looks at.
    var extraLinkCount: UInt64 = 0
    var mount: Int
    /// Where a symbolic link leads.
    var linkTarget = ""

    var written: [UInt8] = []
    var durable: [UInt8] = []
    var names: [FileName: InodeNumber] = [:]
    var durableNames: [FileName: InodeNumber] = [:]
    var unsynced: [UnsyncedChange] = []

    /// Names in the written view, and handles: at zero and zero the kernel frees the blocks.
    var nameCount: UInt64 = 0
    var openCount = 0

    /// Whether this process may use it so: 4 read, 2 write, 1 pass through. (No other user's process is simulated.)
    func allows(_ bits: UInt16) -> Bool {
        (permissions >> (isOurs ? 6 : 0)) & bits == bits
    }
}

package struct DiskImage: Hashable, Sendable {
    struct Device: Hashable, Sendable {
        /// `nil`: as much as anybody wants.
        var capacityByteCount: UInt64?
        var usedBlockCount: UInt64 = 0

        var totalByteCount: UInt64 { capacityByteCount ?? 1 << 40 }
        var freeBlockCount: UInt64 {
            let total = totalByteCount / DiskImage.blockByteCount
            return total > usedBlockCount ? total - usedBlockCount : 0
        }
    }

    struct Mount: Hashable, Sendable {
        var device: Int
        var isReadOnly = false
        var root: InodeNumber
    }

    static let blockByteCount: UInt64 = 4096
    static let root = InodeNumber(rawValue: 1)

    var inodes: [InodeNumber: Inode]
    var devices: [Device]
    var mounts: [Mount]
    var renameAcrossDirectories: RenameAcrossDirectories
    /// As many changes stay unsynced at most; then all of them are written back, as a kernel does by itself after a
    /// while. Without that a directory that nobody ever syncs would remember its whole life.
    var unsyncedLimit = 50_000
    private(set) var unsyncedCount = 0
    private(set) var unsyncedInodes: Set<InodeNumber> = []
    private var lastInode: UInt64 = 1
    private var lastSequence: UInt64 = 0
    private var sweepThreshold = 1024

    init(capacityByteCount: UInt64?, renameAcrossDirectories: RenameAcrossDirectories) {
        devices = [Device(capacityByteCount: capacityByteCount)]
        mounts = [Mount(device: 0, root: DiskImage.root)]
        inodes = [DiskImage.root: Inode(kind: .directory, permissions: 0o755, mount: 0, nameCount: 1)]
        self.renameAcrossDirectories = renameAcrossDirectories
    }

    /// An inode that somebody refers to. That it is there is this module's own invariant.
    subscript(number: InodeNumber) -> Inode {
        get {
            guard let inode = inodes[number] else { preconditionFailure("no inode \(number.rawValue) on this disk") }
            return inode
        }
        _modify {
            guard inodes[number] != nil else { preconditionFailure("no inode \(number.rawValue) on this disk") }
            yield &inodes[number]!
        }
    }

    mutating func makeInode(_ kind: FileKind, permissions: UInt16, mount: Int) -> InodeNumber {
        lastInode += 1
        let number = InodeNumber(rawValue: lastInode)
        inodes[number] = Inode(kind: kind, permissions: permissions, mount: mount)
        return number
    }

    /// Grows with every change.
    var changeCount: UInt64 { lastSequence }

    mutating func nextSequence() -> UInt64 {
        lastSequence += 1
        return lastSequence
    }

    mutating func record(
        _ change: UnsyncedChange.Change, of number: InodeNumber, sequence: UInt64, counterpart: InodeNumber? = nil
    ) {
        self[number].unsynced.append(
            UnsyncedChange(sequence: sequence, inode: number, change: change, counterpart: counterpart))
        unsyncedInodes.insert(number)
        unsyncedCount += 1
    }

    /// What a kernel does in the background. Called after a whole call, never between the halves of a rename.
    mutating func tidy() {
        if unsyncedCount > unsyncedLimit {
            for number in unsyncedInodes.sorted() { makeDurable(number) }
        }
        if inodes.count > sweepThreshold { sweep() }
    }

    // MARK: Durability

    /// The changes of this inode up to `last` reach the durable view, in their order.
    mutating func makeDurable(_ number: InodeNumber, through last: UInt64 = .max) {
        guard inodes[number] != nil else { return }
        var changes: [UnsyncedChange] = []
        swap(&changes, &self[number].unsynced)
        let count = changes.firstIndex { $0.sequence > last } ?? changes.count
        self[number].unsynced = Array(changes[count...])
        unsyncedCount -= count
        if count == changes.count { unsyncedInodes.remove(number) }
        for change in changes[..<count] {
            apply(change)
            // A journal keeps the order of its changes: the other half comes with all that was before it there.
            if renameAcrossDirectories == .atomic, let other = change.counterpart {
                makeDurable(other, through: change.sequence)
            }
        }
    }

    mutating func makeAllDurable(device: Int) {
        for number in unsyncedInodes.sorted() where mounts[self[number].mount].device == device {
            makeDurable(number)
        }
    }

    /// What Linux does with the pages of a file whose sync failed: it marks them clean. They stay readable, no later
    /// sync writes them, and it says that all is well. Only bytes that are written again reach the medium.
    mutating func abandonUnsyncedContent(_ number: InodeNumber) {
        var kept: [UnsyncedChange] = []
        for change in self[number].unsynced {
            switch change.change {
            case .write, .truncate: unsyncedCount -= 1
            case .addName, .removeName, .rename: kept.append(change)
            }
        }
        self[number].unsynced = kept
        if kept.isEmpty { unsyncedInodes.remove(number) }
    }

    mutating func abandonAllUnsyncedContent(onDeviceOf number: InodeNumber) {
        let device = mounts[self[number].mount].device
        for number in unsyncedInodes.sorted() where mounts[self[number].mount].device == device {
            abandonUnsyncedContent(number)
        }
    }

    /// Carries one change out in the durable view, as far as the state there lets it.
    mutating func apply(_ change: UnsyncedChange) {
        switch change.change {
        case .addName(let name, let inode):
            self[change.inode].durableNames[name] = inode
        case .removeName(let name, let inode):
            // The name may stand for another file there, when the changes between were lost.
            if self[change.inode].durableNames[name] == inode { self[change.inode].durableNames[name] = nil }
        case .rename(let name, let newName, let inode):
            if self[change.inode].durableNames[name] == inode { self[change.inode].durableNames[name] = nil }
            self[change.inode].durableNames[newName] = inode
        case .write(let offset, let bytes):
            self[change.inode].durable.put(bytes[...], at: Int(offset))
        case .truncate(let byteCount):
            self[change.inode].durable.setLength(Int(byteCount))
        }
    }

    /// All unsynced changes in the order in which they were made.
    func unsyncedChanges() -> [UnsyncedChange] {
        var all: [UnsyncedChange] = []
        for number in unsyncedInodes.sorted() { all += self[number].unsynced }
        return all.sorted { ($0.sequence, $0.inode) < ($1.sequence, $1.inode) }
    }

    // MARK: Blocks and garbage

    static func blockCount(_ byteCount: Int) -> UInt64 {
        (UInt64(byteCount) + blockByteCount - 1) / blockByteCount
    }

    /// Frees the blocks of a file that has neither a name nor a handle left in the written view.
    mutating func releaseIfUnused(_ number: InodeNumber) {
        guard let inode = inodes[number], inode.nameCount == 0, inode.openCount == 0 else { return }
        devices[mounts[inode.mount].device].usedBlockCount -= DiskImage.blockCount(inode.written.count)
        self[number].written = []
    }

    /// Forgets what neither view, no unsynced change and no handle leads to.
    private mutating func sweep() {
        var reached: Set<InodeNumber> = []
        var open = mounts.map(\.root) + inodes.keys.filter { self[$0].openCount > 0 }.sorted()
        while let number = open.popLast() {
            guard reached.insert(number).inserted, let inode = inodes[number] else { continue }
            open += inode.names.values
            open += inode.durableNames.values
            for change in inode.unsynced {
                switch change.change {
                case .addName(_, let inode), .removeName(_, let inode), .rename(_, _, let inode): open.append(inode)
                case .write, .truncate: break
                }
            }
        }
        keep(reached)
    }

    private mutating func keep(_ reached: Set<InodeNumber>) {
        inodes = inodes.filter { reached.contains($0.key) }
        unsyncedInodes.formIntersection(reached)
        unsyncedCount = unsyncedInodes.reduce(0) { $0 + self[$1].unsynced.count }
        sweepThreshold = 2 * inodes.count + 1024
    }

    /// The durable view is all there is: what a machine finds that was switched on again.
    mutating func restartFromDurable() {
        var reached: Set<InodeNumber> = []
        var open = mounts.map(\.root)
        for number in inodes.keys { self[number].nameCount = 0 }
        for root in open { self[root].nameCount = 1 }
        while let number = open.popLast() {
            guard reached.insert(number).inserted else { continue }
            var inode = self[number]
            inode.names = inode.durableNames
            inode.written = inode.durable
            inode.unsynced = []
            inode.openCount = 0
            inodes[number] = inode
            for name in inode.names.keys.sorted() {
                guard let child = inode.names[name] else { continue }
                // A directory has one parent. When both halves of its rename are there, the disk's check takes one.
                if self[child].kind == .directory, self[child].nameCount > 0, !isMountRoot(child) {
                    self[number].names[name] = nil
                    self[number].durableNames[name] = nil
                    continue
                }
                if !isMountRoot(child) { self[child].nameCount += 1 }
                open.append(child)
            }
        }
        unsyncedInodes = []
        keep(reached)
        for device in devices.indices { devices[device].usedBlockCount = 0 }
        for inode in inodes.values {
            devices[mounts[inode.mount].device].usedBlockCount += DiskImage.blockCount(inode.written.count)
        }
    }

    func isMountRoot(_ number: InodeNumber) -> Bool { mounts.contains { $0.root == number } }
}

extension [UInt8] {
    /// Puts `bytes` at `offset`; what lies between the end and `offset` becomes zero.
    mutating func put(_ bytes: ArraySlice<UInt8>, at offset: Int) {
        if count < offset { append(contentsOf: repeatElement(0, count: offset - count)) }
        let overlap = Swift.min(count - offset, bytes.count)
        replaceSubrange(offset..<offset + overlap, with: bytes.prefix(overlap))
        append(contentsOf: bytes.dropFirst(overlap))
    }

    mutating func setLength(_ byteCount: Int) {
        if byteCount < count {
            removeLast(count - byteCount)
        } else {
            append(contentsOf: repeatElement(0, count: byteCount - count))
        }
    }
}
