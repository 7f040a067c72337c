package import Spooling

// What a kernel tells of directories that a process watches: each name that was renamed into it or out of it, or removed.
// Files that are merely made are no news: everything that anybody waits for is renamed into view.

extension ProcessView {
    /// Asks for news of an open directory of this process under `token`.
    package func watch(_ directory: borrowing OpenDirectory, token: Int) {
        addWatch(directory.handle, token: token)
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
        let token: Int
    }

    private var watches: [Watch] = []
    private var news: [(token: Int, name: FileName)] = []

    mutating func add(_ process: Int, _ inode: InodeNumber, token: Int) {
        watches.append(Watch(process: process, inode: inode, token: token))
    }

    mutating func forget(_ process: Int) { watches.removeAll { $0.process == process } }

    /// There are some ten of them.
    /// Temporaries are no news to anybody; the daemons' own event loop leaves them out too.
    mutating func changed(_ directory: InodeNumber, _ name: FileName) {
        if watches.isEmpty || name.isPartial { return }
        for watch in watches where watch.inode == directory { news.append((watch.token, name)) }
    }

    mutating func takeNews() -> [(token: Int, name: FileName)] {
        var taken: [(token: Int, name: FileName)] = []
        swap(&taken, &news)
        return taken
    }
}
