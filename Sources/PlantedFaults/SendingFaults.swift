import Simulation
import Spooling
import WireContract

// Faults of sending: entries that are never put into the spool, or put there wrongly.

/// Some recordings are not sent any more, and nobody says so.
final class EntriesHeldBack: ActingPlant {
    enum Reason {
        /// Three tries are enough.
        case retryCap
        /// The window counts what is sent and forgets to count what was taken.
        case window
        /// What is due is kept by the wall clock: after that was set back, a recording is due in a year.
        case wallClock
    }

    private static let mostAttempts = 3
    /// Smaller than the real one, so that it does not take a thousand recordings to show.
    private static let windowCount = 8
    private static let hourMilliseconds: UInt64 = 3_600_000

    private let reason: Reason
    private var sentCount = 0
    private var latestMilliseconds: UInt64 = 0
    private var heldBack: Set<FileName> = []

    init(_ reason: Reason) { self.reason = reason }

    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        guard process == .watch else { return inner }
        if reason == .window { sentCount = 0 }
        return PublishSwallowing(inner) { [unowned self] name in holdsBack(name) }
    }

    private func holdsBack(_ name: FileName) -> Bool {
        guard let entry = EntryName(name), mustWait(entry) else { return false }
        heldBack.insert(name)
        return true
    }

    private func mustWait(_ entry: EntryName) -> Bool {
        switch reason {
        case .retryCap: return entry.attempt > Self.mostAttempts
        case .window:
            if sentCount < Self.windowCount {
                sentCount += 1
                return false
            }
            return true
        case .wallClock:
            let milliseconds = entry.id.millisecondsSince1970
            latestMilliseconds = max(latestMilliseconds, milliseconds)
            return milliseconds + Self.hourMilliseconds < latestMilliseconds
        }
    }

    /// Code that sends nothing says nothing of a transfer.
    override func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] {
        guard process == .watch, let name = event.name, heldBack.contains(name) else { return [event] }
        return []
    }
}

/// An entry that is finished goes nowhere.
private final class PublishSwallowing: ForwardingFileSystem {
    private let swallows: (FileName) -> Bool

    init(_ inner: any FileSystem, _ swallows: @escaping (FileName) -> Bool) {
        self.swallows = swallows
        super.init(inner)
    }

    override func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) {
        if target.isFolder("to-phone"), name.isPartial, swallows(newName) {
            return try inner.unlink(name, in: source)
        }
        try inner.publish(name, in: source, as: newName, in: target)
    }
}

/// What happens to a transfer that made no progress for a while.
final class WrongRequeue: ActingPlant {
    enum Wrong {
        /// Nothing, and nobody looks whether it is still there: once sent, a recording is waited for without end.
        case never
        /// A second entry is made, and the first one stays: what is there beside a recording's own entry is not taken back.
        case second
    }

    private let wrong: Wrong

    init(_ wrong: Wrong) { self.wrong = wrong }

    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        return process == .watch ? WrongRenaming(inner, wrong) : inner
    }

    /// Code that does not try does not fail.
    override func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] {
        let isOfRename = event.detail?.contains(FileSystemError.Operation.publish.rawValue) == true
        return process == .watch && event.kind == .failed && isOfRename ? [] : [event]
    }
}

private final class WrongRenaming: ForwardingFileSystem {
    private let wrong: WrongRequeue.Wrong

    init(_ inner: any FileSystem, _ wrong: WrongRequeue.Wrong) {
        self.wrong = wrong
        super.init(inner)
    }

    override func status(
        of name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> FileStatus {
        do {
            return try inner.status(of: name, in: directory)
        } catch {
            guard wrong == .never, error.reason == .notFound, directory.isFolder("to-phone"), EntryName(name) != nil
            else { throw error }
            return FileStatus(
                kind: .regular, byteCount: 0, isOurs: true, permissions: 0o600, linkCount: 1, inode: 0, device: 0)
        }
    }

    override func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) {
        guard target.isFolder("to-phone"), EntryName(name) != nil else {
            return try inner.publish(name, in: source, as: newName, in: target)
        }
        switch wrong {
        case .never: throw FileSystemError(.publish, target.path(of: newName), .notPermitted)
        case .second:
            let bytes = try inner.content(of: name, in: source)
            let file = try inner.create(newName, in: target)
            try inner.writeAll(file, at: 0, bytes)
        }
    }

    override func unlink(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) {
        if wrong == .second, directory.isFolder("to-phone"), EntryName(name) != nil { return }
        try inner.unlink(name, in: directory)
    }
}

