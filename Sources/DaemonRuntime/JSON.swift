// JSON for the journal, `--json` and the status: written here, one line at a time, without Foundation. Members keep the order
// in which they were added, so the same facts give the same bytes.

package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    /// `null` when it is not finite: JSON has no other word for that.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// One line, whatever is in it.
    package var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    fileprivate func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .unsigned(let value): text += String(value)
        case .number(let value): text += value.isFinite ? value.description : "null"
        case .string(let value): JSONValue.writeString(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let object): object.write(to: &text)
        }
    }

    /// Escapes what JSON demands (RFC 8259, section 7), and everything that some reader takes for the end of a line or
    /// some terminal for a command: C1 controls, U+2028, U+2029.
    fileprivate static func writeString(_ string: String, to text: inout String) {
        // As nearly every string of a journal: nothing in it to escape.
        if string.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            text += "\""
            text += string
            text += "\""
            return
        }
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(nilLiteral: ()) { self = .null }

    package init(_ value: String) { self = .string(value) }
    package init(_ value: Bool) { self = .bool(value) }
    package init(_ value: Double) { self = .number(value) }
    package init(_ value: JSONObject) { self = .object(value) }
    /// Exact for every integer of up to 64 bits.
    package init(_ value: some FixedWidthInteger) {
        if let signed = Int64(exactly: value) {
            self = .integer(signed)
        } else {
            self = .unsigned(UInt64(clamping: value))
        }
    }
}

/// An object whose members keep their order. A key that is added twice is our bug, and both are written.
package struct JSONObject: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    private struct Member: Sendable, Equatable {
        var key: String
        var value: JSONValue
    }
    private var members: [Member] = []

    package init() {}

    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        members = elements.map { Member(key: $0.0, value: $0.1) }
    }

    package mutating func add(_ key: String, _ value: JSONValue) {
        members.append(Member(key: key, value: value))
    }
    package mutating func add(_ key: String, _ value: String) { add(key, .string(value)) }
    package mutating func add(_ key: String, _ value: Bool) { add(key, .bool(value)) }
    package mutating func add(_ key: String, _ value: Double) { add(key, .number(value)) }
    package mutating func add(_ key: String, _ value: some FixedWidthInteger) { add(key, JSONValue(value)) }
    package mutating func add(_ key: String, _ value: JSONObject) { add(key, .object(value)) }

    /// The object on one line, without a line end.
    package var line: String { JSONValue.object(self).text }

    fileprivate func write(to text: inout String) {
        text += "{"
        for (index, member) in members.enumerated() {
            if index > 0 { text += "," }
            JSONValue.writeString(member.key, to: &text)
            text += ":"
            member.value.write(to: &text)
        }
        text += "}"
    }
}
