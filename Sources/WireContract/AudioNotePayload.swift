public import Foundation

/// The metadata beside an audio note's file, from the watch to the phone.
///
/// It is a plain value, and an app may put anything in; the reader is where the contract is kept. `metadata()` writes what
/// is there, `init?(metadata:)` refuses what is malformed. The keys, their types and the gate are in `Docs/Contract.md`.
public struct AudioNotePayload: Equatable, Sendable {
    /// The version that `metadata()` writes, and the highest that `init?(metadata:)` understands.
    public static let currentVersion = 1

    /// The note's ULID, 26 characters.
    public var id: String
    /// The wall-clock instant at which recording started.
    public var recordedAt: Date
    /// The length of the recording in seconds.
    public var duration: TimeInterval
    /// The IANA time zone of the recording, for instance `Europe/Berlin`; nil when unknown.
    public var timeZoneID: String?

    public init(id: String, recordedAt: Date, duration: TimeInterval, timeZoneID: String? = nil) {
        self.id = id
        self.recordedAt = recordedAt
        self.duration = duration
        self.timeZoneID = timeZoneID
    }

    /// The dictionary for `WCSession.transferFile(_:metadata:)`.
    public func metadata() -> [String: Any] {
        foundationDictionary(of: dictionary(version: Self.currentVersion))
    }

    /// Reads a dictionary that `WCSessionFile.metadata` gave. Nil when its version is missing, below 1 or above
    /// `currentVersion`, or when a required field is missing or malformed. Unknown keys are ignored.
    public init?(metadata: [String: Any]) {
        let known = PropertyListDictionary(bridging: metadata, keys: Key.all)
        switch Self.read(known, understands: Self.currentVersion) {
        case .understood(let payload, _, _): self = payload
        case .waits: return nil
        }
    }

    private enum Key {
        static let version = "v"
        static let id = "id"
        static let recordedAt = "recordedAt"
        static let duration = "duration"
        static let timeZone = "tz"
        static let all = [version, id, recordedAt, duration, timeZone]
    }
}

extension AudioNotePayload {
    /// What the gate says about a dictionary.
    package enum GateVerdict: Equatable, Sendable {
        /// It can be ingested. `id` is `payload.id`, as the type of which it is one.
        case understood(payload: AudioNotePayload, id: ULID, version: Int)
        /// It has to wait for a build that understands it. `id` is there when the dictionary's `id` is a canonical ULID.
        case waits(reason: GateReason, id: ULID?)
    }

    /// The gate, for a build that understands the versions `1...understands`.
    package static func read(_ dictionary: PropertyListDictionary, understands: Int) -> GateVerdict {
        let fields = GatedFields(dictionary)
        do throws(GateReason) {
            let version = try fields.version(Key.version, understands: understands)
            let id = try fields.id(Key.id)
            let payload = AudioNotePayload(
                id: id.description,
                recordedAt: Date(timeIntervalSinceReferenceDate: try fields.date(Key.recordedAt)),
                duration: try fields.duration(Key.duration),
                timeZoneID: fields.optionalString(Key.timeZone))
            return .understood(payload: payload, id: id, version: version)
        } catch {
            return .waits(reason: error, id: try? fields.id(Key.id))
        }
    }

    /// What the gate says, for whoever does not need the payload: why it waits, if it does, and the id, if there is one.
    package static func gate(
        _ dictionary: PropertyListDictionary, understands: Int
    ) -> (id: ULID?, waits: GateReason?) {
        let fields = GatedFields(dictionary)
        do throws(GateReason) {
            _ = try fields.version(Key.version, understands: understands)
            let id = try fields.id(Key.id)
            _ = try fields.date(Key.recordedAt)
            _ = try fields.duration(Key.duration)
            return (id, nil)
        } catch {
            return (try? fields.id(Key.id), error)
        }
    }

    /// The dictionary that carries this payload under `version`, with the exact bits of `recordedAt`.
    package func dictionary(version: Int) -> PropertyListDictionary {
        var dictionary = PropertyListDictionary()
        dictionary[Key.version] = .integer(Int64(version))
        dictionary[Key.id] = .string(id)
        dictionary[Key.recordedAt] = .date(secondsSinceReferenceDate: recordedAt.timeIntervalSinceReferenceDate)
        dictionary[Key.duration] = .real(duration)
        dictionary[Key.timeZone] = timeZoneID.map { .string($0) }
        return dictionary
    }
}
