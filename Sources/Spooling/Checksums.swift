import CZlib

/// The two checksums under which the pair believes bytes: CRC-32 and Adler-32, both zlib's.
///
/// Two of different construction, because each alone has known blind spots (CRC-32: 1 in 2³² of random damage;
/// Adler-32: weak on short inputs). They guard against accident; an enemy of the same user is trusted not to forge.
package struct Checksums: Hashable, Sendable {
    package var crc32: UInt32
    package var adler32: UInt32

    /// Of no bytes at all.
    package static let ofNothing = Checksums(crc32: 0, adler32: 1)

    package init(crc32: UInt32, adler32: UInt32) {
        self.crc32 = crc32
        self.adler32 = adler32
    }

    package init(of bytes: some Sequence<UInt8>) {
        self.init(of: Array(bytes)[...])
    }

    // These two take what nearly every caller has without a copy.
    package init(of bytes: [UInt8]) {
        self.init(of: bytes[...])
    }

    package init(of bytes: ArraySlice<UInt8>) {
        self = .ofNothing
        bytes.withUnsafeBytes { append($0) }
    }

    /// CRC-32 alone, for what has room for no more.
    package static func crc32(of bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return ofNothing.crc32 }
            return UInt32(truncatingIfNeeded: crc32_z(UInt(ofNothing.crc32), start, buffer.count))
        }
    }

    /// Takes further bytes in, in order.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        appendToCRC32(bytes)
        appendToAdler32(bytes)
    }

    /// One of the two alone: whoever calls this owes the other.
    mutating func appendToCRC32(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.bindMemory(to: UInt8.self).baseAddress, !bytes.isEmpty else { return }
        crc32 = UInt32(truncatingIfNeeded: crc32_z(UInt(crc32), start, bytes.count))
    }

    mutating func appendToAdler32(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.bindMemory(to: UInt8.self).baseAddress, !bytes.isEmpty else { return }
        adler32 = UInt32(truncatingIfNeeded: adler32_z(UInt(adler32), start, bytes.count))
    }
}
