import Simulation
import Spooling
import Testing
import WireContract

/// The names in the folders. A name that does not read back to itself belongs to nobody here.
struct NamesTests {
    private static func entry(_ generator: inout SplitMix64, kind: EnvelopeKind = .note) -> EntryName {
        // Small numbers and the largest, so that names share long beginnings and ties are broken late.
        func number(_ largest: UInt64) -> UInt64 { generator.happens(1, in: 4) ? largest : generator.next() % 3 }
        return EntryName(
            kind: kind, start: start(number(StartNumber.largest)), counter: number(StartNumber.largest),
            nonce: UInt32(number(UInt64(UInt32.max))), id: ULID(high: number(.max), low: number(.max)),
            attempt: Int(number(UInt64(EntryName.largestAttempt))))
    }

    @Test("an entry's name reads back, and a try beyond five digits stays a name")
    func entriesReadBack() {
        var generator = SplitMix64(seed: 1)
        for round in 0..<2_000 {
            let written = Self.entry(&generator, kind: round % 2 == 0 ? .note : .ack)
            #expect(EntryName(written.fileName) == written)
        }
        let many = EntryName(kind: .ack, start: start(1), counter: 1, nonce: 0, id: id(), attempt: 1_000_000)
        #expect(many.attempt == EntryName.largestAttempt)
        #expect(EntryName(many.fileName) == many)
        #expect(StartNumber(rawValue: StartNumber.largest + 1) == nil)
    }

    @Test("the order of entries is the byte order of their names")
    func entryOrder() {
        var generator = SplitMix64(seed: 2)
        let entries = (0..<400).map { _ in Self.entry(&generator) }
        for left in entries {
            for right in entries {
                #expect((left < right) == (left.fileName < right.fileName))
            }
        }
        #expect(entries.sorted().map(\.fileName) == entries.map(\.fileName).sorted())
    }

