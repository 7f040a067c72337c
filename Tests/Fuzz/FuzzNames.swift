// Fuzzes the readers of names: whatever stands in a directory is refused, or reads back to itself.
//
// The first byte chooses a sound name in which the other bytes are put, so that the long fixed columns need not be found;
// then the bytes are tried as they are. What is a name is also laid into the folders whose readers take any name.

import Simulation
import Spooling
import WireContract

private let patterns: [(head: String, tail: String)] = [
    ("", ""), ("0000000001-0000000002-0000abcd-01ARZ3NDEKTSV4RRFFQ69G5FAV-", ".note"),
    ("0000000001-0000000002-0000abcd-", "-00001.ack"), ("0000000001-0000000002.", ".bytes"),
    ("0000000001-0000000002.noSeal.", ".gone"), ("0123456789abcdef.veto.", ".request"),
    ("0123456789abcdef.", ".request"),
    ("", "-0000abcd-ffff0000-0123456789abcdef.note"), ("01ARZ3NDEKTSV4RRFFQ69G5FAV-", "-0123456789abcdef.note"),
    ("", ".note"), ("", ".part"), ("0000000001-", ""), ("999999999", "-x"), ("0123456789abcdef.done", ".answer"),
]

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzNames(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeRawBufferPointer(start: start, count: count))
    guard let choice = bytes.first else { return 0 }
    let pattern = patterns[Int(choice) % patterns.count]
    judge(bytes)
    judge(Array(pattern.head.utf8) + bytes.dropFirst() + Array(pattern.tail.utf8))
    return 0
}

private func judge(_ bytes: [UInt8]) {
    checkIDs(bytes)
    let isComponent = (1...255).contains(bytes.count) && !bytes.contains(0) && !bytes.contains(UInt8(ascii: "/"))
    guard let name = FileName(bytes: bytes) else {
        check(!isComponent || bytes == [0x2E] || bytes == [0x2E, 0x2E], "only what is no component is refused")
        return
    }
    check(isComponent && name.bytes == bytes, "a name is its bytes")
    check(name.description.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "a name can be shown on one line")
    if let entry = EntryName(name) {
        check(entry.fileName == name, "an entry reads back to itself")
        check(!(entry < entry), "an entry is not before itself")
    }
    if let staged = StagedName(name) { check(staged.fileName == name, "a staged name reads back to itself") }
    if let id = name.recordingID { check(FileName.recording(id) == name, "a recording reads back to itself") }
    if let item = QuarantineItem(name) { check(item.fileName == name, "a quarantine item reads back to itself") }
    if let request = Request(name) { check(request.fileName == name, "a request reads back to itself") }
    // Every other name is a stranger to the stores, whatever it is; trying each of them costs most of the speed.
    let isOfAStore = name.isPartial || name.hasSuffix(".answer") || Request(name) != nil || QuarantineItem(name) != nil
    if isOfAStore || bytes.count > 10 && bytes[10] == UInt8(ascii: "-") { useFolders(name) }
}

/// The typed values that stand in names and seals.
private func checkIDs(_ bytes: [UInt8]) {
    if let id = ULID(utf8: bytes) { check(id.utf8Bytes == bytes, "an id reads back to itself") }
    if let pairing = PairingID(utf8: bytes) {
        check(Array(pairing.description.utf8) == bytes, "a pairing reads back to itself")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    if let read = FileExtension(text) {
        check(read.description == text && FileExtension(packed: read.packed) == read, "an extension too")
    }
}

/// The stores that read a whole folder, with this name in it.
private func useFolders(_ name: FileName) {
    must("stores live with any name in their folders") {
        let disk = SimulatedFileSystem()
        let folder = try disk.openRoot("/f", create: true)
        _ = try disk.create(name, in: folder)
        if let register = try NameRegister(in: folder, of: disk) {
            check(register.number <= StartNumber.largest, "a register's number has ten digits")
            do {
                let next = try NameRegister.set("x", in: folder, of: disk)
                check(next.number == register.number + 1, "the next number")
                let read = try NameRegister(in: folder, of: disk)
                check(read == next, "what was set is read")
            } catch {
                check(register.number == StartNumber.largest, "only the end of the count is an error: \(error)")
            }
        }
        let swept = try disk.sweepTemporaries(in: folder)
        check(swept == (name.isPartial ? 1 : 0), "a temporary without a writer is swept, and nothing else")
        let box = RequestBox(directory: try disk.openRoot("/f", create: true), fileSystem: disk)
        for request in try box.pending() { try box.answer(request, .done) }
        try box.sweepAnswers()
        guard let start = StartNumber(rawValue: 1) else { return }
        let quarantine = try Quarantine(
            directory: try disk.openRoot("/f", create: true), fileSystem: disk, start: start,
            caps: QuarantineCaps(byteCount: 0, itemCount: 1))
        _ = consume quarantine
    }
}
