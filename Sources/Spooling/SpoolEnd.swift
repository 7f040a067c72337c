/// One side's end of the spool: its directories, open, and the lock that says that this end has one holder.
///
/// A spool can vanish and come back while a daemon runs (a folder deleted and made again, a disk remounted). Handles of
/// the old one would then write into nothing. `isCurrent` compares what the path means now with what is open.
package final class SpoolEnd {
    package let root: OpenDirectory
    package let toPhone: OpenDirectory
    package let toWatch: OpenDirectory
    private let pairings: OpenDirectory
    private let lock: OpenFile
    private let path: String
    private let fileSystem: any FileSystem
    private let identities: [FileStatus]

    /// Opens the spool at `path`, making what is missing, and takes the lock of `side`'s end.
    package init(
        at path: String, side: Side, fileSystem: any FileSystem, holder: String, nonce: UInt64
    ) throws(FolderError) {
        root = try fileSystem.openFolder(.spool, at: path, create: true, nonce: nonce)
        lock = try fileSystem.takeLock(side.spoolLock, in: root, holder: holder)
        self.path = path
        self.fileSystem = fileSystem
        do throws(FileSystemError) {
            toPhone = try fileSystem.openOurDirectory("to-phone", in: root, create: true)
            toWatch = try fileSystem.openOurDirectory("to-watch", in: root, create: true)
            pairings = try fileSystem.openOurDirectory("pairing", in: root, create: true)
            identities = [
                try fileSystem.status(of: root), try fileSystem.status(of: toPhone),
                try fileSystem.status(of: toWatch), try fileSystem.status(of: pairings),
            ]
        } catch {
            throw .disk(error)
        }
    }

    /// Whether the path still leads to what is open here.
    package func isCurrent() throws(FileSystemError) -> Bool {
        do {
            let root = try fileSystem.openRoot(path, create: false)
            let found = [
                try fileSystem.status(of: root), try fileSystem.status(of: "to-phone", in: root),
                try fileSystem.status(of: "to-watch", in: root), try fileSystem.status(of: "pairing", in: root),
            ]
            return zip(found, identities).allSatisfy { $0.inode == $1.inode && $0.device == $1.device }
        } catch  where error.reason == .notFound {
            return false
        }
    }

    /// The pairing that the phone wrote into the spool; `nil` when none did yet, or not in the form of one.
    package func pairing() throws(FileSystemError) -> PairingID? {
        try NameRegister(in: pairings, of: fileSystem).flatMap { PairingID(utf8: $0.value.utf8) }
    }

    /// Only the phone's end does this.
    package func setPairing(_ pairing: PairingID) throws(FileSystemError) {
        _ = try NameRegister.set(pairing.description, in: pairings, of: fileSystem)
    }
}
