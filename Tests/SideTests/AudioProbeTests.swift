import Foundation
import Testing

@testable import WatchSide

@Suite("The duration of a recording is told from its headers")
struct AudioProbeTests {
    @Test("The demo's files last as long as ffprobe says, to the millisecond")
    func realFiles() throws {
        let readme = String(decoding: try DemoAudio.bytes("README.md"), as: UTF8.self)
        let files = DemoAudio.wavs.map { ($0, AudioFormat.wav) } + DemoAudio.m4as.map { ($0, AudioFormat.m4a) }
        for (file, expectedFormat) in files {
            guard case .duration(let seconds, let format) = probe(try DemoAudio.bytes(file.name)) else {
                Issue.record("\(file.name): \(probe(try DemoAudio.bytes(file.name)))")
                continue
            }
            #expect(abs(seconds - file.seconds) < 0.0005, "\(file.name): \(seconds)")
            #expect(format == expectedFormat)
        }
        #expect(probe(try DemoAudio.bytes(DemoAudio.other.name)) == .unknownFormat)

        for file in files.map(\.0) + [DemoAudio.other] {
            let line = readme.split(separator: "\n").first { $0.hasPrefix("| `\(file.name)` |") }
            #expect(line?.contains(String(format: "| %.6f |", file.seconds)) == true, "README.md on \(file.name)")
        }
    }

    @Test("One M4A of the demo has its index before the sound and one after it")
    func indexPlaces() throws {
        func place(of type: String, in name: String) throws -> Int {
            let range = Data(try DemoAudio.bytes(name)).range(of: Data(type.utf8))
            return try #require(range).lowerBound
        }
        #expect(try place(of: "moov", in: "index-first.m4a") < place(of: "mdat", in: "index-first.m4a"))
        #expect(try place(of: "moov", in: "index-last.m4a") > place(of: "mdat", in: "index-last.m4a"))
    }

    @Test("A recording that was cut anywhere is broken, never shorter", arguments: DemoAudio.wavs + DemoAudio.m4as)
    func cutAnywhere(name: String, seconds: Double) throws {
        let whole = try DemoAudio.bytes(name)
        let file = CountedFile(whole)
        for byteCount in 8..<whole.count {
            let verdict = AudioProbe.probe(byteCount: UInt64(byteCount), read: file.read)
            guard verdict.isBroken else {
                Issue.record("the first \(byteCount) bytes of \(name): \(verdict)")
                return
            }
        }
    }

    @Test("What is neither WAV nor M4A is of no known format")
    func unknownFormats() {
        let zeros = Make.zeros(64)
        #expect(probe([]) == .unknownFormat)
        #expect(probe([0x52]) == .unknownFormat)
        #expect(probe(zeros) == .unknownFormat)
        #expect(probe(Array("caff\0\u{1}\0\0desc".utf8) + zeros) == .unknownFormat)
        #expect(probe(Array("OggS".utf8) + zeros) == .unknownFormat)
        #expect(probe(Array("#!AMR\n".utf8) + zeros) == .unknownFormat)
        #expect(probe(Array("RIFF\u{40}\0\0\0AVI LIST".utf8) + zeros) == .unknownFormat)
        let image = Array("heic".utf8) + [0, 0, 0, 0] + Array("mif1heic".utf8)
        #expect(probe(Make.box("ftyp", image) + Make.box("meta", zeros)) == .unknownFormat)
        #expect(probe(Make.wav(Make.fmt(codec: 0x11), Make.chunk("data", zeros))) == .unknownFormat)
    }

