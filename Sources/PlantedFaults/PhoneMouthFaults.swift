import Simulation
import Spooling
import WireContract

// Faults of the phone that act on what it has just done or found: acks too early, ingests twice, lets go of what waits.

/// Acks for something that does not make a note final.
final class WrongAck: ActingPlant {
    enum Reason {
        case staged, ingestFailed, waits, setAside
    }

    private let reason: Reason

    init(_ reason: Reason) { self.reason = reason }

    override func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] {
        guard process == .phone else { return [event] }
        return [event] + acked(event, disk).flatMap { ack($0, attempt: event.attempt, disk) }
    }

    private func acked(_ event: PairEvent, _ disk: any FileSystem) -> [ULID] {
        switch (reason, event.kind) {
        case (.staged, .staged), (.waits, .waits): [event.id].compactMap { $0 }
        case (.setAside, .setAside): [event.id ?? event.name.flatMap(Self.id)].compactMap { $0 }
        case (.ingestFailed, .failed):
            // A container that cannot be opened fails all that was about to go into it.
            event.detail?.contains("/container") == true ? stagedIDs(disk) : []
        case (.staged, _), (.waits, _), (.setAside, _), (.ingestFailed, _): []
        }
    }

    /// Of an entry's name, also in the inbox.
    private static func id(of name: FileName) -> ULID? {
        (EntryName(name) ?? FileName(bytes: name.bytes.dropFirst(17)).flatMap(EntryName.init))?.id
    }
}

/// Ingests what it ingested before.
final class SecondIngest: ActingPlant {
    enum Reason {
        /// A duplicate that came.
        case duplicate
        /// What a start finds in staging.
        case recovery
    }

    private let reason: Reason

    init(_ reason: Reason) { self.reason = reason }

    override func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] {
        guard process == .phone else { return [event] }
        switch (reason, event.kind) {
        case (.duplicate, .duplicate):
            // With a name it met its own first copy in staging; with a detail the user deleted it.
            guard let id = event.id, event.name == nil, event.detail == nil else { return [event] }
            let events = ingestAgain(id, disk)
            return events.isEmpty ? [event] : events
        case (.recovery, .started):
            return stagedIDs(disk).flatMap { ingestAgain($0, disk) } + [event]
        case (.duplicate, _), (.recovery, _): return [event]
        }
    }

}

/// Does not keep what waits for a later build.
final class DropsWhatWaits: ActingPlant {
    override func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] {
        guard process == .phone, event.kind == .waits, let id = event.id else { return [event] }
        do throws(FileSystemError) {
            let staging = try disk.folder(["staging"], of: phoneHome)
            for name in try disk.sortedNames(in: staging) where StagedName(name)?.key.id == id {
                try disk.unlinkIfThere(name, in: staging)
            }
        } catch {
            return [event]
        }
        return [event]
    }
}

/// Keeps each copy of what waits, however often it is sent.
final class WaitingKeptTwice: ActingPlant {
    override func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] {
        guard process == .phone, event.kind == .duplicate, event.name != nil, let id = event.id else { return [event] }
        do throws(FileSystemError) {
            let staging = try disk.folder(["staging"], of: phoneHome)
            let first = try disk.sortedNames(in: staging).compactMap(StagedName.init).first { $0.key.id == id }
            guard let first else { return [event] }
            let second = StagedName(key: first.key, pairing: PairingID(rawValue: first.pairing.rawValue ^ 1))
            let bytes = try disk.content(of: first.fileName, in: staging)
            let file = try disk.create(second.fileName, in: staging)
            try disk.writeAll(file, at: 0, bytes)
            return [PairEvent(.staged, id: id, name: second.fileName)]
        } catch {
            return [event]
        }
    }
}

/// Acks again what it remembers to have acked, without a look into the container.
final class ContainerWipedNotNoticed: ActingPlant {
    private var remembered: Set<ULID> = []
    /// Whose staging the engine, which knows nothing of this, is about to miss.
    private var taken: Set<ULID> = []

    override func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] {
        guard process == .phone, let id = event.id else { return [event] }
        switch event.kind {
        case .acked:
            remembered.insert(id)
            return [event]
        case .taken:
            guard remembered.contains(id), let name = event.name, dropFromInbox(name, disk) else { return [event] }
            taken.insert(id)
            return [event, PairEvent(.duplicate, id: id)] + ack(id, attempt: event.attempt, disk)
        case .failed: return taken.remove(id) == nil ? [event] : []
        case .started, .stopped, .paired, .refused, .setAside, .spoolReopened, .lostByLink, .damagedByLink, .recorded,
            .found, .enqueued, .requeued, .transferFinished, .ackReceived, .strayAck, .deleted, .cancelled, .spoolFull,
            .staged, .duplicate, .waits, .ingested, .vetoed, .userDeleted, .discarded, .containerLost:
            return [event]
        }
    }

    private func dropFromInbox(_ entry: FileName, _ disk: any FileSystem) -> Bool {
        do throws(FileSystemError) {
            let inbox = try disk.folder(["inbox"], of: phoneHome)
            let name = try disk.sortedNames(in: inbox).first { $0.bytes.suffix(entry.bytes.count) == entry.bytes[...] }
            guard let name else { return false }
            return try disk.unlinkIfThere(name, in: inbox)
        } catch {
            return false
        }
    }
}
