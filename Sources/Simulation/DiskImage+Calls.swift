// The calls of the simulated kernel on a disk image: names are looked up, made, renamed and removed; bytes are written.

import Spooling

extension DiskImage {
    func child(_ name: FileName, of directory: InodeNumber, in view: DiskView = .written) -> InodeNumber? {
        self[directory].table[name, view]
    }

    /// The inode that a user's path leads to. Links on the way are followed, the last one only if `followsLast`.
    func resolve(
        _ path: String, followsLast: Bool = true, in view: DiskView = .written
    ) throws(DiskFailure) -> InodeNumber {
        var path = path
        if let number = path.withUTF8({ plainWay(UnsafeRawBufferPointer($0), in: view) }) { return number }
        var rest = DiskImage.parts(path)[...]
        var way = [DiskImage.root]
        var followed = 0
        while let part = rest.popFirst() {
            let here = way[way.count - 1]
            guard self[here].kind == .directory else { throw DiskFailure(.notDirectory) }
            if part.elementsEqual(".".utf8) { continue }
            if part.elementsEqual("..".utf8) {
                if way.count > 1 { way.removeLast() }
                continue
            }
            guard self[here].allows(1) else { throw DiskFailure(.notPermitted) }
            guard part.count <= FileName.longestByteCount else { throw DiskFailure(.nameTooLong) }
            guard let name = FileName(bytes: part), let next = child(name, of: here, in: view) else {
                throw DiskFailure(.notFound)
            }
            if self[next].kind == .symbolicLink, followsLast || !rest.isEmpty {
                followed += 1
                // As many as Linux follows before it says ELOOP.
                guard followed <= 40 else { throw DiskFailure(.isLink) }
                let target = self[next].linkTarget
                if target.hasPrefix("/") { way = [DiskImage.root] }
                rest = (DiskImage.parts(target) + rest)[...]
            } else {
                way.append(next)
            }
        }
        return way[way.count - 1]
    }

    /// The same where nothing is in the way: every part is there, none is a link, and all let us through.
    private func plainWay(_ path: UnsafeRawBufferPointer, in view: DiskView) -> InodeNumber? {
        var here = DiskImage.root
        var start = 0
        while start < path.count {
            if path[start] == UInt8(ascii: "/") {
                start += 1
                continue
            }
            var end = start + 1
            while end < path.count, path[end] != UInt8(ascii: "/") { end += 1 }
            // (No name is `.` or `..`, so neither is found.)
            guard self[here].kind == .directory, self[here].allows(1),
                let next = self[here].table.find(UnsafeRawBufferPointer(rebasing: path[start..<end]), in: view),
                self[next].kind != .symbolicLink
            else { return nil }
            here = next
            start = end
        }
        return here
    }

    private static func parts(_ path: String) -> [ArraySlice<UInt8>] {
        Array(path.utf8).split(separator: UInt8(ascii: "/"))
    }

    /// Parent and last part of a path.
    func resolveParent(_ path: String) throws(DiskFailure) -> (directory: InodeNumber, name: FileName) {
        let bytes = Array(path.utf8)
        let slash = UInt8(ascii: "/")
        let end = bytes.lastIndex { $0 != slash }.map { $0 + 1 } ?? 0
        let start = bytes[..<end].lastIndex(of: slash).map { $0 + 1 } ?? 0
        guard let name = FileName(bytes: bytes[start..<end]) else { throw DiskFailure(.exists) }
        let plain = bytes[..<start].withUnsafeBytes { plainWay($0, in: .written) }
        let parent = if let plain { plain } else { try resolve(String(decoding: bytes[..<start], as: UTF8.self)) }
        guard self[parent].kind == .directory else { throw DiskFailure(.notDirectory) }
        return (parent, name)
    }

    func status(_ number: InodeNumber) -> FileStatus {
        // Field by field: a copy of the inode would count a reference for each of its arrays.
        let box = box(number)
        let byteCount = box.inode.kind == .symbolicLink ? box.inode.linkTarget.utf8.count : box.inode.written.count
        let linkCount =
            box.inode.kind == .directory ? 2 : UInt64(places[number.place].nameCount) + box.inode.extraLinkCount
        return FileStatus(
            kind: box.inode.kind, byteCount: UInt64(byteCount), isOurs: box.inode.isOurs,
            permissions: box.inode.permissions, linkCount: linkCount, inode: number.rawValue,
            device: UInt64(mounts[box.inode.mount].device) + 1)
    }

    private func checkMayChange(_ directory: InodeNumber) throws(DiskFailure) {
        guard !mounts[self[directory].mount].isReadOnly else { throw DiskFailure(.readOnly) }
        guard self[directory].allows(3) else { throw DiskFailure(.notPermitted) }
    }

    /// Makes a file or directory. Nothing of it is durable yet.
    mutating func make(
        _ kind: FileKind, _ name: FileName, in directory: InodeNumber, permissions: UInt16
    ) throws(DiskFailure) -> InodeNumber {
        guard child(name, of: directory) == nil else { throw DiskFailure(.exists) }
        // A directory that was removed while it is open takes no new names.
        guard places[directory.place].nameCount > 0 else { throw DiskFailure(.notFound) }
        try checkMayChange(directory)
        let number = makeInode(kind, permissions: permissions, mount: self[directory].mount)
        self[directory].table[name, .written] = number
        record(.addName(name, number), of: directory, sequence: nextSequence())
        return number
    }

