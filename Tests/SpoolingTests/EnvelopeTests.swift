import Simulation
import Spooling
import Testing
import WireContract

/// What a delivery is believed, and what it takes for that.
struct EnvelopeTests {
    /// A usual dictionary, and `byteCount` bytes of data in it.
    private func dictionary(padding byteCount: Int) throws -> [UInt8] {
        let padding = PropertyListDictionary.Entry(
            key: "padding", value: .data([UInt8](repeating: 7, count: byteCount)))
        return try TransferLimit.encode(PropertyListDictionary(sampleEntries + (byteCount > 0 ? [padding] : [])))
    }

    /// As the phone judges a delivery: seal and dictionary, then the body. `nil` when it is sound.
    private func fault(of bytes: [UInt8], expecting kind: EnvelopeKind = .note) throws -> EnvelopeFault? {
        let disk = SimulatedFileSystem()
        let root = try disk.openRoot("/s", create: true)
        try disk.plant("/s/e", bytes: bytes)
        let own = try disk.openOurs("e", in: root)
        switch try disk.inspect(own.file, byteCount: own.byteCount, expecting: kind) {
        case .faulty(let fault): return fault
        case .envelope(let envelope):
            let carrier = SliceCarrier(fileSystem: disk, shouldStop: { false })
            let sums = try carrier.checksums(of: own.file, from: 0, byteCount: envelope.seal.bodyByteCount)
            guard sums == envelope.seal.bodyChecksums else { return .bodyAltered }
            #expect(Array(bytes.suffix(Seal.byteCount)) == envelope.seal.bytes)
            return nil
        }
    }

