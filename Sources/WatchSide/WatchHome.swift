package import Spooling
import WireContract

// The watch's home, and how whoever opens it knows that its folders are durable.
//
// A recording is as durable as the folder that it is in: `record` may tell an id only when a sync of the home has returned
// since `recordings/` was made, and a sync of its parent since the home was. Whoever made them may have been killed before
// that. So a home carries a sign, the file `synced`, which is made only behind these syncs:
//
// | call | after a crash behind it | who finishes |
// |---|---|---|
// | withdraw a sign that is there | no sign | the next one to open the home does all of this |
// | make the home, its `format`, its folders | no sign | the same |
// | sync the home | no sign; the folders are durable | the same |
// | **create `synced`** | an empty sign, which counts for nothing | the same |
// | write into it which folder `recordings/` is | the sign | nobody: there is nothing left to do |
//
// Who finds the sign syncs nothing: it can be seen, so the syncs before it had returned. That is so whether or not the sign
// itself is durable; when a cut of the power takes it, the next one syncs once more. It is looked for behind the opening of
// the folders, so that a folder that somebody removed and another process is just making anew is never taken for the one
// that the sign was made for. It names the folder by its inode, since a copy of a home carries the sign too and no sync.
// A home that an older build made has none, and gets one when it is opened.

/// The watch's home, open: `recordings/` and what stands beside it.
package final class WatchHome {
    private let folders: Folders
    private let fileSystem: any FileSystem

    package var root: OpenDirectory { _read { yield folders.root } }
    package var recordings: OpenDirectory { _read { yield folders.recordings } }
    var pairings: OpenDirectory { _read { yield folders.pairings } }
    var starts: OpenDirectory { _read { yield folders.starts } }

    private final class Folders {
        let root: OpenDirectory
        let recordings: OpenDirectory
        let pairings: OpenDirectory
        let starts: OpenDirectory

        init(
            in root: consuming OpenDirectory, of fileSystem: any FileSystem, create: Bool
        ) throws(FileSystemError) {
            recordings = try fileSystem.openOurDirectory("recordings", in: root, create: create)
            pairings = try fileSystem.openOurDirectory("pairing", in: root, create: create)
            starts = try fileSystem.openOurDirectory("starts", in: root, create: create)
            self.root = root
        }
    }

    /// Opens the home, making what is missing durably. Takes no lock: `record` works beside a daemon.
    package init(at path: String, fileSystem: any FileSystem, nonce: UInt64) throws(FolderError) {
        self.fileSystem = fileSystem
        if let synced = try Self.openSynced(at: path, fileSystem) {
            folders = synced
        } else {
            folders = try Self.openAndSync(at: path, fileSystem, nonce: nonce)
        }
    }

    /// The home, if all of it is there and the sign says that it is durable.
    private static func openSynced(
        at path: String, _ fileSystem: any FileSystem
    ) throws(FolderError) -> Folders? {
        do {
            let root = try fileSystem.openFolder(.watch, at: path, create: false, nonce: 0)
            let folders = try Folders(in: root, of: fileSystem, create: false)
            guard try isSigned(folders, fileSystem) else { return nil }
            return folders
        } catch let error as FolderError {
            guard case .disk(let inner) = error, inner.reason == .notFound else { throw error }
            return nil
        } catch let error as FileSystemError {
            guard error.reason == .notFound else { throw .disk(error) }
            return nil
        } catch {
            preconditionFailure("only two kinds of errors are thrown above: \(error)")
        }
    }

    private static func openAndSync(
        at path: String, _ fileSystem: any FileSystem, nonce: UInt64
    ) throws(FolderError) -> Folders {
        let root = try fileSystem.openFolder(.watch, at: path, create: true, nonce: nonce)
        do throws(FileSystemError) {
            let isOurs = try withdrawSign(in: root, fileSystem)
            let folders = try Folders(in: root, of: fileSystem, create: true)
            _ = try fileSystem.openOurDirectory("quarantine", in: folders.root, create: true)
            _ = try fileSystem.openOurDirectory("requests", in: folders.root, create: true)
            try fileSystem.sync(folders.root)
            if isOurs { sign(folders, fileSystem) }
            return folders
        } catch {
            throw .disk(error)
        }
    }

    // MARK: The sign

    private static let signName: FileName = "synced"

    private static func signText(
        _ folders: Folders, _ fileSystem: any FileSystem
    ) throws(FileSystemError) -> [UInt8] {
        Array("recordings \(try fileSystem.status(of: folders.recordings).inode.hex(digits: 16))\n".utf8)
    }

    private static func isSigned(
        _ folders: Folders, _ fileSystem: any FileSystem
    ) throws(FileSystemError) -> Bool {
        let text = try signText(folders, fileSystem)
        do {
            let sign = try fileSystem.openOurs(signName, in: folders.root)
            return try fileSystem.readAll(sign.file, at: 0, byteCount: text.count + 1) == text
        } catch {
            // Not there, not ours, or not to be read: it costs a sync.
            return false
        }
    }

    /// Answers whether the name is free now. What is not a plain file of ours is left alone; then there is never a sign.
    private static func withdrawSign(
        in root: borrowing OpenDirectory, _ fileSystem: any FileSystem
    ) throws(FileSystemError) -> Bool {
        do {
            _ = try fileSystem.openOurs(signName, in: root)
            try fileSystem.unlink(signName, in: root)
            return true
        } catch {
            if error.reason == .notFound { return true }
            if case .refused = error.reason { return false }
            throw error
        }
    }

    /// What goes wrong here (a full disk; another process was faster) costs a sync at the next opening, and nothing else.
    private static func sign(_ folders: Folders, _ fileSystem: any FileSystem) {
        guard let text = try? signText(folders, fileSystem),
            let file = try? fileSystem.create(signName, in: folders.root)
        else { return }
        try? fileSystem.writeAll(file, at: 0, text)
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
