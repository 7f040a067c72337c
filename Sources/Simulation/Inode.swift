package import Spooling

/// The number of a file or directory on the simulated disk. Never used twice; a larger one was made later.
package struct InodeNumber: Hashable, Comparable, Sendable {
    /// Which one it is of all that were ever made, then in 24 bits the place where the disk keeps it.
    package let rawValue: UInt64

    init(serial: UInt64, place: Int) {
        precondition(place < 1 << 24, "more than 16 million inodes on a simulated disk")
        rawValue = serial << 24 | UInt64(place)
    }

    var place: Int { Int(truncatingIfNeeded: rawValue & 0xFF_FFFF) }

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

    /// Whose name it changes; `nil` for a change of bytes.
    var child: InodeNumber? {
        switch change {
        case .addName(_, let child), .removeName(_, let child), .rename(_, _, let child): child
        case .write, .truncate: nil
        }
    }
}

/// What one file or directory holds. (Who refers to it is in `DiskImage.Place`: that changes more often.)
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
    /// A sync failed: some of what is written is neither durable nor among the unsynced changes.
    var hasAbandoned = false
    var table: NameTable
    var unsynced: [UnsyncedChange] = []

    init(kind: FileKind, permissions: UInt16, mount: Int, number: InodeNumber) {
        self.kind = kind
        self.permissions = permissions
        self.mount = mount
        table = NameTable(seed: number.rawValue)
    }

    /// Whether this process may use it so: 4 read, 2 write, 1 pass through. (No other user's process is simulated.)
    func allows(_ bits: UInt16) -> Bool {
        (permissions >> (isOurs ? 6 : 0)) & bits == bits
    }

    /// The two views of a directory's names as dictionaries, for who looks at all of them.
    var names: [FileName: InodeNumber] { dictionary(.written) }
    var durableNames: [FileName: InodeNumber] { dictionary(.durable) }

    private func dictionary(_ view: DiskView) -> [FileName: InodeNumber] {
        var names: [FileName: InodeNumber] = [:]
        table.forEach(in: view) { name, number in
            names[name] = number
            return true
        }
        return names
    }
}

/// An inode that several images share until one of them changes it.
final class InodeBox: @unchecked Sendable {
    // Changed only by the one image that holds it alone, see `DiskImage.subscript`.
    @exclusivity(unchecked) var inode: Inode

    init(_ inode: Inode) {
        self.inode = inode
    }
}

extension InodeBox: Hashable {
    static func == (left: InodeBox, right: InodeBox) -> Bool { left === right || left.inode == right.inode }
    func hash(into hasher: inout Hasher) { hasher.combine(inode) }
}

/// Which of the two views a path is looked up in.
enum DiskView { case written, durable }

extension [UInt8] {
    /// Puts `bytes` at `offset`; what lies between the end and `offset` becomes zero.
    mutating func put(_ bytes: ArraySlice<UInt8>, at offset: Int) {
        if count < offset { append(contentsOf: repeatElement(0, count: offset - count)) }
        let overlap = Swift.min(count - offset, bytes.count)
        if overlap > 0 { replaceSubrange(offset..<offset + overlap, with: bytes.prefix(overlap)) }
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