/// Once the spool was full, the watch takes it for full for ever.
final class StalledForeverAfterFull: ActingPlant {
    private var wasFull = false

    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        return process == .watch ? FullSpace(inner) { [unowned self] in wasFull } : inner
    }

    override func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] {
        if process == .watch, event.kind == .spoolFull { wasFull = true }
        return [event]
    }
}

private final class FullSpace: ForwardingFileSystem {
    private let isFull: () -> Bool

    init(_ inner: any FileSystem, _ isFull: @escaping () -> Bool) {
        self.isFull = isFull
        super.init(inner)
    }

    override func space(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FreeSpace {
        var space = try inner.space(of: directory)
        if isFull() { space.freeByteCount = 0 }
        return space
    }
}

/// Entries are numbered anew by each start of the watch, and the phone goes on behind the last name that it took: what a
/// restarted watch sends is passed over.
final class SequenceNumberReused: ActingPlant {
    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        switch process {
        case .watch: return NameHiding(inner) { folder, _ in folder.hasSuffix("/starts") }
        case .phone: return Cursor(inner)
        case .recorder: return inner
        }
    }
}

private final class Cursor: ForwardingFileSystem {
    private var last: EntryName?

    override func forEachName(
        in directory: borrowing OpenDirectory, _ body: (FileName) -> Bool
    ) throws(FileSystemError) {
        try inner.forEachName(in: directory) { name in isBehind(name, in: directory) || body(name) }
    }

    /// It does not look at what it hears of either.
    override func status(
        of name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> FileStatus {
        if isBehind(name, in: directory) { throw FileSystemError(.status, directory.path(of: name), .notFound) }
        return try inner.status(of: name, in: directory)
    }

    private func isBehind(_ name: FileName, in directory: borrowing OpenDirectory) -> Bool {
        guard directory.isFolder("to-phone"), let last, let entry = EntryName(name) else { return false }
        return entry <= last
    }

    override func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) {
        try inner.publish(name, in: source, as: newName, in: target)
        if source.isFolder("to-phone"), target.isFolder("inbox"), let entry = EntryName(name) {
            last = last.map { max($0, entry) } ?? entry
        }
    }
}

/// The phone sweeps temporaries in the spool without asking for their locks, whenever there is news: the copy that the watch
/// is still writing is gone when it is to get its name.
final class SweepDeletesLiveTemporary: ActingPlant {
    private let sweepsOnlyAfterFindings: Bool
    private var phoneDisk: (any FileSystem)?
    private var hasFound = false

    /// With `afterFindings` only a phone sweeps whose start has found what a dead writer left, and that goes on sweeping then.
    init(afterFindings: Bool = false) { sweepsOnlyAfterFindings = afterFindings }

    override func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let inner = super.fileSystem(inner, of: process)
        switch process {
        case .watch: return Interrupted(inner) { [unowned self] in sweep() }
        case .phone:
            phoneDisk = inner
            hasFound = false
            return FindingTemporaries(inner) { [unowned self] in hasFound = true }
        case .recorder: return inner
        }
    }

    /// In virtual time a step of the watch is one moment; on a real machine the phone runs meanwhile.
    private func sweep() {
        guard let phoneDisk, hasFound || !sweepsOnlyAfterFindings else { return }
        do throws(FileSystemError) {
            let toPhone = try phoneDisk.folder(["to-phone"], of: spool)
            for name in try phoneDisk.sortedNames(in: toPhone) where name.isPartial {
                try phoneDisk.unlinkIfThere(name, in: toPhone)
            }
        } catch {
            // No phone runs.
            return
        }
    }
}

/// Looks, whenever the spool is opened, whether a temporary lies in it.
private final class FindingTemporaries: ForwardingFileSystem {
    private let found: () -> Void

    init(_ inner: any FileSystem, _ found: @escaping () -> Void) {
        self.found = found
        super.init(inner)
    }

    override func openDirectory(
        _ name: FileName, in parent: borrowing OpenDirectory, create: Bool
    ) throws(FileSystemError) -> OpenDirectory {
        let directory = try inner.openDirectory(name, in: parent, create: create)
        if directory.isFolder("to-phone"), try inner.sortedNames(in: directory).contains(where: \.isPartial) { found() }
        return directory
    }
}

private final class Interrupted: ForwardingFileSystem {
    private let interruption: () -> Void

    init(_ inner: any FileSystem, _ interruption: @escaping () -> Void) {
        self.interruption = interruption
        super.init(inner)
    }

    override func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) {
        if target.isFolder("to-phone"), name.isPartial { interruption() }
        try inner.publish(name, in: source, as: newName, in: target)
    }
}