    @Test("What the reader throws reaches the caller as it was thrown")
    func readerFails() {
        struct Unreadable: Error, Equatable { var offset: UInt64 }
        #expect(throws: Unreadable(offset: 0)) {
            try AudioProbe.probe(byteCount: 100) { (offset, _) throws(Unreadable) in throw Unreadable(offset: offset) }
        }
        let file = CountedFile(Make.ftyp + Make.moov(Make.mvhd()) + Make.mdat)
        #expect(throws: Unreadable(offset: UInt64(Make.ftyp.count) + 16)) {
            try AudioProbe.probe(byteCount: file.byteCount) { (offset, count) throws(Unreadable) in
                if offset == UInt64(Make.ftyp.count) + 16 { throw Unreadable(offset: offset) }
                return file.read(offset: offset, count: count)
            }
        }
    }

    @Test("A file that shrinks while it is read is broken")
    func shrinks() throws {
        for (name, format) in [("wrist-8k.wav", AudioFormat.wav), ("index-last.m4a", .m4a)] {
            let file = CountedFile(try DemoAudio.bytes(name))
            let verdict = AudioProbe.probe(byteCount: file.byteCount) { offset, count in
                offset < 20 ? file.read(offset: offset, count: count) : []
            }
            #expect(verdict == .broken(format, reason: "it became shorter while it was read"))
        }
    }

    @Test("A header of endless chunks is given up after a bounded number of small reads")
    func boundedReads() {
        let chunks = (0..<20_000).flatMap { _ in Make.chunk("junk", []) }
        let boxes = (0..<20_000).flatMap { _ in Make.box("free", []) }
        let endless: [(String, CountedFile)] = [
            ("chunks", CountedFile(Make.wav(Make.fmt(), chunks))),
            ("fmt chunks", CountedFile(Make.wav((0..<20_000).flatMap { _ in Make.fmt() }))),
            ("boxes", CountedFile(Make.ftyp + boxes)),
            ("boxes in moov", CountedFile(Make.ftyp + Make.moov(Make.mvhd(), boxes) + Make.mdat)),
            ("boxes in mvex", CountedFile(Make.ftyp + Make.moov(Make.box("mvex", boxes)) + Make.mdat)),
            (
                "mehd boxes",
                CountedFile(
                    Make.ftyp
                        + Make.moov(
                            Make.box("mvex", []), (0..<20_000).flatMap { _ in Make.box("mehd", Make.zeros(8)) }))
            ),
            ("moov boxes", CountedFile(Make.ftyp + (0..<20_000).flatMap { _ in Make.moov(Make.mvhd()) })),
            // Zeros for ever behind a header: chunks of size zero, boxes that last to the end.
            ("a WAV of zeros", CountedFile(Make.wav(Make.fmt()), byteCount: .max)),
            ("an M4A of zeros", CountedFile(Make.ftyp, byteCount: .max)),
        ]
        for (name, file) in endless {
            #expect(file.probe().isBroken, "\(name): \(file.probe())")
        }
        for (name, file) in endless {
            let before = file.readCount
            _ = file.probe()
            #expect(file.readCount - before <= AudioProbe.readCountLimit, "\(name): \(file.readCount - before) reads")
        }
    }

    @Test("However its bytes are altered, a recording gets a verdict", arguments: DemoAudio.wavs + DemoAudio.m4as)
    func mutations(name: String, seconds: Double) throws {
        let whole = try DemoAudio.bytes(name)
        // The headers are where it hurts: the beginning, and moov wherever it is.
        let moov = Data(whole).range(of: Data("moov".utf8))?.lowerBound ?? 0
        let sore = [0..<min(160, whole.count), max(0, moov - 8)..<min(moov + 160, whole.count)]
        let edges: [UInt8] = [0x00, 0x01, 0x02, 0x07, 0x08, 0x7F, 0x80, 0xFE, 0xFF]
        var random = SeededMutations(seed: 0x0057_4156)
        var durations = 0
        var brokens = 0
        for round in 0..<4_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let zone = sore[Int.random(in: 0..<sore.count, using: &random)]
                let position = Int.random(in: zone, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: bytes[position] = edges[Int.random(in: 0..<edges.count, using: &random)]
                case 2:
                    let edge = edges[Int.random(in: 0..<edges.count, using: &random)]
                    for index in position..<min(position + 8, bytes.count) { bytes[index] = edge }
                default: bytes[position] = UInt8.random(in: .min ... .max, using: &random)
                }
            }
            if round % 3 == 0 { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
            let byteCount: UInt64? = round % 5 == 0 ? UInt64.max - UInt64.random(in: 0...16, using: &random) : nil
            let file = CountedFile(bytes, byteCount: byteCount)
            switch file.probe() {
            case .duration(let seconds, _):
                durations += 1
                #expect(seconds.isFinite && seconds >= 0, "round \(round) of \(name): \(seconds)")
            case .broken(_, let reason):
                brokens += 1
                #expect(reason.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "round \(round) of \(name): \(reason)")
            case .unknownFormat: break
            }
            #expect(file.readCount <= AudioProbe.readCountLimit, "round \(round) of \(name)")
        }
        // The mutations reach both sides of the decision, so that the loop says something.
        #expect(durations > 100 && brokens > 100, "\(durations) durations, \(brokens) broken")
    }
}
