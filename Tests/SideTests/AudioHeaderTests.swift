import Testing

@testable import WatchSide

/// A header, how long the file is that it stands in (nil: just as long as the header), and what the probe says.
struct HeaderCase: CustomTestStringConvertible, Sendable {
    enum Expected: Sendable {
        case seconds(Double)
        case broken(String)
        case unknown
    }
    var testDescription: String
    var bytes: [UInt8]
    var byteCount: UInt64?
    var expected: Expected

    init(_ story: String, _ bytes: [UInt8], byteCount: UInt64? = nil, _ expected: Expected) {
        (testDescription, self.bytes, self.byteCount, self.expected) = (story, bytes, byteCount, expected)
    }

    func check(_ format: AudioFormat) {
        let verdict = probe(bytes, byteCount: byteCount)
        switch (expected, verdict) {
        case (.seconds(let seconds), .duration(let told, let toldFormat)):
            #expect(told == seconds && toldFormat == format)
        case (.broken(let part), .broken(let toldFormat, let reason)):
            #expect(reason.contains(part), "\(reason)")
            #expect(toldFormat == format)
        case (.unknown, .unknownFormat): break
        case (_, _): Issue.record("\(verdict)")
        }
    }
}

@Suite("WAV headers")
struct AudioWAVHeaderTests {
    static let second = Make.zeros(16000)
    static let unknown = UInt32.max

    static let sound: [HeaderCase] = [
        HeaderCase("a plain second", Make.wav(Make.fmt(), Make.chunk("data", second)), .seconds(1)),
        HeaderCase(
            "stereo floats at 48 kHz",
            Make.wav(
                Make.fmt(codec: 3, channels: 2, rate: 48000, byteRate: 384_000, frame: 8), Make.chunk("data", second)),
            .seconds(2000.0 / 48000)),
        HeaderCase(
            "an extensible header around PCM",
            Make.wav(
                Make.fmt(
                    codec: 0xFFFE,
                    tail: Make.little(UInt16(22)) + Make.zeros(6) + Make.little(UInt16(1)) + Make.zeros(14)),
                Make.chunk("data", second)), .seconds(1)),
        HeaderCase(
            "a chunk of odd length before the data",
            Make.wav(Make.fmt(), Make.chunk("LIST", [1, 2, 3]), Make.chunk("data", second)), .seconds(1)),
        HeaderCase(
            "a chunk behind the data", Make.wav(Make.fmt(), Make.chunk("data", second), Make.chunk("LIST", second)),
            .seconds(1)),
        HeaderCase(
            "half a frame at the end does not count",
            Make.wav(Make.fmt(), Make.chunk("data", second + [0])), .seconds(1)),
        HeaderCase(
            "odd data whose padding is missing",
            Make.wav(
                Make.fmt(rate: 8000, byteRate: 8000, frame: 1),
                Array(Make.chunk("data", Array(second.prefix(8001))).dropLast())), .seconds(8001.0 / 8000)),
        HeaderCase("no sound at all", Make.wav(Make.fmt(), Make.chunk("data", [])), .seconds(0)),
        HeaderCase(
            "an empty data chunk of a whole file, and a note behind it",
            Make.wav(Make.fmt(), Make.chunk("data", []), Make.chunk("LIST", second)), .seconds(0)),
        HeaderCase(
            "a streaming writer that left zeros",
            Make.wav(Make.fmt(), Make.chunk("data", second, size: 0), size: 0), .seconds(1)),
        HeaderCase(
            "a writer that began with the sizes of an empty file and was killed",
            Make.wav(Make.fmt(), Make.chunk("data", second, size: 0), size: 36), .seconds(1)),
        HeaderCase(
            "a streaming writer that left ones",
            Make.wav(Make.fmt(), Make.chunk("data", second, size: unknown), size: unknown), .seconds(1)),
        HeaderCase(
            "eSpeak into a pipe",
            Make.wav(Make.fmt(), Make.chunk("data", second, size: 0x7FFF_F000), size: 0x7FFF_F024), .seconds(1)),
        HeaderCase(
            "SoX into a pipe, frames of six bytes",
            Make.wav(
                Make.fmt(channels: 2, rate: 1000, byteRate: 6000, frame: 6),
                Make.chunk("data", Array(second.prefix(6000)), size: 0x7FFF_EFFC), size: 0x7FFF_F020), .seconds(1)),
        HeaderCase(
            "a streaming writer that went on over 4 GiB",
            Make.wav(Make.fmt(), Make.chunk("data", [], size: unknown), size: unknown),
            byteCount: 44 + 16000 * 1_000_000, .seconds(1_000_000)),
        HeaderCase(
            "RF64 over 4 GiB", rf64(dataSize: 16000 * 1_000_000), byteCount: 80 + 16000 * 1_000_000, .seconds(1_000_000)
        ),
        HeaderCase("RF64 that did not need it", rf64(dataSize: 16000) + second, .seconds(1)),
        HeaderCase("RF64 of a streaming writer", rf64(dataSize: .max) + second, .seconds(1)),
        HeaderCase("RF64 that was begun and never finished", rf64(dataSize: 0) + second, .seconds(1)),
    ]

