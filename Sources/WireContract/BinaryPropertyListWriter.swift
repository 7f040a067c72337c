/// Writes one value: numbers the objects first, since the width of a reference depends on how many there are, then lays
/// them out. Equal scalars become one object, as CoreFoundation and plistlib do; containers are never shared.
struct BinaryPropertyListWriter {
    private enum Object {
        case scalar(PropertyListValue)
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    private let limits: BinaryPropertyList.Limits
    private var budget: BinaryPropertyList.Budget
    private var objects: [Object] = []
    // Looked up by value only; its order never shows.
    private var numbers: [PropertyListValue: Int] = [:]

    init(limits: BinaryPropertyList.Limits) {
        self.limits = limits
        budget = BinaryPropertyList.Budget(limits)
    }

    mutating func write(_ value: PropertyListValue) throws(PropertyListError) -> [UInt8] {
        try budget.spend(values: 1)
        let top = try number(value, depth: 0)
        guard objects.count <= limits.objectCount else { throw .tooManyObjects(limit: limits.objectCount) }
        let bytes = layOut(top: top)
        guard bytes.count <= limits.byteCount else { throw .tooLarge(byteCount: bytes.count, limit: limits.byteCount) }
        return bytes
    }

    // MARK: Numbering

    private mutating func number(_ value: PropertyListValue, depth: Int) throws(PropertyListError) -> Int {
        switch value {
        case .array(let values):
            try budget.enter(depth: depth + 1)
            try budget.spend(values: values.count)
            let place = append(.array([]))
            var references: [Int] = []
            references.reserveCapacity(values.count)
            for value in values { references.append(try number(value, depth: depth + 1)) }
            objects[place] = .array(references)
            return place
        case .dictionary(let dictionary):
            try budget.enter(depth: depth + 1)
            try budget.spend(values: 2 * dictionary.count)
            let entries = dictionary.entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            let place = append(.dictionary(keys: [], values: []))
            var keys: [Int] = []
            var values: [Int] = []
            for entry in entries { keys.append(try number(.string(entry.key), depth: depth + 1)) }
            for entry in entries { values.append(try number(entry.value, depth: depth + 1)) }
            objects[place] = .dictionary(keys: keys, values: values)
            return place
        case .string(let string):
            // What the reader will pay: the exact bytes of an ASCII string, three for each unit of a UTF-16 one.
            let isASCII = string.utf8.allSatisfy { $0 < 0x80 }
            try budget.spend(contentBytes: isASCII ? string.utf8.count : string.utf16.count * 3)
            return scalar(value)
        case .data(let bytes):
            try budget.spend(contentBytes: bytes.count)
            return scalar(value)
        case .integer, .unsigned, .real, .boolean, .date:
            return scalar(value)
        }
    }

    private mutating func scalar(_ value: PropertyListValue) -> Int {
        // As in every list of the contract: to compare all is cheaper than to hash them.
        guard objects.count > 16 else {
            for (place, object) in objects.enumerated() {
                if case .scalar(let known) = object, known == value { return place }
            }
            return append(.scalar(value))
        }
        if numbers.isEmpty {
            for (place, object) in objects.enumerated() {
                if case .scalar(let known) = object { numbers[known] = place }
            }
        }
        if let known = numbers[value] { return known }
        let place = append(.scalar(value))
        numbers[value] = place
        return place
    }

    private mutating func append(_ object: Object) -> Int {
        objects.append(object)
        return objects.count - 1
    }

    // MARK: Layout

    private func layOut(top: Int) -> [UInt8] {
        // Wide enough for the number of objects and, below, for the place of the table, which is more than the largest
        // reference and offset need: CoreFoundation refuses lists where these two do not fit.
        let referenceWidth = Self.width(UInt64(objects.count))
        var bytes = BinaryPropertyList.header
        bytes.reserveCapacity(256)
        var offsets: [Int] = []
        offsets.reserveCapacity(objects.count)
        for object in objects {
            offsets.append(bytes.count)
            switch object {
            case .scalar(let value): Self.append(value, to: &bytes)
            case .array(let references):
                Self.append(marker: 0xA0, count: references.count, to: &bytes)
                for reference in references { Self.append(UInt64(reference), width: referenceWidth, to: &bytes) }
            case .dictionary(let keys, let values):
                Self.append(marker: 0xD0, count: keys.count, to: &bytes)
                for reference in keys { Self.append(UInt64(reference), width: referenceWidth, to: &bytes) }
                for reference in values { Self.append(UInt64(reference), width: referenceWidth, to: &bytes) }
            }
        }
        let tableStart = bytes.count
        let offsetWidth = Self.width(UInt64(tableStart))
        for offset in offsets { Self.append(UInt64(offset), width: offsetWidth, to: &bytes) }
        bytes.append(contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetWidth), UInt8(referenceWidth)])
        Self.append(UInt64(objects.count), width: 8, to: &bytes)
        Self.append(UInt64(top), width: 8, to: &bytes)
        Self.append(UInt64(tableStart), width: 8, to: &bytes)
        return bytes
    }

    private static func append(_ scalar: PropertyListValue, to bytes: inout [UInt8]) {
        switch scalar {
        case .string(let string):
            if string.utf8.allSatisfy({ $0 < 0x80 }) {
                append(marker: 0x50, count: string.utf8.count, to: &bytes)
                bytes.append(contentsOf: string.utf8)
            } else {
                append(marker: 0x60, count: string.utf16.count, to: &bytes)
                for unit in string.utf16 { append(UInt64(unit), width: 2, to: &bytes) }
            }
        case .integer(let number): append(number, to: &bytes)
        case .unsigned(let number):
            // A number that would have fit an `integer` is written like one: there is one spelling of each number.
            if let signed = Int64(exactly: number) { return append(signed, to: &bytes) }
            bytes.append(0x14)
            append(0, width: 8, to: &bytes)
            append(number, width: 8, to: &bytes)
        case .real(let number):
            bytes.append(0x23)
            append(number.bitPattern, width: 8, to: &bytes)
        case .boolean(let flag): bytes.append(flag ? 0x09 : 0x08)
        case .date(let seconds):
            bytes.append(0x33)
            append(seconds.bitPattern, width: 8, to: &bytes)
        case .data(let content):
            append(marker: 0x40, count: content.count, to: &bytes)
            bytes.append(contentsOf: content)
        case .array, .dictionary:
            preconditionFailure("a container is never numbered as a scalar: \(scalar)")
        }
    }

    /// The integer as an object: non-negative ones unsigned in as few bytes as do, negative ones in eight.
    private static func append(_ number: Int64, to bytes: inout [UInt8]) {
        let pattern = UInt64(bitPattern: number)
        let width = width(pattern)
        bytes.append(0x10 | UInt8(width.trailingZeroBitCount))
        append(pattern, width: width, to: &bytes)
    }

    private static func append(marker: UInt8, count: Int, to bytes: inout [UInt8]) {
        if count < 15 {
            bytes.append(marker | UInt8(count))
        } else {
            bytes.append(marker | 0x0F)
            append(Int64(count), to: &bytes)
        }
    }

    private static func append(_ number: UInt64, width: Int, to bytes: inout [UInt8]) {
        for place in (0..<width).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * place))) }
    }

    /// 1, 2, 4 or 8: the widths that every reader knows.
    private static func width(_ number: UInt64) -> Int {
        switch number {
        case 0...0xFF: 1
        case 0x100...0xFFFF: 2
        case 0x1_0000...0xFFFF_FFFF: 4
        default: 8
        }
    }
}
