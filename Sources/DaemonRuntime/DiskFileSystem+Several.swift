// Several calls of one kind at once.
//
// Where the device answers slowly (a disk with `discard` tells it of every block that is freed, and waits), calls that do not
// depend on each other wait together, on threads of `Workers`. The first call is made alone: where it was quick, so are the
// others, and threads would cost more than they save.

package import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension DiskFileSystem {
    private static let mostAtOnce = 8
    /// A call that took less did not wait for a device: freeing blocks on a disk with `discard` takes from 400,000 on.
    private static let quickNanoseconds: UInt64 = 150_000

    package func unlinkEach(_ names: [FileName], in directory: borrowing OpenDirectory) -> [FileSystemError?] {
        let at = directory.handle.rawValue
        let answers = Self.each(names.count, isSlow: false) { index in
            SystemCall.unlinkOnce(at, names[index])
        }
        return zip(names, answers).map { name, answer in
            Self.error(answer, .unlink, directory.path(of: name))
        }
    }

    package func truncateEach(_ cuts: [FileCut]) -> [FileSystemError?] {
        let descriptors = cuts.map { $0.file.file.handle.rawValue }
        let lengths = cuts.map(\.byteCount)
        let answers = Self.each(cuts.count, isSlow: false) { SystemCall.truncate(descriptors[$0], to: lengths[$0]) }
        return zip(cuts, answers).map { Self.error($1, .truncate, $0.file.file.path) }
    }

    package func syncEach(_ files: [FileBox]) -> [FileSystemError?] {
        // The last one first, on this thread: a ledger, whose rows are one block, stands before contents that are new files, and
        // another thread begins as much later as it takes to wake it.
        let descriptors = files.reversed().map { $0.file.handle.rawValue }
        let answers = Self.each(files.count, isSlow: true) { PlatformCalls.sync(descriptors[$0]) }
        return zip(files, answers.reversed()).map { Self.error($1, .sync, $0.file.path) }
    }

    package func syncEach(
        _ first: borrowing OpenDirectory, _ second: borrowing OpenDirectory
    ) -> (FileSystemError?, FileSystemError?) {
        let descriptors = [first.handle.rawValue, second.handle.rawValue]
        let paths = [first.path, second.path]
        let answers = Self.each(2, isSlow: true) { PlatformCalls.sync(descriptors[$0]) }
        return (
            Self.error(answers[0], .syncDirectory, paths[0]), Self.error(answers[1], .syncDirectory, paths[1])
        )
    }

    /// On all processors, when that is some hundred microseconds' work, and file by file: for a large one the carrier has two
    /// threads itself.
    package func checksumsEach(
        _ bodies: [FileBody], by carrier: SliceCarrier
    ) -> [Result<Checksums?, FileSystemError>] {
        let byteCount = bodies.reduce(0) { $0 &+ $1.byteCount }
        let jobs = min(Workers.processorCount, bodies.count)
        guard byteCount >= Self.sharedByteCount, jobs > 1,
            bodies.allSatisfy({ $0.byteCount < SliceCarrier.largeByteCount })
        else { return bodies.map { carrier.result(of: $0) } }
        let parts = bodies.map { (descriptor: $0.file.file.handle.rawValue, byteCount: $0.byteCount) }
        let answers = Answers<ChecksumsAnswer>()
        Workers.each(0..<jobs, jobs: jobs) { job in
            // Each thread has a buffer of its own, and every `jobs`-th file.
            var buffer = [UInt8](repeating: 0, count: SliceCarrier.sliceByteCount)
            for index in stride(from: job, to: parts.count, by: jobs) {
                let part = parts[index]
                answers.give(Self.checksums(part.descriptor, part.byteCount, &buffer), for: index)
            }
        }
        return zip(bodies, answers.inOrder).map { body, answer in
            switch answer {
            case .sums(let sums): .success(sums)
            case .tooShort: .success(nil)
            case .failure(let code): .failure(FileSystemError(.read, body.file.file.path, .init(errno: code)))
            }
        }
    }

    /// From so many bytes on, several threads sum them up.
    private static let sharedByteCount: UInt64 = 512 * 1_024

    private enum ChecksumsAnswer {
        case sums(Checksums)
        case tooShort
        case failure(Int32)
    }

    private static func checksums(
        _ descriptor: Int32, _ byteCount: UInt64, _ buffer: inout [UInt8]
    ) -> ChecksumsAnswer {
        var sums = Checksums.ofNothing
        var done: UInt64 = 0
        while done < byteCount {
            let wanted = Int(min(UInt64(buffer.count), byteCount - done))
            let answer = buffer.withUnsafeMutableBytes { room in
                SystemCall.repeating { pread(descriptor, room.baseAddress, wanted, off_t(done)) }
            }
            switch answer {
            case .failure(let code): return .failure(code)
            case .value(0): return .tooShort
            case .value(let count):
                buffer.withUnsafeBytes { sums.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                done += UInt64(count)
            }
        }
        return .sums(sums)
    }

    package func startWriting(_ file: borrowing OpenFile, at offset: UInt64, byteCount: Int) {
        PlatformCalls.startWriting(file.handle.rawValue, at: offset, byteCount: byteCount)
    }

    package func syncAll(
        _ directory: borrowing OpenDirectory, beside work: (_ isDone: () -> Bool) -> Void
    ) throws(FileSystemError) {
        let descriptor = directory.handle.rawValue
        let answers = Answers<CallResult>()
        Workers.beside({ answers.give(PlatformCalls.syncFileSystem(descriptor), for: 0) }, { work { answers.isAny } })
        if let error = Self.error(answers.inOrder[0], .syncAll, directory.path) { throw error }
    }

    package func together(_ first: @Sendable () -> Void, _ second: () -> Void) {
        withoutActuallyEscaping(first) { first in Workers.beside(first, second) }
    }

    private static func error(
        _ answer: CallResult, _ operation: FileSystemError.Operation, _ path: @autoclosure () -> DisplayPath
    ) -> FileSystemError? {
        switch answer {
        case .value: nil
        case .failure(let code): FileSystemError(operation, path(), .init(errno: code))
        }
    }

    /// `isSlow`: each waits for the device in any case.
    private static func each(
        _ count: Int, isSlow: Bool, _ call: @escaping @Sendable (Int) -> CallResult
    ) -> [CallResult] {
        var answers: [CallResult] = []
        answers.reserveCapacity(count)
        let clock = MonotonicClock()
        // Of a hundred quick ones, a slow one is an accident: each decides anew about what is left.
        while answers.count < count {
            let left = count - answers.count
            if isSlow, left > 1 { break }
            let began = clock.now()
            answers.append(call(answers.count))
            if left > 4, clock.now().nanoseconds - began.nanoseconds > quickNanoseconds { break }
        }
        guard answers.count < count else { return answers }
        let rest = Answers<CallResult>()
        Workers.each(answers.count..<count, jobs: mostAtOnce) { rest.give(call($0), for: $0) }
        return answers + rest.inOrder
    }

    private final class Answers<Answer: Sendable>: @unchecked Sendable {
        private let lock = Mutex()
        private var all: [(index: Int, answer: Answer)] = []

        func give(_ answer: Answer, for index: Int) { lock.whileHeld { all.append((index, answer)) } }
        var isAny: Bool { lock.whileHeld { !all.isEmpty } }
        var inOrder: [Answer] { lock.whileHeld { all.sorted { $0.index < $1.index }.map(\.answer) } }
    }
}
