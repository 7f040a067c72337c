/// Finds a key that stands twice in one object of a text that is known to be JSON5.
///
/// It understands only as much as it takes to tell keys from values: strings, comments and brackets. A key is compared as it
/// is spelled between its quotes.
struct DuplicateKeyScanner {
    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    /// The keys so far of each container that is open; `nil` for a list.
    private var open: [Set<[UInt8]>?] = []
    private var expectsKey = false

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func firstDuplicate() -> (key: String, line: Int)? {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "{"):
                open.append([])
                expectsKey = true
                index += 1
            case UInt8(ascii: "["):
                open.append(nil)
                expectsKey = false
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = open.popLast()
                expectsKey = false
                index += 1
            case UInt8(ascii: ","):
                expectsKey = open.last.map { $0 != nil } ?? false
                index += 1
            case UInt8(ascii: "/"): skipComment()
            case UInt8(ascii: "\n"):
                line += 1
                index += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: ":"): index += 1
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let word = quoted()
                if let duplicate = meet(word) { return duplicate }
            default:
                let word = bare()
                if let duplicate = meet(word) { return duplicate }
            }
        }
        return nil
    }

    private mutating func meet(_ word: ArraySlice<UInt8>) -> (key: String, line: Int)? {
        guard expectsKey, !open.isEmpty, var keys = open[open.count - 1] else { return nil }
        expectsKey = false
        let isNew = keys.insert(Array(word)).inserted
        open[open.count - 1] = keys
        return isNew ? nil : (String(decoding: word, as: UTF8.self), line)
    }

    private mutating func quoted() -> ArraySlice<UInt8> {
        let quote = bytes[index]
        index += 1
        let start = index
        while index < bytes.count, bytes[index] != quote {
            if bytes[index] == UInt8(ascii: "\\") { index += 1 }
            if index < bytes.count, bytes[index] == UInt8(ascii: "\n") { line += 1 }
            index += 1
        }
        let end = min(index, bytes.count)
        index = end + 1
        return bytes[start..<end]
    }

    private mutating func bare() -> ArraySlice<UInt8> {
        let start = index
        while index < bytes.count, !Self.ends.contains(bytes[index]) { index += 1 }
        return bytes[start..<index]
    }

    private static let ends = Array(" \t\r\n,:{}[]/\"'".utf8)

    private mutating func skipComment() {
        index += 1
        guard index < bytes.count else { return }
        if bytes[index] == UInt8(ascii: "/") {
            while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
        } else {
            while index < bytes.count {
                if bytes[index] == UInt8(ascii: "\n") { line += 1 }
                if bytes[index] == UInt8(ascii: "*"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "/") {
                    index += 2
                    return
                }
                index += 1
            }
        }
    }
}
