import Spooling

// Bytes that no sync writes any more.
//
// When a kernel cannot write a page it says so once, to whoever syncs next, and marks the page clean (fsync(2); Rebello et
// al., "Can Applications Recover from fsync Failures?", 2020). A later sync then succeeds and has written nothing. So behind
// a barrier that failed, all that lay unsynced on that disk is suspect: what is in staging, and what is in the spool's queue,
// which the watch does not sync. The same goes for what a start finds: the process before may have seen such a failure and
// died of it. What is suspect is written anew, into a file of its own, before it is ingested.
//
// The queue is known by its last name: names only grow. Only a transfer that was cancelled and queued anew keeps its bytes
// under a new name; that is not its first try.

/// What of the queue is suspect.
enum Suspects: Hashable {
    case none
    /// What has this name, or an earlier one, or was sent before.
    case through(FileName)
    /// The queue could not be listed: until it can be.
    case all
}

extension PhoneEngine {
    /// A barrier failed.
    func distrustUnsynced() {
        // Each gets the same mark, so the order does not show. What is cut was covered by a barrier that succeeded.
        for file in staged.values where !file.isCut { file.mayBeUnwritable = true }
        distrustQueue()
    }

    /// What lies in the queue now, or is being written into it, is suspect.
    func distrustQueue() {
        guard let spool else { return }
        var last: FileName?
        if case .through(let name) = suspects { last = name }
        do throws(FileSystemError) {
            try fileSystem.forEachName(in: spool.toPhone) { name in
                // One that is being written has its name and an ending, and so sorts behind it and before the next.
                guard last.map({ $0 < name }) ?? true, Self.isEntry(name) else { return true }
                last = name
                return true
            }
            suspects = last.map { .through($0) } ?? .none
        } catch {
            suspects = .all
            reportFailure(error)
        }
    }

    private static func isEntry(_ name: FileName) -> Bool {
        let whole = name.isPartial ? FileName(bytes: name.bytes.dropLast(".part".utf8.count)) : name
        return whole.flatMap(EntryName.init)?.kind == .note
    }

    func isSuspect(_ name: FileName) -> Bool {
        switch suspects {
        case .none: false
        case .through(let last): name <= last || (EntryName(name)?.attempt ?? 1) > 1
        case .all: true
        }
    }
}
