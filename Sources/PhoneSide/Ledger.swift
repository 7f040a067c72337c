package import Spooling
package import WireContract

// The ledger of outcomes: what became of every note that this phone ever took in.
//
// One file of rows that only grows, in generations: every start writes the rows that count into a new one and goes on there.
//
// | files in ledger/ | what counts | who goes on |
// |---|---|---|
// | none | nothing is known; what the container holds counts | a start writes generation 1 |
// | n | n, up to its last whole row | a start writes n+1 |
// | n, (n+1).part | n | the next start sweeps the temporary |
// | n, n+1 | n+1 | the next start unlinks n |
//
// A row counts for the pair only once it was synced: the index below never runs ahead of the disk. When a write or a sync
// fails, what is on disk behind the last synced row is unknown, and a second sync of the same file would prove nothing; so
// the rows that are known to be durable are written to a new generation, and the failed ones are given up.
//
// Somebody may remove the file, or all of `ledger/`, while the phone runs. A sync of a file without a name succeeds and
// keeps nothing. So behind each barrier, and before acks, the ledger looks whether its names still lead to what is open
// here; if not, everything that is known goes into a new generation first. (What is open can still be read.)

/// What the ledger knows of one note.
package struct LedgerEntry: Hashable, Sendable {
    package var outcome: Outcome
    package var content: NoteContent
    /// Where its last row stands in the present generation, and how long it is.
    fileprivate var offset: UInt64
    fileprivate var byteCount: UInt32
}

