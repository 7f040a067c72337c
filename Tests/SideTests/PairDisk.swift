import Simulation
import Spooling
import WireContract

// What somebody else does to the pair's folders. All of it is durable at once: it was done long ago when a side sees it.

extension PairWorld {
    /// A directory with all that is in it, as it is now.
    struct FolderCopy {
        fileprivate let files: [(path: String, kind: FileKind, bytes: [UInt8])]
    }

    func copy(of folder: String) -> FolderCopy {
        FolderCopy(
            files: disk.paths().filter { $0.hasPrefix(folder + "/") }.map { path in
                (
                    String(path.dropFirst(folder.count)), disk.status(path)?.kind ?? .other,
                    disk.content(path) ?? []
                )
            })
    }

    /// Puts a copy in the place of what is at `folder`; other inodes, the same names and bytes.
    func put(_ copy: FolderCopy, at folder: String) throws {
        try disk.plant(folder, kind: .directory, permissions: 0o700)
        for (path, kind, bytes) in copy.files {
            try disk.plant(
                folder + path, kind: kind, bytes: kind == .regular ? bytes : [],
                permissions: kind == .directory ? 0o700 : 0o600)
        }
    }

    func wipe(_ folder: String) throws {
        try disk.remove(folder)
        try disk.plant(folder, kind: .directory, permissions: 0o700)
    }

    /// Renames a folder as another program would, with its inodes.
    func move(_ folder: String, to newPath: String) throws { try disk.move(folder, to: newPath) }

    func removeAcks() throws {
        for ack in acks { try disk.remove(ack) }
    }

    func removeEntries() throws {
        for entry in entries { try disk.remove(entry) }
    }

    /// Each ack once more, under a name that comes behind.
    func doubleAcks() throws {
        for (index, path) in acks.enumerated() {
            guard let entry = FileName(PairPath.last(path)).flatMap({ EntryName($0) }), entry.counter < 9_000_000_000
            else { continue }
            let second = EntryName(
                kind: .ack, start: entry.start, counter: 9_000_000_000 + entry.counter * 100 + UInt64(index),
                nonce: entry.nonce, id: entry.id, attempt: entry.attempt)
            try disk.plant(PairPath.toWatch + second.description, bytes: disk.content(path) ?? [])
        }
    }

    enum Alteration: CaseIterable {
        case emptied, cut, oneBit, longer, zeros, swappedSeal
    }

    func alterEntries(_ alteration: Alteration) throws {
        for path in entries {
            guard var bytes = disk.content(path), !bytes.isEmpty else { continue }
            switch alteration {
            case .emptied: bytes = []
            case .cut: bytes.removeLast(bytes.count / 5 + 1)
            case .oneBit: bytes[Int(random.next() % UInt64(bytes.count))] ^= 4
            case .longer: bytes.insert(7, at: 0)
            case .zeros: bytes = [UInt8](repeating: 0, count: bytes.count)
            case .swappedSeal: bytes = [1, 2, 3] + bytes.suffix(Seal.byteCount)
            }
            try disk.plant(path, bytes: bytes)
        }
    }
}