    @Test("a namer counts up, whatever nonces and ids come")
    func namer() {
        var namer = EntryNamer(kind: .note, start: start(7))
        var last: EntryName?
        var generator = SplitMix64(seed: 3)
        for _ in 0..<1_000 {
            let next = namer.next(
                id: ULID(high: generator.next(), low: 0), attempt: 1,
                nonce: UInt32(truncatingIfNeeded: generator.next()))
            if let last { #expect(last.fileName < next.fileName) }
            last = next
        }
        var later = EntryNamer(kind: .note, start: start(8))
        let first = later.next(id: ULID(high: 0, low: 0), attempt: 1, nonce: 0)
        #expect(last.map { $0.fileName < first.fileName } == true)
    }

    /// Every reader of names, each as "the name that it would write for what it read".
    private static var readers: [(String, (FileName) -> FileName?)] {
        [
            ("EntryName", { EntryName($0)?.fileName }),
            ("StagedName", { StagedName($0)?.fileName }),
            ("recording", { $0.recordingID.map(FileName.recording) }),
            ("QuarantineItem", { QuarantineItem($0)?.fileName }),
            ("Request", { Request($0)?.fileName }),
        ]
    }

    private static let sound: [String] = [
        "0000000001-0000000002-0000abcd-01ARZ3NDEKTSV4RRFFQ69G5FAV-00001.note",
        "9999999999-9999999999-ffffffff-7ZZZZZZZZZZZZZZZZZZZZZZZZZ-99999.ack",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV.note",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV-0000abcd-ffff0000-0123456789abcdef.note",
        "0123456789abcdef-0000abcd-ffff0000-0123456789abcdef.note",
        "0000000001-0000000002.idReused.01ARZ3NDEKTSV4RRFFQ69G5FAV.bytes",
        "0000000001-0000000002.noSeal.strange-name_.gone",
        "0123456789abcdef.veto.01ARZ3NDEKTSV4RRFFQ69G5FAV.request",
        "0123456789abcdef.retry.0000000001-0000000002.request",
    ]

    @Test("each sound name is read by one reader and reads back to itself", arguments: sound)
    func soundNames(text: String) {
        let read = Self.readers.compactMap { $0.1(name(text)) }
        #expect(read == [name(text)])
    }

    @Test("a damaged name is refused, or reads back to itself")
    func mutatedNames() {
        var generator = SplitMix64(seed: 4)
        let sore = Array("-._/0129aAfgIiLlOUuZ~".utf8) + [0, 0x0A, 0x1B, 0x7F, 0x80, 0xC3, 0xFF]
        var accepted = 0
        for round in 0..<60_000 {
            var bytes = Array(Self.sound[round % Self.sound.count].utf8)
            for _ in 0...generator.below(3) {
                let place = generator.below(bytes.count + 1)
                switch generator.below(4) {
                case 0: bytes.insert(sore[generator.below(sore.count)], at: place)
                case 1 where place < bytes.count: bytes.remove(at: place)
                case 2 where place < bytes.count: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
                case 3 where place < bytes.count: bytes[place] = sore[generator.below(sore.count)]
                case _: bytes += bytes.suffix(generator.below(200))
                }
            }
            guard let damaged = FileName(bytes: bytes) else { continue }
            for (reader, readAndWrite) in Self.readers {
                guard let again = readAndWrite(damaged) else { continue }
                #expect(again == damaged, "\(reader) took \(damaged) for \(again)")
                accepted += 1
            }
        }
        // Else this says nothing: some of the damage lands in fields where anything of that form goes.
        #expect(accepted > 1_000)
    }

    @Test("near misses of every field are strange")
    func nearMisses() {
        for text in [
            "000000001-0000000002-0000abcd-01ARZ3NDEKTSV4RRFFQ69G5FAV-000001.note",
            "+000000001-0000000002-0000abcd-01ARZ3NDEKTSV4RRFFQ69G5FAV-00001.note",
            "0000000001-0000000002-0000ABCD-01ARZ3NDEKTSV4RRFFQ69G5FAV-00001.note",
            "0000000001-0000000002-0000abcd-01arz3ndektsv4rrffq69g5fav-00001.note",
            "0000000001-0000000002-0000abcd-81ARZ3NDEKTSV4RRFFQ69G5FAV-00001.note",
            "0000000001_0000000002-0000abcd-01ARZ3NDEKTSV4RRFFQ69G5FAV-00001.note",
            "0000000001-0000000002-0000abcd-01ARZ3NDEKTSV4RRFFQ69G5FAV-00001.Note",
            "0000000001-0000000002-0000abcd-01ARZ3NDEKTSV4RRFFQ69G5FAV-00001.note.part",
            "01ARZ3NDEKTSV4RRFFQ69G5FA.note", "01ARZ3NDEKTSV4RRFFQ69G5FAVV.note", "01ARZ3NDEKTSV4RRFFQ69G5FAV.wav",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV-0000abcd-ffff0000-0123456789ABCDEF.note",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV-0000abcd-ffff0000.note",
            "0123456789abcde-0000abcd-ffff0000-0123456789abcdef.note",
            "0000000001-0000000002.id Reused.x.bytes", "0000000001-0000000002..x.bytes",
            "0000000001-0000000002.idReused.x.y.bytes", "00000000010-000000002.idReused.x.bytes",
            "0123456789abcdef.Veto.x.request", "0123456789abcdef.veto..request", "0123456789abcdef.veto.x_y.request",
            "0123456789ABCDEF.veto.x.request", "123456789abcdef.veto.x.request",
        ] {
            let reader = Self.readers.first { $0.1(name(text)) != nil }
            #expect(reader == nil, "\(text) was read as \(reader?.0 ?? "")")
        }
    }

    @Test("a file name is one component, kept as bytes")
    func fileNames() {
        for bytes: [UInt8] in [
            [], Array(".".utf8), Array("..".utf8), Array("a/b".utf8), Array("/".utf8), [0], Array("a\0".utf8),
            [UInt8](repeating: 97, count: 256),
        ] {
            #expect(FileName(bytes: bytes) == nil)
        }
        for bytes: [UInt8] in [
            Array("...".utf8), [0xFF], [0x0A], Array(" ".utf8), [UInt8](repeating: 0xC3, count: 255), Array("é".utf8),
        ] {
            #expect(FileName(bytes: bytes)?.bytes == bytes)
        }
        // Equal to Swift's strings, two names to a disk.
        #expect("e\u{301}" == "\u{E9}")
        #expect(FileName("e\u{301}") != FileName("\u{E9}"))
        #expect(FileName(bytes: [0x1B, 0x5B, 0x41, 0x0A, 0x5C, 0xFF, 0x01])?.description == #"\x1b[A\x0a\\\xff\x01"#)
        #expect(name("a").appending(".part") == "a.part")
        #expect(FileName(bytes: [UInt8](repeating: 97, count: 251))?.appending(".part") == nil)
        #expect(name("a.part").isPartial && !name("a.parts").isPartial)
        #expect(name("part").hasSuffix("art") && !name("art").hasSuffix("part") && name("part").hasPrefix("pa"))
    }

    @Test("the order of file names is that of their bytes")
    func fileNameOrder() {
        var generator = SplitMix64(seed: 5)
        let names = (0..<200).compactMap { _ in
            FileName(bytes: generator.bytes(1 + generator.below(3)).map { [0x2D, 0x7F, 0x80, 0xFF, 1][Int($0 % 5)] })
        }
        for left in names {
            for right in names {
                let rest = zip(left.bytes, right.bytes).first { $0 != $1 }
                let expected = rest.map { $0.0 < $0.1 } ?? (left.bytes.count < right.bytes.count)
                #expect((left < right) == expected)
            }
        }
    }

    @Test("a delivery's key tells its bytes apart, and its staged name gives key and pairing back")
    func stagedNames() throws {
        let sums = Checksums(crc32: 1, adler32: 2)
        let seal = Seal(
            kind: .note, bodyByteCount: 0, bodyChecksums: sums, dictionary: [1], pairing: PairingID(rawValue: 0),
            fileExtension: .none)
        for known in [id(), nil] {
            let key = DeliveryKey(id: known, seal: seal)
            #expect(key.id == known)
            let staged = StagedName(key: key, pairing: PairingID(rawValue: .max))
            #expect(StagedName(staged.fileName) == staged)
        }
        #expect(PairingID(utf8: "0123456789abcdef".utf8)?.description == "0123456789abcdef")
        for text in ["", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeF", "0x23456789abcdef"] {
            #expect(PairingID(utf8: text.utf8) == nil)
        }
    }
}
