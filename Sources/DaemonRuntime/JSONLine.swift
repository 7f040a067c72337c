// One line of a journal read back: a flat object of strings and whole numbers, which is all that `DaemonHistory` and
// `JournalFile` write. Strict: what they would not write is no line. A process that was killed, a disk that lied, or
// somebody else may have left anything here, so nothing traps, nothing recurses, and no value is converted on trust.

/// The members of a flat JSON object of strings and whole numbers.
struct JSONLine {
    enum Value: Equatable {
        case string(String)
        case integer(Int64)
        /// Only numbers above `Int64.max`.
        case unsigned(UInt64)
    }

    private var members: [(key: String, value: Value)] = []

    /// `nil` when the bytes are anything else, or a key stands twice.
    init?(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        guard rest.popFirst() == UInt8(ascii: "{") else { return nil }
        while true {
            guard let key = Self.string(&rest), rest.popFirst() == UInt8(ascii: ":"), self[key] == nil,
                let value = Self.value(&rest)
            else { return nil }
            members.append((key, value))
            switch rest.popFirst() {
            case UInt8(ascii: ","): continue
            case UInt8(ascii: "}"):
                if rest.isEmpty { return }
                return nil
            case _: return nil
            }
        }
    }

    subscript(key: String) -> Value? { members.first { $0.key == key }?.value }

    var keys: [String] { members.map(\.key) }

    func string(_ key: String) -> String? {
        if case .string(let text) = self[key] { text } else { nil }
    }

    func unsigned(_ key: String) -> UInt64? {
        switch self[key] {
        case .integer(let number): UInt64(exactly: number)
        case .unsigned(let number): number
        case .string, nil: nil
        }
    }

    private static func value(_ rest: inout ArraySlice<UInt8>) -> Value? {
        if rest.first == UInt8(ascii: "\"") { return string(&rest).map { .string($0) } }
        let digits = rest.prefix { $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest.dropFirst(digits.count)
        let text = String(decoding: digits, as: UTF8.self)
        if let number = Int64(text) { return number.description == text ? .integer(number) : nil }
        return UInt64(text).flatMap { $0.description == text ? .unsigned($0) : nil }
    }

    private static func string(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(validating: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escaped(&rest) else { return nil }
                bytes += Array(String(Character(scalar)).utf8)
            case 0..<0x20: return nil
            case _: bytes.append(byte)
            }
        }
        return nil
    }

    /// What stands behind a backslash. Surrogates are none of ours: what lies above U+FFFF is written as it is.
    private static func escaped(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        switch rest.popFirst() {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let digits = rest.prefix(4)
            rest = rest.dropFirst(4)
            return digits.count == 4 ? UInt16(lowerHex: digits).flatMap(Unicode.Scalar.init) : nil
        case _: return nil
        }
    }
}