package final class Ledger {
    private let home: DirectoryBox
    private let fileSystem: any FileSystem
    private var directory: DirectoryBox
    private var file: FileBox
    /// What `ledger` and the generation's name have to lead to.
    private var identities: (directory: FileStatus, file: FileStatus)
    private var generation: UInt64
    /// The highest number that was tried.
    private var lastGeneration: UInt64
    /// Up to here the present generation is durable.
    private var durableByteCount: UInt64
    private var entries: [ULID: LedgerEntry]
    /// A write or a sync failed, or the file has lost its name: nothing may be appended before a new generation was begun.
    private var mustRegenerate = false
    /// How many bytes of the last generation were no rows (a torn tail, or damage).
    package let unreadableByteCount: UInt64

    private static let directoryName: FileName = "ledger"

    /// Opens `ledger/` in a home, making it when it is missing, reads its last generation and goes on in a new one. The
    /// caller has made sure that the name in the home is durable.
    package init(home: DirectoryBox, fileSystem: any FileSystem) throws(FileSystemError) {
        let directory = DirectoryBox(
            try fileSystem.openOurDirectory(Self.directoryName, in: home.directory, create: true))
        _ = try fileSystem.sweepTemporaries(in: directory.directory)
        let old = try Self.generations(in: directory.directory, of: fileSystem)
        let content = try Self.load(generation: old.last, in: directory.directory, of: fileSystem)
        let next = (old.last ?? 0) + 1
        let written = try Self.writeGeneration(
            next, from: content.source, entries: content.entries, in: directory.directory, of: fileSystem)
        for generation in old { try fileSystem.unlinkIfThere(Self.name(of: generation), in: directory.directory) }
        self.home = home
        self.directory = directory
        self.fileSystem = fileSystem
        identities = (
            try fileSystem.status(of: directory.directory), try fileSystem.status(of: written.file.file)
        )
        file = written.file
        generation = next
        lastGeneration = next
        durableByteCount = written.byteCount
        entries = written.entries
        unreadableByteCount = content.unreadableByteCount
    }

    package subscript(id: ULID) -> LedgerEntry? { entries[id] }

    package var count: Int { entries.count }

    /// The ids with this outcome, in order. Walks all entries: for a start, not for each note.
    package func ids(with outcome: Outcome) -> [ULID] {
        var ids: [ULID] = []
        for (id, entry) in entries where entry.outcome == outcome { ids.append(id) }
        return ids.sorted()
    }

    /// The file to which rows are appended, for a barrier that is shared with others.
    package var openFile: FileBox { file }

    /// Rows that were written and are not durable yet.
    package struct Pending {
        fileprivate var entries: [(id: ULID, entry: LedgerEntry)] = []
        fileprivate var end: UInt64 = 0
    }

    /// Writes rows behind the durable ones. Nothing counts until `settle`. When it throws, nothing was written that
    /// counts, and the next call begins with a new generation.
    package func write(_ rows: [Row])
        throws(FileSystemError) -> Pending
    {
        if mustRegenerate { try regenerate(keeping: entries) }
        var bytes: [UInt8] = []
        var pending = Pending()
        for row in rows {
            let start = bytes.count
            LedgerRow(
                outcome: row.outcome, id: row.id, content: row.content, dictionaryBytes: row.dictionaryBytes
            ).append(to: &bytes)
            let entry = LedgerEntry(
                outcome: row.outcome, content: row.content, offset: durableByteCount + UInt64(start),
                byteCount: UInt32(bytes.count - start))
            pending.entries.append((row.id, entry))
        }
        pending.end = durableByteCount + UInt64(bytes.count)
        do {
            try fileSystem.writeAll(file.file, at: durableByteCount, bytes)
        } catch {
            // A part of a row may stand there now: the torn tail. Cutting it off is enough when the write was refused
            // for lack of room; what an input/output error left is unknown.
            mustRegenerate = true
            if error.reason == .noSpace {
                do {
                    try fileSystem.truncate(file.file, to: durableByteCount)
                    mustRegenerate = false
                } catch {
                    mustRegenerate = true
                }
            }
            throw error
        }
        return pending
    }

    /// The barrier that covers `pending` held: its rows count from now on. When it throws they do not: the file had lost
    /// its name, and they could not be written to another one.
    package func settle(_ pending: Pending) throws(FileSystemError) {
        precondition(pending.end >= durableByteCount, "rows settle in the order in which they were written")
        do {
            guard try isCurrent() else {
                var known = entries
                for (id, entry) in pending.entries { known[id] = entry }
                return try regenerate(keeping: known)
            }
        } catch {
            mustRegenerate = true
            throw error
        }
        for (id, entry) in pending.entries { entries[id] = entry }
        durableByteCount = pending.end
    }

    /// Makes sure that what is known here is on the disk still: before anybody is told because of it.
    package func reassure() throws(FileSystemError) {
        if try !isCurrent() { try regenerate(keeping: entries) }
    }

    /// The barrier failed: the rows do not count, and this file is not to be trusted behind its durable rows.
    package func giveUp(_ pending: Pending) {
        mustRegenerate = true
    }

    /// Writes, syncs, settles.
    package func append(_ rows: [Row])
        throws(FileSystemError)
    {
        let pending = try write(rows)
        do {
            try fileSystem.sync(file.file)
        } catch {
            giveUp(pending)
            throw error
        }
        try settle(pending)
    }

    /// The dictionary of a note, read from its row.
    package func dictionaryBytes(of id: ULID) throws(FileSystemError) -> [UInt8]? {
        guard let entry = entries[id] else { return nil }
        let bytes = try fileSystem.readAll(file.file, at: entry.offset, byteCount: Int(entry.byteCount))
        guard case .row(let row, _) = LedgerRow.read(bytes[...]), row.id == id else { return nil }
        return row.dictionaryBytes
    }

    /// Whether the names still lead to what is open here.
    private func isCurrent() throws(FileSystemError) -> Bool {
        guard try isCurrentDirectory() else { return false }
        return try leads(Self.name(of: generation), in: directory.directory, to: identities.file)
    }

    private func isCurrentDirectory() throws(FileSystemError) -> Bool {
        try leads(Self.directoryName, in: home.directory, to: identities.directory)
    }

    private func leads(
        _ name: FileName, in parent: borrowing OpenDirectory, to identity: FileStatus
    ) throws(FileSystemError) -> Bool {
        do {
            let found = try fileSystem.status(of: name, in: parent)
            return found.inode == identity.inode && found.device == identity.device
        } catch  where error.reason == .notFound {
            return false
        }
    }

    /// Writes `known`, whose rows stand in the open file, into a new generation and goes on there.
    private func regenerate(keeping known: [ULID: LedgerEntry]) throws(FileSystemError) {
        mustRegenerate = true
        var directory = directory
        if try !isCurrentDirectory() {
            directory = DirectoryBox(
                try fileSystem.openOurDirectory(Self.directoryName, in: home.directory, create: true))
            try fileSystem.sync(home.directory)
        }
        // Each try has a number of its own: one that failed may have published its file. Such a file is harmless, since it
        // holds the same durable rows, and the next start unlinks it. In a directory that came in the place of ours there
        // may be higher ones: what is known here counts.
        let others = try Self.generations(in: directory.directory, of: fileSystem)
        lastGeneration = max(lastGeneration, others.last ?? 0) + 1
        let written = try Self.writeGeneration(
            lastGeneration, from: file, entries: Self.inFileOrder(known), in: directory.directory, of: fileSystem)
        let identity = try fileSystem.status(of: written.file.file)
        if directory !== self.directory { identities.directory = try fileSystem.status(of: directory.directory) }
        let old = Self.name(of: generation)
        identities.file = identity
        self.directory = directory
        generation = lastGeneration
        file = written.file
        entries = written.entries
        durableByteCount = written.byteCount
        mustRegenerate = false
        // Of no use to anybody; if this fails, the next start unlinks it.
        _ = try? fileSystem.unlinkIfThere(old, in: directory.directory)
    }
}

