/// One component of a path, as the kernel has it: bytes.
///
/// A `String` would not do. It repairs bytes that are not UTF-8, and it calls two names equal that the file system keeps
/// apart (canonical equivalence). A `FileName` can also not say `..` or hold a `/`, so no name that a daemon reads from
/// a directory or makes from an id can lead out of the directory that it is used in.
package struct FileName: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    package let bytes: [UInt8]

    /// The longest name that the common file systems take (`NAME_MAX` on Linux and Darwin).
    package static let longestByteCount = 255

    /// `nil` when the bytes cannot be one component of a path: empty, too long, `.`, `..`, or with a `/` or a NUL.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count <= FileName.longestByteCount else { return nil }
        self.init(checking: Array(bytes))
    }

    /// A part of a longer text. (Another module would run the general one unspecialised.)
    package init?(bytes: ArraySlice<UInt8>) {
        guard bytes.count <= FileName.longestByteCount else { return nil }
        self.init(checking: Array(bytes))
    }

    /// As the kernel tells it.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= FileName.longestByteCount else { return nil }
        self.init(checking: Array(bytes))
    }

    package init?(_ string: String) {
        guard string.utf8.count <= FileName.longestByteCount else { return nil }
        self.init(checking: Array(string.utf8))
    }

    private init?(checking bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= FileName.longestByteCount else { return nil }
        guard !(bytes.count <= 2 && bytes.allSatisfy { $0 == UInt8(ascii: ".") }) else { return nil }
        // Without a way out of the loop, so that it takes many bytes at a time.
        var isBad = false
        for byte in bytes { isBad = isBad || byte == UInt8(ascii: "/") || byte == 0 }
        guard !isBad else { return nil }
        self.bytes = bytes
    }

    /// A name that the caller put together from parts that are part of a name, out of digits and letters.
    init(trusted bytes: [UInt8]) {
        assert(FileName(checking: bytes) != nil, "not a name: \(bytes)")
        self.bytes = bytes
    }

    /// For names that stand in our own source. A bad one is our bug.
    package init(stringLiteral value: StaticString) {
        guard let name = FileName(value.description) else { preconditionFailure("bad literal file name: \(value)") }
        self = name
    }

    /// All bytes at once: the standard library feeds an array's to the hasher one by one.
    package func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(bytes.count)
    }

    /// Eight bytes at a time, as below: the standard library compares an array's one by one.
    package static func == (left: FileName, right: FileName) -> Bool {
        left.bytes.withUnsafeBytes { leftBytes in
            right.bytes.withUnsafeBytes { rightBytes in
                guard leftBytes.count == rightBytes.count else { return false }
                var offset = 0
                while offset + 8 <= leftBytes.count {
                    let leftWord = leftBytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    guard leftWord == rightBytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else {
                        return false
                    }
                    offset += 8
                }
                while offset < leftBytes.count {
                    guard leftBytes[offset] == rightBytes[offset] else { return false }
                    offset += 1
                }
                return true
            }
        }
    }

    /// Byte order, which is what "order of names" means in the spool.
    ///
    /// Eight bytes at a time: queues and pages of thousands of names are kept in this order.
    package static func < (left: FileName, right: FileName) -> Bool {
        left.bytes.withUnsafeBytes { leftBytes in
            right.bytes.withUnsafeBytes { rightBytes in
                let sharedCount = min(leftBytes.count, rightBytes.count)
                var offset = 0
                while offset + 8 <= sharedCount {
                    let leftWord = UInt64(bigEndian: leftBytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                    let rightWord = UInt64(bigEndian: rightBytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                    if leftWord != rightWord { return leftWord < rightWord }
                    offset += 8
                }
                while offset < sharedCount {
                    if leftBytes[offset] != rightBytes[offset] { return leftBytes[offset] < rightBytes[offset] }
                    offset += 1
                }
                return leftBytes.count < rightBytes.count
            }
        }
    }

    /// Readable on one line of a terminal or a journal whatever the bytes are: what is not printable ASCII is escaped.
    package var description: String {
        bytes.allSatisfy(FileName.isPlain) ? String(decoding: bytes, as: UTF8.self) : FileName.printable(bytes)
    }

    /// Whether this byte stands for itself in `printable`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte <= 0x7E && byte != UInt8(ascii: "\\")
    }

    /// Any bytes as one line of printable ASCII, for messages about what others wrote.
    package static func printable(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\\"): text += "\\\\"
            case 0x20...0x7E: text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16)
                text += digits.count == 1 ? "\\x0\(digits)" : "\\x\(digits)"
            }
        }
        return text
    }

    package func hasSuffix(_ suffix: StaticString) -> Bool {
        suffix.withUTF8Buffer { wanted in
            let start = bytes.count - wanted.count
            guard start >= 0 else { return false }
            for index in wanted.indices where bytes[start + index] != wanted[index] { return false }
            return true
        }
    }

    package func hasPrefix(_ prefix: StaticString) -> Bool {
        prefix.withUTF8Buffer { bytes.starts(with: $0) }
    }

    /// This name with `suffix` behind it, letters and points. `nil` when that is too long.
    package func appending(_ suffix: StaticString) -> FileName? {
        let byteCount = bytes.count + suffix.utf8CodeUnitCount
        guard byteCount <= FileName.longestByteCount else { return nil }
        var longer = bytes
        longer.reserveCapacity(byteCount)
        longer.append(suffix)
        return FileName(trusted: longer)
    }
}
