package import Spooling

// What a kernel tells of directories that a process watches: each name that was renamed into it or out of it, or removed.
// Files that are merely made are no news: everything that anybody waits for is renamed into view.

extension ProcessView {
    /// Asks for news of an open directory of this process under `token`.
    package func watch(_ directory: borrowing OpenDirectory, for interest: Interest, token: Int) {
        addWatch(directory.handle, for: interest, token: token)
    }
}

extension SimulatedFileSystem {
    /// What happened since this was asked last, in order.
    package func takeNews() -> [(token: Int, name: FileName)] { kernel.takeNews() }

    /// Grows with every change of the disk.
    package var changeCount: UInt64 { kernel.image.changeCount }

    /// Calls of all processes so far, each name that was listed counted as one: what a run costs.
    package var callCount: UInt64 { kernel.callCount }
}

/// Who watches what. Part of the kernel.
struct Watches {
    private struct Watch {
        /// The process's number.
        let process: Int
        let inode: InodeNumber
        let interest: Interest
        let token: Int
    }

    private var watches: [Watch] = []
    private var news: [(token: Int, name: FileName)] = []

    mutating func add(_ process: Int, _ inode: InodeNumber, for interest: Interest, token: Int) {
        watches.append(Watch(process: process, inode: inode, interest: interest, token: token))
    }

    mutating func forget(_ process: Int) { watches.removeAll { $0.process == process } }

    mutating func came(_ directory: InodeNumber, _ name: FileName) { tell(directory, name, unless: .departures) }
    mutating func left(_ directory: InodeNumber, _ name: FileName) { tell(directory, name, unless: .arrivals) }

    /// There are some ten of them.
    /// Temporaries are no news to anybody; the daemons' own event loop leaves them out too.
    private mutating func tell(_ directory: InodeNumber, _ name: FileName, unless other: Interest) {
        if watches.isEmpty || name.isPartial { return }
        for watch in watches where watch.inode == directory && watch.interest != other {
            news.append((watch.token, name))
        }
    }

    mutating func takeNews() -> [(token: Int, name: FileName)] {
        var taken: [(token: Int, name: FileName)] = []
        swap(&taken, &news)
        return taken
    }
}
