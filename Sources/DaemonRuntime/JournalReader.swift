// A home's journal read back, for whoever judges what the daemons of that home did.
//
// | what lies there | answer |
// |---|---|
// | no journal | nothing happened that anybody wrote down: no entries, whole |
// | half a line at the end | a kill, or a write that goes on right now: left out, still whole |
// | half a line, then the note `torn` | the start after a kill found it: left out, still whole |
// | any other line that is none of ours | left out, not whole |
// | the note `lost` | the journal could not write for a while: not whole |
// | the oldest file says that it is not the first part, or a part is missing between | not whole |
//
// What a kill took before it was flushed leaves no trace and is no damage: see `JournalFile`.

package import Spooling
import WireContract

/// One line of a journal.
package struct JournalEntry: Hashable, Sendable {
    /// By the clock of this machine, which both daemons share (`CLOCK_BOOTTIME`).
    package var moment: Moment
    package var side: Side
    package var event: PairEvent

    package init(moment: Moment, side: Side, event: PairEvent) {
        self.moment = moment
        self.side = side
        self.event = event
    }
}

package enum JournalReader {
    /// The longest line that is looked at; the pair's own are below 8 KiB.
    package static let mostLineByteCount = 64 * 1_024
    /// Twice what a file may grow to.
    private static let mostFileByteCount = 2 * UInt64(JournalFile.standardByteLimit)
    private static let mostTries = 8

    /// All entries of a home's journal, oldest first, and whether that is everything that was written. Throws when a file
    /// of the journal is there and cannot be read.
    package static func entries(
        home: String
    ) throws(FileSystemError) -> (entries: [JournalEntry], isWhole: Bool) {
        let disk = DiskFileSystem()
        let directory: OpenDirectory
        do throws(FileSystemError) {
            let root = try disk.openRoot(home, create: false)
            directory = try disk.openOurDirectory("journal", in: root, create: false)
        } catch {
            if error.reason == .notFound { return ([], true) }
            throw error
        }
        // A daemon that runs may put its file aside between the two openings, and both would be the same file.
        for _ in 1..<mostTries {
            let new = try open(JournalFile.name, in: directory, of: disk)
            let old = try open(JournalFile.oldName, in: directory, of: disk)
            if let new, let old, try disk.status(of: new.value.file).inode == disk.status(of: old.value.file).inode {
                continue
            }
            var reading = Reading()
            try reading.take(old, of: disk)
            try reading.take(new, of: disk)
            return (reading.entries, reading.isWhole)
        }
        throw FileSystemError(.read, directory.displayPath, .interrupted)
    }

    /// Keeps a file that may not be there.
    private final class Box {
        let value: OwnFile
        init(_ value: consuming OwnFile) { self.value = value }
    }

    private static func open(
        _ name: FileName, in directory: borrowing OpenDirectory, of disk: DiskFileSystem
    ) throws(FileSystemError) -> Box? {
        do throws(FileSystemError) {
            return Box(try disk.openOurs(name, in: directory))
        } catch {
            if error.reason == .notFound { return nil }
            throw error
        }
    }

    private struct Reading {
        var entries: [JournalEntry] = []
        var isWhole = true
        private var nextPart: UInt64 = 0
        /// The last line was none; forgiven when the note `torn` follows, or nothing.
        private var isTorn = false

        mutating func take(_ box: Box?, of disk: DiskFileSystem) throws(FileSystemError) {
            guard let box else { return }
            if box.value.byteCount > JournalReader.mostFileByteCount { isWhole = false }
            let byteCount = Int(min(box.value.byteCount, JournalReader.mostFileByteCount))
            let bytes = try disk.readAll(box.value.file, at: 0, byteCount: byteCount)
            let lines = bytes.split(separator: UInt8(ascii: "\n"))
            // The first part says nothing; each later one begins with its number.
            let part = lines.first.flatMap { JournalFile.partNumber(ofLine: $0) } ?? 0
            if part != nextPart { isWhole = false }
            nextPart = part + 1
            for (index, line) in lines.enumerated() { take(line, isFirst: index == 0) }
        }

        private mutating func take(_ line: ArraySlice<UInt8>, isFirst: Bool) {
            let wasTorn = isTorn
            isTorn = false
            guard line.count <= JournalReader.mostLineByteCount, let members = JSONLine(line) else {
                if wasTorn { isWhole = false }
                isTorn = true
                return
            }
            if let note = members.string("journal") {
                switch JournalFile.Note(rawValue: note) {
                case .torn: return
                // Half a line at the end of the file before: what a write lost would be told by `lost`.
                case .part where isFirst: return
                case .part, .lost, nil: isWhole = false
                }
            } else if let entry = JournalEntry(members) {
                entries.append(entry)
            } else {
                isWhole = false
            }
            if wasTorn { isWhole = false }
        }
    }
}

extension JournalEntry {
    /// The members that `DaemonHistory` writes; anything else is none of ours.
    private static let keys = [
        "wallMs", "monotonicNs", "side", "event", "phase", "id", "name", "byteCount", "checksums", "pairing", "attempt",
        "detail",
    ]

    /// `nil` when a member is missing, of another type, or unknown.
    fileprivate init?(_ members: JSONLine) {
        /// `nil` for a member that is there and cannot be read, `.some(nil)` for one that is not there.
        func optional<Value>(_ key: String, _ read: (String) -> Value?) -> Value?? {
            guard members[key] != nil else { return .some(nil) }
            guard let value = read(key) else { return nil }
            return .some(value)
        }
        guard members.keys.allSatisfy(Self.keys.contains),
            let nanoseconds = members.unsigned("monotonicNs"), case .integer = members["wallMs"],
            let side = members.string("side").flatMap(Side.init(rawValue:)),
            let kind = members.string("event").flatMap(PairEvent.Kind.init(rawValue:)),
            let phase = members.string("phase").flatMap(PairEvent.Phase.init(rawValue:)),
            let id = optional("id", { members.string($0).flatMap { ULID($0) } }),
            let name = optional("name", { members.string($0).flatMap { FileName(described: $0) } }),
            let byteCount = optional("byteCount", members.unsigned),
            let checksums = optional("checksums", { members.string($0).flatMap { Checksums(hex: $0) } }),
            let pairing = optional("pairing", { members.string($0).flatMap { PairingID(utf8: $0.utf8) } }),
            let attempt = optional("attempt", { members.unsigned($0).flatMap(Int.init(exactly:)) }),
            let detail = optional("detail", members.string)
        else { return nil }
        self.init(
            moment: Moment(nanoseconds: nanoseconds), side: side,
            event: PairEvent(
                kind, phase: phase, id: id, name: name, byteCount: byteCount, checksums: checksums, pairing: pairing,
                attempt: attempt, detail: detail))
    }
}

extension Checksums {
    /// Sixteen lower-case hexadecimal digits: CRC-32, then Adler-32.
    init?(hex: String) {
        let digits = Array(hex.utf8)
        guard digits.count == 16, let crc32 = UInt32(lowerHex: digits[..<8]),
            let adler32 = UInt32(lowerHex: digits[8...])
        else { return nil }
        self.init(crc32: crc32, adler32: adler32)
    }
}

extension FileName {
    /// The name of which `description` shows this.
    init?(described text: String) {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "\\"): bytes.append(byte)
            case UInt8(ascii: "x"):
                let digits = rest.prefix(2)
                rest = rest.dropFirst(2)
                guard digits.count == 2, let value = UInt8(lowerHex: digits) else { return nil }
                bytes.append(value)
            case _: return nil
            }
        }
        self.init(bytes: bytes)
        guard description == text else { return nil }
    }
}
