/// Bytes on their way through a process: long files in slices, the buffer used again, and a look in between at whether
/// the daemon was told to stop. A 1 GiB recording takes as much memory as one slice.
package final class SliceCarrier {
    private let fileSystem: any FileSystem
    private let shouldStop: () -> Bool
    private var buffer: [UInt8] = []

    /// Large enough that the calls do not count, small enough that a stop is answered within milliseconds.
    package static let sliceByteCount = 512 * 1_024

    /// `shouldStop` is asked between two slices of one file, never before the first.
    package init(fileSystem: any FileSystem, shouldStop: @escaping () -> Bool) {
        self.fileSystem = fileSystem
        self.shouldStop = shouldStop
    }

    /// Reads `range` of a file and tells its checksums; `nil` when the file ends before the range does. Throws
    /// `stopped` when told to stop.
    package func checksums(
        of file: borrowing OpenFile, from start: UInt64, byteCount: UInt64
    ) throws(FileSystemError) -> Checksums? {
        var sums = Checksums.ofNothing
        var done: UInt64 = 0
        while done < byteCount {
            let count = try readSlice(of: file, at: start + done, atMost: byteCount - done)
            if count == 0 { return nil }
            buffer.withUnsafeBytes { sums.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            done += UInt64(count)
            if done < byteCount { try stopIfTold(file) }
        }
        return sums
    }

    /// Copies the first `byteCount` bytes of `source` to the same place in `target` and tells the checksums of the first
    /// `summedByteCount` of them, of all when that is not given; `nil` when the source ends before.
    package func copy(
        _ source: borrowing OpenFile, to target: borrowing OpenFile, byteCount: UInt64, summing summedByteCount: UInt64? = nil
    ) throws(FileSystemError) -> Checksums? {
        var sums = Checksums.ofNothing
        let summedByteCount = summedByteCount ?? byteCount
        var done: UInt64 = 0
        while done < byteCount {
            let count = try readSlice(of: source, at: done, atMost: byteCount - done)
            if count == 0 { return nil }
            if done < summedByteCount {
                let summed = Int(min(UInt64(count), summedByteCount - done))
                buffer.withUnsafeBytes { sums.append(UnsafeRawBufferPointer(rebasing: $0[..<summed])) }
            }
            try fileSystem.writeAll(target, at: done, buffer[..<count])
            done += UInt64(count)
            if done < byteCount { try stopIfTold(source) }
        }
        return sums
    }

    /// One read; grows the buffer to what is needed, so that small files do not pay for large ones.
    private func readSlice(
        of file: borrowing OpenFile, at offset: UInt64, atMost limit: UInt64
    ) throws(FileSystemError) -> Int {
        let wanted = Int(min(limit, UInt64(Self.sliceByteCount)))
        if buffer.count < wanted { buffer = [UInt8](repeating: 0, count: wanted) }
        var result: Result<Int, FileSystemError> = .success(0)
        buffer.withUnsafeMutableBytes { bytes in
            do throws(FileSystemError) {
                let slice = UnsafeMutableRawBufferPointer(rebasing: bytes[..<wanted])
                result = .success(try fileSystem.read(file, at: offset, into: slice))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    private func stopIfTold(_ file: borrowing OpenFile) throws(FileSystemError) {
        if shouldStop() { throw FileSystemError(.read, file.displayPath, .stopped) }
    }
}
