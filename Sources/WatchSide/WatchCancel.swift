package import Spooling
package import WireContract

/// `cancel` while no daemon holds the home: becomes the holder for a moment.
package enum WatchCancel {
    /// Takes the entries of `id` back. `unknown` when none lies in the spool. Throws `held` when a daemon holds the home.
    package static func carryOut(
        _ id: ULID, home homePath: String, spool spoolPath: String, surroundings: Surroundings
    ) throws(FolderError) -> Answer {
        let fileSystem = surroundings.fileSystem
        let root = try fileSystem.openFolder(.watch, at: homePath, create: false, nonce: surroundings.random())
        let lock = try fileSystem.takeLock("lock", in: root, holder: surroundings.holder)
        defer { withExtendedLifetime(lock) {} }
        let spool = try SpoolEnd(
            at: spoolPath, side: .watch, fileSystem: fileSystem, holder: surroundings.holder,
            nonce: surroundings.random())
        do throws(FileSystemError) {
            var names: [FileName] = []
            try fileSystem.forEachName(in: spool.toPhone) { name in
                if let entry = EntryName(name), entry.kind == .note, entry.id == id { names.append(name) }
                return true
            }
            var answer = Answer.unknown
            for name in names.sorted() where try fileSystem.unlinkIfThere(name, in: spool.toPhone) { answer = .done }
            return answer
        } catch {
            throw .disk(error)
        }
    }
}
