import LinkFaults
package import Spooling
package import WireContract

// An envelope with any bytes as its dictionary (`rawMetadata`, `rawUserInfo`): what another build, or an enemy, might send.
// Both worlds make it here, so that they plant the same bytes.

/// One such envelope.
package struct RawEntry: Hashable, Sendable {
    package var kind: EnvelopeKind
    /// All of it: body, dictionary, seal.
    package var bytes: [UInt8]
    /// The canonical ULID that its dictionary names, if it names one.
    package var id: ULID?
    /// The version that its dictionary says, if that is an integer that one can have.
    package var version: Int?
    /// Under which id it lies: that of its dictionary, or a drawn one that is no recording's.
    package var nameID: ULID
    /// Of its body.
    package var checksums: Checksums
    /// Whether WatchConnectivity would carry its dictionary. What it would not belongs into the watch's `recordings/`, whose
    /// transfers then fail (7010, 7009).
    package var isCarriable: Bool
    private let index: Int

    /// The name under which it lies in the spool. Its start number is before that of any daemon, so it is first in its
    /// queue.
    package var entryName: EntryName {
        guard let start = StartNumber(rawValue: 0) else { preconditionFailure("0 is a start number") }
        return EntryName(
            kind: kind, start: start, counter: UInt64(index), nonce: UInt32(truncatingIfNeeded: index), id: nameID,
            attempt: 1)
    }

    fileprivate init(
        _ kind: EnvelopeKind, dictionary: [UInt8], isCarriable: Bool, pairing: PairingID, seed: UInt64, index: Int
    ) {
        self.kind = kind
        self.isCarriable = isCarriable
        self.index = index
        let (idKey, versionKey) = kind == .note ? ("id", "v") : ("ackID", "ackV")
        if case .dictionary(let read) = try? BinaryPropertyList.decode(dictionary) {
            if case .string(let text) = read[idKey] { id = ULID(text) }
            if case .integer(let number) = read[versionKey] { version = Int(exactly: number) }
        }
        // Ordinal 0: no rule of a link's plan for a certain recording means it.
        let drawSeed = seed &+ UInt64(truncatingIfNeeded: index) &* 0x9E37_79B9_7F4A_7C15
        nameID = id ?? ULID(millisecondsSince1970: 1_577_836_800_000, ordinal: 0, seed: drawSeed)
        let body = kind == .note ? ScenarioAudio.bytes(seed: drawSeed, ordinal: 0, byteCount: 1_024) : []
        checksums = Checksums(of: body)
        let seal = Seal(
            kind: kind, bodyByteCount: UInt64(body.count), bodyChecksums: checksums, dictionary: dictionary,
            pairing: kind == .note ? PairingID(rawValue: 0) : pairing,
            fileExtension: kind == .note ? FileExtension(ScenarioAudio.fileExtension) ?? .none : .none)
        bytes = body + dictionary + seal.bytes
    }
}

/// The envelope that a step plants, the `index`-th of its scenario (from 1). `pairing` is what an ack is sealed for.
package func rawEnvelope(
    _ raw: RawBytes, kind: EnvelopeKind, pairing: PairingID, seed: UInt64, index: Int
) -> RawEntry {
    let dictionary = raw.dictionaryBytes
    let isCarriable = raw != .unsupported && dictionary.count <= TransferLimit.dictionaryByteCount
    return RawEntry(
        kind, dictionary: dictionary, isCarriable: isCarriable, pairing: pairing, seed: seed, index: index)
}

extension RawBytes {
    /// What stands where a dictionary should stand.
    fileprivate var dictionaryBytes: [UInt8] {
        switch self {
        case .hex(let bytes): return bytes
        case .text(let text): return Array(text.utf8)
        case .dictionary(let dictionary):
            guard let bytes = try? BinaryPropertyList.encode(.dictionary(dictionary), limits: Self.limits) else {
                preconditionFailure("a dictionary of a scenario file has few values: \(dictionary.count)")
            }
            return bytes
        case .sized(let byteCount): return Self.sized(byteCount)
        case .unsupported: return Self.withUUID
        }
    }

    /// A writer that does not know the limits of the spool.
    private static let limits = BinaryPropertyList.Limits(
        byteCount: .max, depth: .max, objectCount: .max, valueCount: .max, contentByteCount: .max)

    private static func filled(_ keyByteCount: Int, _ dataByteCount: Int) -> [UInt8] {
        var dictionary = PropertyListDictionary()
        dictionary[String(repeating: "f", count: keyByteCount)] = .data([UInt8](repeating: 0x66, count: dataByteCount))
        guard let bytes = try? BinaryPropertyList.encode(.dictionary(dictionary), limits: limits) else {
            preconditionFailure("one key and its data can be written: \(dataByteCount) bytes")
        }
        return bytes
    }

    /// A dictionary of exactly so many bytes; fewer than any dictionary has is the beginning of one.
    ///
    /// A length takes one byte more from 15, 256 and 65,536 on, so not every size can be had with every key.
    private static func sized(_ byteCount: Int) -> [UInt8] {
        for keyByteCount in 1...8 {
            var dataByteCount = max(0, byteCount - filled(keyByteCount, 0).count)
            for _ in 0..<4 {
                let bytes = filled(keyByteCount, dataByteCount)
                if bytes.count == byteCount { return bytes }
                dataByteCount = max(0, dataByteCount + byteCount - bytes.count)
            }
        }
        return Array(filled(1, 0).prefix(byteCount))
    }

    /// `{ "id": <UUID> }`: the type exists in CoreFoundation's binary format (marker 0x0E) and in no property list.
    private static let withUUID: [UInt8] = {
        var bytes = Array("bplist00".utf8)
        let offsets = [8, 11, 14].map { UInt8($0) }
        bytes += [0xD1, 1, 2, 0x52, 0x69, 0x64, 0x0E] + [UInt8](repeating: 0xA5, count: 16)
        let table = UInt64(bytes.count)
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
        bytes.appendBigEndian(UInt64(3))
        bytes.appendBigEndian(UInt64(0))
        bytes.appendBigEndian(table)
        return bytes
    }()
}
