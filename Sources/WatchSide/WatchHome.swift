package import Spooling
import WireContract

/// The watch's home, open: `recordings/` and what stands beside it.
package final class WatchHome {
    package let root: OpenDirectory
    package let recordings: OpenDirectory
    let pairings: OpenDirectory
    let starts: OpenDirectory
    private let fileSystem: any FileSystem

    /// Opens the home, making what is missing durably. Takes no lock: `record` works beside a daemon.
    package init(at path: String, fileSystem: any FileSystem, nonce: UInt64) throws(FolderError) {
        root = try fileSystem.openFolder(.watch, at: path, create: true, nonce: nonce)
        self.fileSystem = fileSystem
        do throws(FileSystemError) {
            recordings = try fileSystem.openOurDirectory("recordings", in: root, create: true)
            pairings = try fileSystem.openOurDirectory("pairing", in: root, create: true)
            starts = try fileSystem.openOurDirectory("starts", in: root, create: true)
            _ = try fileSystem.openOurDirectory("quarantine", in: root, create: true)
            _ = try fileSystem.openOurDirectory("requests", in: root, create: true)
            // Every time, and not only when one was made: a run before us may have made them and been killed before
            // this sync. On a clean directory it costs next to nothing.
            try fileSystem.sync(root)
        } catch {
            throw .disk(error)
        }
    }

    func openQuarantineDirectory() throws(FileSystemError) -> OpenDirectory {
        try fileSystem.openOurDirectory("quarantine", in: root, create: true)
    }

    func openRequestBox() throws(FileSystemError) -> RequestBox {
        RequestBox(
            directory: try fileSystem.openOurDirectory("requests", in: root, create: true), fileSystem: fileSystem)
    }

    /// The number of this start, durable before it is used.
    func nextStart() throws(FileSystemError) -> StartNumber {
        let register = try NameRegister.set("", in: starts, of: fileSystem)
        guard let start = StartNumber(rawValue: register.number) else {
            preconditionFailure("a register's number is a start number: \(register.number)")
        }
        return start
    }

    /// The phone that this watch last adopted.
    func adoptedPairing() throws(FileSystemError) -> PairingID? {
        try NameRegister(in: pairings, of: fileSystem).flatMap { PairingID(utf8: $0.value.utf8) }
    }

    /// Durable when it returns.
    func adopt(_ pairing: PairingID) throws(FileSystemError) {
        _ = try NameRegister.set(pairing.description, in: pairings, of: fileSystem)
    }

    /// What a name in `recordings/` is: the length of a recording, nil when it is gone. Throws `refused` for what is not
    /// a plain file of ours.
    func byteCount(ofRecording id: ULID) throws(FileSystemError) -> UInt64? {
        do throws(FileSystemError) {
            let name = FileName.recording(id)
            let status = try fileSystem.status(of: name, in: recordings)
            if let refusal = Refusal(ofFile: status) {
                throw FileSystemError(.open, recordings.displayPath(of: name), .refused(refusal))
            }
            return status.byteCount
        } catch {
            if error.reason == .notFound { return nil }
            throw error
        }
    }
}
