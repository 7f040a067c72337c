import Simulation
import Spooling

// Faults of durability: a sync that is left out, or one that failed and was believed.

/// Leaves out some syncs of one process. That shows when the power goes.
final class SkippedSyncs: ActingPlant {
    enum Skipped {
        /// All of the phone's.
        case all
        /// All that `record` makes.
        case recorder
        /// That of a note's content, between the cut and the rename.
        case noteContent
        /// That of the month, after the rename.
        case month
        /// Those of the ledger's rows.
        case ledgerRows
        /// That of a veto's name.
        case vetoes
    }

    private let skipped: Skipped

    init(_ skipped: Skipped) { self.skipped = skipped }

    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        let planted: PlantedProcess = skipped == .recorder ? .recorder : .phone
        return process == planted ? SyncSkipping(inner, skipped) : inner
    }
}

private final class SyncSkipping: ForwardingFileSystem {
    private let skipped: SkippedSyncs.Skipped
    /// Generations of the ledger that were synced once, as a whole, when they were begun.
    private var begunGenerations: Set<String> = []

    init(_ inner: any FileSystem, _ skipped: SkippedSyncs.Skipped) {
        self.skipped = skipped
        super.init(inner)
    }

    /// One by one: a barrier over everything would make up for what is left out.
    override var hasSyncAll: Bool { false }

    override func sync(_ file: borrowing OpenFile) throws(FileSystemError) {
        switch skipped {
        case .all, .recorder: return
        case .noteContent: if file.isNoteOnItsWay { return }
        case .ledgerRows:
            if file.displayPath.contains("/ledger/"), !begunGenerations.insert(file.displayPath).inserted { return }
        case .month, .vetoes: break
        }
        try inner.sync(file)
    }

    override func sync(_ directory: borrowing OpenDirectory) throws(FileSystemError) {
        switch skipped {
        case .all, .recorder: return
        case .month: if directory.displayPath.contains("/container/") { return }
        case .vetoes: if directory.isFolder("vetoes") { return }
        case .noteContent, .ledgerRows: break
        }
        try inner.sync(directory)
    }
}

/// The sync of a note's content fails once for each file. A kernel forgets the pages then, and says at the next call that all
/// is well.
final class FailedSync: ActingPlant {
    private let isRetried: Bool

    /// With `isRetried`, the phone calls again and believes the answer. Without, nothing is wrong but the disk.
    init(isRetried: Bool) { self.isRetried = isRetried }

    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        return process == .phone ? SyncFailingOnce(inner, isRetried) : inner
    }
}

private final class SyncFailingOnce: ForwardingFileSystem {
    private let isRetried: Bool
    private var failed: Set<UInt64> = []

    init(_ inner: any FileSystem, _ isRetried: Bool) {
        self.isRetried = isRetried
        super.init(inner)
    }

    override var hasSyncAll: Bool { false }

    override func sync(_ file: borrowing OpenFile) throws(FileSystemError) {
        if file.isNoteOnItsWay, failed.isEmpty || isRetried, failed.insert(try status(of: file).inode).inserted {
            abandonUnsynced(file)
            if !isRetried { throw FileSystemError(.sync, file.path, .inputOutput) }
        }
        try inner.sync(file)
    }
}

/// A note's sync that failed is called again, and the answer to that is believed. It takes a disk that fails to show it.
final class RetriesSyncs: ActingPlant {
    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        return process == .phone ? SyncRetrying(inner) : inner
    }
}

private final class SyncRetrying: ForwardingFileSystem {
    override func sync(_ file: borrowing OpenFile) throws(FileSystemError) {
        do {
            try inner.sync(file)
        } catch {
            guard file.isNoteOnItsWay else { throw error }
            try inner.sync(file)
        }
    }

    override func syncAll(_ directory: borrowing OpenDirectory) throws(FileSystemError) {
        do { try inner.syncAll(directory) } catch { try inner.syncAll(directory) }
    }
}

extension OpenFile {
    /// Whether the phone opened this as a delivery: in the spool, in the inbox, or in staging.
    var isNoteOnItsWay: Bool {
        let path = displayPath
        return path.contains("/to-phone/") || path.contains("/inbox/") || path.contains("/staging/")
    }
}
