// Several calls of one kind at once.
//
// Where the device answers slowly (a disk with `discard` tells it of every block that is freed, and waits), calls that do not
// depend on each other wait together, on threads of `Workers`. The first call is made alone: where it was quick, so are the
// others, and threads would cost more than they save.

package import Spooling

extension DiskFileSystem {
    private static let mostAtOnce = 8
    /// A call that took less did not wait for a device.
    private static let quickNanoseconds: UInt64 = 60_000

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

    package func startWriting(_ file: borrowing OpenFile, at offset: UInt64, byteCount: Int) {
        PlatformCalls.startWriting(file.handle.rawValue, at: offset, byteCount: byteCount)
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
        let rest = Answers()
        Workers.each(answers.count..<count, jobs: mostAtOnce) { rest.give(call($0), for: $0) }
        return answers + rest.inOrder
    }

    private final class Answers: @unchecked Sendable {
        private let lock = Mutex()
        private var all: [(index: Int, answer: CallResult)] = []

        func give(_ answer: CallResult, for index: Int) { lock.whileHeld { all.append((index, answer)) } }
        var inOrder: [CallResult] { lock.whileHeld { all.sorted { $0.index < $1.index }.map(\.answer) } }
    }
}
