import Simulation
import Spooling
import Testing

/// The small things that everything else leans on: time, waits, queues, checksums, copies, errors.
struct SmallTypesTests {
    private static let largest = Duration.seconds(Int64.max)

    @Test("moments and durations saturate; nothing of a clock can trap")
    func saturation() {
        let end = Moment(nanoseconds: .max)
        #expect(Moment.zero + .seconds(1) == Moment(nanoseconds: 1_000_000_000))
        #expect(end + .nanoseconds(1) == end)
        #expect(Moment.zero + Self.largest == end)
        #expect(Moment.zero + (Self.largest + Self.largest) == end)
        #expect(Moment(nanoseconds: 5) + .seconds(-1) == Moment(nanoseconds: 5))
        #expect(Moment(nanoseconds: 5) + .nanoseconds(-1) == Moment(nanoseconds: 5))
        #expect(Moment.zero.since(end) == .zero)
        #expect(end.since(.zero) == .nanoseconds(Int64.max))
        #expect(Moment(nanoseconds: 7).since(Moment(nanoseconds: 5)) == .nanoseconds(2))
        #expect(Duration.seconds(18_446_744_073).wholeNanoseconds == 18_446_744_073_000_000_000)
        #expect(Duration.nanoseconds(Int64.max).wholeNanoseconds == UInt64(Int64.max))
        #expect(Duration.seconds(18_446_744_074).wholeNanoseconds == .max)
        #expect((Self.largest + Self.largest).wholeNanoseconds == .max)
        #expect((Duration.zero - Self.largest - Self.largest).wholeNanoseconds == 0)
        #expect(Duration(secondsComponent: 0, attosecondsComponent: 999_999_999).wholeNanoseconds == 0)
        #expect(Duration.milliseconds(1_500).inSeconds == 1.5)
        #expect((Self.largest + Self.largest).inSeconds > 1e18)
    }

