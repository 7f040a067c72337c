package import WireContract

// The envelope: how a note, or an ack, is one file.
//
// Two files cannot be renamed together, so everything that belongs to a note stands in one: first the audio bytes as they
// were recorded, then the dictionary as a binary property list, then a seal of fixed size that says how long both are and
// what their checksums are. It is sealed once, when it is recorded; enqueueing is a plain copy of it; the phone cuts
// dictionary and seal off when it ingests, and what is left is the original file.
// An ack is an envelope without a body; several may stand in one file, see `AckFile`.
//
//     body            bodyByteCount bytes
//     dictionary      dictionaryByteCount bytes, at most 65,536
//     seal            64 bytes, numbers big-endian:
//        0  u64  bodyByteCount
//        8  u32  dictionaryByteCount
//       12  u32  body crc32          16  u32  body adler32
//       20  u32  dictionary crc32    24  u32  dictionary adler32
//       28  u64  pairing (acks; 0 in a note, which is sealed before anybody knows it)
//       36  8    file extension of the original, ASCII, padded with NUL
//       44  4    kind, ASCII: "note" or "ack "
//       48  u32  format of the envelope, 1
//       52  u32  crc32 of bytes 0 to 51
//       56  8    "WFERRY1\n"
//
// A reader believes nothing before it has checked it, in this order: seal, lengths, dictionary, body. Everything here may
// have been cut, altered or written by an enemy.

/// What an envelope carries.
package enum EnvelopeKind: Hashable, Sendable {
    case note, ack

    /// "note" and "ack ".
    fileprivate var code: UInt32 {
        switch self {
        case .note: 0x6E6F_7465
        case .ack: 0x6163_6B20
        }
    }
}

/// The fixed end of an envelope.
package struct Seal: Hashable, Sendable {
    package var kind: EnvelopeKind
    package var bodyByteCount: UInt64
    package var bodyChecksums: Checksums
    package var dictionaryByteCount: UInt32
    package var dictionaryChecksums: Checksums
    package var pairing: PairingID
    package var fileExtension: FileExtension

    package static let byteCount = 64
    package static let format: UInt32 = 1
    package static let magic: [UInt8] = Array("WFERRY1\n".utf8)

    package init(
        kind: EnvelopeKind, bodyByteCount: UInt64, bodyChecksums: Checksums, dictionary: [UInt8],
        pairing: PairingID, fileExtension: FileExtension
    ) {
        self.kind = kind
        self.bodyByteCount = bodyByteCount
        self.bodyChecksums = bodyChecksums
        self.dictionaryByteCount = UInt32(dictionary.count)
        self.dictionaryChecksums = Checksums(of: dictionary)
        self.pairing = pairing
        self.fileExtension = fileExtension
    }

    /// The length of the whole file; `nil` when the numbers add up to more than a file can have.
    package var envelopeByteCount: UInt64? {
        let (sum, overflow) = bodyByteCount.addingReportingOverflow(
            UInt64(dictionaryByteCount) + UInt64(Seal.byteCount))
        return overflow || sum > UInt64(Int64.max) ? nil : sum
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Seal.byteCount)
        bytes.appendBigEndian(bodyByteCount)
        bytes.appendBigEndian(dictionaryByteCount)
        bytes.appendBigEndian(bodyChecksums.crc32)
        bytes.appendBigEndian(bodyChecksums.adler32)
        bytes.appendBigEndian(dictionaryChecksums.crc32)
        bytes.appendBigEndian(dictionaryChecksums.adler32)
        bytes.appendBigEndian(pairing.rawValue)
        bytes.appendBigEndian(fileExtension.packed)
        bytes.appendBigEndian(kind.code)
        bytes.appendBigEndian(Seal.format)
        bytes.appendBigEndian(Checksums.crc32(of: bytes[...]))
        bytes += Seal.magic
        return bytes
    }

    /// Reads the last bytes of a file of `fileByteCount` bytes.
    package init(_ bytes: ArraySlice<UInt8>, fileByteCount: UInt64) throws(EnvelopeFault) {
        try self.init(bytes, atMost: fileByteCount)
        guard envelopeByteCount == fileByteCount else { throw .wrongLength }
    }

    /// Reads the last bytes of an envelope that ends `byteCount` bytes behind the beginning of its file.
    init(_ bytes: ArraySlice<UInt8>, atMost byteCount: UInt64) throws(EnvelopeFault) {
        guard byteCount > 0 else { throw .empty }
        guard bytes.count == Seal.byteCount, bytes.suffix(8).elementsEqual(Seal.magic) else { throw .noSeal }
        var reader = BigEndianReader(bytes)
        bodyByteCount = reader.next()
        dictionaryByteCount = reader.next()
        bodyChecksums = Checksums(crc32: reader.next(), adler32: reader.next())
        dictionaryChecksums = Checksums(crc32: reader.next(), adler32: reader.next())
        pairing = PairingID(rawValue: reader.next())
        let extensionWord: UInt64 = reader.next()
        let code: UInt32 = reader.next()
        let format: UInt32 = reader.next()
        let crc32: UInt32 = reader.next()
        guard crc32 == Checksums.crc32(of: bytes.prefix(52)) else { throw .sealAltered }
        guard format == Seal.format else { throw .unknownFormat(format) }
        if code == EnvelopeKind.note.code {
            kind = .note
        } else if code == EnvelopeKind.ack.code {
            kind = .ack
        } else {
            throw .unknownKind
        }
        guard let fileExtension = FileExtension(packed: extensionWord) else { throw .badExtension }
        self.fileExtension = fileExtension
        guard dictionaryByteCount <= UInt32(TransferLimit.dictionaryByteCount) else { throw .dictionaryTooLarge }
        guard let envelopeByteCount, envelopeByteCount <= byteCount else { throw .wrongLength }
    }
}

