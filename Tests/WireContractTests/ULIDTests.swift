import Testing
import WireContract

@Suite("A ULID") struct ULIDTests {
    @Test("has one spelling, which reads back as itself")
    func spelling() throws {
        for text in [
            "00000000000000000000000000", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "0123456789ABCDEFGHJKMNPQRS", "0TVWXYZ0000000000000000000",
        ] {
            let id = try #require(ULID(text))
            #expect(id.description == text)
            #expect(id.utf8Bytes == Array(text.utf8))
            #expect(ULID(utf8: text.utf8) == id)
            // Bytes that do not lie in one piece.
            #expect(ULID(utf8: Array(text.utf8).lazy.map { $0 }) == id)
        }
        #expect(try #require(ULID("7ZZZZZZZZZZZZZZZZZZZZZZZZZ")) == ULID(high: .max, low: .max))
        // The example of the specification, taken apart by hand: 01ARZ3NDEK is 1,469,922,850,259.
        let known = try #require(ULID("01ARZ3NDEKTSV4RRFFQ69G5FAV"))
        #expect(known.millisecondsSince1970 == 1_469_922_850_259)
        #expect(known == ULID(high: 0x0156_3E3A_B5D3_D676, low: 0x4C61_EFB9_9302_BD5B))
    }

    @Test("walks over every bit of its 128")
    func everyBit() {
        for bit in 0..<128 {
            let id = bit < 64 ? ULID(high: 0, low: 1 << UInt64(bit)) : ULID(high: 1 << UInt64(bit - 64), low: 0)
            #expect(ULID(id.description) == id, "bit \(bit)")
        }
    }

    @Test(
        "is refused in any other form",
        arguments: [
            "", "0", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAVV", "81ARZ3NDEKTSV4RRFFQ69G5FAV",
            "Z1ARZ3NDEKTSV4RRFFQ69G5FAV", "01arz3ndektsv4rrffq69g5fav", "01ARZ3NDEKTSV4RRFFQ69G5FAv",
            "01ARZ3NDEKTSV4RRFFQ69G5FAI", "01ARZ3NDEKTSV4RRFFQ69G5FAL", "01ARZ3NDEKTSV4RRFFQ69G5FAO",
            "01ARZ3NDEKTSV4RRFFQ69G5FAU", "../../../../../../etc/passw", "01ARZ3NDEKTSV4RRFFQ69G5FA/",
            "..ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FA\0", "\01ARZ3NDEKTSV4RRFFQ69G5FA",
            " 1ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAV\n", "01ARZ3NDEKTSV4RRFFQ69G5-AV",
            "０1ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5Fé",
        ])
    func refused(_ text: String) {
        #expect(ULID(text) == nil)
        #expect(ULID(utf8: Array(text.utf8)) == nil)
        #expect(ULID(utf8: Array(text.utf8).lazy.map { $0 }) == nil)
    }

    @Test("accepts of all single bytes exactly the 32 digits, and of those 8 in front")
    func alphabet() {
        let rest = Array("1ARZ3NDEKTSV4RRFFQ69G5FAV".utf8)
        let front = (UInt8.min...UInt8.max).filter { ULID(utf8: [$0] + rest) != nil }
        let back = (UInt8.min...UInt8.max).filter { ULID(utf8: [UInt8(ascii: "0")] + rest.dropLast() + [$0]) != nil }
        #expect(front == Array("01234567".utf8))
        #expect(back == Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8))
    }

    @Test("orders as its spelling does")
    func order() {
        var random = SplitMix(seed: 7)
        for _ in 0..<2_000 {
            // Often equal upper halves, so that the lower half decides.
            let a = ULID(high: random.next() % 4 << 40, low: random.next())
            let b = ULID(high: random.next() % 4 << 40, low: random.next())
            #expect((a < b) == a.utf8Bytes.lexicographicallyPrecedes(b.utf8Bytes))
        }
    }

