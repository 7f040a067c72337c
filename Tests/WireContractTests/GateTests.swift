import Foundation
import Testing
import WireContract

private let noteID = "01JA2B3C4D5E6F7G8H9JKMNPQR"

@Suite("An audio note's metadata") struct AudioNotePayloadTests {
    private let payload = AudioNotePayload(
        id: noteID, recordedAt: Date(timeIntervalSinceReferenceDate: 756_864_000.123456789), duration: 12.5,
        timeZoneID: "Europe/Berlin")

    @Test("survives a trip through Foundation's binary property list unchanged, the date to its last bit")
    func roundTrip() throws {
        var random = SplitMix(seed: 5)
        for _ in 0..<500 {
            var sent = payload
            // Any date of the contract, with every bit of its fraction in use.
            let seconds = Double(random.next() >> 11) / 0x1p53 * 253_402_300_800 - 978_307_200
            sent.recordedAt = Date(timeIntervalSinceReferenceDate: seconds)
            sent.duration = Double(random.next() >> 11) / 0x1p53 * 7_200
            sent.timeZoneID = random.below(2) == 0 ? nil : "America/Argentina/Buenos_Aires"
            let data = try PropertyListSerialization.data(
                fromPropertyList: sent.metadata(), format: .binary, options: 0)
            let received = try #require(
                try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
            let read = try #require(AudioNotePayload(metadata: received))
            #expect(read == sent)
            #expect(
                read.recordedAt.timeIntervalSinceReferenceDate.bitPattern
                    == sent.recordedAt.timeIntervalSinceReferenceDate.bitPattern)
            // And the same through the pair's own codec.
            let bytes = try BinaryPropertyList.encode(.dictionary(sent.dictionary(version: 1)))
            guard case .dictionary(let decoded) = try BinaryPropertyList.decode(bytes) else {
                Issue.record("no dictionary")
                return
            }
            let id = try #require(ULID(noteID))
            #expect(
                AudioNotePayload.read(decoded, understands: 1) == .understood(payload: sent, id: id, version: 1))
        }
    }

    @Test("is read as it stands in memory, before any trip")
    func inMemory() {
        #expect(AudioNotePayload(metadata: payload.metadata()) == payload)
        #expect(Set(payload.metadata().keys) == ["v", "id", "recordedAt", "duration", "tz"])
        let unknownZone = AudioNotePayload(id: noteID, recordedAt: payload.recordedAt, duration: 1)
        #expect(Set(unknownZone.metadata().keys) == ["v", "id", "recordedAt", "duration"])
    }

    /// Each line of the gate: what is changed in a good dictionary, and what the reader says.
    static let lines:
        [(change: String, key: String, value: PropertyListValue?, understands: Int, reason: GateReason?)] =
            [
                ("nothing", "v", .integer(1), 1, nil),
                ("no version", "v", nil, 1, .versionMissing),
                ("true as version", "v", .boolean(true), 1, .versionNotAnInteger),
                ("real version", "v", .real(1), 1, .versionNotAnInteger),
                ("text version", "v", .string("1"), 1, .versionNotAnInteger),
                ("version 0", "v", .integer(0), 1, .versionBelowOne(0)),
                ("version -1", "v", .integer(-1), 1, .versionBelowOne(-1)),
                ("smallest version", "v", .integer(.min), 1, .versionBelowOne(Int(clamping: Int64.min))),
                ("version 2", "v", .integer(2), 1, .versionUnknown(2)),
                ("version 2 for a later build", "v", .integer(2), 2, nil),
                ("version 1 for a later build", "v", .integer(1), 2, nil),
                ("version 3 for a later build", "v", .integer(3), 2, .versionUnknown(3)),
                ("version 1 for a build that understands none", "v", .integer(1), 0, .versionUnknown(1)),
                ("largest version", "v", .unsigned(.max), 1, .versionUnknown(.max)),
                ("no id", "id", nil, 1, .fieldMissing("id")),
                ("id of another type", "id", .data(Array(noteID.utf8)), 1, .fieldMalformed("id")),
                ("id with a slash", "id", .string("01JA2B3C4D5E6F7G8H9JKMNP/R"), 1, .fieldMalformed("id")),
                ("id that climbs", "id", .string("../../../../../../etc/passw"), 1, .fieldMalformed("id")),
                ("id with dots", "id", .string(".."), 1, .fieldMalformed("id")),
                ("id with NUL", "id", .string("01JA2B3C4D5E6F7G8H9JKMNPQ\0"), 1, .fieldMalformed("id")),
                ("id in lower case", "id", .string(noteID.lowercased()), 1, .fieldMalformed("id")),
                ("id of 27 characters", "id", .string(noteID + "0"), 1, .fieldMalformed("id")),
                ("id that begins with 8", "id", .string("8" + noteID.dropFirst()), 1, .fieldMalformed("id")),
                ("id with I", "id", .string(noteID.dropLast() + "I"), 1, .fieldMalformed("id")),
                ("id with L", "id", .string(noteID.dropLast() + "L"), 1, .fieldMalformed("id")),
                ("id with O", "id", .string(noteID.dropLast() + "O"), 1, .fieldMalformed("id")),
                ("id with U", "id", .string(noteID.dropLast() + "U"), 1, .fieldMalformed("id")),
                ("no date", "recordedAt", nil, 1, .fieldMissing("recordedAt")),
                ("real as date", "recordedAt", .real(0), 1, .fieldMalformed("recordedAt")),
                ("text as date", "recordedAt", .string("2025-06-01"), 1, .fieldMalformed("recordedAt")),
                ("NaN as date", "recordedAt", .date(secondsSinceReferenceDate: .nan), 1, .fieldMalformed("recordedAt")),
                (
                    "infinite date", "recordedAt", .date(secondsSinceReferenceDate: .infinity), 1,
                    .fieldMalformed("recordedAt")
                ),
                (
                    "1e300 as date", "recordedAt", .date(secondsSinceReferenceDate: 1e300), 1,
                    .fieldMalformed("recordedAt")
                ),
                ("first instant of 1970", "recordedAt", .date(secondsSinceReferenceDate: -978_307_200), 1, nil),
                (
                    "last of 1969", "recordedAt", .date(secondsSinceReferenceDate: -978_307_200.001), 1,
                    .fieldMalformed("recordedAt")
                ),
                ("last instant of 9999", "recordedAt", .date(secondsSinceReferenceDate: 252_423_993_599.999), 1, nil),
                (
                    "year 10000", "recordedAt", .date(secondsSinceReferenceDate: 252_423_993_600), 1,
                    .fieldMalformed("recordedAt")
                ),
                ("no duration", "duration", nil, 1, .fieldMissing("duration")),
                ("integer duration", "duration", .integer(12), 1, nil),
                ("zero duration", "duration", .real(0), 1, nil),
                ("negative duration", "duration", .real(-0.001), 1, .fieldMalformed("duration")),
                ("negative integer duration", "duration", .integer(-1), 1, .fieldMalformed("duration")),
                ("NaN duration", "duration", .real(.nan), 1, .fieldMalformed("duration")),
                ("infinite duration", "duration", .real(.infinity), 1, .fieldMalformed("duration")),
                ("true as duration", "duration", .boolean(true), 1, .fieldMalformed("duration")),
                ("text as duration", "duration", .string("12"), 1, .fieldMalformed("duration")),
                ("zone of another type", "tz", .integer(2), 1, nil),
                ("unknown key", "mood", .array([.string("good")]), 1, nil),
            ]

    @Test("meets the same gate inside the pair and in an app", arguments: lines.indices)
    func gate(_ index: Int) throws {
        let line = Self.lines[index]
        var dictionary = payload.dictionary(version: 1)
        dictionary[line.key] = line.value
        let verdict = AudioNotePayload.read(dictionary, understands: line.understands)
        let name = Comment(rawValue: line.change)
        switch (verdict, line.reason) {
        case (.understood(let read, let id, let version), nil):
            #expect(read.id == noteID && id.description == noteID, name)
            #expect(dictionary["v"] == .integer(Int64(version)), name)
            #expect(read.timeZoneID == (line.key == "tz" ? nil : "Europe/Berlin"), name)
        case (.waits(let reason, let id), let expected?):
            #expect(reason == expected, name)
            // It waits under its own name unless the name is what is wrong with it.
            #expect(id == (line.key == "id" ? nil : ULID(noteID)), name)
        case (.understood, _?), (.waits, nil): Issue.record("\(line.change): \(verdict)")
        }

        // The app's reader understands `currentVersion` only, in memory and after a trip through Foundation.
        guard line.understands == AudioNotePayload.currentVersion else { return }
        let metadata = foundationDictionary(of: dictionary)
        #expect((AudioNotePayload(metadata: metadata) == nil) == (line.reason != nil), name)
        let data = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        let trip = try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        #expect((AudioNotePayload(metadata: trip) == nil) == (line.reason != nil), name)
    }

    @Test("is refused when two things are wrong for the first of them, and still has its id")
    func order() {
        var dictionary = payload.dictionary(version: 9)
        dictionary["recordedAt"] = nil
        let verdict = AudioNotePayload.read(dictionary, understands: 1)
        #expect(verdict == .waits(reason: .versionUnknown(9), id: ULID(noteID)))
        #expect(
            AudioNotePayload.read(PropertyListDictionary(), understands: 1) == .waits(reason: .versionMissing, id: nil))
    }

    @Test("is not made better by its writer: a malformed id is written, and refused by the reader")
    func malformedID() {
        let bad = AudioNotePayload(id: "../x", recordedAt: payload.recordedAt, duration: .nan)
        #expect(bad.metadata()["id"] as? String == "../x")
        #expect(AudioNotePayload(metadata: bad.metadata()) == nil)
    }
}