    @Test("waits double up to the cap, however many tries")
    func retryWaits() {
        let policy = RetryPolicy.standard
        let waits = (1...9).map { policy.wait(afterAttempts: $0, byteCount: 0) }
        #expect(waits == [10, 20, 40, 80, 160, 320, 600, 600, 600].map { .seconds($0) })
        let patience = (1...5).map { policy.patience(atAttempt: $0, byteCount: 0) }
        #expect(patience == [120, 240, 480, 600, 600].map { .seconds($0) })
        var last = Duration.zero
        for attempts in 1...10_000 {
            let wait = policy.wait(afterAttempts: attempts, byteCount: 0)
            #expect(wait >= last && wait <= .seconds(600))
            last = wait
        }
        #expect(policy.wait(afterAttempts: .max, byteCount: 0) == .seconds(600))
        for attempts in [0, -1, .min] { #expect(policy.wait(afterAttempts: attempts, byteCount: 0) == .seconds(10)) }
    }

    @Test("a long recording is given a second for each 8 MiB")
    func retryAllowance() {
        let policy = RetryPolicy.standard
        #expect(policy.wait(afterAttempts: 1, byteCount: 8 << 20) == .seconds(11))
        #expect(policy.wait(afterAttempts: 1, byteCount: (8 << 20) - 1) == .seconds(10))
        #expect(policy.wait(afterAttempts: 50, byteCount: 1 << 30) == .seconds(600 + 128))
        #expect(policy.wait(afterAttempts: 1, byteCount: .max) > .seconds(2_000_000_000_000))
    }

    @Test("a transfer is given the time that it takes at 16 kB/s before anybody loses patience")
    func patienceForSlowLinks() {
        let policy = RetryPolicy.standard
        #expect(policy.patience(atAttempt: 1, byteCount: 16_000) == .seconds(121))
        #expect(policy.patience(atAttempt: 50, byteCount: 16_000_000) == .seconds(600 + 1_000))
        #expect(policy.patience(atAttempt: 1, byteCount: 15_999) == .seconds(120))
        for byteCount in [1, 10_000_000, 1 << 30, UInt64.max / 2, .max] {
            let carried = Duration.seconds(Int64(byteCount / 16_000))
            for attempts in [1, 2, 64, Int.max] {
                #expect(policy.patience(atAttempt: attempts, byteCount: byteCount) >= policy.patience + carried)
            }
        }
    }

    @Test("no policy traps: zero, tiny, huge, and a cap below the first wait")
    func strangePolicies() {
        let durations: [Duration] = [
            .zero, Duration(secondsComponent: 0, attosecondsComponent: 1), .nanoseconds(1), .seconds(1),
            .seconds(1 << 40), Self.largest,
        ]
        for first in durations {
            for cap in durations {
                let policy = RetryPolicy(first: first, cap: cap, patience: first)
                for attempts in [0, 1, 2, 63, 64, 65, 10_000, Int.max] {
                    for byteCount in [0, 1 << 30, UInt64.max] {
                        let wait = policy.wait(afterAttempts: attempts, byteCount: byteCount)
                        #expect(wait >= first)
                        let patience = policy.patience(atAttempt: attempts, byteCount: byteCount)
                        #expect(patience >= wait && Moment(nanoseconds: 1) + patience >= Moment(nanoseconds: 1))
                        #expect(Moment(nanoseconds: 1) + wait >= Moment(nanoseconds: 1))
                        _ = wait.inSeconds
                    }
                }
            }
        }
    }

    @Test("a queue gives out what a sorted array would")
    func dueQueue() {
        var generator = SplitMix64(seed: 6)
        for round in 0..<200 {
            var queue = DueQueue<UInt64>()
            var model: [UInt64] = []
            for _ in 0..<200 {
                if generator.happens(round % 2 == 0 ? 5 : 3, in: 8) {
                    let key = generator.next() % (round % 3 == 0 ? 8 : 1_000_000)
                    queue.insert(key)
                    model.append(key)
                    model.sort()
                } else {
                    #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
                }
                #expect(queue.first == model.first)
                #expect(queue.count == model.count && queue.isEmpty == model.isEmpty)
            }
            while let key = queue.popFirst() { #expect(key == model.removeFirst()) }
            #expect(model.isEmpty)
        }
    }

    @Test("checksums are zlib's, whole and in slices")
    func checksums() {
        #expect(Checksums(of: "123456789".utf8) == Checksums(crc32: 0xCBF4_3926, adler32: 0x091E_01DE))
        #expect(Checksums(of: "Wikipedia".utf8).adler32 == 0x11E6_0398)
        #expect(Checksums(of: "The quick brown fox jumps over the lazy dog".utf8).crc32 == 0x414F_A339)
        #expect(Checksums(of: []) == .ofNothing)
        var generator = SplitMix64(seed: 7)
        for _ in 0..<200 {
            let bytes = generator.bytes(generator.below(3_000))
            var sums = Checksums.ofNothing
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + generator.below(700))
                bytes[start..<end].withUnsafeBytes { sums.append($0) }
                start = end
            }
            #expect(sums == Checksums(of: bytes))
        }
    }

    @Test("a copy goes in slices, also through short reads and writes, and tells the checksums of what it copied")
    func copies() throws {
        let slice = SliceCarrier.sliceByteCount
        for byteCount in [0, 1, slice - 1, slice, slice + 1, 3 * slice + 5] {
            let disk = SimulatedFileSystem()
            let process = InstrumentedFileSystem(
                disk, injections: [Injection(.every { called, _ in called == .read || called == .write }, .short)])
            let directory = try process.openRoot("/d", create: true)
            var generator = SplitMix64(seed: UInt64(byteCount))
            let bytes = generator.bytes(byteCount)
            try disk.plant("/d/a", bytes: bytes + [1, 2, 3])
            let source = try process.open("a", in: directory)
            let target = try process.create("b", in: directory)
            let carrier = SliceCarrier(fileSystem: process, shouldStop: { false })
            #expect(try carrier.copy(source, to: target, byteCount: UInt64(byteCount)) == Checksums(of: bytes))
            #expect(disk.content("/d/b") == bytes)
            #expect(try carrier.checksums(of: target, from: 0, byteCount: UInt64(byteCount)) == Checksums(of: bytes))
            let plain = try process.create("c", in: directory)
            #expect(try carrier.copyPlainly(source, to: plain, byteCount: UInt64(byteCount)))
            #expect(disk.content("/d/c") == bytes)
            if byteCount > 1 {
                let rest = try carrier.checksums(of: target, from: 1, byteCount: UInt64(byteCount - 1))
                #expect(rest == Checksums(of: bytes.dropFirst()))
            }
            // A source that is shorter than was said.
            #expect(try carrier.copy(source, to: target, byteCount: UInt64(byteCount) + 4) == nil)
            #expect(try !carrier.copyPlainly(source, to: plain, byteCount: UInt64(byteCount) + 4))
            #expect(try carrier.checksums(of: source, from: 0, byteCount: UInt64(byteCount) + 4) == nil)
            #expect(try carrier.checksums(of: source, from: 1 << 40, byteCount: 1) == nil)
        }
    }

