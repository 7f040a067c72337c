// JSON for the journal, `--json` and the status: written here, one line at a time, without Foundation. Members keep the order
// in which they were added, so the same facts give the same bytes.

import Spooling

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
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    fileprivate func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append("null")
        case .bool(let value): bytes.append(value ? "true" : "false")
        case .integer(let value): bytes.appendJSON(value)
        case .unsigned(let value): bytes.appendJSON(value)
        case .number(let value): bytes += (value.isFinite ? value.description : "null").utf8
        case .string(let value): bytes.appendJSON(value)
        case .array(let values):
            bytes.append("[")
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(",") }
                value.write(to: &bytes)
            }
            bytes.append("]")
        case .object(let object): object.write(to: &bytes)
        }
    }
}

// How single values are spelled, also for who writes a line without putting an object together first.
extension [UInt8] {
    mutating func appendJSON(_ number: Int64) {
        if number < 0 { append("-") }
        appendJSON(number.magnitude)
    }

    mutating func appendJSON(_ number: UInt64) {
        var digitCount = 1
        var rest = number / 10
        while rest > 0 {
            digitCount += 1
            rest /= 10
        }
        appendDecimal(number, digits: digitCount)
    }

    /// Escapes what JSON demands (RFC 8259, section 7), and everything that some reader takes for the end of a line or
    /// some terminal for a command: C1 controls, U+2028, U+2029.
    mutating func appendJSON(_ string: String) {
        var string = string
        if string.withUTF8({ appendIfPlain($0) }) { return }
        append("\"")
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": append("\\\"")
            case "\\": append("\\\\")
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}", "\u{2028}", "\u{2029}":
                append("\\u")
                appendHex(UInt64(scalar.value), digits: 4)
            default: append(contentsOf: String(scalar).utf8)
            }
        }
        append("\"")
    }

    /// As its description.
    mutating func appendJSON(_ name: FileName) {
        // What needs no escape here needs none there either.
        if !name.bytes.withUnsafeBufferPointer({ appendIfPlain($0) }) { appendJSON(name.description) }
    }

    /// Appends a string in which there is nothing to escape, as in nearly every one of a journal; `false` of any other.
    private mutating func appendIfPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        // Without a way out of the loop, so that it takes many bytes at a time.
        var isPlain = true
        for byte in text {
            let isPlainByte = byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            isPlain = isPlain && isPlainByte
        }
        guard isPlain else { return false }
        append("\"")
        append(contentsOf: text)
        append("\"")
        return true
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

    fileprivate func write(to bytes: inout [UInt8]) {
        bytes.append("{")
        for (index, member) in members.enumerated() {
            if index > 0 { bytes.append(",") }
            bytes.appendJSON(member.key)
            bytes.append(":")
            member.value.write(to: &bytes)
        }
        bytes.append("}")
    }
}
