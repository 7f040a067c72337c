// What every user of the seam does in the same way: read all of it, write all of it, and refuse what is not ours.

/// A plain file of ours, open: regular, owned by this user, closed to others, with one name. See `openOurs`.
package struct OwnFile: ~Copyable {
    package let file: OpenFile
    /// Its length when it was opened.
    package let byteCount: UInt64

    package init(file: consuming OpenFile, byteCount: UInt64) {
        self.file = file
        self.byteCount = byteCount
    }

    /// The file alone, with its owner.
    package consuming func intoFile() -> OpenFile { file }
}

extension FileSystem {
    /// Opens a plain file of ours for reading and writing, or says why not (`refused`), without having read a byte.
    ///
    /// Looks before it opens, because opening a device or a FIFO can have an effect, and looks again behind the open
    /// handle: a name that was exchanged in between is refused too.
    package func openOurs(
        _ name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> OwnFile {
        let before = try status(of: name, in: directory)
        if let refusal = Refusal(ofFile: before) {
            throw FileSystemError(.open, directory.path(of: name), .refused(refusal))
        }
        let file = try open(name, in: directory)
        let status = try status(of: file)
        if let refusal = Refusal(ofFile: status) { throw FileSystemError(.open, file.path, .refused(refusal)) }
        return OwnFile(file: file, byteCount: status.byteCount)
    }

    /// Opens a directory of ours inside one of ours: a real directory, owned by us, closed to others.
    package func openOurDirectory(
        _ name: FileName, in parent: borrowing OpenDirectory, create: Bool
    ) throws(FileSystemError) -> OpenDirectory {
        let directory = try openDirectory(name, in: parent, create: create)
        let status = try status(of: directory)
        if let refusal = Refusal(ofDirectory: status, othersMayRead: false) {
            throw FileSystemError(.openDirectory, directory.displayPath, .refused(refusal))
        }
        return directory
    }

    /// Opens the folder that the user named as a home or a spool. It may be readable by others, since `mkdir` makes it
    /// so by default; it may not be writable by them.
    package func openOurRoot(_ path: String, create: Bool) throws(FileSystemError) -> OpenDirectory {
        let directory = try openRoot(path, create: create)
        if let refusal = Refusal(ofDirectory: try status(of: directory), othersMayRead: true) {
            throw FileSystemError(.openRoot, path, .refused(refusal))
        }
        return directory
    }

    /// Reads exactly `byteCount` bytes at `offset`, or fewer when the file ends before.
    package func readAll(
        _ file: borrowing OpenFile, at offset: UInt64, byteCount: Int
    ) throws(FileSystemError) -> [UInt8] {
        // Room that nobody fills first: who asks for a megabyte of a short file gets only what he reads.
        var failure: FileSystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            let room = UnsafeMutableRawBufferPointer(buffer)
            do throws(FileSystemError) {
                while count < byteCount {
                    let slice = UnsafeMutableRawBufferPointer(rebasing: room[count..<byteCount])
                    let read = try read(file, at: offset + UInt64(count), into: slice)
                    if read == 0 { break }
                    count += read
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Fills `buffer` from `offset` on, over as many reads as it takes; returns fewer only at the end of the file.
    package func readFully(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: inout [UInt8]
    ) throws(FileSystemError) -> Int {
        var done = 0
        while done < buffer.count {
            let count = try readSlice(file, at: offset + UInt64(done), into: &buffer, from: done)
            if count == 0 { break }
            done += count
        }
        return done
    }

    private func readSlice(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: inout [UInt8], from start: Int
    ) throws(FileSystemError) -> Int {
        // `withUnsafeMutableBytes` cannot carry a typed error through a noncopyable borrow, so the result travels.
        var result: Result<Int, FileSystemError> = .success(0)
        buffer.withUnsafeMutableBytes { bytes in
            do throws(FileSystemError) {
                result = .success(
                    try read(file, at: offset, into: UnsafeMutableRawBufferPointer(rebasing: bytes[start...])))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    /// Writes all of `bytes` at `offset`, over as many writes as it takes.
    package func writeAll(
        _ file: borrowing OpenFile, at offset: UInt64, _ bytes: [UInt8]
    ) throws(FileSystemError) {
        try writeAll(file, at: offset, bytes[...])
    }

    package func writeAll(
        _ file: borrowing OpenFile, at offset: UInt64, _ bytes: ArraySlice<UInt8>
    ) throws(FileSystemError) {
        var result: Result<Void, FileSystemError> = .success(())
        bytes.withUnsafeBytes { buffer in
            do throws(FileSystemError) {
                var done = 0
                while done < buffer.count {
                    let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
                    let count = try write(file, at: offset + UInt64(done), from: rest)
                    // POSIX lets a write of n > 0 bytes return 0 only for odd devices; without this a full disk of
                    // such a kind would spin.
                    guard count > 0 else { throw FileSystemError(.write, file.displayPath, .noSpace) }
                    done += count
                }
            } catch {
                result = .failure(error)
            }
        }
        try result.get()
    }

    /// Whether there is anything of that name, of whatever kind.
    package func exists(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> Bool {
        do {
            _ = try status(of: name, in: directory)
            return true
        } catch  where error.reason == .notFound {
            return false
        }
    }

    /// Unlinks a name that may be gone already, and says whether it was there.
    @discardableResult
    package func unlinkIfThere(
        _ name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> Bool {
        do {
            try unlink(name, in: directory)
            return true
        } catch  where error.reason == .notFound {
            return false
        }
    }

    /// The smallest `limit` names for which `isWanted` holds, in byte order. Takes memory for twice as many, however
    /// many lie there: a spool's directory may have been filled by anybody.
    package func smallestNames(
        in directory: borrowing OpenDirectory, limit: Int, where isWanted: (FileName) -> Bool
    ) throws(FileSystemError) -> [FileName] {
        var names: [FileName] = []
        try forEachName(in: directory) { name in
            guard isWanted(name) else { return true }
            names.append(name)
            if names.count >= 2 * limit {
                names.sort()
                names.removeLast(names.count - limit)
            }
            return true
        }
        return Array(names.sorted().prefix(limit))
    }

    /// Every name of a directory of ours, in byte order. Only for directories whose size we bound ourselves.
    package func sortedNames(in directory: borrowing OpenDirectory) throws(FileSystemError) -> [FileName] {
        var names: [FileName] = []
        try forEachName(in: directory) { name in
            names.append(name)
            return true
        }
        return names.sorted()
    }
}

extension Refusal {
    /// `nil` for a plain file of ours: regular, owned by us, closed to others, with one name.
    package init?(ofFile status: FileStatus) {
        switch status.kind {
        case .regular: break
        case .directory, .symbolicLink, .fifo, .socket, .device, .other:
            self = .notAPlainFile(status.kind)
            return
        }
        if !status.isOurs {
            self = .foreignOwner
        } else if status.permissions & 0o077 != 0 {
            self = .tooOpen(permissions: status.permissions)
        } else if status.linkCount > 1 {
            self = .hardLinked(count: status.linkCount)
        } else {
            return nil
        }
    }

    /// `nil` for a directory of ours that others cannot write to (nor read, unless `othersMayRead`).
    package init?(ofDirectory status: FileStatus, othersMayRead: Bool) {
        guard status.kind == .directory else {
            self = .notAPlainFile(status.kind)
            return
        }
        if !status.isOurs {
            self = .foreignOwner
        } else if status.permissions & (othersMayRead ? 0o022 : 0o077) != 0 {
            self = .tooOpen(permissions: status.permissions)
        } else {
            return nil
        }
    }
}