    @Test("however long the file, no read or write is longer than a slice, and all use a few buffers")
    func constantMemory() throws {
        let counting = CountingFileSystem(byteCount: 1 << 30)
        let carrier = SliceCarrier(fileSystem: counting, shouldStop: { false })
        let file = OpenFile(handle: HandleNumber(1), displayPath: "/a", fileSystem: counting)
        let sums = try carrier.copy(file, to: file, byteCount: counting.byteCount)
        #expect(sums != nil)
        #expect(counting.largestTransfer <= SliceCarrier.sliceByteCount)
        #expect(counting.writtenByteCount == counting.byteCount)
        #expect(try carrier.copyPlainly(file, to: file, byteCount: counting.byteCount))
        #expect(counting.largestTransfer <= SliceCarrier.sliceByteCount)
        #expect(counting.buffers.count <= 3, "\(counting.buffers.count) buffers")
    }

    @Test("told to stop, a copy ends between two slices, and one slice is always done")
    func stopsBetweenSlices() throws {
        let disk = SimulatedFileSystem()
        let directory = try disk.openRoot("/d", create: true)
        let slice = SliceCarrier.sliceByteCount
        try disk.plant("/d/a", bytes: [UInt8](repeating: 1, count: 3 * slice))
        let source = try disk.open("a", in: directory)
        let target = try disk.create("b", in: directory)
        var asked = 0
        let carrier = SliceCarrier(fileSystem: disk) {
            asked += 1
            return asked >= 2
        }
        #expect(failure { _ = try carrier.copy(source, to: target, byteCount: UInt64(3 * slice)) } == .stopped)
        #expect(disk.content("/d/b")?.count == 2 * slice)
        #expect(failure { _ = try carrier.checksums(of: source, from: 0, byteCount: UInt64(3 * slice)) } == .stopped)
        #expect(failure { _ = try carrier.copyPlainly(source, to: target, byteCount: UInt64(3 * slice)) } == .stopped)
        #expect(try carrier.checksums(of: source, from: 0, byteCount: UInt64(slice)) != nil)
    }

    @Test("an error says operation, path, reason and what to do")
    func errorTexts() {
        let reasons: [FileSystemError.Reason] = [
            .notFound, .exists, .noSpace, .inputOutput, .notPermitted, .isLink, .isDirectory, .notDirectory,
            .crossDevice, .interrupted, .readOnly, .tooManyOpenFiles, .fileTooLarge, .nameTooLong, .notSupported,
            .stopped, .other(5), .refused(.foreignOwner), .refused(.tooOpen(permissions: 0o644)),
            .refused(.hardLinked(count: 2)), .refused(.notAPlainFile(.fifo)),
        ]
        var texts: [String] = []
        for reason in reasons {
            let error = FileSystemError(.create, "/a/b", reason)
            #expect(error.description.hasPrefix("cannot create /a/b: \(reason)"))
            if let remedy = error.remedy { #expect(error.description.hasSuffix("; \(remedy)")) }
            texts.append(error.description)
        }
        #expect(Set(texts).count == reasons.count)
        for reason in [FileSystemError.Reason.noSpace, .notPermitted, .readOnly, .tooManyOpenFiles, .inputOutput] {
            #expect(FileSystemError(.write, "/a", reason).remedy != nil)
        }
        #expect(
            FileSystemError(.open, "/a", .refused(.tooOpen(permissions: 0o644))).description
                == "cannot open /a: refused, permissions 0644 let others in; "
                + "take the others' permissions away (chmod go-rwx), if it is yours")
    }