// Generations: their names, how one is read, how one is written.
extension Ledger {
    private static func name(of generation: UInt64) -> FileName {
        guard let name = FileName("\(generation.decimal(digits: 10)).ledger") else {
            preconditionFailure("a generation is a file name: \(generation)")
        }
        return name
    }

    /// Ten digits.
    private static let mostGenerations: UInt64 = 9_999_999_999

    /// The file that counts; `nil` when there is none yet.
    package static func lastGeneration(
        in directory: borrowing OpenDirectory, of fileSystem: any FileSystem
    ) throws(FileSystemError) -> FileName? {
        try generations(in: directory, of: fileSystem).last.map { name(of: $0) }
    }

    private static func generations(
        in directory: borrowing OpenDirectory, of fileSystem: any FileSystem
    ) throws(FileSystemError) -> [UInt64] {
        var found: [UInt64] = []
        for name in try fileSystem.sortedNames(in: directory) where name.bytes.count == 17 && name.hasSuffix(".ledger")
        {
            if let number = UInt64(decimal: name.bytes.prefix(10)) { found.append(number) }
        }
        return found
    }

    private struct Content {
        var source: FileBox?
        var entries: [(id: ULID, entry: LedgerEntry)] = []
        var unreadableByteCount: UInt64 = 0
    }

    private static func load(
        generation: UInt64?, in directory: borrowing OpenDirectory, of fileSystem: any FileSystem
    ) throws(FileSystemError) -> Content {
        guard let generation else { return Content() }
        let own = try fileSystem.openOurs(name(of: generation), in: directory)
        let byteCount = own.byteCount
        let source = FileBox(own.intoFile())
        var entries: [ULID: LedgerEntry] = [:]
        let unreadable = try forEachRow(in: source, byteCount: byteCount, of: fileSystem) { row, offset, rowByteCount in
            entries[row.id] = LedgerEntry(
                outcome: row.outcome, content: row.content, offset: offset, byteCount: UInt32(rowByteCount))
        }
        return Content(source: source, entries: inFileOrder(entries), unreadableByteCount: unreadable)
    }

