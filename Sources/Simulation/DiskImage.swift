// What lies on the simulated disk, as a value: it can be copied, compared, kept and put back.
//
// One rule holds it together: *durable plus the unsynced changes in their order gives written*. Every change is made in
// the written view at once and appended to the list of its inode; a sync moves the list into the durable view. So what
// a cut of the power may leave is a choice over those lists, and nothing else. (One exception: the pages that a failed
// sync gave up, see `abandonUnsyncedContent`.)
//
// A copy shares its inodes with the original until one of the two changes them, and a cut of the power touches only what
// has unsynced changes: a lab copies, cuts and puts back thousands of images a second.

import Spooling

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

package struct DiskImage: Sendable {
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

    /// Where an inode is kept, and who refers to it. It is used again once nobody does.
    struct Place: Hashable, Sendable {
        /// Whose place it is; `nil` for nobody's.
        var number: InodeNumber?
        var box: InodeBox?
        /// Names in the written view, and handles: at zero and zero the kernel frees the blocks.
        var nameCount: Int32 = 0
        var openCount: Int32 = 0
        /// Names in the durable view, and unsynced changes that are about it: with those at zero too it is forgotten.
        var holdCount: Int32 = 0
        /// Whether it is among `suspects`.
        var isSuspect = false
    }

    static let blockByteCount: UInt64 = 4096
    static let root = InodeNumber(serial: 1, place: 0)

    var places: [Place]
    private var freePlaces: [Int] = []
    var devices: [Device]
    var mounts: [Mount]
    var renameAcrossDirectories: RenameAcrossDirectories
    /// What a sync makes durable, and what a cut of the power may leave.
    let model: DiskModel
    /// As many changes stay unsynced at most; then all of them are written back, as a kernel does by itself after a
    /// while. Without that a directory that nobody ever syncs would remember its whole life.
    var unsyncedLimit = 50_000
    var unsyncedCount = 0
    /// Every inode whose views differ, each once, in the order in which they began to; some that differ no more.
    var suspects: [InodeNumber] = []
    private var suspectLimit = 1024
    private var lastSerial: UInt64 = 1
    private var lastSequence: UInt64 = 0

    init(capacityByteCount: UInt64?, model: DiskModel, renameAcrossDirectories: RenameAcrossDirectories) {
        devices = [Device(capacityByteCount: capacityByteCount)]
        mounts = [Mount(device: 0, root: DiskImage.root)]
        let inode = Inode(kind: .directory, permissions: 0o755, mount: 0, number: DiskImage.root)
        places = [Place(number: DiskImage.root, box: InodeBox(inode), nameCount: 1)]
        self.model = model
        self.renameAcrossDirectories = renameAcrossDirectories
    }

    func isThere(_ number: InodeNumber) -> Bool {
        number.place < places.count && places[number.place].number == number
    }

    /// An inode that somebody refers to. That it is there is this module's own invariant.
    subscript(number: InodeNumber) -> Inode {
        _read { yield box(number).inode }
        _modify {
            guard isThere(number) else { preconditionFailure("no inode \(number.rawValue) on this disk") }
            if !isKnownUniquelyReferenced(&places[number.place].box) {
                places[number.place].box = InodeBox(places[number.place].box!.inode)
            }
            yield &places[number.place].box!.inode
        }
    }

    func box(_ number: InodeNumber) -> InodeBox {
        guard isThere(number), let box = places[number.place].box else {
            preconditionFailure("no inode \(number.rawValue) on this disk")
        }
        return box
    }

    mutating func makeInode(_ kind: FileKind, permissions: UInt16, mount: Int) -> InodeNumber {
        lastSerial += 1
        if freePlaces.isEmpty {
            freePlaces.append(places.count)
            places.append(Place())
        }
        let number = InodeNumber(serial: lastSerial, place: freePlaces.removeLast())
        let inode = Inode(kind: kind, permissions: permissions, mount: mount, number: number)
        places[number.place] = Place(number: number, box: InodeBox(inode), nameCount: 1)
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
        let change = UnsyncedChange(sequence: sequence, inode: number, change: change, counterpart: counterpart)
        self[number].unsynced.append(change)
        if let child = change.child { places[child.place].holdCount += 1 }
        suspect(number)
        unsyncedCount += 1
    }

    mutating func suspect(_ number: InodeNumber) {
        guard !places[number.place].isSuspect else { return }
        places[number.place].isSuspect = true
        suspects.append(number)
    }

    /// Whether a cut of the power could leave another inode than is written.
    func isSettled(_ number: InodeNumber) -> Bool {
        !isThere(number) || self[number].unsynced.isEmpty && !self[number].hasAbandoned
    }

    /// Lets go of those of whom that was found to be so.
    mutating func forgetSettledSuspects() {
        var left: [InodeNumber] = []
        for number in suspects where isThere(number) {
            if isSettled(number) { places[number.place].isSuspect = false } else { left.append(number) }
        }
        suspects = left
        suspectLimit = 2 * left.count + 1024
    }

    /// What a kernel does in the background. Called after a whole call, never between the halves of a rename.
    mutating func tidy() {
        if unsyncedCount > unsyncedLimit {
            for number in suspects { makeDurable(number) }
        }
        if suspects.count > suspectLimit { forgetSettledSuspects() }
    }

    // MARK: Blocks and garbage

    static func blockCount(_ byteCount: Int) -> UInt64 {
        (UInt64(byteCount) + blockByteCount - 1) / blockByteCount
    }

    mutating func opened(_ number: InodeNumber) { places[number.place].openCount += 1 }

    mutating func closed(_ number: InodeNumber) {
        places[number.place].openCount -= 1
        releaseIfUnused(number)
    }

    /// As if no handle were left.
    mutating func closeAll() {
        for index in places.indices where places[index].openCount > 0 {
            guard let number = places[index].number else { continue }
            places[index].openCount = 0
            releaseIfUnused(number)
        }
    }

    /// Frees the blocks of a file that has neither a name nor a handle left in the written view.
    mutating func releaseIfUnused(_ number: InodeNumber) {
        guard isThere(number), places[number.place].nameCount == 0, places[number.place].openCount == 0 else { return }
        let count = self[number].written.count
        if count > 0 {
            devices[mounts[self[number].mount].device].usedBlockCount -= DiskImage.blockCount(count)
            self[number].written = []
        }
        forgetIfUnheld(number)
    }

    /// A durable name of it went, or a change that was about it.
    mutating func letGo(of number: InodeNumber) {
        places[number.place].holdCount -= 1
        forgetIfUnheld(number)
    }

    /// Forgets what neither view, no unsynced change and no handle leads to.
    private mutating func forgetIfUnheld(_ number: InodeNumber) {
        let place = places[number.place]
        guard place.nameCount == 0, place.openCount == 0, place.holdCount == 0, let box = place.box else { return }
        discard(number)
        let inode = box.inode
        unsyncedCount -= inode.unsynced.count
        for change in inode.unsynced {
            if let child = change.child { letGo(of: child) }
        }
        inode.table.forEach(in: .durable) { _, child in
            letGo(of: child)
            return true
        }
    }

    mutating func discard(_ number: InodeNumber) {
        places[number.place] = Place()
        freePlaces.append(number.place)
    }

    func isMountRoot(_ number: InodeNumber) -> Bool { mounts.contains { $0.root == number } }
}

extension DiskImage: Hashable {
    /// The same disk, and the same from here on. What was only not tidied up yet does not count.
    package static func == (left: DiskImage, right: DiskImage) -> Bool {
        left.lastSerial == right.lastSerial && left.lastSequence == right.lastSequence
            && left.unsyncedCount == right.unsyncedCount && left.unsyncedLimit == right.unsyncedLimit
            && left.devices == right.devices && left.mounts == right.mounts
            && left.model == right.model && left.renameAcrossDirectories == right.renameAcrossDirectories
            && left.freePlaces == right.freePlaces
            && left.places.elementsEqual(right.places) {
                $0.number == $1.number && $0.nameCount == $1.nameCount && $0.openCount == $1.openCount
                    && $0.holdCount == $1.holdCount && $0.box == $1.box
            }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(lastSerial)
        hasher.combine(lastSequence)
        hasher.combine(unsyncedCount)
        hasher.combine(devices)
        for place in places { hasher.combine(place.box) }
    }
}