    @Test("what is sealed reads back: any body, any dictionary, any extension")
    func roundTrip() throws {
        for bodyByteCount in [0, 1, 63, 64, 959, 960, 1_024, 5_000] {
            for padding in [0, 100, 900, 1_100, 60_000] {
                for ending in ["", "m4a", "WAV", "8letters"] {
                    let encoded = try dictionary(padding: padding)
                    let body = SplitMix64.bytes(seed: UInt64(bodyByteCount), bodyByteCount)
                    let seal = Seal(
                        kind: .note, bodyByteCount: UInt64(body.count), bodyChecksums: Checksums(of: body),
                        dictionary: encoded, pairing: PairingID(rawValue: 3),
                        fileExtension: try #require(FileExtension(ending)))
                    let bytes = body + encoded + seal.bytes
                    #expect(seal.bytes.count == Seal.byteCount)
                    #expect(seal.envelopeByteCount == UInt64(bytes.count))
                    #expect(try Seal(seal.bytes[...], fileByteCount: UInt64(bytes.count)) == seal)
                    #expect(try fault(of: bytes) == nil)
                    #expect(try fault(of: bytes, expecting: .ack) == .wrongKind)
                }
            }
        }
    }

    @Test("every flipped bit of a delivery is seen")
    func everyFlippedBit() throws {
        let sound = Delivery().bytes
        #expect(try fault(of: sound) == nil)
        for index in sound.indices {
            for bit in 0..<8 {
                var bytes = sound
                bytes[index] ^= 1 << UInt8(bit)
                #expect(try fault(of: bytes) != nil, "bit \(bit) of byte \(index)")
            }
        }
    }

    @Test("a delivery cut anywhere, or with bytes before or behind it, is seen")
    func everyTruncation() throws {
        let sound = Delivery().bytes
        for count in sound.indices {
            #expect(try fault(of: Array(sound.prefix(count))) == (count == 0 ? .empty : .noSeal))
            // What is cut at its beginning still ends in a seal, up to the seal's own first byte.
            let behind = try fault(of: Array(sound.suffix(count)))
            #expect(behind == (count == 0 ? .empty : count < Seal.byteCount ? .noSeal : .wrongLength))
        }
        #expect(try fault(of: [0] + sound) == .wrongLength)
        #expect(try fault(of: sound + [0]) == .noSeal)
        #expect(try fault(of: sound + sound) == .wrongLength)
    }

    @Test("a seal that lies about lengths is refused before a byte is read for it")
    func lyingLengths() throws {
        let lies: [(UInt64, UInt32, EnvelopeFault)] = [
            (.max, 10, .wrongLength), (.max - 64, 0, .wrongLength), (.max - 63, 0, .wrongLength),
            (UInt64(Int64.max), 0, .wrongLength), (UInt64(Int64.max) - 64, 0, .wrongLength),
            (0, 65_536, .wrongLength), (0, 65_537, .dictionaryTooLarge), (.max, .max, .dictionaryTooLarge),
            (1, 0, .wrongLength),
        ]
        for (body, dictionary, expected) in lies {
            var delivery = Delivery()
            delivery.seal.bodyByteCount = body
            delivery.seal.dictionaryByteCount = dictionary
            #expect(try fault(of: delivery.bytes) == expected, "\(body) \(dictionary)")
        }
        // The border between body and dictionary moved, with the sum kept.
        var moved = Delivery()
        moved.seal.bodyByteCount += 1
        moved.seal.dictionaryByteCount -= 1
        #expect(try fault(of: moved.bytes) == .dictionaryAltered)
        // The sum overflows, and a file that is shorter than was said, as when it is cut while it is looked at.
        #expect(moved.withBody(.max).seal.envelopeByteCount == nil)
        #expect(moved.withBody(UInt64(Int64.max)).seal.envelopeByteCount == nil)
        let disk = SimulatedFileSystem()
        let root = try disk.openRoot("/s", create: true)
        try disk.plant("/s/e", bytes: Delivery().bytes)
        let own = try disk.openOurs("e", in: root)
        for claimed in [UInt64(1 << 40), UInt64(Int64.max), .max, own.byteCount + 1] {
            #expect(try disk.inspect(own.file, byteCount: claimed, expecting: .note) != .faulty(.empty))
        }
    }

    @Test("a dictionary of 65,536 bytes passes, one more does not")
    func largestDictionary() throws {
        var fits = [UInt8]()
        for size in 65_200..<65_536 {
            if let encoded = try? dictionary(padding: size) { fits = encoded }
        }
        #expect(fits.count == 65_536)
        #expect(try fault(of: Delivery(dictionary: fits).bytes) == nil)
        #expect(try fault(of: Delivery(dictionary: fits + [0]).bytes) == .dictionaryTooLarge)
    }

    @Test("sealed well and no dictionary all the same: text formats, an array, a bomb, megabytes of nesting")
    func dictionariesThatAreNone() throws {
        let xml = #"<?xml version="1.0"?><plist version="1.0"><dict><key>v</key><integer>1</integer></dict></plist>"#
        for bytes in [
            [], Array(xml.utf8), Array("{ v = 1; }".utf8), Array(#"{"v":1}"#.utf8), Array("bplist00".utf8),
            try BinaryPropertyList.encode(.array([.integer(1)])), Self.sharedReferenceBomb(levels: 30),
            Self.sharedReferenceBomb(levels: 200), [UInt8](repeating: 0xA1, count: 60_000),
        ] {
            let found = try fault(of: Delivery(dictionary: bytes).bytes)
            guard case .malformedDictionary(let why) = found else {
                Issue.record("\(bytes.prefix(20)) gave \(String(describing: found))")
                continue
            }
            #expect(!why.isEmpty && why.utf8.count < 200)
        }
    }

    /// `levels` arrays, each with the next one twice: 2^levels values in a few hundred bytes.
    private static func sharedReferenceBomb(levels: Int) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        func object(_ content: [UInt8]) {
            offsets.append(bytes.count)
            bytes += content
        }
        object([0xD1, 1, 2])
        object([0x51, UInt8(ascii: "a")])
        for level in 0..<levels { object([0xA2, UInt8(level + 3), UInt8(level + 3)]) }
        object([0x09])
        let table = bytes.count
        for offset in offsets { bytes.appendBigEndian(UInt16(offset)) }
        bytes += [0, 0, 0, 0, 0, 0, 2, 1]
        for number in [offsets.count, 0, table] { bytes.appendBigEndian(UInt64(number)) }
        return bytes
    }

    @Test("only the kinds, the format and the extensions that this build writes")
    func sealFields() throws {
        func altered(_ offset: Int, _ bytes: [UInt8]) throws -> EnvelopeFault? {
            var sealBytes = Delivery().seal.bytes
            sealBytes.replaceSubrange(offset..<offset + bytes.count, with: bytes)
            return try fault(of: Delivery().withoutSeal + resealed(sealBytes))
        }
        #expect(try altered(44, Array("note".utf8)) == nil)
        #expect(try altered(44, Array("ack ".utf8)) == .wrongKind)
        for kind in ["Note", "ack\0", "\0\0\0\0", "noté"] {
            #expect(try altered(44, Array(Array(kind.utf8).prefix(4))) == .unknownKind)
        }
        for format in [0, 2, UInt32.max] {
            var bytes: [UInt8] = []
            bytes.appendBigEndian(format)
            #expect(try altered(48, bytes) == .unknownFormat(format))
        }
        for ending in [
            "m4a\0\0\0\0a", "\0m4a\0\0\0\0", "../../..", "m4 a\0\0\0\0", ".wav\0\0\0\0", "é\0\0\0\0\0\0",
            "a/b\0\0\0\0\0",
        ] {
            #expect(try altered(36, Array(ending.utf8)) == .badExtension, "\(ending)")
        }
        var tail = Delivery().seal.bytes
        tail[56] = UInt8(ascii: "w")
        #expect(try fault(of: Delivery().withoutSeal + tail) == .noSeal)
        tail = Delivery().seal.bytes
        tail[55] ^= 1
        #expect(try fault(of: Delivery().withoutSeal + tail) == .sealAltered)
    }

    private func resealed(_ bytes: [UInt8]) -> [UInt8] {
        var result = Array(bytes.prefix(52))
        result.appendBigEndian(Checksums(of: bytes.prefix(52)).crc32)
        return result + Seal.magic
    }

    @Test("an extension is one to eight letters and digits, or there is none")
    func fileExtensions() throws {
        for text in ["", "a", "m4a", "WAV", "12345678"] {
            let read = try #require(FileExtension(text))
            #expect(read.description == text)
            #expect(FileExtension(packed: read.packed) == read)
            #expect(read.appended(to: "x") == (text.isEmpty ? "x" : "x.\(text)"))
        }
        for text in ["123456789", "a.b", "a/b", "..", "é", "a b", "a\0", "\0", "a\0b", "tar.gz", "\u{FF41}"] {
            #expect(FileExtension(text) == nil, "\(text.debugDescription)")
        }
        #expect(FileExtension(packed: 0x6D_3461) == nil)
        #expect(FileExtension("") == FileExtension.none)
    }

    @Test("looking at a large delivery reads its end and nothing more")
    func readsTheEndOnly() throws {
        let disk = SimulatedFileSystem()
        let instrument = InstrumentedFileSystem(disk)
        let root = try instrument.openRoot("/s", create: true)
        for (padding, mostReads) in [(0, 1), (60_000, 2)] {
            let body = [UInt8](repeating: 1, count: 3_000_000)
            let delivery = Delivery(body: body, dictionary: try dictionary(padding: padding))
            try disk.plant("/s/e", bytes: delivery.bytes)
            let own = try instrument.openOurs("e", in: root)
            instrument.clearTrace()
            guard case .envelope = try instrument.inspect(own.file, byteCount: own.byteCount, expecting: .note) else {
                Issue.record("a sound delivery was refused")
                return
            }
            #expect(instrument.trace.count(of: .read) == mostReads)
        }
    }
}

/// A delivery in its parts, to lie about any of them.
private struct Delivery {
    var body: [UInt8]
    var dictionary: [UInt8]
    var seal: Seal

