import Spooling

/// Tells two builds of a program apart: sixteen hexadecimal digits over all of its bytes, and how many those are.
package enum BuildDigest {
    package static func of(_ bytes: [UInt8]) -> String {
        var value: UInt64 = 0x9E37_79B9_7F4A_7C15
        bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset + 8 <= bytes.count {
                mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian, &value)
                offset += 8
            }
            for byte in bytes[offset...] { mix(UInt64(byte), &value) }
        }
        return "\(value.hex(digits: 16))-\(bytes.count)"
    }

    private static func mix(_ word: UInt64, _ value: inout UInt64) {
        // The finaliser of MurmurHash3 (Austin Appleby, in the public domain), over state and word.
        var mixed = value ^ word
        mixed = (mixed ^ (mixed >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        mixed = (mixed ^ (mixed >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        value = mixed ^ (mixed >> 33)
    }
}
