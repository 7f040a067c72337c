// The folders of the pair: which there are, what stands in them, who may change them.
//
//     watch/   format synced lock pairing/ starts/ recordings/ quarantine/ requests/ journal/
//     phone/   format lock pairing/ starts/ inbox/ staging/ container/ ledger/ vetoes/ quarantine/ requests/ journal/
//     spool/   format watch.lock phone.lock pairing/ to-phone/ to-watch/

/// One of the three folders of a pair.
package enum FolderKind: String, Hashable, Sendable {
    case watch, phone, spool

    /// Everything that stands in one.
    fileprivate var names: [FileName] {
        switch self {
        case .watch:
            [
                "format", "synced", "lock", "pairing", "starts", "recordings", "quarantine", "requests", "journal",
            ]
        case .phone:
            [
                "format", "lock", "pairing", "starts", "inbox", "staging", "container", "ledger", "vetoes",
                "quarantine", "requests", "journal",
            ]
        case .spool: ["format", "watch.lock", "phone.lock", "pairing", "to-phone", "to-watch"]
        }
    }
}

/// The two sides.
package enum Side: String, Hashable, Sendable {
    case watch, phone

    package var spoolLock: FileName {
        switch self {
        case .watch: "watch.lock"
        case .phone: "phone.lock"
        }
    }
}

/// Why a folder cannot be used.
package enum FolderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process holds it. `holder` is what that one wrote into the lock.
    case held(path: String, holder: String)
    /// It was made by a newer build. It was not touched.
    case newerFormat(path: String, found: Int, understood: Int)
    /// Its `format` file says that it is something else.
    case notThatFolder(path: String, wanted: FolderKind, found: String)
    case disk(FileSystemError)

    package var description: String {
        switch self {
        case .held(let path, let holder):
            "cannot use \(path): another process holds it (\(holder)); stop that one, or name another folder"
        case .newerFormat(let path, let found, let understood):
            "cannot use \(path): its format is \(found) and this build understands \(understood); use a newer build"
        case .notThatFolder(let path, let wanted, let found):
            "cannot use \(path) as a \(wanted.rawValue) folder, there is \"\(found)\" in it; name another or an empty folder"
        case .disk(let error): error.description
        }
    }
}

extension FileSystem {
    private var formatUnderstood: Int { 1 }

    /// Opens a folder of the pair, with `create` making it, and checks its format before anything in it is touched.
    /// `nonce` names a temporary that no other process makes at the same time.
    package func openFolder(
        _ kind: FolderKind, at path: String, create: Bool, nonce: UInt64
    ) throws(FolderError) -> OpenDirectory {
        do {
            let root = try openOurRoot(path, create: create)
            var text = try formatText(in: root)
            if text == nil, create {
                if let stranger = try stranger(in: root, kind) {
                    throw FolderError.notThatFolder(path: path, wanted: kind, found: "no format file, but \(stranger)")
                }
                try writeFormat(kind, nonce: nonce, in: root)
                // What stands there now counts, not what we meant to write: another process may have come first, and
                // have made something else of this folder.
                text = try formatText(in: root)
            }
            guard let text else { throw FileSystemError(.open, root.displayPath(of: "format"), .notFound) }
            if let error = judgeFormat(text, wanted: kind, path: path) { throw error }
            if create { try sweepFormats(in: root) }
            return root
        } catch let error as FolderError {
            throw error
        } catch let error as FileSystemError {
            throw .disk(error)
        } catch {
            preconditionFailure("only two kinds of errors are thrown above: \(error)")
        }
    }

    /// A name that no folder of this kind has: then it is somebody's folder (`--home ~`), and must not become one of ours.
    private func stranger(
        in root: borrowing OpenDirectory, _ kind: FolderKind
    ) throws(FileSystemError) -> FileName? {
        var found: FileName?
        try forEachName(in: root) { name in
            // A fresh ext4 has `lost+found` in its root.
            if !name.isPartial, name != "lost+found", !kind.names.contains(name) { found = name }
            return found == nil
        }
        return found
    }

    private func formatText(in root: borrowing OpenDirectory) throws(FileSystemError) -> String? {
        do {
            let own = try openOurs("format", in: root)
            let bytes = try readAll(own.file, at: 0, byteCount: Int(min(own.byteCount, 64)))
            return FileName.printable(bytes.prefix { $0 != UInt8(ascii: "\n") })
        } catch  where error.reason == .notFound {
            return nil
        }
    }