    init(body: [UInt8] = Array("RIFF and so on".utf8), dictionary: [UInt8]? = nil) {
        self.body = body
        let encoded = dictionary ?? (try? TransferLimit.encode(PropertyListDictionary(sampleEntries))) ?? []
        self.dictionary = encoded
        seal = Seal(
            kind: .note, bodyByteCount: UInt64(body.count), bodyChecksums: Checksums(of: body), dictionary: encoded,
            pairing: PairingID(rawValue: 0), fileExtension: FileExtension("wav") ?? .none)
    }

    var withoutSeal: [UInt8] { body + dictionary }
    var bytes: [UInt8] { withoutSeal + seal.bytes }

    func withBody(_ byteCount: UInt64) -> Delivery {
        var copy = self
        copy.seal.bodyByteCount = byteCount
        return copy
    }
}

private let sampleEntries: [PropertyListDictionary.Entry] = [
    .init(key: "v", value: .integer(1)), .init(key: "id", value: .string("01ARZ3NDEKTSV4RRFFQ69G5FAV")),
    .init(key: "duration", value: .real(2.5)),
]

extension SplitMix64 {
    fileprivate static func bytes(seed: UInt64, _ count: Int) -> [UInt8] {
        var generator = SplitMix64(seed: seed)
        return generator.bytes(count)
    }
}
