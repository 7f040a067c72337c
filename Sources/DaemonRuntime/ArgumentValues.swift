// Values on the command line, read strictly: the whole text is the value, or it is a usage error that says what is wanted.

/// What kind of value an option or a positional takes.
package enum ValueKind: Sendable, Equatable {
    /// No value; the option is there or not.
    case flag
    case text
    case path
    /// `250ms`, `90s`, `1.5` (seconds), `10m`, `5h`, `8d`.
    case duration
    /// The same, with a minus before it or not.
    case signedDuration
    /// `4096`, `64KiB`, `256MiB`, `2GiB`; `kB`, `MB`, `GB` are powers of ten.
    case byteCount
    case integer(ClosedRange<Int64>)
    /// Any 64 bits, decimal or `0x…`.
    case seed
    /// `0` to `1`, or `20%`.
    case probability
    case choice([String])

    /// Why `text` is no such value; `nil` when it is one.
    func problem(with text: String) -> String? {
        switch self {
        case .flag: "takes no value"
        case .text: nil
        case .path: text.isEmpty ? "wants a path" : text.utf8.contains(0) ? "wants a path without a NUL" : nil
        case .duration:
            ArgumentValue.duration(text) == nil ? "wants a time such as 250ms, 90s, 1.5, 10m, 5h or 8d" : nil
        case .signedDuration:
            ArgumentValue.signedDuration(text) == nil ? "wants a time such as 90s, 5h or -365d" : nil
        case .byteCount: ArgumentValue.byteCount(text) == nil ? "wants a size such as 4096, 64KiB or 256MiB" : nil
        case .integer(let range):
            ArgumentValue.integer(text).map(range.contains) == true ? nil : "wants a whole number \(Self.words(range))"
        case .seed: ArgumentValue.seed(text) == nil ? "wants a whole number of at most 64 bits" : nil
        case .probability: ArgumentValue.probability(text) == nil ? "wants a probability from 0 to 1, or 20%" : nil
        case .choice(let choices): choices.contains(text) ? nil : "wants one of \(choices.joined(separator: ", "))"
        }
    }

    private static func words(_ range: ClosedRange<Int64>) -> String {
        range.upperBound == .max ? "from \(range.lowerBound) on" : "from \(range.lowerBound) to \(range.upperBound)"
    }
}

enum ArgumentValue {
    private static let timeUnits: [(suffix: String, nanoseconds: UInt64)] = [
        ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000), ("", 1_000_000_000),
    ]

    private static let sizeUnits: [(suffix: String, bytes: UInt64)] = [
        ("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30), ("tib", 1 << 40), ("kb", 1_000), ("mb", 1_000_000),
        ("gb", 1_000_000_000), ("tb", 1_000_000_000_000), ("b", 1), ("", 1),
    ]

    /// Exact to the nanosecond; up to about 292 years.
    static func duration(_ text: String) -> Duration? {
        for unit in timeUnits where text.hasSuffix(unit.suffix) {
            guard let count = scaled(text.dropLast(unit.suffix.count), by: unit.nanoseconds),
                let nanoseconds = Int64(exactly: count)
            else { return nil }
            return .nanoseconds(nanoseconds)
        }
        return nil
    }

    static func signedDuration(_ text: String) -> Duration? {
        guard text.hasPrefix("-") else { return duration(text) }
        return duration(String(text.dropFirst())).map { .zero - $0 }
    }

    static func byteCount(_ text: String) -> UInt64? {
        let lower = text.lowercased()
        for unit in sizeUnits where lower.hasSuffix(unit.suffix) {
            return scaled(lower.dropLast(unit.suffix.count), by: unit.bytes)
        }
        return nil
    }

    static func integer(_ text: String) -> Int64? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        return isDigits(digits) ? Int64(text) : nil
    }

    static func seed(_ text: String) -> UInt64? {
        if text.hasPrefix("0x") {
            let digits = text.dropFirst(2)
            return digits.first?.isHexDigit == true ? UInt64(digits, radix: 16) : nil
        }
        return isDigits(text[...]) ? UInt64(text) : nil
    }

    static func probability(_ text: String) -> Double? {
        let isPercent = text.hasSuffix("%")
        let number = isPercent ? text.dropLast() : text[...]
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        // `Double` would also read "nan", "0x1p3" and " 1".
        guard (1...2).contains(parts.count), parts.allSatisfy(isDigits), let value = Double(number) else { return nil }
        let probability = isPercent ? value / 100 : value
        return probability <= 1 ? probability : nil
    }

    /// Digits, at most one point with digits on both sides, times `unit`; what is finer than one is cut off.
    private static func scaled(_ text: Substring, by unit: UInt64) -> UInt64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy(isDigits), let whole = UInt64(parts[0]) else {
            return nil
        }
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit)
        if overflow { return nil }
        guard parts.count == 2 else { return product }
        // Eighteen digits are finer than a nanosecond of a day, and their power of ten fits 64 bits.
        let digits = parts[1].prefix(18)
        guard let numerator = UInt64(digits) else { return nil }
        let denominator = digits.utf8.reduce(UInt64(1)) { power, _ in power * 10 }
        // numerator < denominator, so the quotient is below `unit` and cannot overflow.
        let fraction = denominator.dividingFullWidth(numerator.multipliedFullWidth(by: unit)).quotient
        let (sum, carry) = product.addingReportingOverflow(fraction)
        return carry ? nil : sum
    }

    private static func isDigits(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
