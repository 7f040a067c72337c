import Testing

@testable import WatchSide

@Suite("Tones to record where nobody speaks")
struct AudioToneTests {
    private func whole(_ tone: ToneWAV) -> [UInt8] { tone.bytes(offset: 0, count: Int(tone.byteCount)) }

    @Test(
        "A tone lasts as long as the probe reads from its header",
        arguments: [(0.0, 8000), (0.06, 8000), (1.0, 8000), (2.5, 44100), (0.00012, 16000), (67_108.86125, 8000)])
    func roundTrip(seconds: Double, sampleRate: Int) throws {
        let tone = try #require(ToneWAV(durationSeconds: seconds, frequencyHertz: 440, sampleRate: sampleRate))
        let verdict = AudioProbe.probe(byteCount: tone.byteCount) { tone.bytes(offset: $0, count: $1) }
        #expect(verdict == .duration(seconds: tone.durationSeconds, format: .wav))
        #expect(abs(tone.durationSeconds - seconds) <= 0.5 / Double(sampleRate))
    }

    @Test("60 ms are about 1 KiB, and 67,108.86125 s are 1 GiB to the byte")
    func sizes() throws {
        #expect(try #require(ToneWAV(durationSeconds: 0.06, frequencyHertz: 440)).byteCount == 1004)
        #expect(try #require(ToneWAV(durationSeconds: 67_108.86125, frequencyHertz: 440)).byteCount == 1 << 30)
    }

    @Test("Any slice is what the whole has there, also from an odd offset")
    func slices() throws {
        let tone = try #require(ToneWAV(durationSeconds: 0.06, frequencyHertz: 523.25))
        let bytes = whole(tone)
        #expect(bytes.count == Int(tone.byteCount))
        for offset in 0...bytes.count {
            for count in [0, 1, 2, 3, 44, 45, 511, 4096] {
                let slice = tone.bytes(offset: UInt64(offset), count: count)
                #expect(slice.elementsEqual(bytes[offset..<min(offset + count, bytes.count)]), "\(count) at \(offset)")
            }
        }
        #expect(tone.bytes(offset: .max, count: 1) == [])
    }

    @Test("A slice at the end of 1 GiB is on the same sine as the beginning")
    func farSlices() throws {
        // 1,000 Hz at 8 kHz: eight samples a period, so that the far end repeats the beginning.
        let tone = try #require(ToneWAV(durationSeconds: 67_108.86125, frequencyHertz: 1000))
        let period = tone.bytes(offset: 44, count: 16)
        #expect(tone.bytes(offset: 44 + (1 << 29), count: 16) == period)
        #expect(tone.bytes(offset: 44 + 16 * 67_000_000, count: 16) == period)
    }

    @Test("It sounds at its frequency, at half of full scale", arguments: [100.0, 440, 1234, 3999])
    func frequency(hertz: Double) throws {
        let tone = try #require(ToneWAV(durationSeconds: 1, frequencyHertz: hertz))
        let bytes = whole(tone).dropFirst(44)
        let samples = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
            Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
        }
        #expect(samples.count == 8000)
        let rises = zip(samples, samples.dropFirst()).count { $0 < 0 && $1 >= 0 }
        #expect(abs(Double(rises) - hertz) <= 1, "\(rises) rises")
        let loudest = try #require(samples.map { abs(Int($0)) }.max())
        #expect((15_000...16_384).contains(loudest), "\(loudest)")
    }

    @Test("Tones a tenth of a hertz apart are different recordings, and the same tone is the same twice")
    func differ() throws {
        var seen: [[UInt8]] = []
        for step in 0..<50 {
            let hertz = 440 + Double(step) / 10
            let tone = try #require(ToneWAV(durationSeconds: 0.06, frequencyHertz: hertz))
            let bytes = whole(tone)
            #expect(whole(try #require(ToneWAV(durationSeconds: 0.06, frequencyHertz: hertz))) == bytes)
            #expect(!seen.contains(bytes), "\(hertz) Hz")
            seen.append(bytes)
        }
    }

    @Test("What no WAV header can tell is refused")
    func refusals() throws {
        // The longest tone: 4 GiB less what the outermost size cannot count.
        let longest = try #require(ToneWAV(durationSeconds: Double(0xFFFF_FFDA / 2) / 8000, frequencyHertz: 440))
        #expect(longest.byteCount == 0x1_0000_0006)
        #expect(
            AudioProbe.probe(byteCount: longest.byteCount) { longest.bytes(offset: $0, count: $1) }
                == .duration(seconds: longest.durationSeconds, format: .wav))
        #expect(ToneWAV(durationSeconds: Double(0xFFFF_FFDA / 2 + 1) / 8000, frequencyHertz: 440) == nil)
        for seconds in [-1, -0.001, .nan, .infinity, -.infinity, 1e300] {
            #expect(ToneWAV(durationSeconds: seconds, frequencyHertz: 440) == nil, "\(seconds) s")
        }
        for hertz in [0, -440, 4000, .nan, .infinity] {
            #expect(ToneWAV(durationSeconds: 1, frequencyHertz: hertz) == nil, "\(hertz) Hz")
        }
        for sampleRate in [0, -8000, .max, .min] {
            #expect(ToneWAV(durationSeconds: 0.001, frequencyHertz: 0.1, sampleRate: sampleRate) == nil)
        }
    }
}
