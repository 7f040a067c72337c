// M4A and MP4 (ISO/IEC 14496-12): boxes of a big-endian size, a four-letter type and a body. Size 1 says that 64 bits of
// size follow the type, size 0 that the box lasts to the end of the file. The duration stands in moov/mvhd, before the sound
// (mdat) or after it. Recorders write moov last, so that a recording that was interrupted has none: no duration can be told.
// The walk goes over all outer boxes, also when it has the duration already: a file that was cut shows it in its last box.

/// A box's place in the file; `end` is never past the box around it.
private struct BoxPlace {
    var type: String
    var bodyOffset: UInt64
    var end: UInt64
}

private enum NextBox {
    case box(BoxPlace)
    case broken(String)
}

/// What moov says about the duration.
private enum MovieDuration {
    case seconds(Double)
    case untold
    case broken(String)
}

extension AudioProbe {
    /// Brands of ftyp that stand for sound or film; a still image (`heic`, `avif`) begins with ftyp, too, and has no duration.
    private static let brands: Set<String> = [
        "M4A ", "M4B ", "M4P ", "M4V ", "mp41", "mp42", "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8",
        "iso9", "avc1", "dash", "qt  ", "3gp4", "3gp5", "3gp6", "3gp7", "3gp8", "3gp9", "3g2a", "F4A ", "MSNV",
    ]

    static func probeMPEG4<E: Error>(
        byteCount: UInt64, read: (UInt64, Int) throws(E) -> [UInt8]
    ) throws(E) -> Verdict {
        var boxesLeft = chunkLimit
        var movie: MovieDuration?
        var hasSound = false
        var offset: UInt64 = 0
        while offset < byteCount {
            let box: BoxPlace
            switch try nextBox(at: offset, end: byteCount, byteCount: byteCount, boxesLeft: &boxesLeft, read: read) {
            case .box(let found): box = found
            case .broken(let reason): return .broken(.m4a, reason: reason)
            }
            if offset == 0 {
                guard let isKnown = try hasKnownBrand(box, byteCount: byteCount, read: read) else {
                    return .broken(.m4a, reason: "its ftyp box names no brand")
                }
                if !isKnown { return .unknownFormat }
            }
            if box.type == "mdat" { hasSound = true }
            if box.type == "moov", movie == nil {
                let told = try movieDuration(in: box, byteCount: byteCount, boxesLeft: &boxesLeft, read: read)
                if case .broken(let reason) = told { return .broken(.m4a, reason: reason) }
                movie = told
            }
            offset = box.end
        }
        guard let movie else { return .broken(.m4a, reason: "it has no moov box: the recording was interrupted") }
        guard hasSound else {
            return .broken(.m4a, reason: "it has no mdat box: the recording was cut before its sound")
        }
        switch movie {
        case .seconds(let seconds): return .duration(seconds: seconds, format: .m4a)
        case .untold: return .unknownFormat
        case .broken(let reason): return .broken(.m4a, reason: reason)
        }
    }

    /// The box at `offset`, which lies before `end`; each call uses up one of `boxesLeft`.
    private static func nextBox<E: Error>(
        at offset: UInt64, end: UInt64, byteCount: UInt64, boxesLeft: inout Int,
        read: (UInt64, Int) throws(E) -> [UInt8]
    ) throws(E) -> NextBox {
        guard boxesLeft > 0 else { return .broken("it has more than \(chunkLimit) boxes") }
        boxesLeft -= 1
        let left = end - offset
        guard left >= 8 else { return .broken("it ends within the header of a box: the recording was cut") }
        guard let header = try bytes(at: offset, count: Int(min(left, 16)), of: byteCount, read) else {
            return .broken(shrank)
        }
        let type = header.tag(at: 4)
        var headerByteCount: UInt64 = 8
        var size = header.bigEndian(at: 0, byteCount: 4)
        if size == 1 {
            guard left >= 16 else { return .broken("it ends within the header of its \(type) box: it was cut") }
            headerByteCount = 16
            size = header.bigEndian(at: 8, byteCount: 8)
        } else if size == 0 {
            size = left
        }
        guard size >= headerByteCount else { return .broken("its \(type) box claims a size of \(size) bytes") }
        guard size <= left else {
            return .broken("its \(type) box claims \(size) bytes and only \(left) are left: the recording was cut")
        }
        return .box(BoxPlace(type: type, bodyOffset: offset + headerByteCount, end: offset + size))
    }

