// Durations and byte counts as a person writes them: digits, at most one point, a unit. Exact, not through floating point.

/// How a number with a unit is spelled.
enum Quantity {
    private static let timeUnits: [(suffix: String, nanoseconds: UInt64)] = [
        ("ms", 1_000_000), ("us", 1_000), ("ns", 1), ("s", 1_000_000_000), ("m", 60_000_000_000),
        ("h", 3_600_000_000_000), ("d", 86_400_000_000_000),
    ]
    private static let sizeUnits: [(suffix: String, bytes: UInt64)] = [
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("kB", 1_000), ("MB", 1_000_000),
        ("GB", 1_000_000_000), ("TB", 1_000_000_000_000), ("B", 1),
    ]
    /// A century. Nothing that a scenario waits for is longer, and sums of two stay far from what 64 bits hold.
    static let longest = Duration.seconds(36_525 * 86_400)

    /// Exact to the nanosecond; not negative. `nil` for anything else.
    static func duration(_ text: some StringProtocol) -> Duration? {
        for unit in timeUnits where text.hasSuffix(unit.suffix) {
            guard let count = scaled(text.dropLast(unit.suffix.count), by: unit.nanoseconds),
                let nanoseconds = Int64(exactly: count)
            else { return nil }
            return bounded(.nanoseconds(nanoseconds))
        }
        return nil
    }

    static func duration(seconds: Double) -> Duration? {
        guard seconds >= 0, seconds <= longest.inSeconds else { return nil }
        return .nanoseconds(Int64((seconds * 1e9).rounded()))
    }

    private static func bounded(_ duration: Duration) -> Duration? { duration <= longest ? duration : nil }

    /// The shortest spelling that reads back to the same whole nanoseconds.
    static func text(_ duration: Duration) -> String {
        let nanoseconds = duration.wholeNanoseconds
        if nanoseconds == 0 { return "0s" }
        let unit = timeUnits.sorted { $0.nanoseconds > $1.nanoseconds }.first { nanoseconds % $0.nanoseconds == 0 }
        guard let unit else { preconditionFailure("every number is a multiple of one: \(nanoseconds)") }
        return "\(nanoseconds / unit.nanoseconds)\(unit.suffix)"
    }

    static func byteCount(_ text: some StringProtocol) -> UInt64? {
        for unit in sizeUnits where text.hasSuffix(unit.suffix) {
            return scaled(text.dropLast(unit.suffix.count), by: unit.bytes)
        }
        return nil
    }

    static func text(byteCount: UInt64) -> String {
        let unit = sizeUnits.prefix(4).reversed().first { byteCount >= $0.bytes && byteCount % $0.bytes == 0 }
        guard let unit else { return "\(byteCount)B" }
        return "\(byteCount / unit.bytes)\(unit.suffix)"
    }

    /// Digits, at most one point with digits on both sides, times `unit`; what is finer than one is cut off.
    private static func scaled(_ text: some StringProtocol, by unit: UInt64) -> UInt64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count),
            parts.allSatisfy({ part in !part.isEmpty && part.utf8.allSatisfy { (48...57).contains($0) } }),
            let whole = UInt64(parts[0])
        else { return nil }
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit)
        if overflow { return nil }
        guard parts.count == 2 else { return product }
        let digits = parts[1].prefix(18)
        guard let numerator = UInt64(digits) else { return nil }
        let denominator = digits.utf8.reduce(UInt64(1)) { power, _ in power * 10 }
        // numerator < denominator, so the quotient is below `unit`.
        let fraction = denominator.dividingFullWidth(numerator.multipliedFullWidth(by: unit)).quotient
        let (sum, carry) = product.addingReportingOverflow(fraction)
        return carry ? nil : sum
    }
}

/// The spelling of a duration in the pair's own files: `90s`, `250ms`, `8d`. Reads back to the same whole nanoseconds.
package func quantityText(_ duration: Duration) -> String { Quantity.text(duration) }

/// The spelling of a byte count in the pair's own files: `64KiB`, `1000B`.
package func quantityText(byteCount: UInt64) -> String { Quantity.text(byteCount: byteCount) }
