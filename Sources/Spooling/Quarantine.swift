package import WireContract

// The quarantine: bytes that cannot be used, moved out of the way with the reason in their name.
//
// The name is the record, so that bytes and reason cannot come apart: `<start>-<counter>.<reason>.<subject>.bytes`, with
// ten digits each, one word, and an id, an entry's name or whatever of a strange name is printable. When the caps are
// reached the oldest bytes go first and the reason stays, as an empty file ending in `.gone`; the oldest reasons go when
// there are too many of them. What is in here was never acked, so the watch still has the recording: nothing here is the
// only copy of anything.

/// A reason in one word, as it stands in the names of a quarantine.
package struct QuarantineReason: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ fault: EnvelopeFault) { description = fault.word }
    private init(_ word: String) { description = word }

    /// A verified delivery with a known id and other bytes.
    package static let idReused = QuarantineReason("idReused")
    /// A plain file of ours in the spool whose name no build of ours gives.
    package static let strangeName = QuarantineReason("strangeName")
    /// An ack of another pairing.
    package static let otherPairing = QuarantineReason("otherPairing")
    /// An ack that this build does not understand.
    package static let unknownAck = QuarantineReason("unknownAck")
    /// What the container held under a note's name was not what was ingested.
    package static let containerAltered = QuarantineReason("containerAltered")

    fileprivate init?(readBack bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty, bytes.allSatisfy(\.isASCIILetterOrDigit) else { return nil }
        description = String(decoding: bytes, as: UTF8.self)
    }
}

