import Foundation
import Testing
import WireContract

@Suite("The codec") struct CodecTests {
    private func failure(_ bytes: [UInt8], limits: BinaryPropertyList.Limits = .spool) -> PropertyListError? {
        do {
            _ = try BinaryPropertyList.decode(bytes, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    private func isMalformed(_ bytes: [UInt8], _ expected: PropertyListError.Malformation) -> Bool {
        guard case .malformed(expected, _)? = failure(bytes) else { return false }
        return true
    }

    @Test("writes every edge so that it reads the same back, bit for bit")
    func edges() throws {
        let scalars: [PropertyListValue] =
            ValueMaker.strings.map { .string($0) } + ValueMaker.integers.map { .integer($0) }
            + ValueMaker.reals.map { .real($0) } + ValueMaker.dates.map { .date(secondsSinceReferenceDate: $0) }
            + [.real(Double(bitPattern: 0x7FF8_0000_0000_0001)), .real(Double(bitPattern: 0xFFF0_0000_0000_0001))]
            + [.date(secondsSinceReferenceDate: .nan), .date(secondsSinceReferenceDate: 1e300)]
            + [.unsigned(.max), .unsigned(UInt64(Int64.max) + 1), .boolean(true), .boolean(false)]
            + [0, 1, 14, 15, 255, 256, 40_000].map { .data(Array(repeating: 7, count: $0)) }
            + [.array([]), .dictionary(PropertyListDictionary())]
        for value in scalars {
            #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode(value)) == value)
        }
        let all = PropertyListValue.array(scalars)
        #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode(all)) == all)
    }

    @Test("writes the bytes that the format prescribes")
    func exactBytes() throws {
        let value = PropertyListValue.dictionary(
            PropertyListDictionary(pairs: [
                "b": .integer(1), "a": .array([.boolean(true), .string("é"), .integer(-1)]),
            ]))
        let expected: [UInt8] =
            Array("bplist00".utf8)
            + [0xD2, 1, 2, 3, 7, 0x51, 0x61, 0x51, 0x62, 0xA3, 4, 5, 6, 0x09, 0x61, 0x00, 0xE9]
            + [0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x10, 0x01]
            + [8, 13, 15, 17, 21, 22, 25, 34]
            + [0, 0, 0, 0, 0, 0, 1, 1] + RawList.bigEndian(8, width: 8) + RawList.bigEndian(0, width: 8)
            + RawList.bigEndian(36, width: 8)
        #expect(try BinaryPropertyList.encode(value) == expected)
    }

    @Test("keeps apart what a careless comparison takes for one")
    func kinds() throws {
        let nan = PropertyListValue.real(.nan)
        #expect(nan == nan)
        #expect(PropertyListValue.real(0) != .real(-0.0))
        #expect(PropertyListValue.string("é") != .string("e\u{301}"))
        #expect(PropertyListValue.integer(1) != .boolean(true))
        #expect(PropertyListValue.integer(1) != .real(1))
        #expect(PropertyListValue.real(1) != .date(secondsSinceReferenceDate: 1))
        // The writer makes one object of equal scalars: none of these may become another.
        let all = PropertyListValue.array([
            .real(0), .real(-0.0), .string("é"), .string("e\u{301}"), .integer(1), .boolean(true), .real(1),
            .date(secondsSinceReferenceDate: 1), nan, nan,
        ])
        #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode(all)) == all)
    }

    @Test("reads widths that others write: three bytes, eight bytes, counts that are too wide")
    func widths() throws {
        for width in 1...8 {
            let list = RawList(
                objects: [
                    [0xA2] + RawList.bigEndian(1, width: width) + RawList.bigEndian(2, width: width),
                    [0x5F, 0x13, 0, 0, 0, 0, 0, 0, 0, 2] + Array("ok".utf8), [0x22, 0x3F, 0xC0, 0, 0],
                ], offsetWidth: width, referenceWidth: width)
            #expect(try BinaryPropertyList.decode(list.bytes) == .array([.string("ok"), .real(1.5)]))
        }
        let wide = RawList(objects: [[0x14] + Array(repeating: 0, count: 15) + [7]])
        #expect(try BinaryPropertyList.decode(wide.bytes) == .integer(7))
    }

    @Test("refuses kinds that no dictionary of the contract has")
    func unsupported() {
        let kinds: [(UInt8, PropertyListError.UnsupportedKind)] = [
            (0x00, .null), (0x0F, .fill), (0x0C, .url), (0x0D, .url), (0x0E, .uuid), (0x80, .uid), (0xC0, .set),
            (0xB0, .set),
        ]
        for (marker, kind) in kinds {
            #expect(failure(RawList(objects: [[marker, 0]]).bytes) == .unsupported(kind, offset: 8))
        }
        for marker: UInt8 in [0x01, 0x07, 0x0A, 0x70, 0x90, 0xE0, 0xFF] {
            #expect(isMalformed(RawList(objects: [[marker, 0]]).bytes, .marker))
        }
    }

    @Test("refuses objects that contradict themselves")
    func malformedObjects() {
        let cases: [([UInt8], PropertyListError.Malformation)] = [
            ([0x15] + Array(repeating: 0, count: 32), .integer),
            ([0x14, 1] + Array(repeating: 0, count: 15), .integer),
            ([0x13, 0, 0], .objectEnd), ([0x10], .objectEnd), ([0x24] + Array(repeating: 0, count: 16), .real),
            ([0x23, 0], .objectEnd), ([0x32, 0, 0, 0, 0], .date), ([0x33, 0], .objectEnd), ([0x52, 0x61], .objectEnd),
            ([0x51, 0x80], .ascii), ([0x61, 0x00], .objectEnd), ([0x61, 0xD8, 0x00], .surrogate),
            ([0x61, 0xDC, 0x00], .surrogate), ([0x62, 0xD8, 0x00, 0x00, 0x61], .surrogate),
            ([0x62, 0xD8, 0x00, 0xD8, 0x00], .surrogate), ([0x62, 0xDC, 0x00, 0xD8, 0x00], .surrogate),
            ([0x62, 0xDC, 0x00, 0xDC, 0x00], .surrogate),
            ([0x5F], .count), ([0x5F, 0x51, 0x61], .count), ([0x5F, 0x14] + Array(repeating: 0, count: 17), .count),
            ([0x5F, 0x13] + Array(repeating: 0xFF, count: 8), .count),
            ([0x6F, 0x13, 0x7F] + Array(repeating: 0xFF, count: 7), .objectEnd),
            ([0xAF, 0x13, 0x7F] + Array(repeating: 0xFF, count: 7), .objectEnd), ([0xA1, 1], .reference),
            ([0xD1, 0], .objectEnd), ([0xD1, 0, 0], .key),
        ]
        for (object, expected) in cases {
            #expect(isMalformed(RawList(objects: [object]).bytes, expected), "\(object) is not \(expected)")
        }
    }

    @Test("refuses a trailer or an offset that points anywhere else")
    func malformedTrailer() throws {
        let good = RawList(objects: [[0x09]]).bytes
        #expect(try BinaryPropertyList.decode(good) == .boolean(true))
        let trailer = good.count - 32
        func with(_ offset: Int, _ replacement: [UInt8]) -> [UInt8] {
            var bytes = good
            bytes.replaceSubrange(trailer + offset..<trailer + offset + replacement.count, with: replacement)
            return bytes
        }
        for bad in [
            with(6, [0]), with(6, [9]), with(7, [0]), with(7, [255]), with(8, RawList.bigEndian(0, width: 8)),
            with(8, RawList.bigEndian(2, width: 8)), with(16, RawList.bigEndian(1, width: 8)),
            with(8, Array(repeating: 0xFF, count: 8)), with(16, Array(repeating: 0xFF, count: 8)),
            with(24, Array(repeating: 0xFF, count: 8)), with(24, RawList.bigEndian(8, width: 8)),
            with(24, RawList.bigEndian(10, width: 8)), with(24, RawList.bigEndian(UInt64(Int.max), width: 8)),
        ] {
            #expect(isMalformed(bad, .trailer))
        }
        for offset: UInt8 in [0, 7, 9, 255] { #expect(isMalformed(with(-1, [offset]), .offset)) }
        #expect(failure(with(8, RawList.bigEndian(UInt64(Int.max), width: 8))) == .tooManyObjects(limit: 32_768))
        for length in 0..<good.count { #expect(failure(Array(good.prefix(length))) != nil) }
    }

    @Test("refuses a dictionary that has a key twice, whether it is one object or two")
    func duplicateKeys() {
        let twoObjects = RawList(objects: [[0xD2, 1, 2, 3, 3], [0x51, 0x61], [0x51, 0x61], [0x09]])
        let oneObject = RawList(objects: [[0xD2, 1, 1, 2, 2], [0x51, 0x61], [0x09]])
        #expect(failure(twoObjects.bytes) == .duplicateKey("a"))
        #expect(failure(oneObject.bytes) == .duplicateKey("a"))
        // One accent, two spellings: two keys, for whoever wrote the list.
        let accents = RawList(objects: [[0xD2, 1, 2, 3, 3], [0x61, 0, 0xE9], [0x62, 0, 0x65, 3, 1], [0x09]])
        #expect(failure(accents.bytes) == nil)
    }

    @Test(
        "refuses text formats",
        arguments: ["<?xml version=\"1.0\"?><plist><dict/></plist>", "{ a = b; }", "", "bplist01"])
    func otherFormats(_ text: String) {
        #expect(failure(Array(text.utf8) + Array(repeating: 0, count: 64)) == .notBinary)
    }

    @Test("refuses an XML list that Foundation wrote")
    func xml() throws {
        let data = try PropertyListSerialization.data(fromPropertyList: ["v": 1], format: .xml, options: 0)
        #expect(failure([UInt8](data)) == .notBinary)
    }

    @Test("never traps on a list that was valid before it was changed")
    func mutations() throws {
        var random = SplitMix(seed: 1)
        var maker = ValueMaker(seed: 2)
        var understood = 0
        for round in 0..<500 {
            // Small ones, so that a change hits what holds the list together.
            let value = round % 10 == 0 ? .dictionary(maker.dictionary(depth: 1)) : maker.value(depth: 2)
            let valid = try BinaryPropertyList.encode(value)
            for _ in 0..<200 {
                var bytes = valid
                for _ in 0...random.below(4) {
                    switch random.below(5) {
                    case 0: bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
                    case 1: bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
                    // The trailer, which decides about everything else.
                    case 2: bytes[bytes.count - 1 - random.below(32)] = [0, 1, 0x7F, 0x80, 0xFF][random.below(5)]
                    case 3 where bytes.count > 42: bytes.remove(at: random.below(bytes.count))
                    default: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: random.below(bytes.count))
                    }
                }
                guard let value = try? BinaryPropertyList.decode(bytes) else { continue }
                understood += 1
                let again = try BinaryPropertyList.encode(value, limits: .generous)
                guard try BinaryPropertyList.decode(again, limits: .generous).sorted() == value.sorted() else {
                    Issue.record("not stable: \(bytes)")
                    return
                }
            }
        }
        #expect(understood > 1_000)
    }
}

extension BinaryPropertyList.Limits {
    /// Room for what shared containers become when they are written out.
    static let generous = BinaryPropertyList.Limits(
        byteCount: 1 << 24, depth: 64, objectCount: 1 << 20, valueCount: 1 << 20, contentByteCount: 1 << 24)
}
