// The codec of binary property lists (bplist00): the format in which both dictionaries of the contract travel.
//
// Its reader sees bytes that anyone may have written. The format invites three attacks, and each has its bound here:
// - Offsets, counts and references that point anywhere. Every one is checked against its place before use, with
//   arithmetic that cannot overflow; all bytes are read through one bounds-checked accessor.
// - Shared references. An object may be referenced often, and an array of many references to an array of many references
//   describes 10^9 values in 200 bytes. So the work is bounded, not just the input: every value that is produced and every
//   byte that is copied counts, and a container pays for all its children before room is reserved for them.
// - Nesting and cycles. Depth is bounded; a container that contains itself is just too deep.
//
// The format itself is described in the open source of CoreFoundation (CFBinaryPList.c) and in Python's plistlib.

/// Reads and writes binary property lists, version `bplist00`. Pure: same value, same bytes.
package enum BinaryPropertyList {
    /// How much a property list may ask of its reader. The writer keeps the same bounds, so that what it writes can be read.
    package struct Limits: Hashable, Sendable {
        /// Bytes of the encoded list.
        package var byteCount: Int
        /// Containers inside each other; a lone string has depth 0, an empty dictionary 1.
        package var depth: Int
        /// Objects in the offset table.
        package var objectCount: Int
        /// Values, keys included, after shared references are written out.
        package var valueCount: Int
        /// UTF-8 bytes of strings plus bytes of data, after shared references are written out.
        package var contentByteCount: Int

        package init(byteCount: Int, depth: Int, objectCount: Int, valueCount: Int, contentByteCount: Int) {
            self.byteCount = byteCount
            self.depth = depth
            self.objectCount = objectCount
            self.valueCount = valueCount
            self.contentByteCount = contentByteCount
        }

        /// The bounds for a dictionary of the contract. A list of at most 65,536 bytes without shared references meets none
        /// of the others but the depth: an object and its place in the table take two bytes at least, a UTF-16 unit of two
        /// bytes becomes at most three of UTF-8.
        package static let spool = Limits(
            byteCount: TransferLimit.dictionaryByteCount, depth: 32, objectCount: 32_768, valueCount: 65_536,
            contentByteCount: 262_144)
    }

    /// The value as a binary property list, the same bytes every time: keys sorted by their UTF-8, equal scalars written
    /// once, integers in 1, 2, 4 or 8 bytes (16 above `Int64.max`), strings as ASCII or UTF-16, reals and dates in 8 bytes.
    package static func encode(
        _ value: PropertyListValue, limits: Limits = .spool
    ) throws(PropertyListError) -> [UInt8] {
        var writer = BinaryPropertyListWriter(limits: limits)
        return try writer.write(value)
    }

    /// The value that the bytes hold. Reads what Apple's and Python's writers produce for the kinds of
    /// `PropertyListValue`; throws for everything else, and never does more work than `limits` allow.
    package static func decode(
        _ bytes: some Collection<UInt8>, limits: Limits = .spool
    ) throws(PropertyListError) -> PropertyListValue {
        // Before the copy: the caller may hold a mapped file of any size. For an array this copies nothing.
        guard bytes.count <= limits.byteCount else {
            throw .tooLarge(byteCount: bytes.count, limit: limits.byteCount)
        }
        return try decode(Array(bytes), limits: limits)
    }

    /// What nearly every caller has. (Another module would run the general one unspecialised.)
    package static func decode(
        _ bytes: [UInt8], limits: Limits = .spool
    ) throws(PropertyListError) -> PropertyListValue {
        guard bytes.count <= limits.byteCount else {
            throw .tooLarge(byteCount: bytes.count, limit: limits.byteCount)
        }
        var reader = try BinaryPropertyListReader(bytes, limits: limits)
        return try reader.readTop()
    }

    /// What the bounds still allow. Shared by both directions, so that they agree on what a value costs.
    struct Budget {
        private let limits: Limits
        private var values: Int
        private var contentBytes: Int

        init(_ limits: Limits) {
            self.limits = limits
            values = limits.valueCount
            contentBytes = limits.contentByteCount
        }

        mutating func spend(values count: Int) throws(PropertyListError) {
            guard count <= values else { throw .tooManyValues(limit: limits.valueCount) }
            values -= count
        }

        mutating func spend(contentBytes count: Int) throws(PropertyListError) {
            guard count <= contentBytes else { throw .tooManyContentBytes(limit: limits.contentByteCount) }
            contentBytes -= count
        }

        func enter(depth: Int) throws(PropertyListError) {
            guard depth <= limits.depth else { throw .tooDeep(limit: limits.depth) }
        }
    }

    static let header: [UInt8] = Array("bplist00".utf8)
    static let trailerByteCount = 32
}
