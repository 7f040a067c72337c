package import Spooling

extension FileSystem {
    /// Does to an open file what the link does to a transfer's bytes.
    package func damage(
        _ file: borrowing OpenFile, byteCount: UInt64, _ damage: Damage, draw: UInt64
    ) throws(FileSystemError) {
        guard byteCount > 0 else { return }
        switch damage {
        case .truncated(let share):
            // At least one byte goes, or nothing would have happened.
            let kept = min(byteCount - 1, UInt64(Double(byteCount) * min(max(share, 0), 1)))
            try truncate(file, to: kept)
        case .altered:
            let offset = draw % byteCount
            let bytes = try readAll(file, at: offset, byteCount: 1)
            guard let byte = bytes.first else { return }
            try writeAll(file, at: offset, [byte ^ UInt8(truncatingIfNeeded: draw >> 32 | 1)])
        }
    }
}
