import Simulation
import Spooling
import WireContract

// Faults of the watch that act on something that it hears: it takes it for a reason to let go of a recording.

/// Deletes for something that is no ack of that recording.
final class WrongDeletion: ActingPlant {
    enum Reason {
        case transferFinished, transferCancelled, ackOfAnother
    }

    private let reason: Reason

    init(_ reason: Reason) { self.reason = reason }

    override func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] {
        guard process == .watch, let victim = victim(of: event, disk), unlinkRecording(victim, disk) else {
            return [event]
        }
        return [event] + deletionEvents(victim)
    }

    private func victim(of event: PairEvent, _ disk: any FileSystem) -> ULID? {
        switch reason {
        case .transferFinished: event.kind == .transferFinished && event.detail == "delivered" ? event.id : nil
        case .transferCancelled: event.kind == .cancelled ? event.id : nil
        case .ackOfAnother: event.kind == .ackReceived ? recordings(disk).first { $0 != event.id } : nil
        }
    }
}

/// Takes a recording whose transfer failed for spoiled.
final class FailedTransferDropsRecording: ActingPlant {
    override func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] {
        guard process == .watch, event.kind == .transferFinished, event.detail?.hasPrefix("failed") == true,
            let id = event.id
        else { return [event] }
        for home in watchHomes {
            do throws(FileSystemError) {
                let recordings = try disk.folder(["recordings"], of: home)
                let quarantine = try disk.folder(["quarantine"], of: home)
                try disk.publish(.recording(id), in: recordings, as: .recording(id), in: quarantine)
                return [event, PairEvent(.setAside, id: id, name: .recording(id), detail: "its transfer failed")]
            } catch {
                continue
            }
        }
        return [event]
    }
}

/// A start sweeps whatever has no entry in the spool, as if a dead writer had left it.
final class StartSweepsRecordings: ActingPlant {
    override func tells(
        _ event: PairEvent, by process: PlantedProcess, disk: any FileSystem
    ) -> [PairEvent] {
        guard process == .watch, event.kind == .started else { return [event] }
        let sent = sentIDs(disk)
        for id in recordings(disk) where !sent.contains(id) { _ = unlinkRecording(id, disk) }
        return [event]
    }

    private func sentIDs(_ disk: any FileSystem) -> [ULID] {
        do throws(FileSystemError) {
            let toPhone = try disk.folder(["to-phone"], of: spool)
            return try disk.sortedNames(in: toPhone).compactMap { EntryName($0)?.id }
        } catch {
            return []
        }
    }
}
