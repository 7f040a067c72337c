import Spooling

// From the written view to the durable one, and back to it alone when the power was cut.

extension DiskImage {
    /// The changes of this inode up to `last` reach the durable view, in their order.
    mutating func makeDurable(_ number: InodeNumber, through last: UInt64 = .max) {
        guard isThere(number), !self[number].unsynced.isEmpty else { return }
        guard self[number].kind == .directory else {
            makeContentDurable(number)
            return
        }
        var changes: [UnsyncedChange] = []
        swap(&changes, &self[number].unsynced)
        let count = last == .max ? changes.count : changes.firstIndex { $0.sequence > last } ?? changes.count
        if count < changes.count { self[number].unsynced = Array(changes[count...]) }
        unsyncedCount -= count
        let areAll = count == changes.count
        for change in changes[..<count] {
            // What all changes together make durable is what is written.
            if areAll { settleNames(of: change) } else { apply(change) }
            if let child = change.child { letGo(of: child) }
            // A journal keeps the order of its changes: the other half comes with all that was before it there.
            if renameAcrossDirectories == .atomic, let other = change.counterpart {
                makeDurable(other, through: change.sequence)
            }
        }
    }

    private mutating func settleNames(of change: UnsyncedChange) {
        switch change.change {
        case .addName(let name, _), .removeName(let name, _): settle(name, in: change.inode)
        case .rename(let name, let newName, _):
            settle(name, in: change.inode)
            settle(newName, in: change.inode)
        case .write, .truncate: preconditionFailure("bytes of a directory: \(change)")
        }
    }

    private mutating func settle(_ name: FileName, in directory: InodeNumber) {
        let (before, now) = self[directory].table.settle(name)
        guard before != now else { return }
        if let now { places[now.place].holdCount += 1 }
        if let before { letGo(of: before) }
    }

    private mutating func makeContentDurable(_ number: InodeNumber) {
        var changes: [UnsyncedChange] = []
        swap(&changes, &self[number].unsynced)
        unsyncedCount -= changes.count
        // What is durable and written is the same then. The two views share the bytes until the next change, which copies
        // them: not for a long file that grows by little at a time.
        // (What neither a name nor a handle leads to has no written bytes left; a cut may still bring a name of it back.)
        let isUnused = places[number.place].nameCount == 0 && places[number.place].openCount == 0
        let isShort = self[number].durable.isEmpty || self[number].written.count <= 4_096
        if isShort, !isUnused, !self[number].hasAbandoned {
            self[number].durable = self[number].written
        } else {
            for change in changes { apply(change) }
        }
    }

    mutating func makeAllDurable(device: Int) {
        for number in suspects where isThere(number) && mounts[self[number].mount].device == device {
            makeDurable(number)
        }
        forgetSettledSuspects()
    }

    /// What Linux does with the pages of a file whose sync failed: it marks them clean. They stay readable, no later
    /// sync writes them, and it says that all is well. Only bytes that are written again reach the medium.
    mutating func abandonUnsyncedContent(_ number: InodeNumber) {
        let kept = self[number].unsynced.filter { $0.child != nil }
        let lost = self[number].unsynced.count - kept.count
        guard lost > 0 else { return }
        self[number].unsynced = kept
        self[number].hasAbandoned = true
        unsyncedCount -= lost
    }

    mutating func abandonAllUnsyncedContent(onDeviceOf number: InodeNumber) {
        let device = mounts[self[number].mount].device
        for number in suspects where isThere(number) && mounts[self[number].mount].device == device {
            abandonUnsyncedContent(number)
        }
    }

    /// Carries one change out in the durable view, as far as the state there lets it.
    mutating func apply(_ change: UnsyncedChange) {
        switch change.change {
        case .addName(let name, let inode):
            setDurable(name, to: inode, in: change.inode)
        case .removeName(let name, let inode):
            // The name may stand for another file there, when the changes between were lost.
            if self[change.inode].table[name, .durable] == inode { setDurable(name, to: nil, in: change.inode) }
        case .rename(let name, let newName, let inode):
            if self[change.inode].table[name, .durable] == inode { setDurable(name, to: nil, in: change.inode) }
            setDurable(newName, to: inode, in: change.inode)
        case .write(let offset, let bytes):
            self[change.inode].durable.put(bytes[...], at: Int(offset))
        case .truncate(let byteCount):
            self[change.inode].durable.setLength(Int(byteCount))
        }
    }

