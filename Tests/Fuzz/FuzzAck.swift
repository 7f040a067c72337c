// Fuzzes the way of an ack: bytes, codec, gate, and the app's own reader beside it. An ack deletes a recording, so nothing
// but a dictionary that says exactly so may be read as one.

import WireContract

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAck(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let dictionary = decodedDictionary(UnsafeRawBufferPointer(start: start, count: count)) else { return 0 }
    let current = IngestAck.currentVersion
    for understands in [current, current + 1] {
        switch IngestAck.read(dictionary, understands: understands) {
        case .understood(let ack, let id, let version):
            check(dictionary["ackV"] == .integer(Int64(version)), "the version is the one that was written")
            check((1...understands).contains(version), "version \(version) is one that is understood")
            check(dictionary["ackID"] == .string(id.description), "the id is the one that was written")
            check(ack.id == id.description && ULID(ack.id) == id, "the id is canonical")
            let again = must("an ack can travel on") {
                try BinaryPropertyList.decode(TransferLimit.encode(ack.dictionary(version: version)))
            }
            guard case .dictionary(let forwarded) = again else { fatalError("broken promise: a dictionary stays one") }
            check(
                IngestAck.read(forwarded, understands: understands)
                    == .understood(ack: ack, id: id, version: version), "an ack travels on unchanged")
            if understands == current {
                check(IngestAck(userInfo: foundationDictionary(of: dictionary)) == ack, "an app reads the same")
            }
        case .waits(let reason, let id):
            check(!reason.description.isEmpty, "a reason is said")
            check(id == nil || dictionary["ackID"] == id.map { .string($0.description) }, "it waits under its own id")
            if understands == current {
                check(IngestAck(userInfo: foundationDictionary(of: dictionary)) == nil, "an app refuses it too")
            }
        }
    }
    return 0
}
