// Numbers the calls that a process makes to its disk, and lets any of them go wrong.
//
// After SQLite's I/O error tests: run once to count the calls, then once more for each of them with the fault there.
// It wraps the simulated disk as well as the real one. What can be injected, and why it must be survived: an error of
// any call (disks fill, cables fail), a read or write that moves less than asked (POSIX allows it at any time), an
// error of a call that had its effect (a server that answered too late), death between any two calls (`SIGKILL`), and
// whatever else a closure does to the world between two calls (a rival process, a full disk, a cut of the power).
//
// A process killed in this way cannot be unwound by the kernel, since it is a part of this one: its code goes on and
// meets `processIsDead` at every further call. So the rule for the code under test: it must not take that error for
// anything but a failed call, and nothing that it does afterwards can reach the disk.
//
// For the loss of power: `onDeath` cuts it (`disk.losePower(…)`).

package import Spooling

package final class InstrumentedFileSystem {
    package typealias Operation = FileSystemError.Operation

    private let inner: any FileSystem
    private let onDeath: () -> Void
    /// By `Operation.index`.
    private var callCounts = [Int](repeating: 0, count: Operation.count)

    /// What goes wrong. The first one whose trigger fits a call acts on it.
    package var injections: [Injection]
    package var keepsTrace = true
    package private(set) var trace: [SeamCall] = []
    /// How many calls were made, the one that died and those after it included.
    package private(set) var callCount = 0
    package private(set) var isDead = false

    /// - Parameter onDeath: called once, when an injection kills: end the process's view, or cut the power.
    package init(
        _ inner: any FileSystem, injections: [Injection] = [], onDeath: @escaping () -> Void = {}
    ) {
        self.inner = inner
        self.injections = injections
        self.onDeath = onDeath
    }

    /// As it is for a process of the simulated machine: death ends the view.
    package convenience init(_ view: ProcessView, injections: [Injection] = []) {
        self.init(view, injections: injections, onDeath: { view.kill() })
    }

    package func clearTrace() { trace = [] }

    /// Ends the process now, between two calls.
    package func die() {
        guard !isDead else { return }
        isDead = true
        onDeath()
    }

    /// Which effect is due at this call. A trigger for one call is used up by it.
    private func effect(_ operation: Operation, _ shown: (DisplayPath?, DisplayPath)) -> Injection.Effect? {
        guard !injections.isEmpty else { return nil }
        let nth = callCounts[operation.index]
        for (index, injection) in injections.enumerated() {
            switch injection.trigger {
            case .call(let number):
                if number == callCount { return injection.effect }
            case .everyCall(let number):
                if number <= callCount { return injection.effect }
            case .nth(let wanted, let wantedOperation):
                if wanted == nth, wantedOperation == operation { return injection.effect }
            case .every(let fits):
                if fits(operation, Self.texts(shown)) { return injection.effect }
            case .first(let fits):
                if fits(operation, Self.texts(shown)) {
                    injections.remove(at: index)
                    return injection.effect
                }
            }
        }
        return nil
    }

    /// The paths of a call, of a publish two. Put together only for who looks at them.
    private static func texts(_ shown: (DisplayPath?, DisplayPath)) -> [String] {
        (shown.0.map { [$0.description] } ?? []) + [shown.1.description]
    }

    /// Makes one call: numbers it, writes it down, and lets go wrong what is to go wrong. `body` is told whether it shall
    /// do half; `onFailure` is what a failing call does to the disk.
    private func perform<Value: ~Copyable>(
        _ operation: Operation, _ shown: (DisplayPath?, DisplayPath), onFailure: () -> Void = {},
        _ body: (_ isShort: Bool) throws(FileSystemError) -> Value
    ) throws(FileSystemError) -> Value {
        callCount += 1
        callCounts[operation.index] += 1
        let path = shown.1
        let number = callCount
        if keepsTrace {
            trace.append(SeamCall(number: callCount, operation: operation, paths: Self.texts(shown), outcome: .running))
        }
        guard !isDead else {
            note(.failed(.processIsDead), at: number)
            throw FileSystemError(operation, path, .processIsDead)
        }
        var isShort = false
        switch effect(operation, shown) {
        case nil: break
        case .before(let happen): happen()
        case .short: isShort = true
        case .fail(let reason):
            onFailure()
            note(.failed(reason), at: number)
            throw FileSystemError(operation, path, reason)
        case .failAfter(let reason):
            _ = try noting(number, body)
            note(.failed(reason), at: number)
            throw FileSystemError(operation, path, reason)
        case .dieBefore:
            throw death(operation, path, at: number)
        case .dieAfter:
            // It dies whether the call succeeded or not.
            _ = try? noting(number, body)
            throw death(operation, path, at: number)
        }
        let value = try noting(number) { (_) throws(FileSystemError) in try body(isShort) }
        // A listing's body may have died in a call of its own.
        if isDead { throw death(operation, path, at: number) }
        return value
    }

    private func death(_ operation: Operation, _ path: DisplayPath, at number: Int) -> FileSystemError {
        die()
        note(.died, at: number)
        return FileSystemError(operation, path, .processIsDead)
    }

    private func noting<Value: ~Copyable>(
        _ number: Int, _ body: (_ isShort: Bool) throws(FileSystemError) -> Value
    ) throws(FileSystemError) -> Value {
        do {
            let value = try body(false)
            note(.returned, at: number)
            return value
        } catch {
            note(.failed(error.reason), at: number)
            throw error
        }
    }

    private func note(_ outcome: SeamCall.Outcome, at number: Int) {
        // A listing's body makes calls of its own, and may have cleared the trace.
        if let index = trace.lastIndex(where: { $0.number == number }) { trace[index].outcome = outcome }
    }
}

