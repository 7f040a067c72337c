// RIFF/WAVE ("Multimedia Programming Interface and Data Specifications 1.0", Microsoft and IBM 1991) and RF64/BW64 for more
// than 4 GiB (EBU Tech 3306, ITU-R BS.2088): chunks of a four-letter tag, a little-endian size and a body, padded to even
// length. The duration is the data chunk's size in frames over the sample rate that the fmt chunk, which stands before it, tells.
//
// A writer that streams cannot go back to fill in the sizes and leaves 0 or 0xFFFFFFFF; the sound then lasts to the end of
// the file. A size that is neither and reaches past the end is a recording that lost its end.

/// What a fmt chunk says, as far as the duration needs it; both numbers are above zero.
private struct WAVFrames {
    var sampleRateHertz: UInt64
    var frameByteCount: UInt64

    func seconds(dataByteCount: UInt64) -> Double {
        Double(dataByteCount / frameByteCount) / Double(sampleRateHertz)
    }
}

/// What the header says about the data's size. A told zero is a placeholder as well, unless the outermost size says that the
/// file is whole: some writers begin with zero and fill it in at the end.
private enum DataSize {
    case told(UInt64)
    case untold
}

private enum WAVFormatChunk {
    case frames(WAVFrames)
    case otherCodec
    case broken(String)
}

extension AudioProbe {
    /// The size that says "not known here": of a streaming writer, or of an RF64 chunk whose size stands in ds64.
    private static let unknownSize: UInt64 = 0xFFFF_FFFF

    /// What SoX and eSpeak write for the data's size into a pipe, SoX cut to whole frames (seen with 14.4.2 and 1.51).
    private static let pipeSize: UInt64 = 0x7FFF_F000

    static func probeWAV<E: Error>(
        byteCount: UInt64, is64Bit: Bool, read: (UInt64, Int) throws(E) -> [UInt8]
    ) throws(E) -> Verdict {
        guard byteCount >= 12 else { return .broken(.wav, reason: "it ends within its first header") }
        guard let start = try bytes(at: 0, count: 12, of: byteCount, read) else {
            return .broken(.wav, reason: shrank)
        }
        // RIFF is a family: AVI and others begin so, too.
        guard start.tag(at: 8) == "WAVE" else { return .unknownFormat }

        var riffSize = start.littleEndian(at: 4, byteCount: 4)
        var longDataSize: UInt64?
        var frames: WAVFrames?
        var offset: UInt64 = 12
        for _ in 0..<chunkLimit {
            let left = byteCount - offset
            guard left >= 8 else {
                return .broken(.wav, reason: "it ends before its data chunk: the recording was cut")
            }
            guard let header = try bytes(at: offset, count: 8, of: byteCount, read) else {
                return .broken(.wav, reason: shrank)
            }
            let tag = header.tag(at: 0)
            let size = header.littleEndian(at: 4, byteCount: 4)
            if tag == "data" {
                guard let frames else { return .broken(.wav, reason: "its data chunk stands before any fmt chunk") }
                let dataSize: DataSize
                if is64Bit, size == unknownSize {
                    guard let longDataSize else {
                        return .broken(.wav, reason: "its ds64 chunk, which tells the size of the data, is missing")
                    }
                    dataSize = longDataSize == .max ? .untold : .told(longDataSize)
                } else {
                    dataSize = size == unknownSize ? .untold : .told(size)
                }
                return verdict(
                    dataSize, left: left - 8, frames: frames,
                    isWhole: isFilledIn(riffSize, byteCount: byteCount))
            }
            // The padding byte may be missing at the end of the file; the next turn finds the end then.
            guard size <= left - 8 else {
                return .broken(
                    .wav, reason: "its \(tag) chunk claims \(size) bytes and only \(left - 8) are left: it was cut")
            }
            if tag == "fmt ", frames == nil {
                switch try formatChunk(at: offset + 8, size: size, byteCount: byteCount, read: read) {
                case .frames(let told): frames = told
                case .otherCodec: return .unknownFormat
                case .broken(let reason): return .broken(.wav, reason: reason)
                }
            }
            if tag == "ds64", is64Bit, longDataSize == nil, size >= 16 {
                guard let body = try bytes(at: offset + 8, count: 16, of: byteCount, read) else {
                    return .broken(.wav, reason: shrank)
                }
                riffSize = body.littleEndian(at: 0, byteCount: 8)
                longDataSize = body.littleEndian(at: 8, byteCount: 8)
            }
            offset += min(8 + size + size % 2, left)
        }
        return .broken(.wav, reason: "it has no data chunk among its first \(chunkLimit) chunks")
    }