    private func judgeFormat(_ text: String, wanted: FolderKind, path: String) -> FolderError? {
        guard let found = text.split(separator: " ").last.flatMap({ Int($0) }), found >= 1,
            text == "watchferry \(wanted.rawValue) \(found)"
        else {
            return .notThatFolder(path: path, wanted: wanted, found: text)
        }
        return found > formatUnderstood
            ? .newerFormat(path: path, found: found, understood: formatUnderstood) : nil
    }

    private func writeFormat(
        _ kind: FolderKind, nonce: UInt64, in root: borrowing OpenDirectory
    ) throws(FileSystemError) {
        guard let temporary = FileName("format-\(nonce.hex(digits: 16))") else {
            preconditionFailure("a nonce is a file name: \(nonce)")
        }
        do throws(FileSystemError) {
            let text = "watchferry \(kind.rawValue) \(formatUnderstood)\n"
            // A try on a disk without any room would be news to the other side, whose try would be news to this one.
            guard try space(of: root).freeByteCount > 0 else {
                throw FileSystemError(.write, root.displayPath(of: "format"), .noSpace)
            }
            try publishDurably(Array(text.utf8), as: "format", temporary: temporary, in: root)
        } catch  where error.reason == .exists {
            // The other side, or a `record`, came first. With which words, the caller looks.
        }
    }

    /// What a start left that was killed while it wrote a format. Only these: the user named this folder, and may keep
    /// other things in it.
    private func sweepFormats(in root: borrowing OpenDirectory) throws(FileSystemError) {
        var names: [FileName] = []
        try forEachName(in: root) { name in
            if name.hasPrefix("format-"), name.isPartial { names.append(name) }
            return names.count < 64
        }
        for name in names.sorted() {
            // What cannot be swept, because it is not ours or the disk fails, is in nobody's way.
            _ = try? sweepTemporary(name, in: root)
        }
    }

    /// Takes the lock `name` of a folder for as long as the returned file lives, and writes into it who holds it.
    package func takeLock(
        _ name: FileName, in root: borrowing OpenDirectory, holder: String
    ) throws(FolderError) -> OpenFile {
        do {
            let file = try openOrCreate(name, in: root)
            guard try lock(file) else {
                throw FolderError.held(path: root.displayPath, holder: try holderText(in: file))
            }
            try writeHolder(holder, into: file)
            return file
        } catch let error as FolderError {
            throw error
        } catch let error as FileSystemError {
            throw .disk(error)
        } catch {
            preconditionFailure("only two kinds of errors are thrown above: \(error)")
        }
    }

    private func writeHolder(_ holder: String, into file: borrowing OpenFile) throws(FileSystemError) {
        do {
            try truncate(file, to: 0)
            try writeAll(file, at: 0, Array("\(holder)\n".utf8))
        } catch  where error.reason == .noSpace {
            // The text is only for a person, the lock is what counts: a full disk must not keep a daemon from starting,
            // since it is the daemons that make room.
        }
    }

    /// What the holder of a lock wrote into it; `nil` when nobody holds it. Takes the lock for a moment to see.
    package func lockHolder(
        _ name: FileName, in root: borrowing OpenDirectory
    ) throws(FileSystemError) -> String? {
        do {
            let own = try openOurs(name, in: root)
            return try lock(own.file) ? nil : holderText(in: own.file)
        } catch  where error.reason == .notFound {
            return nil
        }
    }

    private func holderText(in file: borrowing OpenFile) throws(FileSystemError) -> String {
        let bytes = try readAll(file, at: 0, byteCount: 200)
        let text = FileName.printable(bytes.prefix { $0 != UInt8(ascii: "\n") })
        // It has not written it yet, or its disk is full.
        return text.isEmpty ? "unknown" : text
    }

    private func openOrCreate(
        _ name: FileName, in root: borrowing OpenDirectory
    ) throws(FileSystemError) -> OpenFile {
        do {
            return try openOurs(name, in: root).intoFile()
        } catch  where error.reason == .notFound {
            do {
                return try create(name, in: root)
            } catch  where error.reason == .exists {
                return try openOurs(name, in: root).intoFile()
            }
        }
    }
}
