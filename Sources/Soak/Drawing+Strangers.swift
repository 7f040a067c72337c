import Scenarios
import Spooling
import WireContract

// Bytes of somebody else: noise, dictionaries that are nearly right, and those of builds to come.

extension Drawing {
    mutating func drawStrangers() {
        // A few ids for all of them, so that one comes twice with other bytes.
        let ids = (0..<3).map { _ in
            ULID(high: dice.word() & 0x00FF_FFFF_FFFF_FFFF, low: dice.word()).description
        }
        if has(.rawMetadata) {
            var sent: [RawBytes] = []
            for _ in 0..<strikes(6) {
                let at = anyMoment()
                // What a stranger sent comes again as it was: what waits is to be kept once.
                let isSentAgain = !sent.isEmpty && dice.happens(0.3)
                let raw = isSentAgain ? dice.one(of: sent) : drawRaw { drawPayload(ids, &$0) }
                sent.append(raw)
                add(.rawMetadata(raw), at: at)
            }
        }
        if has(.rawUserInfo) {
            for _ in 0..<strikes(6) {
                let at = anyMoment()
                add(.rawUserInfo(drawRaw { drawAck(ids, &$0) }), at: at)
            }
        }
    }

    /// Half of them nearly right.
    private mutating func drawRaw(_ nearlyRight: (inout Dice) -> PropertyListDictionary) -> RawBytes {
        let noise: [RawBytes] = [
            .hex(dice.bytes(dice.scaled(1...2_000))),
            .hex(Array("bplist00".utf8) + dice.bytes(dice.scaled(1...200))),
            .text(dice.one(of: ["not a property list", "<plist/>", "{ v = 1; }", "bplist00"])),
            .sized(dice.one(of: [1, 42, 4_096, 65_535, 65_536, 65_537, 100_000])), .unsupported,
        ]
        // Sorted, as a scenario file is read.
        return dice.happens(0.5) ? dice.one(of: noise) : .dictionary(nearlyRight(&dice).sorted())
    }
}

private func drawPayload(_ ids: [String], _ dice: inout Dice) -> PropertyListDictionary {
    drawDictionary(
        [
            ("v", .integer(1)), ("id", .string(dice.one(of: ids))),
            ("recordedAt", .date(secondsSinceReferenceDate: Double(dice.number(0...900_000_000)))),
            ("duration", .real(Double(dice.number(0...10_000)) / 8)), ("tz", .string("Europe/Berlin")),
        ], version: "v", &dice)
}

private func drawAck(_ ids: [String], _ dice: inout Dice) -> PropertyListDictionary {
    drawDictionary([("ackV", .integer(1)), ("ackID", .string(dice.one(of: ids)))], version: "ackV", &dice)
}

/// As it should be, with a field missing, of another value, or of another version.
private func drawDictionary(
    _ fields: [(String, PropertyListValue)], version: String, _ dice: inout Dice
) -> PropertyListDictionary {
    var dictionary = PropertyListDictionary()
    for (key, value) in fields {
        if dice.happens(0.1) { continue }
        dictionary[key] = dice.happens(0.1) ? drawValue(&dice) : value
    }
    if dice.happens(0.4) { dictionary[version] = .integer(Int64(dice.one(of: [0, 2, 3, 4, 5, 99, 1_000_000]))) }
    if dice.happens(0.2) { dictionary["later"] = drawValue(&dice) }
    return dictionary
}

private func drawValue(_ dice: inout Dice) -> PropertyListValue {
    let values: [PropertyListValue] = [
        .string(dice.one(of: ["", "no ULID", "../../etc", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "é\u{1}"])),
        .integer(dice.one(of: [-.max, -1, 0, 1, 2, .max])), .unsigned(.max),
        .real(dice.one(of: [-1, 0.5, 1e300, -1e300, 1e-300])), .boolean(dice.happens(0.5)),
        .date(secondsSinceReferenceDate: dice.one(of: [-1e12, -978_307_201, 0, 252_423_993_600, 1e300])),
        .data(dice.bytes(dice.number(0...40))), .array([.integer(1), .string("two")]),
        .dictionary(PropertyListDictionary()),
    ]
    return dice.one(of: values)
}