/// Why a delivery cannot be verified. It is set aside, never acked, and the watch sends the recording again.
package enum EnvelopeFault: Error, Hashable, Sendable {
    case empty
    /// The last bytes are not a seal: cut on the way, or never an envelope.
    case noSeal
    case sealAltered
    case unknownFormat(UInt32)
    case unknownKind
    case badExtension
    case dictionaryTooLarge
    /// The seal tells another length than the file has.
    case wrongLength
    case dictionaryAltered
    case bodyAltered
    /// The bytes are as they were sent, but no dictionary that the bounded codec takes.
    case malformedDictionary(String)
    /// An ack where notes arrive, or a note where acks do.
    case wrongKind

    /// One word, as it stands in a quarantine name.
    package var word: String {
        switch self {
        case .empty: "empty"
        case .noSeal: "noSeal"
        case .sealAltered: "sealAltered"
        case .unknownFormat: "unknownFormat"
        case .unknownKind: "unknownKind"
        case .badExtension: "badExtension"
        case .dictionaryTooLarge: "payloadTooLarge"
        case .wrongLength: "wrongLength"
        case .dictionaryAltered: "dictionaryAltered"
        case .bodyAltered: "bodyAltered"
        case .malformedDictionary: "malformedDictionary"
        case .wrongKind: "wrongKind"
        }
    }
}

/// An envelope whose seal and dictionary were checked. Its body was not read yet.
package struct Envelope: Hashable, Sendable {
    package var seal: Seal
    package var dictionaryBytes: [UInt8]
    package var dictionary: PropertyListDictionary
}

/// What looking at a delivery gave: an error of the disk is thrown instead, because it says nothing about the bytes.
package enum Inspection: Hashable, Sendable {
    case envelope(Envelope)
    case faulty(EnvelopeFault)
}

extension FileSystem {
    /// How much of the end of a file is read at once: the seal and any dictionary of the usual size.
    private static var tailByteCount: UInt64 { 1_024 }

    /// Checks the seal and the dictionary of an open file.
    package func inspect(
        _ file: borrowing OpenFile, byteCount: UInt64, expecting kind: EnvelopeKind
    ) throws(FileSystemError) -> Inspection {
        let tailStart = byteCount - min(byteCount, Self.tailByteCount)
        let tail = try readAll(file, at: tailStart, byteCount: Int(byteCount - tailStart))
        let seal: Seal
        do throws(EnvelopeFault) {
            seal = try Seal(tail.suffix(Seal.byteCount), fileByteCount: byteCount)
        } catch {
            return .faulty(error)
        }
        guard seal.kind == kind else { return .faulty(.wrongKind) }
        let dictionaryBytes: [UInt8]
        let behindBody = Int(seal.dictionaryByteCount) + Seal.byteCount
        if behindBody <= tail.count {
            dictionaryBytes = Array(tail.suffix(behindBody).dropLast(Seal.byteCount))
        } else {
            dictionaryBytes = try readAll(file, at: seal.bodyByteCount, byteCount: Int(seal.dictionaryByteCount))
        }
        return Inspection(seal, dictionaryBytes)
    }
}

extension Inspection {
    /// `seal` was checked; the dictionary is judged by it.
    init(_ seal: Seal, _ dictionaryBytes: [UInt8]) {
        guard Checksums(of: dictionaryBytes) == seal.dictionaryChecksums else {
            self = .faulty(.dictionaryAltered)
            return
        }
        do {
            guard case .dictionary(let dictionary) = try BinaryPropertyList.decode(dictionaryBytes) else {
                self = .faulty(.malformedDictionary("not a dictionary"))
                return
            }
            self = .envelope(Envelope(seal: seal, dictionaryBytes: dictionaryBytes, dictionary: dictionary))
        } catch {
            self = .faulty(.malformedDictionary("\(error)"))
        }
    }
}

/// Reads whole numbers from a slice whose length the caller has checked.
package struct BigEndianReader {
    private let bytes: ArraySlice<UInt8>
    private var place: Int

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        place = bytes.startIndex
    }

    // One for each width, and not one generic function: another module would run that unspecialised. That was more than
    // half of a phone's start.
    package mutating func next() -> UInt64 { number(8) }
    package mutating func next() -> UInt32 { UInt32(truncatingIfNeeded: number(4)) }
    package mutating func next() -> UInt8 { UInt8(truncatingIfNeeded: number(1)) }

    private mutating func number(_ byteCount: Int) -> UInt64 {
        take(byteCount)
        var number: UInt64 = 0
        for index in place - byteCount..<place { number = number << 8 | UInt64(bytes[index]) }
        return number
    }

    package mutating func next(_ count: Int) -> ArraySlice<UInt8> {
        take(count)
        return bytes[place - count..<place]
    }

    private mutating func take(_ count: Int) {
        let left = bytes.endIndex - place
        precondition(count <= left, "the caller checks the length: \(count) of \(left)")
        place += count
    }
}

extension [UInt8] {
    @inlinable package mutating func appendBigEndian(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
