import Spooling

// What a reader of the disk sees, as a number: the tree of names, what lies under each, and which names are one file.
// Not inode numbers, not what is unsynced. Two disks with the same number are the same to a daemon that starts on them,
// apart from the order of its listings, which no decision may depend on. (64 bits: among a million disks one pair
// collides with a chance of one in forty million, and would cost that one disk its check.)

enum ReaderDigest {
    static func mixed(_ value: UInt64) -> UInt64 {
        let product = (value ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }

    static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var hash = mixed(seed ^ UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            hash = mixed(hash ^ UInt64(littleEndian: word)) &+ 0x2545_F491_4F6C_DD1D
            offset += 8
        }
        var rest: UInt64 = 1
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return mixed(hash ^ rest)
    }

    static func content(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { hash($0, seed: 1) }
    }

    /// A place in the tree: a name in a directory that has `directory` as its own.
    static func place(_ name: FileName, in directory: UInt64) -> UInt64 {
        name.bytes.withUnsafeBytes { hash($0, seed: directory) }
    }

    /// What one name adds. `places` is the sum of all places of the same file, of which there are `count`.
    static func part(place: UInt64, content: UInt64, count: Int32, places: UInt64) -> UInt64 {
        let shared = count > 1 ? mixed(places &+ UInt64(UInt32(bitPattern: count))) : 0
        return mixed(place ^ mixed(content) ^ shared)
    }

    /// What a directory, or anything that a test planted, has instead of a content.
    static func marker(_ inode: Inode) -> UInt64 {
        let kind: UInt64 =
            switch inode.kind {
            case .regular: 0
            case .directory: 2
            case .symbolicLink: 3
            case .fifo: 4
            case .device: 5
            case .socket: 6
            case .other: 7
            }
        return kind << 32 | UInt64(inode.permissions) << 1 | (inode.isOurs ? 1 : 0)
    }
}

extension DiskImage {
    /// One name of a view, with its place in the tree.
    struct Leaf {
        let place: UInt64
        let directory: InodeNumber
        let name: FileName
        let inode: InodeNumber
    }

    /// Every name of a view but those of directories, and the places of all directories; answers what directories add.
    func walk(_ view: DiskView, leaf: (Leaf) -> Void, directory: (InodeNumber, UInt64) -> Void) -> UInt64 {
        var sum: UInt64 = 0
        func visit(_ number: InodeNumber, _ place: UInt64) {
            directory(number, place)
            self[number].table.forEach(in: view) { name, child in
                let childPlace = ReaderDigest.place(name, in: place)
                if self[child].kind == .directory {
                    sum &+= ReaderDigest.mixed(childPlace ^ ReaderDigest.marker(self[child]))
                    visit(child, childPlace)
                } else {
                    leaf(Leaf(place: childPlace, directory: number, name: name, inode: child))
                }
                return true
            }
        }
        visit(DiskImage.root, 0)
        return sum
    }

    func contentHash(_ number: InodeNumber, _ view: DiskView) -> UInt64 {
        let inode = self[number]
        guard inode.kind == .regular else { return ReaderDigest.marker(inode) }
        let content = ReaderDigest.content(view == .written ? inode.written : inode.durable)
        return content ^ ReaderDigest.marker(inode)
    }

    /// What a reader sees now, and what he would see if the power went now and took everything unsynced: tells apart
    /// where daemons can start after a kill. (How the unsynced is made up is left out: a sync covers all of a file or
    /// directory.)
    package func crashDigest() -> UInt64 {
        ReaderDigest.mixed(readerDigest()) &+ readerDigest(.durable)
    }

    /// What a reader of a view sees.
    package func readerDigest() -> UInt64 { readerDigest(.written) }

    private func readerDigest(_ view: DiskView) -> UInt64 {
        var leaves: [Leaf] = []
        var counts = [Int32](repeating: 0, count: places.count)
        var sums = [UInt64](repeating: 0, count: places.count)
        var digest = walk(
            view,
            leaf: {
                leaves.append($0)
                counts[$0.inode.place] += 1
                sums[$0.inode.place] &+= $0.place
            }, directory: { _, _ in })
        for leaf in leaves {
            digest &+= ReaderDigest.part(
                place: leaf.place, content: contentHash(leaf.inode, view), count: counts[leaf.inode.place],
                places: sums[leaf.inode.place])
        }
        return digest
    }
}
