/// One pass over the bytes of one list. See `BinaryPropertyList.swift` for what it defends against.
struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    private var budget: BinaryPropertyList.Budget
    private let offsetWidth: Int
    private let referenceWidth: Int
    private let objectCount: Int
    private let topReference: Int
    /// Where the objects end and the offset table begins.
    private let tableStart: Int

    init(_ bytes: [UInt8], limits: BinaryPropertyList.Limits) throws(PropertyListError) {
        guard bytes.starts(with: BinaryPropertyList.header) else { throw .notBinary }
        let trailer = bytes.count - BinaryPropertyList.trailerByteCount
        // At least one object of one byte and one byte of table.
        guard trailer >= BinaryPropertyList.header.count + 2 else { throw .malformed(.truncated, offset: bytes.count) }
        let offsetWidth = Int(bytes[trailer + 6])
        let referenceWidth = Int(bytes[trailer + 7])
        // CoreFoundation's writer takes the smallest number of bytes, three included; eight is the most that makes sense.
        guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth),
            let objectCount = Self.integer(bytes, at: trailer + 8, width: 8),
            let topReference = Self.integer(bytes, at: trailer + 16, width: 8),
            let tableStart = Self.integer(bytes, at: trailer + 24, width: 8)
        else { throw .malformed(.trailer, offset: trailer) }
        guard objectCount <= limits.objectCount else { throw .tooManyObjects(limit: limits.objectCount) }
        let (tableByteCount, overflow) = objectCount.multipliedReportingOverflow(by: offsetWidth)
        guard objectCount > 0, topReference < objectCount, !overflow, tableStart > BinaryPropertyList.header.count,
            tableStart <= trailer, tableByteCount == trailer - tableStart
        else { throw .malformed(.trailer, offset: trailer) }
        self.bytes = bytes
        self.offsetWidth = offsetWidth
        self.referenceWidth = referenceWidth
        self.objectCount = objectCount
        self.topReference = topReference
        self.tableStart = tableStart
        budget = BinaryPropertyList.Budget(limits)
    }

    mutating func readTop() throws(PropertyListError) -> PropertyListValue {
        try budget.spend(values: 1)
        return try readObject(topReference, depth: 0)
    }

    /// Reads one object. Its value is already paid for; what it contains is not.
    private mutating func readObject(_ reference: Int, depth: Int) throws(PropertyListError) -> PropertyListValue {
        let start = try offset(ofObject: reference)
        let marker = bytes[start]
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0: return try readSingleton(marker, at: start)
        case 0x1: return try readInteger(at: start)
        case 0x2: return .real(try readReal(low, at: start))
        case 0x3:
            guard low == 3 else { throw .malformed(.date, offset: start) }
            return .date(secondsSinceReferenceDate: Double(bitPattern: try unsigned(at: start + 1, width: 8)))
        case 0x4:
            let content = try content(at: start, unitWidth: 1)
            try budget.spend(contentBytes: content.count)
            return .data(Array(bytes[content]))
        case 0x5: return .string(try readASCII(at: start))
        case 0x6: return .string(try readUTF16(at: start))
        case 0x8: throw .unsupported(.uid, offset: start)
        case 0xA: return try readArray(at: start, depth: depth + 1)
        case 0xB, 0xC: throw .unsupported(.set, offset: start)
        case 0xD: return try readDictionary(at: start, depth: depth + 1)
        default: throw .malformed(.marker, offset: start)
        }
    }

    private func readSingleton(_ marker: UInt8, at start: Int) throws(PropertyListError) -> PropertyListValue {
        switch marker {
        case 0x00: throw .unsupported(.null, offset: start)
        case 0x08: return .boolean(false)
        case 0x09: return .boolean(true)
        case 0x0C, 0x0D: throw .unsupported(.url, offset: start)
        case 0x0E: throw .unsupported(.uuid, offset: start)
        case 0x0F: throw .unsupported(.fill, offset: start)
        default: throw .malformed(.marker, offset: start)
        }
    }

    /// 1, 2 and 4 bytes are unsigned, 8 are signed; 16 are how the writers store what only fits 64 unsigned bits.
    private func readInteger(at start: Int) throws(PropertyListError) -> PropertyListValue {
        switch bytes[start] & 0x0F {
        case 0: return .integer(Int64(try unsigned(at: start + 1, width: 1)))
        case 1: return .integer(Int64(try unsigned(at: start + 1, width: 2)))
        case 2: return .integer(Int64(try unsigned(at: start + 1, width: 4)))
        case 3: return .integer(Int64(bitPattern: try unsigned(at: start + 1, width: 8)))
        case 4:
            let upper = try unsigned(at: start + 1, width: 8)
            let lower = try unsigned(at: start + 9, width: 8)
            guard upper == 0 else { throw .malformed(.integer, offset: start) }
            return Int64(exactly: lower).map { .integer($0) } ?? .unsigned(lower)
        default: throw .malformed(.integer, offset: start)
        }
    }

    private func readReal(_ low: Int, at start: Int) throws(PropertyListError) -> Double {
        switch low {
        case 2: return Double(Float(bitPattern: UInt32(try unsigned(at: start + 1, width: 4))))
        case 3: return Double(bitPattern: try unsigned(at: start + 1, width: 8))
        default: throw .malformed(.real, offset: start)
        }
    }

    private mutating func readASCII(at start: Int) throws(PropertyListError) -> String {
        let content = try content(at: start, unitWidth: 1)
        try budget.spend(contentBytes: content.count)
        let slice = bytes[content]
        guard slice.allSatisfy({ $0 < 0x80 }) else { throw .malformed(.ascii, offset: start) }
        return String(decoding: slice, as: UTF8.self)
    }

    private mutating func readUTF16(at start: Int) throws(PropertyListError) -> String {
        let content = try content(at: start, unitWidth: 2)
        // Three bytes of UTF-8 for a unit at most; paid before they are made.
        try budget.spend(contentBytes: content.count / 2 * 3)
        var string = String.UnicodeScalarView()
        var index = content.lowerBound
        while index < content.upperBound {
            let unit = UInt32(bytes[index]) << 8 | UInt32(bytes[index + 1])
            index += 2
            if let scalar = Unicode.Scalar(unit) {
                string.append(scalar)
                continue
            }
            // A surrogate: only the first of a pair may stand here, and its second must follow.
            guard unit < 0xDC00, index < content.upperBound else { throw .malformed(.surrogate, offset: start) }
            let second = UInt32(bytes[index]) << 8 | UInt32(bytes[index + 1])
            index += 2
            let paired = 0x10000 + ((unit & 0x3FF) << 10 | second & 0x3FF)
            guard second & 0xFC00 == 0xDC00, let scalar = Unicode.Scalar(paired) else {
                throw .malformed(.surrogate, offset: start)
            }
            string.append(scalar)
        }
        return String(string)
    }

    private mutating func readArray(at start: Int, depth: Int) throws(PropertyListError) -> PropertyListValue {
        try budget.enter(depth: depth)
        let references = try content(at: start, unitWidth: referenceWidth)
        let count = references.count / referenceWidth
        try budget.spend(values: count)
        var values: [PropertyListValue] = []
        values.reserveCapacity(count)
        for index in 0..<count {
            values.append(try readObject(try reference(index, in: references), depth: depth))
        }
        return .array(values)
    }

    private mutating func readDictionary(at start: Int, depth: Int) throws(PropertyListError) -> PropertyListValue {
        try budget.enter(depth: depth)
        let references = try content(at: start, unitWidth: 2 * referenceWidth)
        let count = references.count / (2 * referenceWidth)
        try budget.spend(values: 2 * count)
        var entries: [PropertyListDictionary.Entry] = []
        entries.reserveCapacity(count)
        for index in 0..<count {
            let key = try readKey(try reference(index, in: references))
            let value = try readObject(try reference(count + index, in: references), depth: depth)
            entries.append(PropertyListDictionary.Entry(key: key, value: value))
        }
        return .dictionary(try PropertyListDictionary(entries))
    }

    private mutating func readKey(_ reference: Int) throws(PropertyListError) -> String {
        let start = try offset(ofObject: reference)
        switch bytes[start] >> 4 {
        case 0x5: return try readASCII(at: start)
        case 0x6: return try readUTF16(at: start)
        default: throw .malformed(.key, offset: start)
        }
    }
}

