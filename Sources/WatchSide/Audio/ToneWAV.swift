// A recording that nobody has to record: a sine tone as a WAV file, which the bench and the demo make by the thousand and
// by the gigabyte. Any slice of it is computed from its offset alone, so that a file of 1 GiB takes the memory of one slice.
//
// The sine comes from a table made with additions and multiplications only, and the place in it from an integer phase: the
// same tone is the same bytes on every platform.

/// A tone as a WAV file of 16-bit mono PCM, served in slices.
package struct ToneWAV: Sendable, Equatable {
    private static let headerByteCount = 44
    /// Bits of the phase that choose an entry of the table: 8,192 of two bytes stay in a core's nearest cache.
    private static let tableBits = 13
    private static let table = makeTable()

    private let frameCount: UInt64
    private let sampleRateHertz: UInt64
    /// What one sample adds to the phase; 2^64 is a whole turn, so that the phase of any sample is one wrapping product.
    private let phaseStep: UInt64

    /// A tone of `durationSeconds`, to the nearest sample. 60 ms at the usual 8 kHz are about 1 KiB.
    ///
    /// nil when there is no such file: a duration that is negative, not finite, or needs more than the 4 GiB that a WAV
    /// header can tell; a sample rate outside 1 Hz to 1 GHz; a frequency that is not above zero and below half the sample rate.
    package init?(durationSeconds: Double, frequencyHertz: Double, sampleRate: Int = 8000) {
        guard (1...1_000_000_000).contains(sampleRate) else { return nil }
        // NaN fails every comparison.
        guard frequencyHertz > 0, frequencyHertz < Double(sampleRate) / 2 else { return nil }
        // To the nearest by adding a half and cutting: `rounded()` would need the platform's library of mathematics.
        let frames = durationSeconds * Double(sampleRate) + 0.5
        // The outermost size counts all but its own eight bytes, and 0xFFFFFFFF would say "not known".
        let mostFrames = (0xFFFF_FFFE - UInt64(Self.headerByteCount - 8)) / 2
        guard durationSeconds >= 0, frames < Double(mostFrames + 1) else { return nil }
        frameCount = UInt64(frames)
        sampleRateHertz = UInt64(sampleRate)
        // Below half a turn, so it fits.
        phaseStep = UInt64(frequencyHertz / Double(sampleRate) * 0x1p64)
    }

    /// Bytes of the whole file, header included.
    package var byteCount: UInt64 { UInt64(Self.headerByteCount) + frameCount * 2 }

    /// The duration as the header tells it: whole samples over the sample rate.
    package var durationSeconds: Double { Double(frameCount) / Double(sampleRateHertz) }

    /// Up to `count` bytes from `offset` on: fewer at the end of the file, none behind it.
    package func bytes(offset: UInt64, count: Int) -> [UInt8] {
        precondition(count >= 0, "a slice of \(count) bytes at \(offset)")
        guard offset < byteCount else { return [] }
        let sliceByteCount = Int(min(UInt64(count), byteCount - offset))
        let headerEnd = UInt64(Self.headerByteCount)
        return [UInt8](unsafeUninitializedCapacity: sliceByteCount) { buffer, initializedCount in
            var position = 0
            if offset < headerEnd {
                for byte in header().dropFirst(Int(offset)).prefix(sliceByteCount) {
                    buffer.initializeElement(at: position, to: byte)
                    position += 1
                }
            }
            if position < sliceByteCount {
                fill(buffer, from: position, to: sliceByteCount, dataOffset: offset + UInt64(position) - headerEnd)
            }
            initializedCount = sliceByteCount
        }
    }

    /// Writes the samples' bytes from `dataOffset` on into `buffer[start..<end]`. A slice may begin or end in the middle of a sample.
    private func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>, from start: Int, to end: Int, dataOffset: UInt64) {
        Self.table.withUnsafeBufferPointer { table in
            var position = start
            var frame = dataOffset / 2
            if dataOffset % 2 == 1 {
                buffer.initializeElement(at: position, to: UInt8(truncatingIfNeeded: sample(frame, table) >> 8))
                position += 1
                frame += 1
            }
            var phase = frame &* phaseStep
            let raw = UnsafeMutableRawBufferPointer(buffer)
            while end - position >= 2 {
                let value = table[Int(truncatingIfNeeded: phase >> UInt64(64 - Self.tableBits))]
                raw.storeBytes(of: value.littleEndian, toByteOffset: position, as: Int16.self)
                phase &+= phaseStep
                position += 2
            }
            if position < end {
                let frame = (dataOffset + UInt64(position - start)) / 2
                buffer.initializeElement(at: position, to: UInt8(truncatingIfNeeded: sample(frame, table)))
            }
        }
    }

    private func sample(_ frame: UInt64, _ table: UnsafeBufferPointer<Int16>) -> Int16 {
        table[Int(truncatingIfNeeded: (frame &* phaseStep) >> UInt64(64 - Self.tableBits))]
    }

    private func header() -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ tag: StaticString) {
            tag.withUTF8Buffer { bytes.append(contentsOf: $0) }
        }
        func append<T: FixedWidthInteger & UnsignedInteger>(_ value: UInt64, as type: T.Type) {
            for shift in stride(from: 0, to: T.bitWidth, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
            }
        }
        append("RIFF")
        append(byteCount - 8, as: UInt32.self)
        append("WAVE")
        append("fmt ")
        append(16, as: UInt32.self)
        append(1, as: UInt16.self)  // linear PCM
        append(1, as: UInt16.self)  // channels
        append(sampleRateHertz, as: UInt32.self)
        append(sampleRateHertz * 2, as: UInt32.self)
        append(2, as: UInt16.self)  // bytes a frame
        append(16, as: UInt16.self)  // bits a sample
        append("data")
        append(frameCount * 2, as: UInt32.self)
        return bytes
    }

    /// One turn of a sine at half of full scale. The series to x^15 is exact to 1e-11 in a quarter turn, far below one step of 16 bits.
    private static func makeTable() -> [Int16] {
        let count = 1 << tableBits
        let quarter = count / 4
        let quarterTurn = (0...quarter).map { index -> Int16 in
            let x = Double(index) / Double(quarter) * (Double.pi / 2)
            var term = x
            var sum = x
            for power in stride(from: 3, through: 15, by: 2) {
                term = -term * x * x / Double(power * (power - 1))
                sum += term
            }
            return Int16(sum * 16384 + 0.5)
        }
        return (0..<count).map { index in
            switch index / quarter {
            case 0: quarterTurn[index]
            case 1: quarterTurn[2 * quarter - index]
            case 2: -quarterTurn[index - 2 * quarter]
            default: -quarterTurn[4 * quarter - index]
            }
        }
    }
}
