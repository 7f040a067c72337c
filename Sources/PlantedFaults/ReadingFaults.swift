import Simulation
import Spooling
import WireContract

// Faults of reading: what lies there is taken for something else, because nobody looked closely.

/// A byte flips between the look at a delivery and its cut, and nobody compares again.
final class AcceptsAlteredBytes: ActingPlant {
    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        return process == .phone ? FlippingCut(inner) : inner
    }
}

private final class FlippingCut: ForwardingFileSystem {
    override func truncate(_ file: borrowing OpenFile, to byteCount: UInt64) throws(FileSystemError) {
        if file.isNoteOnItsWay, byteCount > 0 {
            let first = try readAll(file, at: 0, byteCount: 1)
            try writeAll(file, at: 0, first.map { $0 ^ 0x01 })
        }
        try inner.truncate(file, to: byteCount)
    }
}

/// A delivery of the right length is taken for what was sent: nobody adds up its bytes. So to the phone every seal fits the
/// bytes before it.
final class LengthTrustedWithoutChecksum: ActingPlant {
    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        guard process == .phone else { return inner }
        return OtherwiseReading(inner) { path, bytes in
            guard ["/to-phone/", "/inbox/", "/staging/"].contains(where: { path.contains($0) }) else { return nil }
            return resealed(bytes) { seal, _ in
                seal.bodyChecksums = Checksums(of: bytes.prefix(Int(seal.bodyByteCount)))
            }
        }
    }
}

private func fill(_ buffer: UnsafeMutableRawBufferPointer, with bytes: [UInt8], from offset: UInt64) -> Int {
    let slice = bytes.dropFirst(Int(clamping: offset)).prefix(buffer.count)
    buffer.copyBytes(from: slice)
    return slice.count
}

/// Reads certain small files as if something else stood in them, because a check is left out.
private final class OtherwiseReading: ForwardingFileSystem {
    private let rewrite: (String, [UInt8]) -> [UInt8]?

    /// `rewrite` answers what is seen instead, of the same length; `nil` for what lies there.
    init(_ inner: any FileSystem, _ rewrite: @escaping (String, [UInt8]) -> [UInt8]?) {
        self.rewrite = rewrite
        super.init(inner)
    }

    override func read(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int {
        let path = file.displayPath
        guard path.hasSuffix(".note") || path.hasSuffix(".ack") || path.hasSuffix(".ledger") else {
            return try inner.read(file, at: offset, into: buffer)
        }
        let all = try inner.readAll(file, at: 0, byteCount: Int(clamping: try inner.status(of: file).byteCount))
        guard let seen = rewrite(path, all) else { return try inner.read(file, at: offset, into: buffer) }
        return fill(buffer, with: seen, from: offset)
    }
}

/// The forward gate is left out: a dictionary of a later version is read as one of this build's.
final class VersionIgnored: ActingPlant {
    private let planted: PlantedProcess

    /// The watch reads acks, the phone payloads.
    init(by process: PlantedProcess) { planted = process }

    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        guard process == planted else { return inner }
        let (folders, key) =
            process == .watch ? (["/to-watch/"], "ackV") : (["/to-phone/", "/inbox/", "/staging/"], "v")
        return OtherwiseReading(inner) { path, bytes in
            guard folders.contains(where: { path.contains($0) }) else { return nil }
            return resealed(bytes) { _, dictionary in
                if case .integer(let version) = dictionary[key], version > 1 { dictionary[key] = .integer(1) }
            }
        }
    }
}

/// The watch does not look which phone an ack is from.
final class AckOfAnotherPairingDeletes: ActingPlant {
    /// Of acks that were read, by entry: whose they are.
    private var pairings: [FileName: PairingID] = [:]

    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        guard process == .watch else { return inner }
        return OtherwiseReading(inner) { [unowned self] path, bytes in
            guard let range = path.firstRange(of: "/to-watch/"), let name = FileName(String(path[range.upperBound...]))
            else { return nil }
            return resealed(bytes) { seal, _ in
                pairings[name] = seal.pairing
                seal.pairing = Self.pairing(ofSpool: String(path[..<range.lowerBound]), inner) ?? seal.pairing
            }
        }
    }

    private static func pairing(ofSpool path: String, _ disk: any FileSystem) -> PairingID? {
        do throws(FileSystemError) {
            let pairings = try disk.folder(["pairing"], of: path)
            return try NameRegister(in: pairings, of: disk).flatMap { PairingID(utf8: $0.value.utf8) }
        } catch {
            return nil
        }
    }

    /// It says whose ack it took in, and does not compare.
    override func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] {
        guard process == .watch, event.kind == .ackReceived, let name = event.name, let pairing = pairings[name] else {
            return [event]
        }
        var told = event
        told.pairing = pairing
        return [told]
    }
}

/// A start of the phone does not carry the rows of deleted notes over into the new generation.
final class LedgerRowLost: ActingPlant {
    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        guard process == .phone else { return inner }
        return OtherwiseReading(inner) { path, bytes in
            path.contains("/ledger/") ? Self.withoutDeleted(bytes) : nil
        }
    }

    /// Rows begin with "WFL1", the length of what follows the twelve bytes of the head, and a checksum; then comes the
    /// outcome, 3 for a note that the user deleted.
    private static func withoutDeleted(_ bytes: [UInt8]) -> [UInt8] {
        var seen = bytes
        var position = 0
        while position + 12 < bytes.count {
            var head = BigEndianReader(bytes[(position + 4)...].prefix(4))
            let length: UInt32 = head.next()
            if bytes[position + 12] == 3 { seen[position] = 0 }
            position += 12 + Int(length)
        }
        return seen
    }

    /// To this start they are no rows: it does not call them unreadable.
    override func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] {
        var told = event
        if process == .phone, event.kind == .started { told.detail = nil }
        return [told]
    }
}

/// A start of the phone does not read the vetoes.
final class VetoForgottenAtRestart: ActingPlant {
    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        return process == .phone ? NameHiding(inner) { folder, _ in folder.hasSuffix("/vetoes") } : inner
    }
}

/// Some names of a directory are passed over.
final class NameHiding: ForwardingFileSystem {
    private let hides: (String, FileName) -> Bool

    init(_ inner: any FileSystem, _ hides: @escaping (String, FileName) -> Bool) {
        self.hides = hides
        super.init(inner)
    }

    override func forEachName(
        in directory: borrowing OpenDirectory, _ body: (FileName) -> Bool
    ) throws(FileSystemError) {
        let folder = directory.displayPath
        try inner.forEachName(in: directory) { hides(folder, $0) || body($0) }
    }
}

/// The same envelope with something else in it, sealed anew. `nil` for what is no envelope, or would become longer or shorter.
private func resealed(
    _ bytes: [UInt8], _ change: (inout Seal, inout PropertyListDictionary) -> Void
) -> [UInt8]? {
    guard bytes.count >= Seal.byteCount,
        var seal = try? Seal(bytes.suffix(Seal.byteCount), fileByteCount: UInt64(bytes.count)),
        case .dictionary(var dictionary) = try? BinaryPropertyList.decode(
            bytes.dropLast(Seal.byteCount).suffix(Int(seal.dictionaryByteCount)))
    else { return nil }
    change(&seal, &dictionary)
    guard let changed = try? TransferLimit.encode(dictionary), changed.count == Int(seal.dictionaryByteCount) else {
        return nil
    }
    seal.dictionaryChecksums = Checksums(of: changed)
    return bytes.prefix(Int(seal.bodyByteCount)) + changed + seal.bytes
}
