// Fuzzes the way of a payload dictionary: bytes, codec, gate, and the app's own reader beside it.

import WireContract

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPayload(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let dictionary = decodedDictionary(UnsafeRawBufferPointer(start: start, count: count)) else { return 0 }
    let current = AudioNotePayload.currentVersion
    for understands in [current, current + 1] {
        switch AudioNotePayload.read(dictionary, understands: understands) {
        case .understood(let payload, let id, let version):
            check((1...understands).contains(version), "version \(version) is one that is understood")
            check(payload.id == id.description && ULID(payload.id) == id, "the id is canonical")
            check(ULID(utf8: id.utf8Bytes) == id, "the id has one spelling")
            check(id.monthBucket.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 != 0 }, "the bucket is one folder")
            check(payload.duration.isFinite && payload.duration >= 0, "the duration is one")
            // Traps for NaN and 1e300, which is why the gate must not let them pass.
            check(Int(payload.recordedAt.timeIntervalSince1970) >= 0, "the date lies in 1970 or later")
            let again = must("an understood payload can travel on") {
                try BinaryPropertyList.decode(TransferLimit.encode(payload.dictionary(version: version)))
            }
            guard case .dictionary(let forwarded) = again else { fatalError("broken promise: a dictionary stays one") }
            check(
                AudioNotePayload.read(forwarded, understands: understands)
                    == .understood(payload: payload, id: id, version: version), "a payload travels on unchanged")
            if understands == current {
                check(
                    AudioNotePayload(metadata: foundationDictionary(of: dictionary)) == payload, "an app reads the same"
                )
            }
        case .waits(let reason, let id):
            check(!reason.description.isEmpty, "a reason is said")
            check(id == nil || dictionary["id"] == id.map { .string($0.description) }, "it waits under its own id")
            if understands == current {
                check(AudioNotePayload(metadata: foundationDictionary(of: dictionary)) == nil, "an app refuses it too")
            }
        }
    }
    return 0
}
