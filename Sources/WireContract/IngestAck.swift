/// The phone's word that a note reached a final state there: durably ingested, or permanently vetoed. Sent as userInfo.
/// Only this lets the watch delete its copy; a finished transfer never does.
public struct IngestAck: Equatable, Sendable {
    /// The version that `userInfo()` writes, and the highest that `init?(userInfo:)` understands.
    public static let currentVersion = 1

    /// The note's ULID, 26 characters.
    public var id: String

    public init(id: String) {
        self.id = id
    }

    /// The dictionary for `WCSession.transferUserInfo(_:)`.
    public func userInfo() -> [String: Any] {
        foundationDictionary(of: dictionary(version: Self.currentVersion))
    }

    /// Reads a dictionary that `session(_:didReceiveUserInfo:)` gave. Nil when its version is missing, below 1 or above
    /// `currentVersion`, or when the id is missing or no ULID. Unknown keys are ignored.
    public init?(userInfo: [String: Any]) {
        let known = PropertyListDictionary(bridging: userInfo, keys: Key.all)
        switch Self.read(known, understands: Self.currentVersion) {
        case .understood(let ack, _, _): self = ack
        case .waits: return nil
        }
    }

    private enum Key {
        static let version = "ackV"
        static let id = "ackID"
        static let all = [version, id]
    }
}

extension IngestAck {
    /// What the gate says about a dictionary.
    package enum GateVerdict: Equatable, Sendable {
        /// It is an ack. `id` is `ack.id`, as the type of which it is one.
        case understood(ack: IngestAck, id: ULID, version: Int)
        /// This build must not act on it. `id` is there when the dictionary's `ackID` is a canonical ULID.
        case waits(reason: GateReason, id: ULID?)
    }

    /// The gate, for a build that understands the versions `1...understands`.
    package static func read(_ dictionary: PropertyListDictionary, understands: Int) -> GateVerdict {
        let fields = GatedFields(dictionary)
        do throws(GateReason) {
            let version = try fields.version(Key.version, understands: understands)
            let id = try fields.id(Key.id)
            return .understood(ack: IngestAck(id: id.description), id: id, version: version)
        } catch {
            return .waits(reason: error, id: try? fields.id(Key.id))
        }
    }

    /// The dictionary that carries this ack under `version`.
    package func dictionary(version: Int) -> PropertyListDictionary {
        var dictionary = PropertyListDictionary()
        dictionary[Key.version] = .integer(Int64(version))
        dictionary[Key.id] = .string(id)
        return dictionary
    }
}
