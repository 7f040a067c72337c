// Writing a file under a temporary name, and sweeping what a dead writer left.
//
// A temporary is `<final name>.part` in the directory of its final name. Its writer makes it exclusively and then locks
// it; a sweeper unlinks only what it could lock itself. Between the two steps of a writer a sweeper can come first:
// then the writer's lock fails, or its file has no name any more, and it starts over. The lock dies with the writer. A
// sweeper may stand still between its lock and its unlink for as long as a busy machine likes: the writer does not wait for
// it but takes its own name away.

extension FileSystem {
    /// Makes and locks the temporary of `finalName`. A temporary of a dead writer under that name is swept first; one
    /// of a live writer gives `exists`.
    package func createTemporary(
        for finalName: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> OpenFile {
        let name = finalName.partial
        // One round can meet a dead writer's file, and one can lose against a sweeper before it has the lock. To lose
        // more often takes a live rival for this very name, and only an enemy is that.
        for _ in 0..<4 {
            do {
                let file = try create(name, in: directory)
                if try isOursAlone(file, name, in: directory) { return file }
            } catch  where error.reason == .exists {
                try sweepTemporary(name, in: directory)
            }
        }
        throw FileSystemError(.create, directory.displayPath(of: name), .exists)
    }

    /// Locks a temporary that was just made. `false` when a sweeper came first. When the disk fails it is unlinked:
    /// names are not used again, so nobody but the next start would come for it.
    private func isOursAlone(
        _ file: borrowing OpenFile, _ name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> Bool {
        do throws(FileSystemError) {
            guard try lock(file) else {
                // A sweeper has it. Unless a rival made a new one under the name meanwhile, the name is ours to free.
                if try status(of: file).inode == status(of: name, in: directory).inode {
                    try unlinkIfThere(name, in: directory)
                }
                return false
            }
            return try status(of: file).linkCount == 1
        } catch  where error.reason == .notFound {
            // The sweeper has unlinked it.
            return false
        } catch {
            _ = try? unlinkIfThere(name, in: directory)
            throw error
        }
    }

    /// Unlinks the temporary `name` unless its writer lives, and says whether it did.
    @discardableResult
    package func sweepTemporary(
        _ name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> Bool {
        do {
            let own = try openOurs(name, in: directory)
            guard try lock(own.file) else { return false }
            // The name may by now stand for another file: its old writer published it and somebody makes a new
            // one. What we locked must be what the name still means.
            guard try status(of: own.file).inode == status(of: name, in: directory).inode else { return false }
            return try unlinkIfThere(name, in: directory)
        } catch  where error.reason == .notFound {
            return false
        }
    }

    /// Sweeps every temporary in `directory` and says how many; what cannot be swept is left for the next start.
    package func sweepTemporaries(in directory: borrowing OpenDirectory) throws(FileSystemError) -> Int {
        var names: [FileName] = []
        try forEachName(in: directory) { name in
            if name.isPartial { names.append(name) }
            return names.count < 4_096
        }
        var count = 0
        for name in names.sorted() {
            do {
                if try sweepTemporary(name, in: directory) { count += 1 }
            } catch {
                // Not ours to touch, or the disk is in trouble: what comes next will meet and report that itself.
                if error.reason == .tooManyOpenFiles { throw error }
            }
        }
        return count
    }

    /// A small file, whole or not at all, never replacing one: written, synced, published, directory synced.
    package func publishDurably(
        _ bytes: [UInt8], as name: FileName, temporary: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) {
        let file = try createTemporary(for: temporary, in: directory)
        do throws(FileSystemError) {
            try writeAll(file, at: 0, bytes)
            try sync(file)
            try publish(temporary.partial, in: directory, as: name, in: directory)
        } catch {
            // The temporary is of no use to anybody. If even this fails, the next start sweeps it.
            _ = try? unlinkIfThere(temporary.partial, in: directory)
            throw error
        }
        try sync(directory)
    }
}

/// An open file in a batch. (Arrays hold no noncopyable elements.)
package final class FileBox {
    package let file: OpenFile

    package init(_ file: consuming OpenFile) {
        self.file = file
    }
}

extension FileSystem {
    /// Up to this many files are synced one by one; from there on one barrier for all is cheaper. Measured on ext4:
    /// 83 ms for 100 files of 1 KiB one by one, 10 ms with one `syncfs`.
    private var mostSyncedOneByOne: Int { 4 }

    /// Makes the contents of all `files`, which lie on the file system of `directory`, durable. Answers, file by file,
    /// what failed: a failed sync is final for its file, which must be written anew from its source. With many files the wait
    /// is long, and `work` is done in it, see `syncAll(_:beside:)`; with few it is not done.
    package func syncContents(
        of files: [FileBox], on directory: borrowing OpenDirectory,
        beside work: (_ isDone: () -> Bool) -> Void = { _ in }
    ) -> [FileSystemError?] {
        if hasSyncAll, files.count > mostSyncedOneByOne {
            do throws(FileSystemError) {
                try syncAll(directory, beside: work)
                return files.map { _ in nil }
            } catch {
                return files.map { _ in error }
            }
        }
        return syncEach(files)
    }
}
