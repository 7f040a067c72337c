// What a disk may have lost when the power is back: three models, chosen by name.
//
// **posix**: only what was synced is promised. Of the unsynced changes any subset may be there: bytes without their
// name, a name without its bytes, a write torn at any 512 bytes (a sector) or 4 KiB (a page), or its length alone, with
// zeros. A rename between two directories is two changes, and either may be there without the other, in any order; so
// "the new name is lost and the old one is gone" can happen, and so can both. The pair must survive it because nothing
// more is written down anywhere: network and FAT file systems, and those of next year, may do what they like inside it.
//
// **orderedMetadata** (ext4 with `data=ordered`, xfs): names change in a journal, so what survives is a prefix of all
// changes of names, and a rename between two directories is one of them. A sync forces the journal as far as the last
// change of what was synced, and with it everything before, whoever did it. Bytes are allocated late: those of a file
// that was not synced may be missing or zeros while its name, also a later one, is there. That is the file "published
// with zero bytes" which was measured on both. The pair must survive it because its daemons run on Linux machines, and
// phones have ext4 or f2fs.
//
// **copyOnWrite** (btrfs, APFS): the disk goes from checkpoint to checkpoint; what survives is the last one, a prefix
// of all changes of names and bytes together, and what syncs brought forward in a log beside it: the bytes of the file
// that was synced and the names that lead to it, or the names of a directory. As a whole, the bytes of an unsynced file
// may be missing from the checkpoint (btrfs without `flushoncommit` writes them when it likes). The pair must survive
// it because the real watch and phone have APFS: there something new can be durable while something much older is not.
//
// Each of the two lists above leaves out what the first allows; they are here because a sweep over "any subset" of a
// hundred changes can only be a sample, and these are the samples that real disks draw.

/// What the power leaves of what was not synced.
package enum DiskModel: String, Hashable, Sendable, CaseIterable {
    case posix, orderedMetadata, copyOnWrite

    var renameAcrossDirectories: RenameAcrossDirectories {
        switch self {
        case .posix: .twoHalves
        case .orderedMetadata, .copyOnWrite: .atomic
        }
    }
}

extension DiskImage {
    /// What a sync of a file or directory makes durable, which is more than its own changes on a disk with a journal.
    mutating func sync(_ number: InodeNumber) {
        switch model {
        case .posix: makeDurable(number)
        case .orderedMetadata:
            let last = lastChange(about: number)
            makeDurable(number)
            for directory in suspects where isThere(directory) && self[directory].kind == .directory {
                makeDurable(directory, through: last)
            }
        case .copyOnWrite:
            makeDurable(number)
            makeNamesDurable(of: number)
        }
    }

    /// The last unsynced change of an inode or of a name of it; 0 for none.
    private func lastChange(about number: InodeNumber) -> UInt64 {
        var last = self[number].unsynced.last?.sequence ?? 0
        for directory in suspects where isThere(directory) && self[directory].kind == .directory {
            for change in self[directory].unsynced where change.child == number { last = max(last, change.sequence) }
        }
        return last
    }

    /// The changes of the names of one inode alone, and of the names of the directories that they are in.
    private mutating func makeNamesDurable(of number: InodeNumber) {
        for directory in suspects where isThere(directory) && self[directory].kind == .directory {
            guard self[directory].unsynced.contains(where: { $0.child == number }) else { continue }
            let all = self[directory].unsynced
            self[directory].unsynced = all.filter { $0.child != number }
            unsyncedCount -= all.count - self[directory].unsynced.count
            for change in all where change.child == number {
                apply(change)
                letGo(of: number)
            }
            if isThere(directory) { makeNamesDurable(of: directory) }
        }
    }
}
