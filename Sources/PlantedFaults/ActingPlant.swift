import Simulation
import Spooling
import WireContract

/// A plant that does nothing yet. It remembers which homes and which spool its processes opened, so that a fault can act on
/// the disk as the process that it sits in would.
class ActingPlant: Plant {
    private(set) var watchHomes: [String] = []
    private(set) var phoneHome = ""
    /// The one that the phone opened last.
    private(set) var spool = ""
    private var ackCount: UInt64 = 0

    init() {}

    func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        RootWatching(inner) { [unowned self] path in opened(path, by: process) }
    }

    func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] { [event] }

    private func opened(_ path: String, by process: PlantedProcess) {
        let folder = path.split(separator: "/").last ?? ""
        if folder.hasPrefix("watch"), process == .watch {
            if !watchHomes.contains(path) { watchHomes.append(path) }
        } else if folder.hasPrefix("phone") {
            phoneHome = path
        } else if folder.hasPrefix("spool"), process == .phone {
            spool = path
        }
    }

    // MARK: What a fault does to the disk
    //
    // Where the disk refuses, or the process is dead, wrong code would have come no further either: nothing happens then.

    /// Unlinks a recording, and says whether it was there.
    func unlinkRecording(_ id: ULID, _ disk: any FileSystem) -> Bool {
        for home in watchHomes {
            do throws(FileSystemError) {
                let recordings = try disk.folder(["recordings"], of: home)
                if try disk.unlinkIfThere(.recording(id), in: recordings) { return true }
            } catch {
                continue
            }
        }
        return false
    }

    /// What the watch would say of that.
    func deletionEvents(_ id: ULID) -> [PairEvent] {
        [PairEvent(.deleted, phase: .intends, id: id), PairEvent(.deleted, id: id)]
    }

    /// The recordings that lie on the watches, in order.
    func recordings(_ disk: any FileSystem) -> [ULID] {
        watchHomes.flatMap { home -> [ULID] in
            do throws(FileSystemError) {
                let recordings = try disk.folder(["recordings"], of: home)
                return try disk.sortedNames(in: recordings).compactMap(\.recordingID)
            } catch {
                return []
            }
        }
    }

    /// Whose deliveries lie in the phone's staging, in order.
    func stagedIDs(_ disk: any FileSystem) -> [ULID] {
        do throws(FileSystemError) {
            let staging = try disk.folder(["staging"], of: phoneHome)
            return try disk.sortedNames(in: staging).compactMap { StagedName($0)?.key.id }
        } catch {
            return []
        }
    }

    /// Writes an ack of version 1 as the phone does, and answers what it would say. A death in between leaves the intent.
    func ack(_ id: ULID, attempt: Int?, _ disk: any FileSystem) -> [PairEvent] {
        guard let pairing = pairing(disk) else { return [] }
        let intent = PairEvent(.acked, phase: .intends, id: id, pairing: pairing, attempt: attempt)
        do {
            let name = try writeAck(id, attempt: attempt ?? 1, pairing, disk)
            return [intent, PairEvent(.acked, id: id, name: name, pairing: pairing, attempt: attempt)]
        } catch {
            return [intent]
        }
    }

    /// Of the spool.
    private func pairing(_ disk: any FileSystem) -> PairingID? {
        do throws(FileSystemError) {
            let pairings = try disk.folder(["pairing"], of: spool)
            return try NameRegister(in: pairings, of: disk).flatMap { PairingID(utf8: $0.value.utf8) }
        } catch {
            return nil
        }
    }

    private func writeAck(
        _ id: ULID, attempt: Int, _ pairing: PairingID, _ disk: any FileSystem
    ) throws -> FileName {
        ackCount += 1
        let starts = try disk.folder(["starts"], of: phoneHome)
        guard let start = StartNumber(rawValue: try NameRegister(in: starts, of: disk)?.number ?? 1) else {
            preconditionFailure("a register's number has ten digits")
        }
        let dictionary = try TransferLimit.encode(IngestAck(id: id.description).dictionary(version: 1))
        let seal = Seal(
            kind: .ack, bodyByteCount: 0, bodyChecksums: .ofNothing, dictionary: dictionary, pairing: pairing,
            fileExtension: .none)
        // Behind all names that the phone itself gives.
        let entry = EntryName(
            kind: .ack, start: start, counter: 9_000_000_000 + ackCount,
            nonce: UInt32(truncatingIfNeeded: ackCount), id: id, attempt: attempt)
        let toWatch = try disk.folder(["to-watch"], of: spool)
        let file = try disk.createTemporary(for: entry.fileName, in: toWatch)
        try disk.writeAll(file, at: 0, dictionary + seal.bytes)
        try disk.publish(entry.fileName.partial, in: toWatch, as: entry.fileName, in: toWatch)
        return entry.fileName
    }

    /// Copies what the container holds of a note under another extension, and answers what the phone would say.
    func ingestAgain(_ id: ULID, _ disk: any FileSystem) -> [PairEvent] {
        guard let month = FileName(id.monthBucket), let again = FileName("\(id).again") else { return [] }
        do throws(FileSystemError) {
            let directory = try disk.folder(["container", month], of: phoneHome)
            let held = try disk.sortedNames(in: directory).first { $0.bytes.starts(with: id.utf8Bytes) }
            guard let held else { return [] }
            let bytes = try disk.content(of: held, in: directory)
            let file = try disk.create(again, in: directory)
            try disk.writeAll(file, at: 0, bytes)
            try disk.sync(file)
            try disk.sync(directory)
            let byteCount = UInt64(bytes.count)
            return [
                PairEvent(.ingested, phase: .intends, id: id, byteCount: byteCount),
                PairEvent(.ingested, id: id, byteCount: byteCount, detail: again.description),
            ]
        } catch {
            return []
        }
    }
}

/// Sees which folders of the user's a process opens.
private final class RootWatching: ForwardingFileSystem {
    private let opened: (String) -> Void

    init(_ inner: any FileSystem, _ opened: @escaping (String) -> Void) {
        self.opened = opened
        super.init(inner)
    }

    override func openRoot(_ path: String, create: Bool) throws(FileSystemError) -> OpenDirectory {
        opened(path)
        return try inner.openRoot(path, create: create)
    }
}

extension FileSystem {
    /// The folder at `names` below a home or a spool; it must be there.
    func folder(_ names: [FileName], of root: String) throws(FileSystemError) -> OpenDirectory {
        var directory = try openRoot(root, create: false)
        for name in names { directory = try openDirectory(name, in: directory, create: false) }
        return directory
    }

    /// All of a small file.
    func content(of name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> [UInt8] {
        let file = try open(name, in: directory)
        return try readAll(file, at: 0, byteCount: Int(clamping: try status(of: file).byteCount))
    }
}