    /// Sorted by where the rows stand, so that a generation is copied front to back and is the same each time.
    private static func inFileOrder(_ entries: [ULID: LedgerEntry]) -> [(id: ULID, entry: LedgerEntry)] {
        var list: [(id: ULID, entry: LedgerEntry)] = []
        list.reserveCapacity(entries.count)
        for (id, entry) in entries { list.append((id, entry)) }
        return list.sorted { $0.entry.offset < $1.entry.offset }
    }

    /// Calls `body` for every whole row, over a window that moves through the file, and tells how many bytes were none.
    package static func forEachRow(
        in source: FileBox, byteCount: UInt64, of fileSystem: any FileSystem,
        _ body: (_ row: Row, _ offset: UInt64, _ byteCount: Int) -> Void
    ) throws(FileSystemError) -> UInt64 {
        var window: [UInt8] = []
        var windowStart: UInt64 = 0
        var position = 0
        var unreadable: UInt64 = 0
        while true {
            if window.count - position < LedgerRow.largestByteCount, windowStart + UInt64(window.count) < byteCount {
                window.removeFirst(position)
                windowStart += UInt64(position)
                position = 0
                let more = try fileSystem.readAll(
                    source.file, at: windowStart + UInt64(window.count), byteCount: 1_024 * 1_024)
                window += more
                if more.isEmpty { break }
            }
            guard position < window.count else { break }
            switch LedgerRow.read(window[position...]) {
            case .row(let row, let rowByteCount):
                body(
                    Row(id: row.id, outcome: row.outcome, content: row.content, dictionaryBytes: row.dictionaryBytes),
                    windowStart + UInt64(position), rowByteCount)
                position += rowByteCount
            case .incomplete, .noRow:
                // Damage, or the torn tail of a crash: look for the next mark, byte by byte.
                position += 1
                unreadable += 1
            }
        }
        return unreadable
    }

    /// A row as others see it.
    package struct Row: Hashable, Sendable {
        package let id: ULID
        package let outcome: Outcome
        package let content: NoteContent
        package let dictionaryBytes: [UInt8]
    }

    /// Copies the rows of `entries` from `source` into a new generation: written, synced, published, directory synced.
    private static func writeGeneration(
        _ generation: UInt64, from source: FileBox?, entries: [(id: ULID, entry: LedgerEntry)],
        in directory: borrowing OpenDirectory, of fileSystem: any FileSystem
    ) throws(FileSystemError) -> (file: FileBox, byteCount: UInt64, entries: [ULID: LedgerEntry]) {
        let name = name(of: generation)
        guard generation <= mostGenerations else {
            // Only a forged name gets here. Nothing is lost: the generation before it is there still.
            throw FileSystemError(
                .create, directory.displayPath(of: Self.name(of: mostGenerations)), .refused(.lastNumber))
        }
        let file = FileBox(try fileSystem.createTemporary(for: name, in: directory))
        var moved: [ULID: LedgerEntry] = [:]
        moved.reserveCapacity(entries.count)
        var end: UInt64 = 0
        do throws(FileSystemError) {
            var buffer: [UInt8] = []
            for (id, entry) in entries {
                guard let source else { preconditionFailure("entries come from a file") }
                buffer += try fileSystem.readAll(source.file, at: entry.offset, byteCount: Int(entry.byteCount))
                var entry = entry
                entry.offset = end + UInt64(buffer.count) - UInt64(entry.byteCount)
                moved[id] = entry
                if buffer.count >= 1_024 * 1_024 {
                    try fileSystem.writeAll(file.file, at: end, buffer)
                    end += UInt64(buffer.count)
                    buffer.removeAll(keepingCapacity: true)
                }
            }
            try fileSystem.writeAll(file.file, at: end, buffer)
            end += UInt64(buffer.count)
            try fileSystem.sync(file.file)
            try fileSystem.publish(name.partial, in: directory, as: name, in: directory)
        } catch {
            // Of no use to anybody; if this fails too, the next start sweeps it.
            _ = try? fileSystem.unlinkIfThere(name.partial, in: directory)
            throw error
        }
        try fileSystem.sync(directory)
        return (file, end, moved)
    }
}