    @Test(
        "lies in the month of its time, in UTC",
        arguments: [
            (0, "1970-01"), (951_782_399_999, "2000-02"), (951_868_799_999, "2000-02"), (951_868_800_000, "2000-03"),
            (1_709_251_199_999, "2024-02"), (1_709_251_200_000, "2024-03"), (1_735_689_599_999, "2024-12"),
            (1_735_689_600_000, "2025-01"), (4_107_542_399_999, "2100-02"), (4_107_542_400_000, "2100-03"),
            (253_402_300_799_999, "9999-12"), (253_402_300_800_000, "10000-01"), (281_474_976_710_655, "10889-08"),
        ])
    func month(_ milliseconds: UInt64, _ bucket: String) {
        #expect(ULID(high: milliseconds << 16 | 0xFFFF, low: .max).monthBucket == bucket)
    }

    @Test("has the month that counting days gives, for every day up to the year 10000")
    func everyMonth() {
        var day: UInt64 = 0
        for year in 1970...10_000 {
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            for (index, length) in [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
                let bucket = "\(year)-\(index < 9 ? "0" : "")\(index + 1)"
                let first = ULID(high: day * 86_400_000 << 16, low: 0).monthBucket
                day += UInt64(length)
                let last = ULID(high: (day * 86_400_000 - 1) << 16, low: 0).monthBucket
                guard first == bucket, last == bucket else {
                    Issue.record("\(bucket): the first day says \(first), the last \(last)")
                    return
                }
            }
        }
    }
}

@Suite("A minter") struct MinterTests {
    private let random: (UInt16, UInt64) = (0x1234, 0x5678_9ABC_DEF0_1234)

    @Test("puts the clock and the random bits into an id")
    func plain() {
        var minter = ULID.Minter()
        let id = minter.mint(millisecondsSince1970: 1_469_922_850_259, random: random)
        #expect(id.millisecondsSince1970 == 1_469_922_850_259)
        #expect(id.high & 0xFFFF == 0x1234 && id.low == 0x5678_9ABC_DEF0_1234)
    }

    @Test("increments within one millisecond")
    func sameMillisecond() {
        var minter = ULID.Minter()
        let first = minter.mint(millisecondsSince1970: 5, random: (9, 9))
        let second = minter.mint(millisecondsSince1970: 5, random: (0, 0))
        #expect(second == ULID(high: first.high, low: first.low + 1))
    }

    @Test("stays at its last time when the clock goes back, and follows it when it comes forward")
    func clockBack() {
        var minter = ULID.Minter()
        let first = minter.mint(millisecondsSince1970: 1_000, random: random)
        let second = minter.mint(millisecondsSince1970: 3, random: (0, 0))
        let third = minter.mint(millisecondsSince1970: 1_001, random: (0, 0))
        #expect(first < second && second < third)
        #expect(second.millisecondsSince1970 == 1_000)
        #expect(third == ULID(high: 1_001 << 16, low: 0))
    }

    @Test("carries into the upper random bits, and moves one millisecond on when all 80 are used up")
    func overflow() {
        var minter = ULID.Minter()
        _ = minter.mint(millisecondsSince1970: 5, random: (1, .max))
        #expect(minter.mint(millisecondsSince1970: 5, random: (0, 0)) == ULID(high: 5 << 16 | 2, low: 0))
        minter = ULID.Minter()
        let last = minter.mint(millisecondsSince1970: 5, random: (.max, .max))
        let next = minter.mint(millisecondsSince1970: 5, random: random)
        #expect(last < next)
        #expect(next == ULID(high: 6 << 16 | 0x1234, low: random.1))
    }

    @Test("answers a clock beyond the 48 bits with their last millisecond, and does not end there")
    func beyond() {
        var minter = ULID.Minter()
        let first = minter.mint(millisecondsSince1970: .max, random: (.max, .max))
        #expect(first == ULID(high: .max, low: .max))
        let second = minter.mint(millisecondsSince1970: .max, random: random)
        #expect(second.millisecondsSince1970 == ULID.maximumMilliseconds)
        #expect(second != first)
    }

    @Test("is strictly increasing over a clock that jumps about")
    func increasing() {
        var minter = ULID.Minter()
        var clock = SplitMix(seed: 3)
        var last: ULID?
        for _ in 0..<20_000 {
            let id = minter.mint(
                millisecondsSince1970: clock.next() % 64,
                random: (UInt16(truncatingIfNeeded: clock.next()) | 0xFFF0, clock.next()))
            if let last, last >= id {
                Issue.record("\(id) does not follow \(last)")
                return
            }
            last = id
        }
    }
}
