/// The identity of a note: a ULID, 48 bits of milliseconds since 1970 followed by 80 random bits.
///
/// Only the canonical spelling is one: 26 characters of Crockford's base 32, upper case, the first at most `7`
/// (https://github.com/ulid/spec). An id becomes a file name, so `I`, `L`, `O`, `U`, lower case, and everything else that
/// a lenient reader of base 32 would let pass, is refused; two spellings of one id cannot exist.
///
/// The order of ULIDs is the order of their spellings.
public struct ULID: Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// The upper 64 of the 128 bits: 48 bits of milliseconds, then 16 random bits.
    package var high: UInt64
    /// The lower 64 of the 128 bits, all random.
    package var low: UInt64

    /// How many ASCII bytes the canonical spelling has.
    package static let utf8Count = 26

    /// The last millisecond that the 48 bits can say; it lies in the year 10889.
    package static let maximumMilliseconds: UInt64 = (1 << 48) - 1

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the canonical spelling; nothing else is an id.
    public init?(_ description: String) {
        self.init(utf8: description.utf8)
    }

    /// Reads the canonical spelling from its bytes, without making a `String` of them.
    package init?(utf8: some Collection<UInt8>) {
        // Contiguous bytes, which is what names come in, are walked without a generic call for each byte. Anything else is
        // copied, but not more of it than shows that it is too long.
        let id =
            utf8.withContiguousStorageIfAvailable { Self.parse($0) }
            ?? Array(utf8.prefix(Self.utf8Count + 1)).withUnsafeBufferPointer { Self.parse($0) }
        guard let id else { return nil }
        self = id
    }

    /// A part of a name. (Another module would run the general one unspecialised.)
    package init?(utf8: ArraySlice<UInt8>) {
        guard let id = utf8.withUnsafeBufferPointer({ Self.parse($0) }) else { return nil }
        self = id
    }

    package init?(utf8: UnsafeBufferPointer<UInt8>) {
        guard let id = Self.parse(utf8) else { return nil }
        self = id
    }

    private static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> ULID? {
        guard bytes.count == utf8Count else { return nil }
        return digits.withUnsafeBufferPointer { digits in
            // 26 digits are 130 bits: the first may only use its lower three.
            guard digits[Int(bytes[0])] <= 7 else { return nil }
            var high: UInt64 = 0
            var low: UInt64 = 0
            // The upper three bits of any byte that is no digit are gathered, so that there is one question at the end.
            var strays: UInt8 = 0
            for index in 0..<utf8Count {
                let digit = digits[Int(bytes[index])]
                strays |= digit
                high = high << 5 | low >> 59
                low = low << 5 | UInt64(digit & 31)
            }
            return strays > 31 ? nil : ULID(high: high, low: low)
        }
    }

    /// The time part, in milliseconds since 1970-01-01T00:00:00Z.
    public var millisecondsSince1970: UInt64 { high >> 16 }

    /// The canonical spelling.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.utf8Count) { buffer in
            spell(into: UnsafeMutableBufferPointer(rebasing: buffer[..<Self.utf8Count]))
            return Self.utf8Count
        }
    }

    /// The canonical spelling as 26 ASCII bytes.
    package var utf8Bytes: [UInt8] {
        var bytes: [UInt8] = []
        appendUTF8(to: &bytes)
        return bytes
    }

    /// Appends the 26 ASCII bytes of the canonical spelling.
    package func appendUTF8(to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: Self.utf8Count))
        bytes.withUnsafeMutableBufferPointer { spell(into: UnsafeMutableBufferPointer(rebasing: $0[start...])) }
    }

    public static func < (left: ULID, right: ULID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    /// Writes the 26 digits, the last one first, into as many bytes.
    package func spell(into buffer: UnsafeMutableBufferPointer<UInt8>) {
        let alphabet: StaticString = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
        var (high, low) = (high, low)
        alphabet.withUTF8Buffer { alphabet in
            for index in (0..<Self.utf8Count).reversed() {
                buffer[index] = alphabet[Int(low & 31)]
                low = low >> 5 | high << 59
                high >>= 5
            }
        }
    }

    /// By ASCII byte, the digit that it stands for; 0xFF for none. Crockford's base 32 has no `I`, `L`, `O` and `U`.
    private static let digits: [UInt8] = {
        var digits = [UInt8](repeating: 0xFF, count: 256)
        for (value, byte) in "0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8.enumerated() { digits[Int(byte)] = UInt8(value) }
        return digits
    }()
}

extension ULID {
    /// The month of the time part in UTC, as `YYYY-MM`: the name of the container's folder for this note.
    ///
    /// The calendar is the proleptic Gregorian one. 48 bits reach the year 10889: from the year 10000 on the bucket has
    /// five digits for the year. It is still one plain folder name; only the order of names stops being the order of time.
    package var monthBucket: String {
        let days = millisecondsSince1970 / 86_400_000
        // Howard Hinnant's civil_from_days (https://howardhinnant.github.io/date_algorithms.html): years that begin in March
        // put the leap day last. The days are counted from 0000-03-01, so with times since 1970 nothing is ever negative.
        let sinceMarchOfYearZero = days + 719_468
        let era = sinceMarchOfYearZero / 146_097
        let dayOfEra = sinceMarchOfYearZero % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return "\(year)-\(month < 10 ? "0" : "")\(month)"
    }

    /// Mints ULIDs that increase, within one millisecond too, and when the clock goes back.
    ///
    /// It has no clock and no randomness of its own. In a millisecond that is not later than the last id's, the next id is
    /// the last one plus 1. When the 80 random bits are at their end, it moves one millisecond on and takes fresh ones.
    public struct Minter: Sendable {
        private var last: ULID?

        public init() {}

        /// The next id. `random` is 80 random bits; a time that the 48 bits cannot say counts as their last millisecond.
        public mutating func mint(millisecondsSince1970: UInt64, random: (UInt16, UInt64)) -> ULID {
            let now = min(millisecondsSince1970, ULID.maximumMilliseconds)
            let next = Self.next(after: last, milliseconds: now, random: random)
            last = next
            return next
        }

        private static func next(after last: ULID?, milliseconds: UInt64, random: (UInt16, UInt64)) -> ULID {
            func fresh(_ milliseconds: UInt64) -> ULID {
                ULID(high: milliseconds << 16 | UInt64(random.0), low: random.1)
            }
            guard let last, milliseconds <= last.millisecondsSince1970 else { return fresh(milliseconds) }
            if last.low < .max { return ULID(high: last.high, low: last.low + 1) }
            if last.high & 0xFFFF < 0xFFFF { return ULID(high: last.high + 1, low: 0) }
            // No later id exists after the very last one. A clock that stands in the year 10889 must not end the process:
            // fresh bits keep the ids apart, and only their order is given up.
            return fresh(min(last.millisecondsSince1970 + 1, ULID.maximumMilliseconds))
        }
    }
}
