// The forward gate: which dictionaries a build understands.
//
// Both dictionaries of the contract carry the version of their own shape. A build understands 1 up to its own; it must not
// guess at anything else, because a later build may have changed what a key means. What is not understood is not dropped:
// it waits for a build that does (P7), so a verdict of "waits" carries the reason and, when there is one, the id.

/// Why a dictionary waits.
package enum GateReason: Error, Hashable, Sendable, CustomStringConvertible {
    case versionMissing
    case versionNotAnInteger
    case versionBelowOne(Int)
    /// Above what this build understands. A number that no `Int` holds is given as the nearest one.
    case versionUnknown(Int)
    case fieldMissing(String)
    case fieldMalformed(String)

    package var description: String {
        switch self {
        case .versionMissing: "the version is missing"
        case .versionNotAnInteger: "the version is no integer"
        case .versionBelowOne(let version): "version \(version) is below 1"
        case .versionUnknown(let version): "version \(version) is not understood by this build"
        case .fieldMissing(let key): "\(key) is missing"
        case .fieldMalformed(let key): "\(key) is malformed"
        }
    }
}

/// A dictionary with the gate's questions. Inside the module only; it throws a `GateReason` for each answer of "waits".
struct GatedFields {
    private let dictionary: PropertyListDictionary

    init(_ dictionary: PropertyListDictionary) {
        self.dictionary = dictionary
    }

    /// The version, if it lies in `1...understands`. `true` and 1.0 are no integers.
    func version(_ key: String, understands: Int) throws(GateReason) -> Int {
        switch dictionary[key] {
        case nil: throw .versionMissing
        case .integer(let version):
            if version < 1 { throw .versionBelowOne(Int(clamping: version)) }
            guard let version = Int(exactly: version), version <= understands else {
                throw .versionUnknown(Int(clamping: version))
            }
            return version
        case .unsigned(let version): throw .versionUnknown(Int(clamping: version))
        case .string, .real, .boolean, .date, .data, .array, .dictionary: throw .versionNotAnInteger
        }
    }

    /// A canonical ULID.
    func id(_ key: String) throws(GateReason) -> ULID {
        guard let value = dictionary[key] else { throw .fieldMissing(key) }
        guard case .string(let string) = value, let id = ULID(string) else { throw .fieldMalformed(key) }
        return id
    }

    /// An instant from 1970-01-01T00:00:00Z up to, and without, the year 10000. NaN and infinities lie in no year.
    func date(_ key: String) throws(GateReason) -> Double {
        guard let value = dictionary[key] else { throw .fieldMissing(key) }
        guard case .date(let seconds) = value, Self.dates.contains(seconds) else { throw .fieldMalformed(key) }
        return seconds
    }

    /// A finite number of seconds, not negative; a real, or an integer.
    func duration(_ key: String) throws(GateReason) -> Double {
        let seconds: Double
        switch dictionary[key] {
        case nil: throw .fieldMissing(key)
        case .real(let number): seconds = number
        case .integer(let number): seconds = Double(number)
        case .unsigned(let number): seconds = Double(number)
        case .string, .boolean, .date, .data, .array, .dictionary: throw .fieldMalformed(key)
        }
        guard seconds.isFinite, seconds >= 0 else { throw .fieldMalformed(key) }
        return seconds
    }

    /// A string, or nil when there is none or something else.
    func optionalString(_ key: String) -> String? {
        guard case .string(let string) = dictionary[key] else { return nil }
        return string
    }

    /// In seconds since 2001-01-01T00:00:00Z.
    private static let dates = -978_307_200.0..<252_423_993_600.0
}