    static func rf64(dataSize: UInt64, tag: String = "RF64") -> [UInt8] {
        let sizes = Make.little(dataSize &+ 72) + Make.little(dataSize) + Make.zeros(12)
        return Make.wav(
            Make.chunk("ds64", sizes), Make.fmt(), Make.chunk("data", [], size: unknown), tag: tag, size: unknown)
    }

    static let broken: [HeaderCase] = [
        HeaderCase("only four letters", Array("RIFF".utf8), .broken("ends within")),
        HeaderCase("cut within the first header", Array("RIFF\u{40}\0\0\0WA".utf8), .broken("ends within")),
        HeaderCase("nothing but the first header", Make.wav(), .broken("before its data chunk")),
        HeaderCase("no data chunk", Make.wav(Make.fmt()), .broken("before its data chunk")),
        HeaderCase("cut in a chunk's header", Make.wav(Make.fmt(), [0x64, 0x61]), .broken("before its data chunk")),
        HeaderCase("data before fmt", Make.wav(Make.chunk("data", second), Make.fmt()), .broken("before any fmt")),
        HeaderCase(
            "more data than the file", Make.wav(Make.fmt(), Make.chunk("data", second, size: 16001)),
            .broken("claims 16001 bytes and only 16000")),
        HeaderCase(
            "one byte less than unknown", Make.wav(Make.fmt(), Make.chunk("data", second, size: unknown - 1)),
            .broken("claims 4294967294")),
        HeaderCase(
            "a chunk past the end", Make.wav(Make.fmt(), Make.chunk("LIST", [1, 2], size: 0xFFFF_FFFF)),
            .broken("its LIST chunk")),
        HeaderCase(
            "a chunk whose name is not text", Make.wav(Make.fmt(), Make.chunk("\u{1B}[2J", [1, 2], size: 99)),
            .broken("its ?[2J chunk")),
        HeaderCase(
            "a short fmt", Make.wav(Make.chunk("fmt ", Make.zeros(14)), Make.chunk("data", second)), .broken("needs 16")
        ),
        HeaderCase(
            "a short extensible fmt",
            Make.wav(Make.fmt(codec: 0xFFFE, tail: Make.zeros(2)), Make.chunk("data", second)),
            .broken("needs 40")),
        HeaderCase("no channels", Make.wav(Make.fmt(channels: 0), Make.chunk("data", second)), .broken("a zero among")),
        HeaderCase(
            "sample rate zero", Make.wav(Make.fmt(rate: 0), Make.chunk("data", second)), .broken("a zero among")),
        HeaderCase(
            "byte rate zero", Make.wav(Make.fmt(byteRate: 0), Make.chunk("data", second)), .broken("a zero among")),
        HeaderCase(
            "frame size zero", Make.wav(Make.fmt(frame: 0), Make.chunk("data", second)), .broken("a zero among")),
        HeaderCase(
            "rates that contradict each other", Make.wav(Make.fmt(byteRate: 32000), Make.chunk("data", second)),
            .broken("byte rate 32000 is not")),
        HeaderCase(
            "RF64 without ds64",
            Make.wav(Make.fmt(), Make.chunk("data", second, size: unknown), tag: "RF64", size: unknown), .broken("ds64")
        ),
        HeaderCase("RF64 that was cut", rf64(dataSize: 16001) + second, .broken("claims 16001")),
        HeaderCase(
            "BW64 that lies", rf64(dataSize: .max - 1, tag: "BW64") + second, .broken("claims 18446744073709551614")),
    ]

    @Test("tell how long they last", arguments: sound) func tells(_ story: HeaderCase) { story.check(.wav) }
    @Test("that are broken say why", arguments: broken) func says(_ story: HeaderCase) { story.check(.wav) }
}

@Suite("M4A headers")
struct AudioM4AHeaderTests {
    private static let head = Make.ftyp
    private static let mdat = Make.mdat
    private static let moov = Make.moov(Make.mvhd())

    private static func mvex(_ boxes: [UInt8]) -> [UInt8] { Make.box("mvex", boxes) }