    /// nil when there is no room for a brand, or the file shrank meanwhile.
    private static func hasKnownBrand<E: Error>(
        _ box: BoxPlace, byteCount: UInt64, read: (UInt64, Int) throws(E) -> [UInt8]
    ) throws(E) -> Bool? {
        // The major brand, a version, then the compatible brands.
        let bodyByteCount = Int(min(box.end - box.bodyOffset, UInt64(readLimit)))
        guard bodyByteCount >= 4, let body = try bytes(at: box.bodyOffset, count: bodyByteCount, of: byteCount, read)
        else { return nil }
        return stride(from: 0, through: bodyByteCount - 4, by: 4).contains {
            $0 != 4 && brands.contains(body.tag(at: $0))
        }
    }

    /// mvhd tells the duration; in a fragmented file it tells zero, and mvex/mehd may tell it instead, in the same units.
    private static func movieDuration<E: Error>(
        in moov: BoxPlace, byteCount: UInt64, boxesLeft: inout Int, read: (UInt64, Int) throws(E) -> [UInt8]
    ) throws(E) -> MovieDuration {
        var header: (duration: UInt64, timescale: UInt64)?
        var isFragmented = false
        var fragmentDuration: UInt64?
        // mvex holds no more than a few boxes; its own are visited by stepping into it rather than over it.
        var offset = moov.bodyOffset
        while offset < moov.end {
            let box: BoxPlace
            switch try nextBox(at: offset, end: moov.end, byteCount: byteCount, boxesLeft: &boxesLeft, read: read) {
            case .box(let found): box = found
            case .broken(let reason): return .broken(reason)
            }
            offset = box.end
            switch box.type {
            case "mvhd" where header == nil:
                switch try movieHeader(box, byteCount: byteCount, read: read) {
                case .told(let duration, let timescale): header = (duration, timescale)
                case .untold: return .untold
                case .broken(let reason): return .broken(reason)
                }
            case "mvex" where !isFragmented:
                isFragmented = true
                offset = box.bodyOffset
            case "mehd" where isFragmented && fragmentDuration == nil:
                guard let told = try fragmentHeader(box, byteCount: byteCount, read: read) else {
                    return .broken("its mehd box is too short")
                }
                fragmentDuration = told
            default:
                break
            }
        }
        guard let header else { return .broken("its moov box has no mvhd box") }
        if isFragmented, header.duration == 0 {
            guard let fragmentDuration, fragmentDuration > 0 else { return .untold }
            return .seconds(Double(fragmentDuration) / Double(header.timescale))
        }
        return .seconds(Double(header.duration) / Double(header.timescale))
    }

    private enum MovieHeader {
        case told(duration: UInt64, timescale: UInt64)
        /// All ones: the writer could not tell, says the standard.
        case untold
        case broken(String)
    }

    private static func movieHeader<E: Error>(
        _ box: BoxPlace, byteCount: UInt64, read: (UInt64, Int) throws(E) -> [UInt8]
    ) throws(E) -> MovieHeader {
        // version, flags, two instants, timescale, duration; instants and duration are of 32 or 64 bits.
        let bodyByteCount = Int(min(box.end - box.bodyOffset, 32))
        guard bodyByteCount >= 20 else { return .broken("its mvhd box is too short") }
        guard let body = try bytes(at: box.bodyOffset, count: bodyByteCount, of: byteCount, read) else {
            return .broken(shrank)
        }
        let version = body.bigEndian(at: 0, byteCount: 1)
        let timescale: UInt64
        let duration: UInt64
        let untold: UInt64
        switch version {
        case 0:
            (timescale, duration) = (body.bigEndian(at: 12, byteCount: 4), body.bigEndian(at: 16, byteCount: 4))
            untold = 0xFFFF_FFFF
        case 1:
            guard bodyByteCount >= 32 else { return .broken("its mvhd box is too short") }
            (timescale, duration) = (body.bigEndian(at: 20, byteCount: 4), body.bigEndian(at: 24, byteCount: 8))
            untold = .max
        default:
            return .broken("its mvhd box has version \(version); 0 and 1 exist")
        }
        guard timescale > 0 else { return .broken("its mvhd box has a timescale of zero") }
        return duration == untold ? .untold : .told(duration: duration, timescale: timescale)
    }

    /// mehd: version, flags, then the duration of the whole in 32 or 64 bits.
    private static func fragmentHeader<E: Error>(
        _ box: BoxPlace, byteCount: UInt64, read: (UInt64, Int) throws(E) -> [UInt8]
    ) throws(E) -> UInt64? {
        let bodyByteCount = Int(min(box.end - box.bodyOffset, 12))
        guard bodyByteCount >= 8, let body = try bytes(at: box.bodyOffset, count: bodyByteCount, of: byteCount, read)
        else { return nil }
        if body.bigEndian(at: 0, byteCount: 1) == 0 { return body.bigEndian(at: 4, byteCount: 4) }
        return bodyByteCount >= 12 ? body.bigEndian(at: 4, byteCount: 8) : nil
    }
}
