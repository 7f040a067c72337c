import Foundation
import Simulation
import Spooling
import WireContract

// A recording as the watch would have sealed it, for the phone's tests.

/// One sealed note: what was recorded, and the envelope that carries it.
struct PhoneNote {
    let id: ULID
    let body: [UInt8]
    let fileExtension: FileExtension
    let dictionary: PropertyListDictionary
    let envelope: [UInt8]

    /// 2023-11-14T22:13:20Z.
    static let standardMilliseconds: UInt64 = 1_700_000_000_000

    /// The note number `ordinal`, recorded at that many milliseconds after the standard moment.
    static func id(_ ordinal: Int, milliseconds: UInt64 = standardMilliseconds) -> ULID {
        ULID(high: (milliseconds + UInt64(ordinal)) << 16 | 7, low: UInt64(ordinal) + 1)
    }

    /// A body of `byteCount` bytes that no other ordinal has.
    static func body(_ ordinal: Int, byteCount: Int) -> [UInt8] {
        var random = SplitMix64(seed: UInt64(ordinal) &+ 1)
        return (0..<byteCount).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    /// - Parameter change: alters the dictionary before it is sealed.
    init(
        _ ordinal: Int, byteCount: Int = 300, body: [UInt8]? = nil, fileExtension: String = "m4a",
        milliseconds: UInt64 = standardMilliseconds, version: Int = 1,
        change: (inout PropertyListDictionary) -> Void = { _ in }
    ) {
        let id = Self.id(ordinal, milliseconds: milliseconds)
        let payload = AudioNotePayload(
            id: id.description, recordedAt: Date(timeIntervalSinceReferenceDate: 700_000_000.125), duration: 1.5,
            timeZoneID: "Europe/Berlin")
        var dictionary = payload.dictionary(version: version)
        change(&dictionary)
        self.init(
            id: id, body: body ?? Self.body(ordinal, byteCount: byteCount), fileExtension: fileExtension,
            dictionary: dictionary)
    }

    init(id: ULID, body: [UInt8], fileExtension: String, dictionary: PropertyListDictionary) {
        guard let checked = FileExtension(fileExtension) else { preconditionFailure("no extension: \(fileExtension)") }
        let dictionaryBytes: [UInt8]
        do {
            dictionaryBytes = try TransferLimit.encode(dictionary)
        } catch {
            preconditionFailure("the test's dictionary cannot be carried: \(error)")
        }
        self.id = id
        self.body = body
        self.fileExtension = checked
        self.dictionary = dictionary
        let seal = Seal(
            kind: .note, bodyByteCount: UInt64(body.count), bodyChecksums: Checksums(of: body),
            dictionary: dictionaryBytes, pairing: PairingID(rawValue: 0), fileExtension: checked)
        envelope = body + dictionaryBytes + seal.bytes
    }

    /// Where the phone keeps it.
    var containerPath: String {
        "/pair/phone/container/\(id.monthBucket)/\(fileExtension.appended(to: id.description))"
    }
}

/// Keeps every event in order.
final class PhoneHistory: History {
    private(set) var events: [PairEvent] = []
    private(set) var commitCount = 0

    func record(_ event: PairEvent) { events.append(event) }
    func commit() { commitCount += 1 }

    func count(_ kind: PairEvent.Kind, phase: PairEvent.Phase = .did) -> Int {
        events.reduce(0) { $0 + ($1.kind == kind && $1.phase == phase ? 1 : 0) }
    }
}
