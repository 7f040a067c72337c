import Spooling

/// One process of the simulated machine.
struct ProcessID: Hashable, Sendable {
    let index: Int
}

/// What the machine remembers beside the disk: who runs, what is open, who holds which lock.
final class Kernel {
    enum Mode: Hashable { case directory, readOnly, readWrite }

    struct Handle {
        let process: ProcessID
        let inode: InodeNumber
        let mode: Mode
    }

    var image: DiskImage
    /// Who is told what changes in which directory.
    var watches = Watches()
    private(set) var handles: [HandleNumber: Handle] = [:]
    private var locks: [InodeNumber: HandleNumber] = [:]
    private var processes: [(name: String, isAlive: Bool)] = []
    private var lastHandle: Int32 = 2

    init(_ image: DiskImage) {
        self.image = image
    }

    func start(_ name: String) -> ProcessID {
        processes.append((name, true))
        return ProcessID(index: processes.count - 1)
    }

    func isAlive(_ process: ProcessID) -> Bool { processes[process.index].isAlive }

    func kill(_ process: ProcessID) {
        processes[process.index].isAlive = false
        watches.forget(process)
        let own = handles.filter { $0.value.process == process }.keys.sorted { $0.rawValue < $1.rawValue }
        for number in own { close(number) }
    }

    func killAll() {
        for index in processes.indices { kill(ProcessID(index: index)) }
    }

    func open(_ inode: InodeNumber, _ mode: Mode, by process: ProcessID) -> HandleNumber {
        lastHandle += 1
        let number = HandleNumber(lastHandle)
        handles[number] = Handle(process: process, inode: inode, mode: mode)
        image[inode].openCount += 1
        return number
    }

    func handle(_ number: HandleNumber, of process: ProcessID) throws(DiskFailure) -> Handle {
        guard let handle = handles[number], handle.process == process else { throw DiskFailure(.other(9)) }  // EBADF
        return handle
    }

    func close(_ number: HandleNumber) {
        guard let handle = handles.removeValue(forKey: number) else { return }
        if locks[handle.inode] == number { locks[handle.inode] = nil }
        image[handle.inode].openCount -= 1
        image.releaseIfUnused(handle.inode)
    }

    func takeNews() -> [(token: Int, name: FileName)] { watches.takeNews() }

    func lock(_ number: HandleNumber, _ inode: InodeNumber) -> Bool {
        if let holder = locks[inode] { return holder == number }
        locks[inode] = number
        return true
    }

    func lockHolder(_ inode: InodeNumber) -> String? {
        locks[inode].flatMap { handles[$0] }.map { processes[$0.process.index].name }
    }
}
