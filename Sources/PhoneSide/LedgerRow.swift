package import Spooling
import WireContract

// One row of the ledger, as bytes:
//
//      0  4  "WFL1"
//      4  4  length of what follows behind the checksum
//      8  4  its crc32
//     12  …  outcome (1), id (16), byteCount (8), crc32 (4), adler32 (4), extension (8), dictionary (the rest)
//
// A row is found again behind damaged ones by its mark and its checksum, so that one bad sector costs the rows in it only.

/// How far the phone is with a note.
package enum Outcome: UInt8, Hashable, Sendable {
    /// Its content is on its way into the container. Not final: nothing is acked for this.
    case ingesting = 1
    /// Final: the container holds it, or held it.
    case ingested = 2
    /// Final: the user deleted it after it was ingested.
    case deleted = 3
}

/// What a note's bytes are.
package struct NoteContent: Hashable, Sendable {
    package var byteCount: UInt64
    package var checksums: Checksums
    package var fileExtension: FileExtension
}

struct LedgerRow: Hashable, Sendable {
    var outcome: Outcome
    var id: ULID
    var content: NoteContent
    /// The dictionary exactly as it came, for `list`; 65,536 bytes at most.
    var dictionaryBytes: [UInt8]

    private static let mark: [UInt8] = Array("WFL1".utf8)
    static let headByteCount = 12
    private static let fixedByteCount = 1 + 16 + 8 + 4 + 4 + 8
    static let largestByteCount = headByteCount + fixedByteCount + TransferLimit.dictionaryByteCount

    /// Appends the row as it stands in the file.
    func append(to bytes: inout [UInt8]) {
        let start = bytes.count
        let payloadByteCount = Self.fixedByteCount + dictionaryBytes.count
        bytes += Self.mark
        bytes.appendBigEndian(UInt32(payloadByteCount))
        bytes.appendBigEndian(0 as UInt32)
        bytes.append(outcome.rawValue)
        bytes.appendBigEndian(id.high)
        bytes.appendBigEndian(id.low)
        bytes.appendBigEndian(content.byteCount)
        bytes.appendBigEndian(content.checksums.crc32)
        bytes.appendBigEndian(content.checksums.adler32)
        bytes.appendBigEndian(content.fileExtension.packed)
        bytes += dictionaryBytes
        let crc32 = Checksums.crc32(of: bytes[(start + Self.headByteCount)...])
        for place in 0..<4 { bytes[start + 8 + place] = UInt8(truncatingIfNeeded: crc32 >> UInt32(24 - 8 * place)) }
    }

    /// What begins at the start of `bytes`.
    enum Reading: Hashable {
        case row(LedgerRow, byteCount: Int)
        /// It looks like a row that goes on behind these bytes.
        case incomplete
        /// No row begins here.
        case noRow
    }

    static func read(_ bytes: ArraySlice<UInt8>) -> Reading {
        guard bytes.starts(with: mark.prefix(bytes.count)) else { return .noRow }
        guard bytes.count >= headByteCount else { return .incomplete }
        var head = BigEndianReader(bytes.dropFirst(4).prefix(8))
        let payloadByteCount = Int(head.next() as UInt32)
        let crc32: UInt32 = head.next()
        guard (fixedByteCount...largestByteCount - headByteCount).contains(payloadByteCount) else { return .noRow }
        guard bytes.count >= headByteCount + payloadByteCount else { return .incomplete }
        let payload = bytes.dropFirst(headByteCount).prefix(payloadByteCount)
        guard Checksums.crc32(of: payload) == crc32, let row = LedgerRow(payload) else { return .noRow }
        return .row(row, byteCount: headByteCount + payloadByteCount)
    }

    private init?(_ payload: ArraySlice<UInt8>) {
        var reader = BigEndianReader(payload)
        guard let outcome = Outcome(rawValue: reader.next()) else { return nil }
        self.outcome = outcome
        id = ULID(high: reader.next(), low: reader.next())
        let byteCount: UInt64 = reader.next()
        let checksums = Checksums(crc32: reader.next(), adler32: reader.next())
        guard let fileExtension = FileExtension(packed: reader.next()) else { return nil }
        content = NoteContent(byteCount: byteCount, checksums: checksums, fileExtension: fileExtension)
        dictionaryBytes = Array(payload.dropFirst(Self.fixedByteCount))
    }

    init(outcome: Outcome, id: ULID, content: NoteContent, dictionaryBytes: [UInt8]) {
        self.outcome = outcome
        self.id = id
        self.content = content
        self.dictionaryBytes = dictionaryBytes
    }
}
