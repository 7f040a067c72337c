/// Why a call to the disk failed: the operation, the path, the reason, and what a person can do about it.
package struct FileSystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One call of the seam.
    package enum Operation: String, Hashable, Sendable {
        case openRoot = "open the folder"
        case openDirectory = "open the directory"
        case makeDirectory = "make the directory"
        case openSource = "open the recording"
        case create = "create"
        case open = "open"
        case status = "look at"
        case list = "list"
        case read = "read"
        case write = "write"
        case truncate = "cut"
        case sync = "sync"
        case syncDirectory = "sync the directory"
        case syncAll = "sync the file system of"
        case publish = "rename into place"
        case unlink = "unlink"
        case lock = "lock"
        case space = "ask for the free space of"
    }

    package enum Reason: Hashable, Sendable {
        case notFound, exists, noSpace, inputOutput, notPermitted, isLink, isDirectory, notDirectory, crossDevice
        case interrupted, readOnly, tooManyOpenFiles, fileTooLarge, nameTooLong
        /// The file system cannot do that, and the pair cannot do without (renaming without replacing).
        case notSupported
        /// It is there, but it is not a plain file (or directory) of ours; see `Refusal`.
        case refused(Refusal)
        /// The daemon was told to stop between two slices of a long copy.
        case stopped
        /// Any other errno.
        case other(Int32)
    }

    package var operation: Operation
    package var place: DisplayPath
    package var reason: Reason

    package init(_ operation: Operation, _ path: String, _ reason: Reason) {
        self.init(operation, DisplayPath(path), reason)
    }

    package init(_ operation: Operation, _ place: DisplayPath, _ reason: Reason) {
        self.operation = operation
        self.place = place
        self.reason = reason
    }

    package var path: String { place.description }

    /// Whether the call may have had its effect although it failed. Everything that reaches the medium may: a failed
    /// sync or write has done part of it. A name that could not be made, taken or opened is as it was.
    package var mayHaveHappened: Bool {
        switch operation {
        case .write, .truncate, .sync, .syncDirectory, .syncAll: true
        case .publish, .unlink, .makeDirectory, .create:
            switch reason {
            case .inputOutput, .interrupted, .other: true
            case .notFound, .exists, .noSpace, .notPermitted, .isLink, .isDirectory, .notDirectory, .crossDevice,
                .readOnly, .tooManyOpenFiles, .fileTooLarge, .nameTooLong, .notSupported, .refused, .stopped:
                false
            }
        case .openRoot, .openDirectory, .openSource, .open, .status, .list, .read, .lock, .space: false
        }
    }

    package var description: String {
        "cannot \(operation.rawValue) \(path): \(reason)\(remedy.map { "; \($0)" } ?? "")"
    }

    /// What a person can do, where that is not plain from the reason.
    package var remedy: String? {
        switch reason {
        case .noSpace: "make room on that disk; it goes on by itself"
        case .notPermitted: "check who owns it and its permissions"
        case .readOnly: "mount that disk for writing"
        case .tooManyOpenFiles: "raise the limit of open files (ulimit -n)"
        case .notSupported: "keep the pair on a file system that can (ext4, xfs, btrfs, tmpfs, APFS)"
        case .refused(let refusal): refusal.remedy
        case .inputOutput: "the disk reported a fault; look at the kernel's log"
        case .fileTooLarge: "the file system or a limit (ulimit -f) does not take a file of that size"
        case .notFound, .exists, .isLink, .isDirectory, .notDirectory, .crossDevice, .interrupted, .nameTooLong,
            .stopped, .other:
            nil
        }
    }
}

extension FileSystemError.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notFound: "no such file or directory"
        case .exists: "that name is taken"
        case .noSpace: "no space left"
        case .inputOutput: "input/output error"
        case .notPermitted: "permission denied"
        case .isLink: "it is a symbolic link"
        case .isDirectory: "it is a directory"
        case .notDirectory: "it is not a directory"
        case .crossDevice: "it lies on another file system"
        case .interrupted: "interrupted"
        case .readOnly: "the file system is read-only"
        case .tooManyOpenFiles: "too many open files"
        case .fileTooLarge: "too large"
        case .nameTooLong: "the name is too long"
        case .notSupported: "that file system cannot do it"
        case .refused(let refusal): "refused, \(refusal)"
        case .stopped: "told to stop"
        case .other(let code): "errno \(code)"
        }
    }
}

/// Why something that lies in a directory of ours is not touched: law 9 of the spool. It is reported and left alone.
package enum Refusal: Hashable, Sendable, CustomStringConvertible {
    case notAPlainFile(FileKind)
    case foreignOwner
    case tooOpen(permissions: UInt16)
    case hardLinked(count: UInt64)
    /// A name with the highest number that there can be: no count of ours gets so far, so it is forged.
    case lastNumber

    package var description: String {
        switch self {
        case .notAPlainFile(let kind): "not a plain file (\(kind))"
        case .foreignOwner: "owned by another user"
        case .tooOpen(let permissions): "permissions 0\(String(permissions, radix: 8)) let others in"
        case .hardLinked(let count): "\(count) names for one file"
        case .lastNumber: "no number comes behind it, so no build of ours made it"
        }
    }

    package var remedy: String {
        switch self {
        case .notAPlainFile: "move it away"
        case .foreignOwner: "move it away, or give it to the user that runs the pair"
        case .tooOpen: "take the others' permissions away (chmod go-rwx), if it is yours"
        case .hardLinked: "move it away; a recording is never shared through a hard link"
        case .lastNumber: "remove this file; the number before it counts again"
        }
    }
}