    private mutating func setDurable(_ name: FileName, to child: InodeNumber?, in directory: InodeNumber) {
        let before = self[directory].table[name, .durable]
        guard before != child else { return }
        if let child { places[child.place].holdCount += 1 }
        self[directory].table[name, .durable] = child
        if let before { letGo(of: before) }
    }

    /// All unsynced changes in the order in which they were made.
    func unsyncedChanges() -> [UnsyncedChange] {
        var all: [UnsyncedChange] = []
        for number in suspects where isThere(number) { all += self[number].unsynced }
        return all.sorted { ($0.sequence, $0.inode) < ($1.sequence, $1.inode) }
    }

    // MARK: After a cut of the power

    /// The durable view is all there is: what a machine finds that was switched on again. No handle is open any more.
    mutating func restartFromDurable() {
        let numbers = suspects.filter { !isSettled($0) }
        var changes: [UnsyncedChange] = []
        for number in numbers { changes += self[number].unsynced }
        if changes.contains(where: { $0.child.map { self[$0].kind == .directory } ?? false }) {
            restartWithAllDirectories()
        } else {
            restart(numbers, changes)
        }
        suspects = []
    }

    /// Puts right what has unsynced changes, and what they are about. No directory was made, moved or removed.
    private mutating func restart(_ numbers: [InodeNumber], _ changes: [UnsyncedChange]) {
        for change in changes {
            if let child = change.child { suspect(child) }
        }
        for number in suspects where isThere(number) { setUsed(number, byteCount: 0) }
        for change in changes {
            switch change.change {
            case .addName(let name, _), .removeName(let name, _): restartName(name, in: change.inode)
            case .rename(let name, let newName, _):
                restartName(name, in: change.inode)
                restartName(newName, in: change.inode)
            case .write, .truncate: break
            }
        }
        for number in numbers {
            let durable = self[number].durable
            self[number].written = durable
            self[number].unsynced = []
            self[number].hasAbandoned = false
        }
        unsyncedCount = 0
        for number in suspects where isThere(number) {
            places[number.place].isSuspect = false
            let (written, durable) = (self[number].written.count, self[number].durable)
            // Only what was unlinked is settled and has other bytes: none.
            if written != durable.count { self[number].written = durable }
            devices[mounts[self[number].mount].device].usedBlockCount += DiskImage.blockCount(durable.count)
        }
        for change in changes {
            guard let child = change.child else { continue }
            releaseIfUnused(child)
            letGo(of: child)
        }
    }

    private mutating func restartName(_ name: FileName, in directory: InodeNumber) {
        let (before, now) = self[directory].table.unsettle(name)
        guard before != now else { return }
        if let before { places[before.place].nameCount -= 1 }
        if let now { places[now.place].nameCount += 1 }
    }

    /// The same by a walk over the whole disk: a directory that was moved or removed takes all that is in it along.
    private mutating func restartWithAllDirectories() {
        var open = mounts.map(\.root)
        for index in places.indices {
            places[index].nameCount = 0
            places[index].holdCount = 0
            places[index].isSuspect = false
        }
        for root in open { places[root.place].nameCount = 1 }
        var isReached = [Bool](repeating: false, count: places.count)
        while let number = open.popLast() {
            guard !isReached[number.place] else { continue }
            isReached[number.place] = true
            // Most are as they were when the image was taken, and stay shared with it.
            if !isSettled(number) || self[number].written.count != self[number].durable.count {
                self[number].table.forgetWritten()
                self[number].written = self[number].durable
                self[number].unsynced = []
                self[number].hasAbandoned = false
            }
            guard self[number].kind == .directory else { continue }
            var children: [(name: FileName, number: InodeNumber)] = []
            self[number].table.forEach(in: .written) { name, child in
                children.append((name, child))
                return true
            }
            for (name, child) in children.sorted(by: { $0.name < $1.name }) {
                // A directory has one parent. When both halves of its rename are there, the disk's check takes one.
                if self[child].kind == .directory, places[child.place].nameCount > 0, !isMountRoot(child) {
                    self[number].table[name, .written] = nil
                    self[number].table[name, .durable] = nil
                    continue
                }
                if !isMountRoot(child) { places[child.place].nameCount += 1 }
                places[child.place].holdCount += 1
                open.append(child)
            }
        }
        unsyncedCount = 0
        for device in devices.indices { devices[device].usedBlockCount = 0 }
        for index in places.indices {
            guard let number = places[index].number else { continue }
            if isReached[index] {
                let count = self[number].written.count
                devices[mounts[self[number].mount].device].usedBlockCount += DiskImage.blockCount(count)
            } else {
                discard(number)
            }
        }
    }
}
