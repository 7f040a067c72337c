/// What a JSON5 text says, before anybody asks whether it makes sense.
package indirect enum JSONTree: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// Only numbers above `Int64.max`.
    case unsigned(UInt64)
    case real(Double)
    case string(String)
    case array([JSONTree])
    /// Read ones are sorted by their keys; written ones keep their order.
    case object([Member])

    package struct Member: Hashable, Sendable {
        package var key: String
        package var value: JSONTree

        package init(_ key: String, _ value: JSONTree) {
            self.key = key
            self.value = value
        }
    }

    /// The bounds of a file.
    package static let mostByteCount = 1_024 * 1_024
    package static let mostDepth = 32

    /// What it is, for a person, short.
    package var described: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .real(let value): "\(value)"
        case .string(let value): "\"\(value.prefix(60))\(value.count > 60 ? "…" : "")\""
        case .array(let values): "a list of \(values.count)"
        case .object(let members):
            members.isEmpty ? "{}" : "{ \(members.prefix(4).map(\.key).joined(separator: ", ")) }"
        }
    }

    package static func object(_ members: KeyValuePairs<String, JSONTree?>) -> JSONTree {
        .object(members.compactMap { key, value in value.map { Member(key, $0) } })
    }
}

// MARK: Writing

extension JSONTree {
    /// As plain JSON, which JSON5 contains: two spaces a level, short containers on one line.
    package var text: String {
        var text = ""
        write(to: &text, indentation: 0)
        return text + "\n"
    }

    private static let lineLength = 110

    private func write(to text: inout String, indentation: Int) {
        let line = oneLine
        if indentation + line.utf8.count <= Self.lineLength {
            text += line
            return
        }
        let inner = String(repeating: " ", count: indentation + 2)
        let outer = String(repeating: " ", count: indentation)
        switch self {
        case .array(let values):
            text += "[\n"
            for (index, value) in values.enumerated() {
                text += inner
                value.write(to: &text, indentation: indentation + 2)
                text += index + 1 < values.count ? ",\n" : "\n"
            }
            text += outer + "]"
        case .object(let members):
            text += "{\n"
            for (index, member) in members.enumerated() {
                text += "\(inner)\(Self.quoted(member.key)): "
                member.value.write(to: &text, indentation: indentation + 2)
                text += index + 1 < members.count ? ",\n" : "\n"
            }
            text += outer + "}"
        case .null, .boolean, .integer, .unsigned, .real, .string:
            text += line
        }
    }

    private var oneLine: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .real(let value): "\(value)"
        case .string(let value): Self.quoted(value)
        case .array(let values): "[\(values.map(\.oneLine).joined(separator: ", "))]"
        case .object(let members):
            members.isEmpty
                ? "{}"
                : "{ \(members.map { "\(Self.quoted($0.key)): \($0.value.oneLine)" }.joined(separator: ", ")) }"
        }
    }

    private static func quoted(_ string: String) -> String {
        var text = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                text += "\\u" + UInt16(scalar.value).hexDigits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}

extension UInt16 {
    fileprivate var hexDigits: String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: 4 - text.count) + text
    }
}
