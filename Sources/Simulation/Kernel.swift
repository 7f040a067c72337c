import Spooling

/// One process of the simulated machine. Its number is never used twice.
final class SimulatedProcess {
    let number: Int
    let name: String
    fileprivate(set) var isAlive = true

    fileprivate init(number: Int, name: String) {
        self.number = number
        self.name = name
    }
}

/// What the machine remembers beside the disk: who runs, what is open, who holds which lock.
final class Kernel {
    enum Mode: Hashable { case directory, readOnly, readWrite }

    struct Handle {
        let number: HandleNumber
        let process: Int
        let inode: InodeNumber
        let mode: Mode
        var isLocked = false
    }

    // One thread, and no call of the disk is made inside another: what the runtime would check here costs 6 % of all time.
    @exclusivity(unchecked) var image: DiskImage
    /// Calls so far, by whatever process, and names that were listed: what a run costs, and the same on every machine.
    @exclusivity(unchecked) var callCount: UInt64 = 0
    /// Who is told what changes in which directory.
    @exclusivity(unchecked) var watches = Watches()
    /// A handle lies at the last bits of its number. A number whose place is taken is left out, so the number of a handle
    /// that was closed does not soon mean another one: whoever was killed still lets go of his.
    @exclusivity(unchecked) private var handles = [Handle?](repeating: nil, count: 64)
    @exclusivity(unchecked) private(set) var handleCount = 0
    @exclusivity(unchecked) private var lastHandle: Int32 = 2
    /// Few at a time: to compare all is cheaper than to hash one.
    private var locks: [(inode: InodeNumber, holder: HandleNumber)] = []
    private var living: [SimulatedProcess] = []
    private var processCount = 0

    init(_ image: DiskImage) {
        self.image = image
    }

    // MARK: Processes

    func start(_ name: String) -> SimulatedProcess {
        processCount += 1
        let process = SimulatedProcess(number: processCount, name: name)
        living.append(process)
        return process
    }

    func kill(_ process: SimulatedProcess) {
        guard process.isAlive else { return }
        process.isAlive = false
        watches.forget(process.number)
        living.removeAll { $0 === process }
        guard handleCount > 0 else { return }
        for index in handles.indices {
            if let handle = handles[index], handle.process == process.number { close(handle.number) }
        }
    }

    func killAll() {
        for process in living { kill(process) }
    }

    // MARK: Handles

    private func place(_ number: HandleNumber) -> Int { Int(number.rawValue) & (handles.count - 1) }

    func open(_ inode: InodeNumber, _ mode: Mode, by process: SimulatedProcess) -> HandleNumber {
        if handleCount * 2 >= handles.count { makeRoom() }
        var number = lastHandle
        repeat {
            number = number == .max ? 3 : number + 1
        } while handles[Int(number) & (handles.count - 1)] != nil
        lastHandle = number
        let handle = HandleNumber(number)
        handles[place(handle)] = Handle(number: handle, process: process.number, inode: inode, mode: mode)
        handleCount += 1
        image.opened(inode)
        return handle
    }

    /// Twice as many places: what shared one before is apart then, or still alone.
    private func makeRoom() {
        let open = handles.compactMap { $0 }
        handles = [Handle?](repeating: nil, count: 2 * handles.count)
        for handle in open { handles[place(handle.number)] = handle }
    }

    func handle(_ number: HandleNumber, of process: SimulatedProcess) throws(DiskFailure) -> Handle {
        guard let handle = handles[place(number)], handle.number == number, handle.process == process.number else {
            throw DiskFailure(.other(9))  // EBADF
        }
        return handle
    }

    func close(_ number: HandleNumber) {
        let place = place(number)
        guard let handle = handles[place], handle.number == number else { return }
        handles[place] = nil
        handleCount -= 1
        if handle.isLocked { locks.removeAll { $0.inode == handle.inode } }
        image.closed(handle.inode)
    }

    func takeNews() -> [(token: Int, name: FileName)] { watches.takeNews() }

    // MARK: Locks

    func lock(_ number: HandleNumber, _ inode: InodeNumber) -> Bool {
        if let lock = locks.last(where: { $0.inode == inode }) { return lock.holder == number }
        locks.append((inode, number))
        handles[place(number)]?.isLocked = true
        return true
    }

    func lockHolder(_ inode: InodeNumber) -> String? {
        guard let number = locks.last(where: { $0.inode == inode })?.holder, let handle = handles[place(number)]
        else { return nil }
        return living.first { $0.number == handle.process }?.name
    }
}
