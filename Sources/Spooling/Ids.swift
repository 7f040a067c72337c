// The small typed values of the spool. Each is checked where it is read and written in one way.

/// Which phone a watch is paired with, over which spool. The phone makes a random one; both homes and the spool know it.
/// Not a secret: it tells acks of another phone apart, it does not authenticate.
package struct PairingID: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Sixteen lower-case hexadecimal digits.
    package init?(utf8: some Collection<UInt8>) {
        guard utf8.count == 16 else { return nil }
        self.init(utf8: Array(utf8)[...])
    }

    // What names come in: another module would run the general one unspecialised.
    package init?(utf8: ArraySlice<UInt8>) {
        guard utf8.count == 16, let value = UInt64(lowerHex: utf8) else { return nil }
        rawValue = value
    }

    package var description: String { rawValue.hex(digits: 16) }
}

/// The extension of the original file: one to eight ASCII letters and digits, or none. Kept in one word, because a ledger of
/// 100,000 notes keeps as many of them.
package struct FileExtension: Hashable, Sendable, CustomStringConvertible {
    /// Its bytes from the highest down, then zeros: big-endian, this is how it stands in a file.
    package let packed: UInt64

    package static let none = FileExtension()

    private init() { packed = 0 }

    /// `nil` when it is not one to eight letters and digits. An empty one is `none`.
    package init?(_ string: String) { self.init(utf8: Array(string.utf8)[...]) }

    package init?(utf8 bytes: ArraySlice<UInt8>) {
        guard bytes.count <= 8 else { return nil }
        var packed: UInt64 = 0
        for byte in bytes {
            guard byte.isASCIILetterOrDigit else { return nil }
            packed = packed << 8 | UInt64(byte)
        }
        self.packed = bytes.isEmpty ? 0 : packed << UInt64(8 * (8 - bytes.count))
    }

    /// As `packed` has it; `nil` for any other word.
    package init?(packed word: UInt64) {
        var hasEnded = false
        for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
            let byte = UInt8(truncatingIfNeeded: word >> shift)
            hasEnded = hasEnded || byte == 0
            guard hasEnded ? byte == 0 : byte.isASCIILetterOrDigit else { return nil }
        }
        packed = word
    }

    /// Padded with zeros to eight bytes.
    package var paddedBytes: [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: packed >> UInt64($0)) }
    }

    package var description: String { String(decoding: paddedBytes.prefix { $0 != 0 }, as: UTF8.self) }

    /// `name.ext`, or `name` alone where there is none.
    package func appended(to name: String) -> String { packed == 0 ? name : "\(name).\(self)" }
}

extension UInt8 {
    package var isASCIILetterOrDigit: Bool {
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

    package init?(lowerHex digits: some Collection<UInt8>) {
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
    package init?(decimal digits: some Collection<UInt8>) {
        var value: Self = 0
        guard !digits.isEmpty, digits.count <= 18, Self.bitWidth == 64 else { return nil }
        for digit in digits {
            guard case UInt8(ascii: "0")...UInt8(ascii: "9") = digit else { return nil }
            value = value * 10 + Self(digit - UInt8(ascii: "0"))
        }
        self = value
    }
}

extension [UInt8] {
    /// As `decimal(digits:)`, of a number that fits.
    package mutating func appendDecimal(_ number: UInt64, digits: Int) {
        appendDigits(digits) { $0.spellDecimal(number) }
    }

    /// As `hex(digits:)`, of a number that fits.
    package mutating func appendHex(_ number: UInt64, digits: Int) { appendDigits(digits) { $0.spellHex(number) } }

    private mutating func appendDigits(_ digits: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        let start = count
        append(contentsOf: repeatElement(0, count: digits))
        withUnsafeMutableBufferPointer { write(UnsafeMutableBufferPointer(rebasing: $0[start...])) }
    }

    package mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { append(contentsOf: $0) }
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Fills it with the decimal digits of a number that fits.
    func spellDecimal(_ number: UInt64) {
        var rest = number
        for index in indices.reversed() {
            self[index] = UInt8(truncatingIfNeeded: rest % 10) + UInt8(ascii: "0")
            rest /= 10
        }
        precondition(rest == 0, "\(number) has more than \(count) digits")
    }

    /// Fills it with the lower-case hexadecimal digits of a number that fits.
    func spellHex(_ number: UInt64) {
        var rest = number
        for index in indices.reversed() {
            let digit = UInt8(truncatingIfNeeded: rest & 15)
            self[index] = digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "a")
            rest >>= 4
        }
        precondition(rest == 0, "\(number) has more than \(count) hexadecimal digits")
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The number whose decimal digits stand in `range`; `nil` when anything else does. At most eighteen, so that nothing
    /// overflows.
    func decimal(_ range: Range<Int>) -> UInt64? {
        var value: UInt64 = 0
        var isStray = false
        for index in range {
            let digit = self[index] &- UInt8(ascii: "0")
            isStray = isStray || digit > 9
            value = value &* 10 &+ UInt64(digit)
        }
        return isStray ? nil : value
    }

    /// The same of lower-case hexadecimal digits, at most sixteen.
    func lowerHex(_ range: Range<Int>) -> UInt64? {
        var value: UInt64 = 0
        for index in range {
            let digit = self[index] &- UInt8(ascii: "0")
            let letter = self[index] &- UInt8(ascii: "a")
            guard digit < 10 || letter < 6 else { return nil }
            value = value << 4 | UInt64(digit < 10 ? digit : letter + 10)
        }
        return value
    }
}
