package import Monitors
import Spooling

// One number for a whole history. Two runs of one scenario, in two processes, must come to the same one: that is how it is
// checked that nothing decides by hash order, an address, or a clock.

/// A running digest of 64 bits over everything that a history says. Not a secret-keeping hash: it finds differences.
package struct HistoryDigest: Hashable, Sendable, CustomStringConvertible {
    package private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

    package init() {}

    /// Sixteen hexadecimal digits.
    package var description: String { value.hex(digits: 16) }

    package mutating func add(_ entry: HistoryEntry) {
        mix(entry.moment.nanoseconds)
        mix(UInt64(entry.source.rawValue) << 8 | UInt64(entry.watchNumber))
        switch entry.what {
        case .pair(let event): add(event)
        case .world(let event): add(event)
        }
    }

    private mutating func add(_ event: PairEvent) {
        // Its number among the cases: a digest compares runs of one build.
        mix(withUnsafeBytes(of: event.kind) { UInt64($0[0]) })
        mix(event.phase == .intends ? 1 : 2)
        if let id = event.id {
            mix(id.high)
            mix(id.low)
        }
        if let name = event.name { mix(name.bytes) }
        mix(event.byteCount ?? .max)
        if let sums = event.checksums { mix(UInt64(sums.crc32) << 32 | UInt64(sums.adler32)) }
        mix(event.pairing?.rawValue ?? .max)
        mix(UInt64(truncatingIfNeeded: event.attempt ?? -1))
        if let detail = event.detail { mix(detail) }
    }

    /// The world's acts are few: their text says all of each.
    private mutating func add(_ event: WorldEvent) {
        if case .recordReturned(let id, let byteCount, let sums, let version) = event {
            mix(id.high)
            mix(id.low)
            mix(byteCount)
            mix(UInt64(sums.crc32) << 32 | UInt64(sums.adler32))
            mix(UInt64(truncatingIfNeeded: version))
        } else {
            mix("\(event)")
        }
    }

    private mutating func mix(_ word: UInt64) {
        // The finaliser of MurmurHash3 (Austin Appleby, in the public domain), over state and word.
        var mixed = value ^ word
        mixed = (mixed ^ (mixed >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        mixed = (mixed ^ (mixed >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        value = mixed ^ (mixed >> 33)
    }

    private mutating func mix(_ text: String) {
        var text = text
        text.withUTF8 { mix(UnsafeRawBufferPointer($0)) }
    }

    private mutating func mix(_ bytes: [UInt8]) { bytes.withUnsafeBytes { mix($0) } }

    private mutating func mix(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + 8 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian)
            offset += 8
        }
        var rest = UInt64(bytes.count) << 56
        for place in 0..<bytes.count - offset { rest ^= UInt64(bytes[offset + place]) << UInt64(8 * place) }
        mix(rest)
    }
}
