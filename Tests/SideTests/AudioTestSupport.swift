import Foundation
import Testing

@testable import WatchSide

/// A file that need not exist: some bytes at its beginning, then zeros up to its length. It counts how it is read and fails
/// the test when a read leaves the file or is larger than promised.
final class CountedFile {
    let head: [UInt8]
    let byteCount: UInt64
    private(set) var readCount = 0

    init(_ head: [UInt8], byteCount: UInt64? = nil) {
        self.head = head
        self.byteCount = byteCount ?? UInt64(head.count)
    }

    func read(offset: UInt64, count: Int) -> [UInt8] {
        readCount += 1
        guard count > 0, count <= AudioProbe.readLimit, offset <= byteCount, UInt64(count) <= byteCount - offset else {
            Issue.record("read of \(count) bytes at \(offset) of \(byteCount)")
            return []
        }
        return (0..<UInt64(count)).map { index in
            let position = offset + index
            return position < UInt64(head.count) ? head[Int(position)] : 0
        }
    }

    func probe() -> AudioProbe.Verdict { AudioProbe.probe(byteCount: byteCount, read: read) }
}

func probe(_ bytes: [UInt8], byteCount: UInt64? = nil) -> AudioProbe.Verdict {
    CountedFile(bytes, byteCount: byteCount).probe()
}

extension AudioProbe.Verdict {
    var isBroken: Bool {
        switch self {
        case .broken: true
        case .duration, .unknownFormat: false
        }
    }
}

/// The demo's recordings and what ffprobe says about them.
enum DemoAudio {
    static let wavs: [(name: String, seconds: Double)] = [("wrist-8k.wav", 2.194500), ("reminder-16k.wav", 1.875688)]
    static let m4as: [(name: String, seconds: Double)] = [("index-first.m4a", 4.230000), ("index-last.m4a", 4.478000)]
    static let other: (name: String, seconds: Double) = ("other.ogg", 4.678438)

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs/Audio")

    static func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: name)))
    }
}

/// Little-endian and big-endian numbers, chunks and boxes, to build headers of every kind of wrong.
enum Make {
    static func little<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian, Array.init)
    }
    static func big<T: FixedWidthInteger>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }

    static func chunk(_ tag: String, _ body: [UInt8], size: UInt32? = nil) -> [UInt8] {
        Array(tag.utf8) + little(size ?? UInt32(body.count)) + body + (body.count % 2 == 1 ? [0] : [])
    }

    static func wav(_ chunks: [UInt8]..., tag: String = "RIFF", size: UInt32? = nil) -> [UInt8] {
        let body = Array("WAVE".utf8) + chunks.joined()
        return Array(tag.utf8) + little(size ?? UInt32(body.count)) + body
    }

    /// 8 kHz 16-bit mono, unless told otherwise.
    static func fmt(
        codec: UInt16 = 1, channels: UInt16 = 1, rate: UInt32 = 8000, byteRate: UInt32 = 16000, frame: UInt16 = 2,
        tail: [UInt8] = []
    ) -> [UInt8] {
        chunk(
            "fmt ",
            little(codec) + little(channels) + little(rate) + little(byteRate) + little(frame) + little(UInt16(16))
                + tail)
    }

    static func box(_ type: String, _ body: [UInt8], size: UInt32? = nil) -> [UInt8] {
        big(size ?? UInt32(body.count + 8)) + Array(type.utf8) + body
    }

    static func longBox(_ type: String, _ body: [UInt8], size: UInt64? = nil) -> [UInt8] {
        big(UInt32(1)) + Array(type.utf8) + big(size ?? UInt64(body.count + 16)) + body
    }

    static let ftyp = box("ftyp", Array("M4A ".utf8) + [0, 0, 2, 0] + Array("isom".utf8))
    static let mdat = box("mdat", [UInt8](repeating: 0x55, count: 100))

    static func mvhd(timescale: UInt32 = 1000, duration: UInt32 = 1500) -> [UInt8] {
        box("mvhd", [0, 0, 0, 0] + big(UInt32(7)) + big(UInt32(7)) + big(timescale) + big(duration) + zeros(80))
    }

    static func mvhd1(timescale: UInt32 = 1000, duration: UInt64 = 1500) -> [UInt8] {
        box("mvhd", [1, 0, 0, 0] + big(UInt64(7)) + big(UInt64(7)) + big(timescale) + big(duration) + zeros(80))
    }

    static func moov(_ boxes: [UInt8]...) -> [UInt8] { box("moov", Array(boxes.joined())) }
    static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}

/// SplitMix64: the same seed gives the same mutations.
struct SeededMutations: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
