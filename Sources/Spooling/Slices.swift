/// Bytes on their way through a process: long files in slices, the buffer used again, and a look in between at whether
/// the daemon was told to stop. A 1 GiB recording takes as much memory as one slice.
package final class SliceCarrier {
    private let fileSystem: any FileSystem
    private let shouldStop: () -> Bool
    private var buffer: [UInt8] = []
    private let pair = SlicePair()

    /// Large enough that the calls do not count, small enough that a stop is answered within milliseconds.
    package static let sliceByteCount = 512 * 1_024

    /// From here on the checksums are taken beside the reading and writing, where the file system does things at once.
    package static let largeByteCount: UInt64 = 4 * 1_024 * 1_024

    /// From here on the disk is asked to begin writing while the copy goes on, or the next one.
    private static let earlyByteCount: UInt64 = 256 * 1_024

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
        if byteCount >= Self.largeByteCount {
            return try carryLarge(file, from: start, byteCount: byteCount, summing: byteCount, sumsBeside: false) {
                _, _ in
            }
        }
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

    /// The same of the first bytes of a file, as a value.
    package func result(of body: FileBody) -> Result<Checksums?, FileSystemError> {
        do throws(FileSystemError) {
            return .success(try checksums(of: body.file.file, from: 0, byteCount: body.byteCount))
        } catch {
            return .failure(error)
        }
    }

    /// Copies the first `byteCount` bytes of `source` to the same place in `target` and tells the checksums of the first
    /// `summedByteCount` of them, of all when that is not given; `nil` when the source ends before.
    package func copy(
        _ source: borrowing OpenFile, to target: borrowing OpenFile, byteCount: UInt64,
        summing summedByteCount: UInt64? = nil
    ) throws(FileSystemError) -> Checksums? {
        let summedByteCount = summedByteCount ?? byteCount
        if byteCount >= Self.largeByteCount {
            return try carryLarge(source, from: 0, byteCount: byteCount, summing: summedByteCount, sumsBeside: true) {
                (offset, slice) throws(FileSystemError) in
                try fileSystem.writeAll(target, at: offset, slice)
                // So that the disk works while the rest is copied; whoever needs it durable syncs it.
                fileSystem.startWriting(target, at: offset, byteCount: slice.count)
            }
        }
        var sums = Checksums.ofNothing
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

    /// Copies the first `byteCount` bytes of `source` to the same place in `target`, whatever they are, and says whether the
    /// source had so many. For copies whose reader verifies them.
    package func copyPlainly(
        _ source: borrowing OpenFile, to target: borrowing OpenFile, byteCount: UInt64
    ) throws(FileSystemError) -> Bool {
        var done: UInt64 = 0
        while done < byteCount {
            let count = try readSlice(of: source, at: done, atMost: byteCount - done)
            if count == 0 { return false }
            try fileSystem.writeAll(target, at: done, buffer[..<count])
            if byteCount >= Self.earlyByteCount {
                fileSystem.startWriting(target, at: done, byteCount: count)
            }
            done += UInt64(count)
            if done < byteCount { try stopIfTold(source) }
        }
        return true
    }

    /// A large file, slice by slice: while one is summed up, `body` gets it and the next one is read into another buffer.
    /// Only the first `summedByteCount` bytes are summed up. With `sumsBeside` both sums are taken on the other thread, which
    /// has as much to do as this one when `body` writes; otherwise one of the two.
    private func carryLarge(
        _ source: borrowing OpenFile, from start: UInt64, byteCount: UInt64, summing summedByteCount: UInt64,
        sumsBeside: Bool,
        body: (UInt64, ArraySlice<UInt8>) throws(FileSystemError) -> Void
    ) throws(FileSystemError) -> Checksums? {
        let pair = pair
        pair.begin(sliceByteCount: Self.sliceByteCount)
        defer { pair.letGo() }
        var offset = start
        let end = start + byteCount
        pair.count = try fileSystem.readSome(source, at: offset, atMost: end - offset, into: &pair.current)
        while offset < end {
            guard pair.count > 0 else { return nil }
            let unsummed = summedByteCount - min(summedByteCount, offset - start)
            pair.summedCount = Int(min(UInt64(pair.count), unsummed))
            var result: Result<Int, FileSystemError> = .success(0)
            let next = offset + UInt64(pair.count)
            fileSystem.together(
                { pair.sum(both: sumsBeside) },
                {
                    if !sumsBeside { pair.sumAdler32() }
                    do throws(FileSystemError) {
                        try body(offset, pair.current[..<pair.count])
                        if next < end {
                            result = .success(
                                try fileSystem.readSome(source, at: next, atMost: end - next, into: &pair.next))
                        }
                    } catch {
                        result = .failure(error)
                    }
                })
            pair.count = try result.get()
            swap(&pair.current, &pair.next)
            offset = next
            if offset < end { try stopIfTold(source) }
        }
        return pair.sums
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

extension FileSystem {
    /// One read of at most what `buffer` holds.
    fileprivate func readSome(
        _ file: borrowing OpenFile, at offset: UInt64, atMost limit: UInt64, into buffer: inout [UInt8]
    ) throws(FileSystemError) -> Int {
        var result: Result<Int, FileSystemError> = .success(0)
        buffer.withUnsafeMutableBytes { bytes in
            let slice = UnsafeMutableRawBufferPointer(rebasing: bytes[..<min(bytes.count, Int(clamping: limit))])
            do throws(FileSystemError) {
                result = .success(try read(file, at: offset, into: slice))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }
}

/// Two slices and the checksums of what went by. What two threads do with it at a time is apart: one reads `current` and
/// changes `crc`, or both sums; the other reads `current` and fills `next`, or changes `adler`.
private final class SlicePair: @unchecked Sendable {
    var current: [UInt8] = []
    var next: [UInt8] = []
    /// So many bytes of `current` count.
    var count = 0
    /// So many of them are summed up.
    var summedCount = 0
    private var crc = Checksums.ofNothing
    private var adler = Checksums.ofNothing

    var sums: Checksums { Checksums(crc32: crc.crc32, adler32: adler.adler32) }

    func begin(sliceByteCount: Int) {
        current = [UInt8](repeating: 0, count: sliceByteCount)
        next = current
        crc = .ofNothing
        adler = .ofNothing
    }

    /// A daemon that has nothing large to carry holds nothing.
    func letGo() {
        current = []
        next = []
    }

    func sum(both: Bool) {
        current.withUnsafeBytes { crc.appendToCRC32(UnsafeRawBufferPointer(rebasing: $0[..<summedCount])) }
        if both { sumAdler32() }
    }

    func sumAdler32() {
        current.withUnsafeBytes { adler.appendToAdler32(UnsafeRawBufferPointer(rebasing: $0[..<summedCount])) }
    }
}