    @Test("the smallest names, and no more, whatever a directory holds")
    func smallestNames() throws {
        let disk = SimulatedFileSystem()
        let directory = try disk.openRoot("/d", create: true)
        for number in 0..<500 { _ = try disk.create(name("n\(number * 7_919 % 1_000)"), in: directory) }
        let all = try disk.sortedNames(in: directory)
        for limit in [0, 1, 2, 3, 250, 499, 500, 501] {
            #expect(try disk.smallestNames(in: directory, limit: limit) { _ in true } == Array(all.prefix(limit)))
        }
        let even = all.filter { $0.bytes.count == 3 }
        #expect(try disk.smallestNames(in: directory, limit: 10) { $0.bytes.count == 3 } == Array(even.prefix(10)))
    }
}

/// A file of any length that takes no memory, and remembers what was asked of it.
private final class CountingFileSystem: FileSystem {
    let byteCount: UInt64
    private(set) var largestTransfer = 0
    private(set) var writtenByteCount: UInt64 = 0
    private(set) var buffers: Set<UnsafeMutableRawPointer> = []

    init(byteCount: UInt64) { self.byteCount = byteCount }

    func read(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int {
        largestTransfer = max(largestTransfer, buffer.count)
        if let base = buffer.baseAddress { buffers.insert(base) }
        return min(buffer.count, Int(byteCount - offset))
    }

    func write(
        _ file: borrowing OpenFile, at offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws(FileSystemError) -> Int {
        largestTransfer = max(largestTransfer, bytes.count)
        writtenByteCount += UInt64(bytes.count)
        return bytes.count
    }

    func close(_ handle: HandleNumber) {}
    var hasSyncAll: Bool { false }

    // Nothing else is asked of it.
    private func refuse(_ operation: FileSystemError.Operation) -> FileSystemError {
        FileSystemError(operation, "/a", .notSupported)
    }
    func openRoot(_ path: String, create: Bool) throws(FileSystemError) -> OpenDirectory { throw refuse(.openRoot) }
    func openDirectory(
        _ name: FileName, in parent: borrowing OpenDirectory, create: Bool
    ) throws(FileSystemError) -> OpenDirectory { throw refuse(.openDirectory) }
    func openSource(_ path: String) throws(FileSystemError) -> OpenFile { throw refuse(.openSource) }
    func create(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        throw refuse(.create)
    }
    func open(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        throw refuse(.open)
    }
    func status(of name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus {
        throw refuse(.status)
    }
    func status(of file: borrowing OpenFile) throws(FileSystemError) -> FileStatus { throw refuse(.status) }
    func status(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus { throw refuse(.status) }
    func forEachName(in directory: borrowing OpenDirectory, _ body: (FileName) -> Bool) throws(FileSystemError) {
        throw refuse(.list)
    }
    func truncate(_ file: borrowing OpenFile, to byteCount: UInt64) throws(FileSystemError) { throw refuse(.truncate) }
    func sync(_ file: borrowing OpenFile) throws(FileSystemError) { throw refuse(.sync) }
    func sync(_ directory: borrowing OpenDirectory) throws(FileSystemError) { throw refuse(.syncDirectory) }
    func syncAll(_ directory: borrowing OpenDirectory) throws(FileSystemError) { throw refuse(.syncAll) }
    func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) { throw refuse(.publish) }
    func unlink(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) {
        throw refuse(.unlink)
    }
    func lock(_ file: borrowing OpenFile) throws(FileSystemError) -> Bool { throw refuse(.lock) }
    func space(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FreeSpace { throw refuse(.space) }
}