    /// Removes a name that is not a directory's.
    mutating func unlink(_ name: FileName, in directory: InodeNumber) throws(DiskFailure) {
        guard let number = child(name, of: directory) else { throw DiskFailure(.notFound) }
        guard self[number].kind != .directory else { throw DiskFailure(.isDirectory) }
        try checkMayChange(directory)
        drop(name, number, from: directory)
    }

    /// Removes a name whatever it stands for; a directory with all that is in it, the deepest first.
    mutating func removeTree(_ name: FileName, in directory: InodeNumber) throws(DiskFailure) {
        guard let number = child(name, of: directory) else { throw DiskFailure(.notFound) }
        guard !isMountRoot(number) else { throw DiskFailure(.other(16)) }  // EBUSY
        try checkMayChange(directory)
        for inner in self[number].table.names(in: .written).sorted() { try removeTree(inner, in: number) }
        drop(name, number, from: directory)
    }

    private mutating func drop(_ name: FileName, _ number: InodeNumber, from directory: InodeNumber) {
        self[directory].table[name, .written] = nil
        places[number.place].nameCount -= 1
        record(.removeName(name, number), of: directory, sequence: nextSequence())
        releaseIfUnused(number)
    }

    /// Renames without replacing. The checks stand in the order in which Linux makes them.
    mutating func publish(
        _ name: FileName, in source: InodeNumber, as newName: FileName, in target: InodeNumber
    ) throws(DiskFailure) {
        guard self[source].mount == self[target].mount else { throw DiskFailure(.crossDevice) }
        guard let number = child(name, of: source) else { throw DiskFailure(.notFound) }
        guard child(newName, of: target) == nil else { throw DiskFailure(.exists) }
        guard places[target.place].nameCount > 0 else { throw DiskFailure(.notFound) }
        try checkMayChange(source)
        try checkMayChange(target)
        guard !isMountRoot(number) else { throw DiskFailure(.other(16)) }  // EBUSY
        guard !lies(target, in: number) else { throw DiskFailure(.other(22)) }  // EINVAL

        self[source].table[name, .written] = nil
        self[target].table[newName, .written] = number
        let sequence = nextSequence()
        if source == target {
            record(.rename(name, to: newName, number), of: source, sequence: sequence)
        } else {
            record(.removeName(name, number), of: source, sequence: sequence, counterpart: target)
            record(.addName(newName, number), of: target, sequence: sequence, counterpart: source)
        }
    }

    private func lies(_ directory: InodeNumber, in tree: InodeNumber) -> Bool {
        guard self[tree].kind == .directory else { return false }
        return directory == tree || self[tree].names.values.contains { lies(directory, in: $0) }
    }

    func read(_ number: InodeNumber, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        self[number].written.withUnsafeBytes { content in
            guard offset < UInt64(content.count) else { return 0 }
            let start = Int(offset)
            let count = min(buffer.count, content.count - start)
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: content[start..<start + count]))
            return count
        }
    }

    /// Writes what fits, and says how many bytes that were; `noSpace` when none did.
    mutating func write(
        _ number: InodeNumber, at offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws(DiskFailure) -> Int {
        guard !bytes.isEmpty else { return 0 }
        let longest = try checkedLength(offset, adding: bytes.count)
        let end = min(longest, lengthThatFits(number))
        guard end > Int(offset) else { throw DiskFailure(.noSpace) }
        let count = end - Int(offset)
        let part = [UInt8](bytes[..<count])
        setUsed(number, byteCount: max(end, self[number].written.count))
        if offset == 0, part.count >= self[number].written.count {
            self[number].written = part
        } else {
            self[number].written.put(part[...], at: Int(offset))
        }
        record(.write(offset: offset, bytes: part), of: number, sequence: nextSequence())
        return count
    }

    mutating func truncate(_ number: InodeNumber, to byteCount: UInt64) throws(DiskFailure) {
        let length = try checkedLength(byteCount, adding: 0)
        guard length <= max(self[number].written.count, lengthThatFits(number)) else { throw DiskFailure(.noSpace) }
        guard length != self[number].written.count else { return }
        setUsed(number, byteCount: length)
        self[number].written.setLength(length)
        record(.truncate(byteCount: byteCount), of: number, sequence: nextSequence())
    }

    /// 4 GiB is more than a test wants to hold in memory, and a limit that a real disk may have too.
    private func checkedLength(_ offset: UInt64, adding count: Int) throws(DiskFailure) -> Int {
        let (end, overflow) = offset.addingReportingOverflow(UInt64(count))
        guard !overflow, end <= 1 << 32 else { throw DiskFailure(.fileTooLarge) }
        return Int(end)
    }

    /// How long this file may become: the blocks that it has, and those that are free.
    private func lengthThatFits(_ number: InodeNumber) -> Int {
        let device = devices[mounts[self[number].mount].device]
        let own = DiskImage.blockCount(self[number].written.count)
        return Int(clamping: (own + device.freeBlockCount) * DiskImage.blockByteCount)
    }

    mutating func setUsed(_ number: InodeNumber, byteCount: Int) {
        let device = mounts[self[number].mount].device
        devices[device].usedBlockCount -= DiskImage.blockCount(self[number].written.count)
        devices[device].usedBlockCount += DiskImage.blockCount(byteCount)
    }

    /// Every path of a view, in the byte order of the names on each level.
    func paths(in view: DiskView) -> [String] {
        var found: [String] = []
        func visit(_ directory: InodeNumber, _ prefix: String) {
            for name in self[directory].table.names(in: view).sorted() {
                guard let number = child(name, of: directory, in: view) else { continue }
                let path = "\(prefix)/\(name)"
                found.append(path)
                if self[number].kind == .directory { visit(number, path) }
            }
        }
        visit(DiskImage.root, "")
        return found
    }
}