@Suite("An ack's userInfo") struct IngestAckTests {
    @Test("survives a trip through Foundation's binary property list unchanged")
    func roundTrip() throws {
        let ack = IngestAck(id: noteID)
        #expect(Set(ack.userInfo().keys) == ["ackV", "ackID"])
        let data = try PropertyListSerialization.data(fromPropertyList: ack.userInfo(), format: .binary, options: 0)
        let trip = try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        #expect(IngestAck(userInfo: trip) == ack)
        #expect(IngestAck(userInfo: ack.userInfo()) == ack)
    }

    static let lines: [(ackV: PropertyListValue?, ackID: PropertyListValue?, understands: Int, reason: GateReason?)] = [
        (.integer(1), .string(noteID), 1, nil),
        (.integer(2), .string(noteID), 2, nil),
        (.integer(2), .string(noteID), 1, .versionUnknown(2)),
        (nil, .string(noteID), 1, .versionMissing),
        (.boolean(true), .string(noteID), 1, .versionNotAnInteger),
        (.integer(0), .string(noteID), 1, .versionBelowOne(0)),
        (.integer(1), nil, 1, .fieldMissing("ackID")),
        (.integer(1), .integer(7), 1, .fieldMalformed("ackID")),
        (.integer(1), .string(noteID.lowercased()), 1, .fieldMalformed("ackID")),
        (.integer(1), .string("../\(noteID)"), 1, .fieldMalformed("ackID")),
    ]