    /// Whether the outermost size fits the file, so that its writer went back and filled the sizes in. A writer may leave the
    /// padding at the end out of the file, out of the size, or out of both.
    private static func isFilledIn(_ riffSize: UInt64, byteCount: UInt64) -> Bool {
        riffSize == byteCount - 8 || riffSize == byteCount - 7 && byteCount % 2 == 1
            || riffSize == byteCount - 9 && byteCount % 2 == 0
    }

    private static func verdict(_ dataSize: DataSize, left: UInt64, frames: WAVFrames, isWhole: Bool) -> Verdict {
        switch dataSize {
        case .told(0) where !isWhole, .untold:
            return .duration(seconds: frames.seconds(dataByteCount: left), format: .wav)
        case .told(let size) where size > left:
            if size == pipeSize - pipeSize % frames.frameByteCount {
                return .duration(seconds: frames.seconds(dataByteCount: left), format: .wav)
            }
            return .broken(
                .wav, reason: "its data chunk claims \(size) bytes and only \(left) are left: the recording was cut")
        case .told(let size):
            return .duration(seconds: frames.seconds(dataByteCount: size), format: .wav)
        }
    }

    private static func formatChunk<E: Error>(
        at offset: UInt64, size: UInt64, byteCount: UInt64, read: (UInt64, Int) throws(E) -> [UInt8]
    ) throws(E) -> WAVFormatChunk {
        guard size >= 16 else { return .broken("its fmt chunk has \(size) bytes and needs 16") }
        let bodyByteCount = Int(min(size, 40))
        guard let body = try bytes(at: offset, count: bodyByteCount, of: byteCount, read) else {
            return .broken(shrank)
        }
        var codec = body.littleEndian(at: 0, byteCount: 2)
        if codec == 0xFFFE {
            guard bodyByteCount == 40 else { return .broken("its extensible fmt chunk has \(size) bytes and needs 40") }
            // The GUID of the codec begins with the number that a plain fmt chunk would have.
            codec = body.littleEndian(at: 24, byteCount: 2)
        }
        // Linear PCM, floats, A-law, mu-law: every frame has the same size, so that bytes tell the time.
        guard [1, 3, 6, 7].contains(codec) else { return .otherCodec }

        let channels = body.littleEndian(at: 2, byteCount: 2)
        let sampleRateHertz = body.littleEndian(at: 4, byteCount: 4)
        let byteRate = body.littleEndian(at: 8, byteCount: 4)
        let frameByteCount = body.littleEndian(at: 12, byteCount: 2)
        guard channels > 0, sampleRateHertz > 0, byteRate > 0, frameByteCount > 0 else {
            return .broken(
                "its fmt chunk has a zero among channels (\(channels)), sample rate (\(sampleRateHertz)), "
                    + "byte rate (\(byteRate)) and frame size (\(frameByteCount))")
        }
        guard byteRate == sampleRateHertz * frameByteCount else {
            return .broken(
                "its byte rate \(byteRate) is not its sample rate \(sampleRateHertz) times its frame size \(frameByteCount)"
            )
        }
        return .frames(WAVFrames(sampleRateHertz: sampleRateHertz, frameByteCount: frameByteCount))
    }
}
