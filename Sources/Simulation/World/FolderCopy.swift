import Spooling

/// A folder with all that is in it, as it was once.
struct FolderCopy {
    fileprivate let files: [(path: String, kind: FileKind, bytes: [UInt8], permissions: UInt16)]
}

extension SimulatedFileSystem {
    func copy(of folder: String) -> FolderCopy {
        FolderCopy(
            files: paths().filter { $0.hasPrefix(folder + "/") }.map { path in
                let status = status(path)
                return (
                    String(path.dropFirst(folder.count)), status?.kind ?? .other, content(path) ?? [],
                    status?.permissions ?? 0o600
                )
            })
    }

    /// Puts a copy in the place of what is in `folder`: other inodes, the same names and bytes, and durable, since it was
    /// done long ago when a daemon sees it.
    func put(_ copy: FolderCopy, at folder: String) throws(FileSystemError) {
        if status(folder) == nil { try plant(folder, kind: .directory, permissions: 0o700) }
        for path in paths() where path.hasPrefix(folder + "/") && !path.dropFirst(folder.count + 1).contains("/") {
            try remove(path)
        }
        for file in copy.files where file.kind == .regular || file.kind == .directory {
            try plant(
                folder + file.path, kind: file.kind, bytes: file.kind == .regular ? file.bytes : [],
                permissions: file.permissions)
        }
    }

    /// Whether a cut of the power now would leave the file at a path as it is.
    func isDurable(_ path: String) -> Bool {
        guard let written = content(path), let durable = durableContent(path) else { return false }
        return written == durable
    }
}