    @Test("meets the same gate", arguments: lines.indices)
    func gate(_ index: Int) throws {
        let line = Self.lines[index]
        var dictionary = PropertyListDictionary(pairs: ["later": .boolean(true)])
        dictionary["ackV"] = line.ackV
        dictionary["ackID"] = line.ackID
        switch IngestAck.read(dictionary, understands: line.understands) {
        case .understood(let ack, let id, _):
            #expect(line.reason == nil && ack.id == noteID && id == ULID(noteID))
        case .waits(let reason, let id):
            #expect(reason == line.reason)
            #expect(id == (line.ackID == .string(noteID) ? ULID(noteID) : nil))
        }
        guard line.understands == IngestAck.currentVersion else { return }
        #expect((IngestAck(userInfo: foundationDictionary(of: dictionary)) == nil) == (line.reason != nil))
    }

    @Test("is no payload, and a payload is no ack")
    func strangers() {
        let payload = AudioNotePayload(id: noteID, recordedAt: Date(timeIntervalSinceReferenceDate: 0), duration: 1)
        #expect(IngestAck(userInfo: payload.metadata()) == nil)
        #expect(AudioNotePayload(metadata: IngestAck(id: noteID).userInfo()) == nil)
    }
}

@Suite("The bridge from an app's dictionary") struct BridgeTests {
    @Test("refuses what is no property list with 7010, however deep it lies")
    func unsupported() {
        struct Strange {}
        let strangers: [Any] = [
            Strange(), NSNull(), URL(fileURLWithPath: "/"), UUID(), [1, Strange()] as [Any], ["a": [Strange()]],
            [1: "number as key"], Int?.none as Any, Set([1]),
        ]
        for (index, stranger) in strangers.enumerated() {
            #expect(throws: TransferError.payloadUnsupportedTypes, "number \(index)") {
                try PropertyListDictionary(bridging: ["x": stranger])
            }
        }
        #expect(TransferError.payloadUnsupportedTypes.rawValue == 7010)
    }

    @Test("takes Foundation's classes for what they hold")
    func classes() throws {
        let dictionary = try PropertyListDictionary(bridging: [
            "string": NSString("text"), "date": NSDate(timeIntervalSinceReferenceDate: 1.5),
            "data": NSData(data: Data([1])),
            "array": NSArray(array: [NSNumber(value: true), NSNumber(value: 1)]),
            "dictionary": NSDictionary(dictionary: ["a": NSNumber(value: 1.0)]),
        ])
        let expected = PropertyListDictionary(pairs: [
            "array": .array([.boolean(true), .integer(1)]), "data": .data([1]),
            "date": .date(secondsSinceReferenceDate: 1.5),
            "dictionary": .dictionary(PropertyListDictionary(pairs: ["a": .real(1)])), "string": .string("text"),
        ])
        #expect(dictionary == expected)
    }

    @Test("ends at the depth that the pair reads, instead of at the end of the stack")
    func deep() {
        var deep: Any = 1
        for _ in 0..<5_000 { deep = [deep] }
        #expect(throws: TransferError.invalidParameter) { try PropertyListDictionary(bridging: ["x": deep]) }
    }

    @Test("does not let a strange value in an unknown key spoil a payload")
    func strangeExtra() {
        var metadata = AudioNotePayload(id: noteID, recordedAt: Date(timeIntervalSinceReferenceDate: 0), duration: 1)
            .metadata()
        metadata["extra"] = NSNull()
        metadata["tz"] = NSNull()
        #expect(AudioNotePayload(metadata: metadata)?.id == noteID)
        metadata["duration"] = NSNull()
        #expect(AudioNotePayload(metadata: metadata) == nil)
    }

    @Test("is about numbers that Apple's page lists")
    func numbers() {
        #expect(TransferError.allCases.map { $0.rawValue } == Array(7001...7017))
        #expect("\(TransferError.payloadTooLarge)" == "payloadTooLarge (7009)")
    }
}