/// One thing that was set aside.
package struct QuarantineItem: Hashable, Comparable, Sendable {
    package let start: StartNumber
    package let counter: UInt64
    package let reason: QuarantineReason
    package let subject: String
    package let holdsBytes: Bool

    package var number: String { "\(start.rawValue.decimal(digits: 10))-\(counter.decimal(digits: 10))" }

    package var fileName: FileName {
        guard let name = FileName("\(number).\(reason).\(subject).\(holdsBytes ? "bytes" : "gone")") else {
            preconditionFailure("a quarantine name is short and printable: \(subject)")
        }
        return name
    }

    fileprivate init(start: StartNumber, counter: UInt64, reason: QuarantineReason, subject: String, holdsBytes: Bool) {
        self.start = start
        self.counter = counter
        self.reason = reason
        self.subject = subject
        self.holdsBytes = holdsBytes
    }

    package init?(_ name: FileName) {
        let fields = name.bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard fields.count == 4, fields[0].count == 21, name.bytes[10] == UInt8(ascii: "-"),
            let startValue = UInt64(decimal: fields[0].prefix(10)), let start = StartNumber(rawValue: startValue),
            let counter = UInt64(decimal: fields[0].suffix(10)), let reason = QuarantineReason(readBack: fields[1]),
            (1...QuarantineItem.longestSubject).contains(fields[2].count),
            fields[2].allSatisfy(QuarantineItem.isOfSubject)
        else { return nil }
        let ending = String(decoding: fields[3], as: UTF8.self)
        guard ending == "bytes" || ending == "gone" else { return nil }
        self.init(
            start: start, counter: counter, reason: reason, subject: String(decoding: fields[2], as: UTF8.self),
            holdsBytes: ending == "bytes")
    }

    fileprivate var emptied: QuarantineItem {
        QuarantineItem(start: start, counter: counter, reason: reason, subject: subject, holdsBytes: false)
    }

    /// Oldest first; of one number, what still has its bytes.
    package static func < (left: QuarantineItem, right: QuarantineItem) -> Bool {
        left.fileName < right.fileName
    }

    private static let longestSubject = 64

    private static func isOfSubject(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// At most 64 of the printable characters of whatever named the bytes before.
    fileprivate static func subject(of name: FileName) -> String {
        let kept = name.bytes.prefix(longestSubject).map { isOfSubject($0) ? $0 : UInt8(ascii: "_") }
        return String(decoding: kept, as: UTF8.self)
    }
}

/// The caps of a quarantine.
package struct QuarantineCaps: Hashable, Sendable {
    package var byteCount: UInt64
    package var itemCount: Int

    package static let standard = QuarantineCaps(byteCount: 256 * 1_024 * 1_024, itemCount: 1_000)

    package init(byteCount: UInt64, itemCount: Int) {
        self.byteCount = byteCount
        self.itemCount = itemCount
    }
}

/// The quarantine directory of one home, of which this process is the holder.
package final class Quarantine {
    package let directory: OpenDirectory
    private let fileSystem: any FileSystem
    private let start: StartNumber
    private let caps: QuarantineCaps
    private var counter: UInt64 = 0
    /// What it holds, oldest first, each with the bytes that it still has. Bounded by the caps.
    private var items: [(item: QuarantineItem, byteCount: UInt64)] = []
    private var heldByteCount: UInt64 = 0

    package init(
        directory: consuming OpenDirectory, fileSystem: any FileSystem, start: StartNumber, caps: QuarantineCaps
    ) throws(FileSystemError) {
        self.directory = directory
        self.fileSystem = fileSystem
        self.start = start
        self.caps = caps
        for item in try Self.list(in: self.directory, of: fileSystem) {
            // The bytes of the same number come right before: a crash between the two steps of `keepWithinCaps`.
            if !item.holdsBytes, let last = items.last, last.item.emptied == item { try drop(last.item) }
            let status = try fileSystem.status(of: item.fileName, in: self.directory)
            // A directory or a link of that name is not ours: not counted, not touched.
            guard status.kind == .regular else { continue }
            items.append((item, status.byteCount))
            heldByteCount += status.byteCount
        }
        try keepWithinCaps()
    }

    /// Everything that was set aside, oldest first.
    package static func list(
        in directory: borrowing OpenDirectory, of fileSystem: any FileSystem
    ) throws(FileSystemError) -> [QuarantineItem] {
        try fileSystem.sortedNames(in: directory).compactMap(QuarantineItem.init).sorted()
    }

    /// Moves a file of ours in here. From another file system only the reason comes: the bytes are not the only copy
    /// of anything, and the file is unlinked where it was. `subject` is an id, where one is known.
    package func take(
        _ name: FileName, from source: borrowing OpenDirectory, reason: QuarantineReason, subject: ULID?
    ) throws(FileSystemError) {
        counter += 1
        let item = QuarantineItem(
            start: start, counter: counter, reason: reason,
            subject: subject?.description ?? QuarantineItem.subject(of: name), holdsBytes: true)
        do {
            try fileSystem.publish(name, in: source, as: item.fileName, in: directory)
            // It is in here. That its length cannot be asked for, or that the caps cannot be kept now, must not look as
            // if it were not: the next start counts anew.
            let byteCount = (try? fileSystem.status(of: item.fileName, in: directory).byteCount) ?? 0
            items.append((item, byteCount))
            heldByteCount += byteCount
        } catch  where error.reason == .crossDevice {
            _ = try fileSystem.create(item.emptied.fileName, in: directory)
            try fileSystem.unlinkIfThere(name, in: source)
            items.append((item.emptied, 0))
        }
        _ = try? keepWithinCaps()
    }

    /// Moves an item's bytes to `target`, or answers `false` when they are gone.
    package func release(
        _ item: QuarantineItem, to target: borrowing OpenDirectory, as name: FileName
    ) throws(FileSystemError) -> Bool {
        guard item.holdsBytes else { return false }
        try fileSystem.publish(item.fileName, in: directory, as: name, in: target)
        forget(item)
        return true
    }

    /// Unlinks an item, bytes and reason.
    package func drop(_ item: QuarantineItem) throws(FileSystemError) {
        try fileSystem.unlinkIfThere(item.fileName, in: directory)
        forget(item)
    }

    private func forget(_ item: QuarantineItem) {
        guard let index = items.firstIndex(where: { $0.item == item }) else { return }
        heldByteCount -= items[index].byteCount
        items.remove(at: index)
    }

    /// Oldest bytes first, then oldest reasons. The newest item is kept whatever its size, so that `retry` has it.
    private func keepWithinCaps() throws(FileSystemError) {
        var index = 0
        while heldByteCount > caps.byteCount, index < items.count - 1 {
            let (item, byteCount) = items[index]
            if item.holdsBytes {
                let emptied = item.emptied
                do {
                    _ = try fileSystem.create(emptied.fileName, in: directory)
                } catch  where error.reason == .exists {
                    // A crash between this create and the unlink below; the reason is there already.
                }
                try fileSystem.unlinkIfThere(item.fileName, in: directory)
                items[index] = (emptied, 0)
                heldByteCount -= byteCount
            }
            index += 1
        }
        while items.count > caps.itemCount {
            heldByteCount -= items[0].byteCount
            try fileSystem.unlinkIfThere(items[0].item.fileName, in: directory)
            items.removeFirst()
        }
    }
}