    static let sound: [HeaderCase] = [
        HeaderCase("moov first", head + moov + mdat, .seconds(1.5)),
        HeaderCase("moov last", head + mdat + moov, .seconds(1.5)),
        HeaderCase(
            "mvhd is not the first in moov", head + mdat + Make.moov(Make.box("udta", [1]), Make.mvhd()), .seconds(1.5)),
        HeaderCase("64-bit times", head + mdat + Make.moov(Make.mvhd1(duration: 90_000_000)), .seconds(90_000)),
        HeaderCase(
            "a duration of 63 bits", head + mdat + Make.moov(Make.mvhd1(timescale: 1, duration: .max - 1)),
            .seconds(0x1p64)),
        HeaderCase(
            "64-bit sizes", head + Make.longBox("mdat", [1, 2, 3]) + Make.longBox("moov", Make.mvhd()), .seconds(1.5)),
        HeaderCase(
            "8 GiB of sound before the index, at the end of a 64-bit size",
            head + moov + Make.longBox("mdat", [], size: 8 << 30),
            byteCount: UInt64(head.count + moov.count) + 8 << 30, .seconds(1.5)),
        HeaderCase("sound to the end of the file", head + moov + Make.box("mdat", [1, 2, 3], size: 0), .seconds(1.5)),
        HeaderCase(
            "an index to the end of the file", head + mdat + Make.box("moov", Make.mvhd(), size: 0), .seconds(1.5)),
        HeaderCase("no sound at all", head + Make.box("mdat", []) + Make.moov(Make.mvhd(duration: 0)), .seconds(0)),
        HeaderCase(
            "a brand that only stands among the compatible ones",
            Make.box("ftyp", Array("zzzz".utf8) + Make.zeros(4) + Array("yyyymp42".utf8)) + mdat + moov, .seconds(1.5)),
        HeaderCase(
            "fragments, the whole of which mehd tells",
            head + Make.moov(Make.mvhd(duration: 0), mvex(Make.box("mehd", Make.zeros(4) + Make.big(UInt32(2500)))))
                + mdat,
            .seconds(2.5)),
        HeaderCase(
            "fragments, with 64 bits of mehd before mvhd",
            head
                + Make.moov(mvex(Make.box("mehd", [1, 0, 0, 0] + Make.big(UInt64(2500)))), Make.mvhd(duration: 0))
                + mdat,
            .seconds(2.5)),
        HeaderCase(
            "fragments without a word about the whole", head + Make.moov(Make.mvhd(duration: 0), mvex([])) + mdat,
            .unknown),
        HeaderCase("a duration of all ones", head + Make.moov(Make.mvhd(duration: .max)) + mdat, .unknown),
        HeaderCase("a long duration of all ones", head + Make.moov(Make.mvhd1(duration: .max)) + mdat, .unknown),
    ]

    static let broken: [HeaderCase] = [
        HeaderCase(
            "nothing but a claim", Array("\0\0\0\u{18}ftyp".utf8), .broken("its ftyp box claims 24 bytes and only 8")),
        HeaderCase("cut in ftyp", Array(head.prefix(14)), .broken("its ftyp box claims")),
        HeaderCase("no brand", Make.box("ftyp", []) + mdat + moov, .broken("no brand")),
        HeaderCase("an interrupted recording", head + mdat, .broken("no moov")),
        HeaderCase(
            "an interrupted recording, open to the end", head + Make.box("mdat", Make.zeros(99), size: 0),
            .broken("no moov")),
        HeaderCase("cut between index and sound", head + moov, .broken("no mdat")),
        HeaderCase("cut in the sound", head + moov + Array(mdat.dropLast()), .broken("claims 108 bytes and only 107")),
        HeaderCase("cut in a header", head + mdat + moov + [0, 0, 0], .broken("within the header of a box")),
        HeaderCase("cut in a long header", head + Array(Make.longBox("mdat", []).prefix(12)), .broken("its mdat box")),
        HeaderCase("a size within the header", head + Make.box("mdat", [], size: 7) + moov, .broken("a size of 7")),
        HeaderCase(
            "a long size within the header", head + Make.longBox("mdat", [], size: 15) + moov, .broken("a size of 15")),
        HeaderCase(
            "a long size that would overflow", head + Make.longBox("mdat", [], size: .max) + moov,
            .broken("claims 18446744073709551615")),
        HeaderCase("an empty index", head + mdat + Make.moov(), .broken("no mvhd")),
        HeaderCase("timescale zero", head + mdat + Make.moov(Make.mvhd(timescale: 0)), .broken("timescale of zero")),
        HeaderCase(
            "long timescale zero", head + mdat + Make.moov(Make.mvhd1(timescale: 0)), .broken("timescale of zero")),
        HeaderCase(
            "a short mvhd", head + mdat + Make.moov(Make.box("mvhd", Make.zeros(19))), .broken("mvhd box is too short")),
        HeaderCase(
            "a short long mvhd", head + mdat + Make.moov(Make.box("mvhd", [1] + Make.zeros(30))),
            .broken("mvhd box is too short")),
        HeaderCase(
            "an mvhd of the future", head + mdat + Make.moov(Make.box("mvhd", [2] + Make.zeros(99))),
            .broken("version 2")),
        HeaderCase(
            "an mvhd larger than its moov", head + mdat + Make.box("moov", Make.mvhd(), size: 60) + mdat,
            .broken("its mvhd box claims 108 bytes and only 52")),
        HeaderCase(
            "a short mehd",
            head + Make.moov(Make.mvhd(duration: 0), mvex(Make.box("mehd", [1, 0, 0, 0, 0, 0, 0, 0]))) + mdat,
            .broken("mehd box is too short")),
    ]

    @Test("tell how long they last", arguments: sound) func tells(_ story: HeaderCase) { story.check(.m4a) }
    @Test("that are broken say why", arguments: broken) func says(_ story: HeaderCase) { story.check(.m4a) }
}
