import Testing
import WireContract

@Suite("The codec's bounds") struct BoundsTests {
    private func failure(_ bytes: [UInt8]) -> PropertyListError? {
        do {
            _ = try BinaryPropertyList.decode(bytes)
            return nil
        } catch {
            return error
        }
    }

    /// A list in which each of `levels` arrays holds the next one `fan` times, and the last holds one boolean.
    private func bomb(levels: Int, fan: Int) -> [UInt8] {
        var list = RawList(offsetWidth: levels * (fan + 1) < 240 ? 1 : 2)
        for level in 0..<levels {
            list.objects.append([0xA0 | UInt8(fan)] + Array(repeating: UInt8(level + 1), count: fan))
        }
        list.objects.append([0x09])
        return list.bytes
    }

    @Test("stop a bomb of shared references, 167 bytes that describe 10^9 values", .timeLimit(.minutes(1)))
    func sharedReferenceBomb() {
        let bytes = bomb(levels: 9, fan: 10)
        #expect(bytes.count <= 167)
        #expect(failure(bytes) == .tooManyValues(limit: 65_536))
        // 14^30 values: without the bound this would not end.
        #expect(failure(bomb(levels: 30, fan: 14)) == .tooManyValues(limit: 65_536))
        // The same shape, small enough.
        #expect(failure(bomb(levels: 4, fan: 10)) == nil)
    }

    @Test("stop a short list that repeats a long string", .timeLimit(.minutes(1)))
    func repeatedString() {
        for object in [
            [0x5F, 0x11, 0x75, 0x30] + Array(repeating: UInt8(0x61), count: 30_000),
            [0x4F, 0x11, 0x75, 0x30] + Array(repeating: UInt8(0x61), count: 30_000),
            [0x6F, 0x11, 0x3A, 0x98] + Array(repeating: UInt8(0x61), count: 30_000),
        ] {
            let count = 5_000
            let array =
                [0xAF, 0x11] + RawList.bigEndian(UInt64(count), width: 2) + Array(repeating: UInt8(1), count: count)
            let list = RawList(objects: [array, object], offsetWidth: 2)
            #expect(failure(list.bytes) == .tooManyContentBytes(limit: 262_144))
        }
    }

    @Test("stop containers that contain themselves, at once or by a detour", .timeLimit(.minutes(1)))
    func cycles() {
        #expect(failure(RawList(objects: [[0xA1, 0]]).bytes) == .tooDeep(limit: 32))
        #expect(failure(RawList(objects: [[0xD1, 1, 0], [0x51, 0x61]]).bytes) == .tooDeep(limit: 32))
        #expect(failure(RawList(objects: [[0xA1, 1], [0xD1, 2, 0], [0x51, 0x61]]).bytes) == .tooDeep(limit: 32))
        let wide = RawList(objects: [[0xAE] + Array(repeating: 0, count: 14)])
        #expect(failure(wide.bytes) != nil)
    }

    @Test("stop deep nesting, in both directions")
    func depth() throws {
        func nested(_ depth: Int) -> PropertyListValue {
            (0..<depth).reduce(.boolean(true)) { inner, level in
                level % 2 == 0 ? .array([inner]) : .dictionary(PropertyListDictionary(pairs: ["x": inner]))
            }
        }
        let limit = BinaryPropertyList.Limits.spool.depth
        #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode(nested(limit))) == nested(limit))
        #expect(throws: PropertyListError.tooDeep(limit: limit)) { try BinaryPropertyList.encode(nested(limit + 1)) }
        let deep = try BinaryPropertyList.encode(nested(limit + 1), limits: .generous)
        #expect(failure(deep) == .tooDeep(limit: limit))
        // A chain as long as a list of its size can hold, which would overflow the stack of a reader without a bound.
        let chain = RawList(
            objects: (1...10_000).map { [0xA1] + RawList.bigEndian(UInt64($0), width: 2) } + [[0x09]],
            offsetWidth: 2, referenceWidth: 2)
        #expect(failure(chain.bytes) == .tooDeep(limit: limit))
    }

    @Test("are 65,536 bytes for a dictionary, to the byte")
    func size() throws {
        func dictionary(_ count: Int) -> PropertyListDictionary {
            PropertyListDictionary(pairs: ["a": .data(Array(repeating: 1, count: count))])
        }
        let overhead = try BinaryPropertyList.encode(.dictionary(dictionary(60_000))).count - 60_000
        let largest = TransferLimit.dictionaryByteCount - overhead
        let bytes = try TransferLimit.encode(dictionary(largest))
        #expect(bytes.count == 65_536)
        #expect(try BinaryPropertyList.decode(bytes) == .dictionary(dictionary(largest)))
        #expect(throws: TransferError.payloadTooLarge) { try TransferLimit.encode(dictionary(largest + 1)) }
        #expect(failure(bytes + [0]) == .tooLarge(byteCount: 65_537, limit: 65_536))
    }

    @Test("are no bound for a list of that size without shared references")
    func fullList() throws {
        // As many references as fit, all to one boolean: a list that a writer may well write.
        let flags = PropertyListValue.array(Array(repeating: .boolean(true), count: 65_000))
        #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode(flags)) == flags)
        // As much text as fits, in the script that takes most UTF-8 for its UTF-16.
        let text = PropertyListValue.string(String(repeating: "日", count: 32_700))
        #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode(text)) == text)
        // As many objects as fit.
        let numbers = PropertyListValue.array((0..<9_000).map { .integer($0) })
        #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode(numbers)) == numbers)
    }

    @Test("hold for the writer too: what it writes, the reader reads")
    func writerAgrees() throws {
        let long = PropertyListValue.string(String(repeating: "a", count: 30_000))
        let shared = PropertyListDictionary(pairs: ["a": .array(Array(repeating: long, count: 100))])
        #expect(throws: PropertyListError.tooManyContentBytes(limit: 262_144)) {
            try BinaryPropertyList.encode(.dictionary(shared))
        }
        #expect(throws: TransferError.invalidParameter) { try TransferLimit.encode(shared) }
        let many = PropertyListDictionary(pairs: ["a": .array(Array(repeating: .boolean(true), count: 70_000))])
        #expect(throws: TransferError.payloadTooLarge) { try TransferLimit.encode(many) }
    }
}
