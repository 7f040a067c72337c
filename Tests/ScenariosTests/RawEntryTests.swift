import Scenarios
import Spooling
import Testing
import WireContract

@Suite("What a scenario makes of bytes")
struct RawEntryTests {
    private func note(_ raw: RawBytes, index: Int = 1) -> RawEntry {
        rawEnvelope(raw, kind: .note, pairing: PairingID(rawValue: 7), seed: 3, index: index)
    }

    @Test("audio is a function of seed and ordinal, differs in its head, and has any size")
    func audio() {
        let first = ScenarioAudio.bytes(seed: 1, ordinal: 1, byteCount: 1_000)
        #expect(first == ScenarioAudio.bytes(seed: 1, ordinal: 1, byteCount: 1_000))
        #expect(first != ScenarioAudio.bytes(seed: 1, ordinal: 2, byteCount: 1_000))
        #expect(first != ScenarioAudio.bytes(seed: 2, ordinal: 1, byteCount: 1_000))
        #expect((64..<1_000).allSatisfy { first[$0] == UInt8(($0 - 64) % 251) })
        for byteCount in [0, 1, 64, 65, 315, 316, 700] {
            #expect(ScenarioAudio.bytes(seed: 1, ordinal: 1, byteCount: byteCount) == Array(first.prefix(byteCount)))
        }
    }

    @Test("a dictionary of so many bytes has exactly so many, and up to 65,536 are carried")
    func sizes() throws {
        for byteCount in [60, 61, 62, 75, 76, 77, 78, 318, 319, 320, 321, 65_535, 65_536] {
            let entry = note(.sized(byteCount))
            let seal = try Seal(entry.bytes.suffix(Seal.byteCount), fileByteCount: UInt64(entry.bytes.count))
            #expect(Int(seal.dictionaryByteCount) == byteCount)
            #expect(entry.isCarriable && entry.id == nil)
            let dictionary = entry.bytes.dropLast(Seal.byteCount).suffix(byteCount)
            #expect(throws: Never.self) { try BinaryPropertyList.decode(dictionary) }
        }
        let tooLarge = note(.sized(65_537))
        #expect(!tooLarge.isCarriable)
        #expect(throws: EnvelopeFault.dictionaryTooLarge) {
            try Seal(tooLarge.bytes.suffix(Seal.byteCount), fileByteCount: UInt64(tooLarge.bytes.count))
        }
    }

    @Test("what no property list holds is refused for its type, and is not carried")
    func unsupported() throws {
        let entry = note(.unsupported)
        let seal = try Seal(entry.bytes.suffix(Seal.byteCount), fileByteCount: UInt64(entry.bytes.count))
        let dictionary = entry.bytes.dropLast(Seal.byteCount).suffix(Int(seal.dictionaryByteCount))
        #expect(throws: PropertyListError.unsupported(.uuid, offset: 14)) {
            try BinaryPropertyList.decode(dictionary)
        }
        #expect(!entry.isCarriable)
    }

    @Test("an id that the dictionary names is the name's too; without one the name has its own, each time another")
    func names() throws {
        let id = try #require(ULID("01ARZ3NDEKTSV4RRFFQ69G5FAV"))
        var dictionary = PropertyListDictionary()
        dictionary["ackV"] = .integer(1)
        dictionary["ackID"] = .string(id.description)
        let ack = rawEnvelope(
            .dictionary(dictionary), kind: .ack, pairing: PairingID(rawValue: 7), seed: 3, index: 1)
        #expect(ack.id == id && ack.nameID == id && ack.version == 1)
        #expect(EntryName(ack.entryName.fileName) == ack.entryName)
        let seal = try Seal(ack.bytes.suffix(Seal.byteCount), fileByteCount: UInt64(ack.bytes.count))
        #expect(seal.pairing == PairingID(rawValue: 7) && seal.bodyByteCount == 0)

        let (first, second) = (note(.text("no list"), index: 1), note(.text("no list"), index: 2))
        #expect(first.id == nil && first.nameID != second.nameID && first.checksums != second.checksums)
        #expect(first == note(.text("no list"), index: 1))
    }
}
