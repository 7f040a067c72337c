// Fuzzes the way of a delivery: the bytes lie in the spool as a file, seal and dictionary are checked, then the body.
//
// The same bytes are tried three times: as they are; with a seal behind them that is right for the first of them as a body
// and the rest as a dictionary, because no mutation finds a checksum; and with a seal made of the bytes themselves, checksum
// repaired, so that lying lengths, kinds and extensions get past it.

import Simulation
import Spooling
import WireContract

// One disk for the whole run. The fuzzer has one thread.
nonisolated(unsafe) private let disk = SimulatedFileSystem()
nonisolated(unsafe) private let root = must("a folder can be made") {
    DirectoryBox(try disk.openRoot("/s", create: true))
}

private final class DirectoryBox {
    let directory: OpenDirectory

    init(_ directory: consuming OpenDirectory) {
        self.directory = directory
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEnvelope(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeRawBufferPointer(start: start, count: count))
    judge(bytes)
    judge(sealed(bytes))
    judge(resealed(bytes))
    return 0
}

/// The bytes with a true seal; their first byte says how many of them are the body.
private func sealed(_ bytes: [UInt8]) -> [UInt8] {
    let bodyByteCount = bytes.first.map { min(Int($0), bytes.count - 1) } ?? 0
    let body = bytes.dropFirst().prefix(bodyByteCount)
    let dictionary = Array(bytes.dropFirst(1 + bodyByteCount))
    let seal = Seal(
        kind: bodyByteCount % 2 == 0 ? .note : .ack, bodyByteCount: UInt64(body.count),
        bodyChecksums: Checksums(of: body),
        dictionary: dictionary, pairing: PairingID(rawValue: 7), fileExtension: FileExtension("m4a") ?? .none)
    return body + dictionary + seal.bytes
}

/// The bytes with their last 52 as the fields of a seal.
private func resealed(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= 52 else { return bytes }
    var result = bytes
    result.appendBigEndian(Checksums(of: bytes.suffix(52)).crc32)
    return result + Seal.magic
}

private func judge(_ bytes: [UInt8]) {
    let folder = root  // made at its first use
    must("a delivery can be put on the disk") { try disk.plant("/s/e", bytes: bytes) }
    let byteCount = UInt64(bytes.count)
    let own = must("a plain file of ours can be opened") {
        FileBox(try disk.openOurs("e", in: folder.directory).intoFile())
    }
    var accepted = 0
    for kind in [EnvelopeKind.note, .ack] {
        let inspection = must("a disk without faults gives a verdict") {
            try disk.inspect(own.file, byteCount: byteCount, expecting: kind)
        }
        switch inspection {
        case .faulty(let fault):
            check(!fault.word.isEmpty && fault.word.utf8.allSatisfy(\.isASCIILetterOrDigit), "a fault is one word")
        case .envelope(let envelope):
            accepted += 1
            check(envelope.seal.kind == kind, "the kind is the one that was expected")
            checkAccepted(envelope, bytes, own)
        }
    }
    check(accepted <= 1, "nothing is a note and an ack")
    checkAcks(bytes)
    // A file that is cut, or has grown, between the look at its length and the reading of it.
    for wrong in [0, 1, byteCount + 1, byteCount * 2, UInt64(Int64.max)] where wrong != byteCount {
        let inspection = must("a lie about the length gives a verdict") {
            try disk.inspect(own.file, byteCount: wrong, expecting: .note)
        }
        if case .envelope(let envelope) = inspection {
            check(envelope.seal.envelopeByteCount == wrong, "it is as long as was said")
        }
    }
}

/// What a reader takes for acks is spelled back to the file, from its first byte to its last.
private func checkAcks(_ bytes: [UInt8]) {
    for file in [bytes, bytes + bytes] {
        guard case .acks(let acks) = AckFile.inspect(file, fileByteCount: UInt64(file.count)) else { continue }
        check(!acks.isEmpty, "a file of acks has one")
        check(acks.flatMap { $0.dictionaryBytes + $0.seal.bytes } == file, "nothing stands between them")
        check(acks.allSatisfy { $0.seal.kind == .ack && $0.seal.bodyByteCount == 0 }, "each is an ack without a body")
    }
}

private func checkAccepted(_ envelope: Envelope, _ bytes: [UInt8], _ own: FileBox) {
    let seal = envelope.seal
    check(seal.envelopeByteCount == UInt64(bytes.count), "the lengths add up to the file's")
    check(Array(bytes.suffix(Seal.byteCount)) == seal.bytes, "a seal has one spelling")
    check(FileExtension(seal.fileExtension.description) == seal.fileExtension, "an extension has one spelling")
    let body = bytes.dropLast(Seal.byteCount + envelope.dictionaryBytes.count)
    check(UInt64(body.count) == seal.bodyByteCount, "what is left is the body")
    let carrier = SliceCarrier(fileSystem: disk, shouldStop: { false })
    let sums = must("the body can be read") {
        try carrier.checksums(of: own.file, from: 0, byteCount: seal.bodyByteCount)
    }
    check(sums == Checksums(of: body), "the body's checksums are those of its bytes")
    guard sums == seal.bodyChecksums else { return }
    let again = Seal(
        kind: seal.kind, bodyByteCount: seal.bodyByteCount, bodyChecksums: Checksums(of: body),
        dictionary: envelope.dictionaryBytes, pairing: seal.pairing, fileExtension: seal.fileExtension)
    check(body + envelope.dictionaryBytes + again.bytes == bytes, "what is accepted seals to the same bytes")
    let staged = StagedName(key: DeliveryKey(id: nil, seal: seal), pairing: seal.pairing)
    check(StagedName(staged.fileName) == staged, "it has a name in staging")
}