// Where things lie. Everything above reads through these.
extension BinaryPropertyListReader {
    /// Where the object begins; at least its marker lies inside of the objects.
    private func offset(ofObject reference: Int) throws(PropertyListError) -> Int {
        // Every reference was checked to be below `objectCount`, so this lies inside of the table.
        let place = tableStart + reference * offsetWidth
        guard let offset = Self.integer(bytes, at: place, width: offsetWidth),
            offset >= BinaryPropertyList.header.count, offset < tableStart
        else { throw .malformed(.offset, offset: place) }
        return offset
    }

    /// The reference number `index` of a container whose references fill `range`.
    private func reference(_ index: Int, in range: Range<Int>) throws(PropertyListError) -> Int {
        let place = range.lowerBound + index * referenceWidth
        guard let reference = Self.integer(bytes, at: place, width: referenceWidth), reference < objectCount else {
            throw .malformed(.reference, offset: place)
        }
        return reference
    }

    /// The bytes of the object at `start` behind its marker and count, `unitWidth` for each unit of the count.
    private func content(at start: Int, unitWidth: Int) throws(PropertyListError) -> Range<Int> {
        var count = Int(bytes[start] & 0x0F)
        var lower = start + 1
        if count == 0x0F {
            // The count does not fit the marker: an integer object follows.
            guard lower < tableStart, bytes[lower] >> 4 == 0x1, bytes[lower] & 0x0F <= 3 else {
                throw .malformed(.count, offset: start)
            }
            let width = 1 << Int(bytes[lower] & 0x0F)
            guard let long = Int(exactly: try unsigned(at: lower + 1, width: width)) else {
                throw .malformed(.count, offset: start)
            }
            count = long
            lower += 1 + width
        }
        let (byteCount, overflow) = count.multipliedReportingOverflow(by: unitWidth)
        guard !overflow, byteCount <= tableStart - lower else { throw .malformed(.objectEnd, offset: start) }
        return lower..<lower + byteCount
    }

    /// A big-endian number among the objects.
    private func unsigned(at start: Int, width: Int) throws(PropertyListError) -> UInt64 {
        guard start <= tableStart - width else { throw .malformed(.objectEnd, offset: start) }
        return Self.number(bytes, at: start, width: width)
    }

    private static func number(_ bytes: [UInt8], at start: Int, width: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in start..<start + width { number = number << 8 | UInt64(bytes[index]) }
        return number
    }

    /// A big-endian number anywhere in the list; nil when it does not fit an `Int`.
    private static func integer(_ bytes: [UInt8], at start: Int, width: Int) -> Int? {
        Int(exactly: number(bytes, at: start, width: width))
    }
}
