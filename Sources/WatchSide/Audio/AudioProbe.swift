// How long is this recording? Told from the headers of the two formats that watches record in, WAV and M4A, and from
// nothing else: no decoder, no platform, no Foundation.
//
// The file is the user's and may hold anything: it may be cut (a recorder that was killed), lie about its sizes, or be no
// audio at all. So every size is compared with what is left before it is used, nothing is read but small headers, and the
// walk over chunks or boxes ends after a fixed number of them. Whatever the bytes are, there is a verdict.

/// The formats whose duration ``AudioProbe`` can tell. The raw value is the usual file extension.
package enum AudioFormat: String, Sendable, Hashable {
    /// RIFF/WAVE and its 64-bit forms RF64 and BW64, holding linear PCM, floats, A-law or mu-law.
    case wav
    /// An ISO base media file (ISO/IEC 14496-12), as `.m4a` and `.mp4` are.
    case m4a
}

/// Tells a recording's format and duration from its headers.
package enum AudioProbe {
    package enum Verdict: Sendable, Equatable {
        /// `seconds` is finite and not negative.
        case duration(seconds: Double, format: AudioFormat)
        /// Nothing whose duration this probe can tell: another format, a WAV around a codec without a fixed frame size,
        /// or an M4A that does not say how long it is (a fragmented one, mostly). The user has to say the duration.
        case unknownFormat
        /// It claims to be of this format and contradicts itself or the file's length: most often a recording that was
        /// cut. `reason` is one clause for the user, printable whatever the file holds.
        case broken(AudioFormat, reason: String)
    }

    /// Chunks or boxes that the walk looks at before it gives up; the headers of no recorder come near it.
    package static let chunkLimit = 10_000

    /// The most bytes that one call of `read` is asked for.
    package static let readLimit = 256

    /// The most calls of `read` in one probe: a header for each chunk, and the bodies of the few that matter.
    package static let readCountLimit = chunkLimit + 8

    /// Tells format and duration of a file of `byteCount` bytes.
    ///
    /// `read` gives the bytes at an offset; fewer than asked for are taken as a file that shrank meanwhile. It is asked for at
    /// most ``readLimit`` bytes inside the file, at most ``readCountLimit`` times. What it throws goes to the caller.
    package static func probe<E: Error>(
        byteCount: UInt64, read: (_ offset: UInt64, _ count: Int) throws(E) -> [UInt8]
    ) throws(E) -> Verdict {
        // Four bytes are enough to claim a format; what is missing of the next four reads as zero.
        guard byteCount >= 4, let start = try bytes(at: 0, count: Int(min(byteCount, 8)), of: byteCount, read) else {
            return .unknownFormat
        }
        switch (start.tag(at: 0), start.tag(at: 4)) {
        case ("RIFF", _):
            return try probeWAV(byteCount: byteCount, is64Bit: false, read: read)
        case ("RF64", _), ("BW64", _):
            return try probeWAV(byteCount: byteCount, is64Bit: true, read: read)
        case (_, "ftyp"):
            return try probeMPEG4(byteCount: byteCount, read: read)
        case (_, _):
            return .unknownFormat
        }
    }

    /// Exactly `count` bytes at `offset`, or nil when they do not lie inside the file or the file shrank since it was measured.
    static func bytes<E: Error>(
        at offset: UInt64, count: Int, of byteCount: UInt64, _ read: (UInt64, Int) throws(E) -> [UInt8]
    ) throws(E) -> HeaderBytes? {
        guard offset <= byteCount, UInt64(count) <= byteCount - offset else { return nil }
        let bytes = try read(offset, count)
        return bytes.count >= count ? HeaderBytes(bytes: bytes) : nil
    }

    static let shrank = "it became shorter while it was read"
}

/// A few bytes of a header. Reading beyond their end gives zero bytes rather than a trap; every caller asks for as many bytes as
/// it reads, so this is the second fence.
struct HeaderBytes {
    let bytes: [UInt8]

    private func byte(_ index: Int) -> UInt8 { bytes.indices.contains(index) ? bytes[index] : 0 }

    /// Four bytes as text; what is not printable ASCII reads as `?`, so that a tag may stand in a message.
    func tag(at index: Int) -> String {
        var tag = ""
        for position in index..<(index + 4) {
            let value = byte(position)
            tag.unicodeScalars.append((0x20...0x7E).contains(value) ? Unicode.Scalar(value) : "?")
        }
        return tag
    }

    func littleEndian(at index: Int, byteCount: Int) -> UInt64 {
        (0..<byteCount).reduce(0) { $0 | UInt64(byte(index + $1)) << UInt64(8 * $1) }
    }

    func bigEndian(at index: Int, byteCount: Int) -> UInt64 {
        (0..<byteCount).reduce(0) { $0 << 8 | UInt64(byte(index + $1)) }
    }
}