extension InstrumentedFileSystem: FileSystem {
    package func openRoot(_ path: String, create: Bool) throws(FileSystemError) -> OpenDirectory {
        try perform(.openRoot, (nil, DisplayPath(path))) { (_) throws(FileSystemError) in
            try self.inner.openRoot(path, create: create)
        }
    }

    package func openDirectory(
        _ name: FileName, in parent: borrowing OpenDirectory, create: Bool
    ) throws(FileSystemError) -> OpenDirectory {
        try perform(.openDirectory, (nil, parent.path(of: name))) { (_) throws(FileSystemError) in
            try self.inner.openDirectory(name, in: parent, create: create)
        }
    }

    package func openSource(_ path: String) throws(FileSystemError) -> OpenFile {
        try perform(.openSource, (nil, DisplayPath(path))) { (_) throws(FileSystemError) in
            try self.inner.openSource(path)
        }
    }

    package func create(
        _ name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> OpenFile {
        try perform(.create, (nil, directory.path(of: name))) { (_) throws(FileSystemError) in
            try self.inner.create(name, in: directory)
        }
    }

    package func open(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        try perform(.open, (nil, directory.path(of: name))) { (_) throws(FileSystemError) in
            try self.inner.open(name, in: directory)
        }
    }

    package func status(
        of name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> FileStatus {
        try perform(.status, (nil, directory.path(of: name))) { (_) throws(FileSystemError) in
            try self.inner.status(of: name, in: directory)
        }
    }

    package func status(of file: borrowing OpenFile) throws(FileSystemError) -> FileStatus {
        try perform(.status, (nil, file.path)) { (_) throws(FileSystemError) in try self.inner.status(of: file) }
    }

    package func status(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus {
        try perform(.status, (nil, directory.path)) { (_) throws(FileSystemError) in
            try self.inner.status(of: directory)
        }
    }

    package func forEachName(
        in directory: borrowing OpenDirectory, _ body: (FileName) -> Bool
    ) throws(FileSystemError) {
        try perform(.list, (nil, directory.path)) { (_) throws(FileSystemError) in
            try self.inner.forEachName(in: directory, body)
        }
    }

    package func read(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try perform(.read, (nil, file.path)) { (isShort) throws(FileSystemError) in
            let count = isShort ? (buffer.count + 1) / 2 : buffer.count
            return try self.inner.read(
                file, at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    package func write(
        _ file: borrowing OpenFile, at offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try perform(.write, (nil, file.path)) { (isShort) throws(FileSystemError) in
            let count = isShort ? (bytes.count + 1) / 2 : bytes.count
            return try self.inner.write(file, at: offset, from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    package func truncate(_ file: borrowing OpenFile, to byteCount: UInt64) throws(FileSystemError) {
        try perform(.truncate, (nil, file.path)) { (_) throws(FileSystemError) in
            try self.inner.truncate(file, to: byteCount)
        }
    }

    package func sync(_ file: borrowing OpenFile) throws(FileSystemError) {
        let failing = inner as? any SyncFailing
        try perform(
            .sync, (nil, file.path), onFailure: { failing?.abandonUnsynced(file) },
            { (_) throws(FileSystemError) in try self.inner.sync(file) })
    }

    package func sync(_ directory: borrowing OpenDirectory) throws(FileSystemError) {
        try perform(.syncDirectory, (nil, directory.path)) { (_) throws(FileSystemError) in
            try self.inner.sync(directory)
        }
    }

    package var hasSyncAll: Bool { inner.hasSyncAll }

    package func syncAll(_ directory: borrowing OpenDirectory) throws(FileSystemError) {
        let failing = inner as? any SyncFailing
        try perform(
            .syncAll, (nil, directory.path), onFailure: { failing?.abandonAllUnsynced(directory) },
            { (_) throws(FileSystemError) in try self.inner.syncAll(directory) })
    }

    package func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) {
        let paths = (source.path(of: name), target.path(of: newName))
        try perform(.publish, paths) { (_) throws(FileSystemError) in
            try self.inner.publish(name, in: source, as: newName, in: target)
        }
    }

    package func unlink(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) {
        try perform(.unlink, (nil, directory.path(of: name))) { (_) throws(FileSystemError) in
            try self.inner.unlink(name, in: directory)
        }
    }

    package func lock(_ file: borrowing OpenFile) throws(FileSystemError) -> Bool {
        try perform(.lock, (nil, file.path)) { (_) throws(FileSystemError) in try self.inner.lock(file) }
    }

    package func space(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FreeSpace {
        try perform(.space, (nil, directory.path)) { (_) throws(FileSystemError) in
            try self.inner.space(of: directory)
        }
    }

    /// Handles are the inner file system's, which closes them itself.
    package func close(_ handle: HandleNumber) { inner.close(handle) }
}
