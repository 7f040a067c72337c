// The small typed values of the spool. Each is checked where it is read and written in one way.

/// Which phone a watch is paired with, over which spool. The phone makes a random one; both homes and the spool know it.
/// Not a secret: it tells acks of another phone apart, it does not authenticate.
package struct PairingID: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Sixteen lower-case hexadecimal digits.
    package init?(utf8: some Collection<UInt8>) {
        guard utf8.count == 16, let value = UInt64(lowerHex: utf8) else { return nil }
        rawValue = value
    }

    package var description: String { rawValue.hex(digits: 16) }
}

/// The extension of the original file: one to eight ASCII letters and digits, or none.
package struct FileExtension: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package static let none = FileExtension(unchecked: [])

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// `nil` when it is not one to eight letters and digits. An empty one is `none`.
    package init?(_ string: String) {
        guard string.utf8.count <= 8, string.utf8.allSatisfy(\.isASCIILetterOrDigit) else { return nil }
        bytes = Array(string.utf8)
    }

    init?(padded: ArraySlice<UInt8>) {
        let bytes = padded.prefix { $0 != 0 }
        guard bytes.allSatisfy(\.isASCIILetterOrDigit), padded.dropFirst(bytes.count).allSatisfy({ $0 == 0 }) else {
            return nil
        }
        self.bytes = Array(bytes)
    }

    var paddedBytes: [UInt8] { bytes + [UInt8](repeating: 0, count: 8 - bytes.count) }

    package var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension UInt8 {
    var isASCIILetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// Lower-case hexadecimal, padded with zeros.
    package func hex(digits: Int) -> String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }

    /// Decimal, padded with zeros.
    package func decimal(digits: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }

    init?(lowerHex digits: some Collection<UInt8>) {
        var value: Self = 0
        guard !digits.isEmpty, digits.count * 4 <= Self.bitWidth else { return nil }
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | Self(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | Self(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        self = value
    }

    /// Decimal digits only, no sign; at most eighteen, so that nothing overflows.
    init?(decimal digits: some Collection<UInt8>) {
        var value: Self = 0
        guard !digits.isEmpty, digits.count <= 18, Self.bitWidth == 64 else { return nil }
        for digit in digits {
            guard case UInt8(ascii: "0")...UInt8(ascii: "9") = digit else { return nil }
            value = value * 10 + Self(digit - UInt8(ascii: "0"))
        }
        self = value
    }
}
