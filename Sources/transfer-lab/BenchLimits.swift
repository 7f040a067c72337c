import DaemonRuntime
import LivePair
import Spooling

// What this machine allows: the calls that the pair is made of, through the same `DiskFileSystem`, in the same kind of folder.
//
// The hand-over in batches is what a plain program would do that makes *every* step durable: copy into the spool, barrier,
// publish, claim, copy into the inbox, barrier, publish, ack, barrier, delete. The pair may be faster than it, because its
// middle carries no promise; it does more, too (checksums, ledger, journal, two processes that hear of each other).

final class BenchLimits {
    private let disk = DiskFileSystem()
    private let clock = MonotonicClock()
    private let place: BenchPlace
    private let bytes: [UInt8]

    static let kibibyte = 1_024
    /// Of what a measurement writes, so many times as much memory is touched before it: which pages it gets is for the kernel.
    static let touchedTimes = 10
    static let mebibyte = 1_024 * 1_024

    init(_ place: BenchPlace) {
        self.place = place
        // Bytes that no file system can make less of.
        var state: UInt64 = 88_172_645_463_325_252
        bytes = (0..<Self.mebibyte).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state)
        }
    }

    func seconds(_ body: () throws -> Void) rethrows -> Double {
        let began = clock.now()
        try body()
        return clock.now().since(began).inSeconds
    }

    private func name(_ number: Int, _ prefix: String = "") -> FileName {
        guard let name = FileName("\(prefix)\(number)") else {
            preconditionFailure("a number is a file name: \(number)")
        }
        return name
    }

    private func write(_ name: FileName, byteCount: Int, in folder: borrowing OpenDirectory) throws -> FileBox {
        let box = FileBox(try disk.create(name, in: folder))
        try disk.writeAll(box.file, at: 0, bytes[..<byteCount])
        return box
    }

    // MARK: One call

    func measure(into figures: inout Figures, hasNotes: [NoteSize]) throws {
        let folder = try disk.openRoot(try place.folder("limits"), create: false)
        try disk.sync(folder)
        let count = 150
        let one = try seconds {
            for number in 0..<count {
                let box = try write(name(number, "."), byteCount: Self.kibibyte, in: folder)
                try disk.sync(box.file)
                try disk.publish(name(number, "."), in: folder, as: name(number), in: folder)
                try disk.sync(folder)
            }
        }
        figures.add(
            Double(count) / one, .limits, "limits.durable", "durable publishes of 1 KiB, one at a time", "files/s")
        let batches = 8
        let batched = try seconds {
            for batch in 0..<batches {
                let numbers = (0..<64).map { 10_000 + 64 * batch + $0 }
                for number in numbers { _ = try write(name(number, "."), byteCount: Self.kibibyte, in: folder) }
                try disk.syncAll(folder)
                for number in numbers { try disk.publish(name(number, "."), in: folder, as: name(number), in: folder) }
                try disk.sync(folder)
            }
        }
        figures.add(
            Double(64 * batches) / batched, .limits, "limits.batched",
            "durable publishes of 1 KiB, 64 with one barrier",
            "files/s")
        let renamed = try seconds {
            for number in 10_000..<10_512 {
                try disk.publish(name(number), in: folder, as: name(number, "r"), in: folder)
            }
        }
        figures.add(512 / renamed, .limits, "limits.rename", "renames", "names/s")
        figures.add(1e6 * (try wakeup()), .limits, "limits.wakeup", "wake-up by inotify, median of 100", "µs")
        for size in hasNotes {
            figures.add(
                try handOver(size), .limits, "limits.handOver.\(size.name)",
                "hand-over of \(size.name), every step durable, in batches of \(size.batchCount)", "notes/s")
        }
    }

    /// From the rename to the return of the other thread's `wait`.
    func wakeup() throws -> Double {
        let path = try place.folder("wakeup")
        let state = WakeupState()
        let count = 100
        Workers.each(0..<2, jobs: 2) { index in
            let disk = DiskFileSystem()
            let clock = MonotonicClock()
            guard let folder = try? disk.openRoot(path, create: false) else { return state.give(nil) }
            if index == 0 {
                guard let loop = try? EventLoop(), (try? loop.watch(folder, as: 0, for: .both)) != nil else {
                    return state.give(nil)
                }
                state.isListening = true
                while state.sampleCount < count, !state.isBroken {
                    // A name may be told of once for the create and once for the rename: only the latter counts.
                    for change in loop.wait(until: clock.now() + .seconds(2)).changes {
                        if case .names(let names) = change.news, names.contains(where: { !$0.isPartial }) {
                            state.give(clock.now())
                        }
                    }
                }
            } else {
                while !state.isListening, !state.isBroken { MeasuringDisk.sleep(seconds: 0.001) }
                for number in 0..<count where !state.isBroken {
                    guard let name = FileName("\(number)"), (try? disk.create(name.partial, in: folder)) != nil else {
                        return state.give(nil)
                    }
                    MeasuringDisk.sleep(seconds: 0.001)
                    state.begin(clock.now())
                    guard (try? disk.publish(name.partial, in: folder, as: name, in: folder)) != nil else {
                        return state.give(nil)
                    }
                    while state.sampleCount <= number, !state.isBroken { MeasuringDisk.sleep(seconds: 0.0001) }
                }
            }
        }
        guard let spread = state.spread else { throw BenchError("no news came of a folder: is inotify at its limit?") }
        return spread.median
    }

    // MARK: Copies

    /// MB/s of a copy, one sync and one checksummed read.
    func copy(byteCount: Int) throws -> Double {
        let path = try place.folder("copy")
        defer { MeasuringDisk.remove(path) }
        let folder = try disk.openRoot(path, create: false)
        let source = FileBox(try disk.create("source", in: folder))
        for slice in 0..<byteCount / Self.mebibyte {
            try disk.writeAll(source.file, at: UInt64(slice * Self.mebibyte), bytes)
        }
        try disk.sync(source.file)
        var buffer = [UInt8](repeating: 0, count: SliceCarrier.sliceByteCount)
        let taken = try seconds {
            let target = try disk.create("target", in: folder)
            var done: UInt64 = 0
            while true {
                let count = try disk.readFully(source.file, at: done, into: &buffer)
                if count == 0 { break }
                try disk.writeAll(target, at: done, buffer[..<count])
                done += UInt64(count)
            }
            try disk.sync(target)
            var sums = Checksums.ofNothing
            done = 0
            while true {
                let count = try disk.readFully(target, at: done, into: &buffer)
                if count == 0 { break }
                buffer.withUnsafeBytes { sums.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                done += UInt64(count)
            }
        }
        return Double(byteCount) / 1e6 / taken
    }

    // MARK: The hand-over

    private func handOver(_ size: NoteSize) throws -> Double {
        let path = try place.folder("handover")
        for name in ["source", "spool", "inbox", "acks"] { try MeasuringDisk.makeFolder("\(path)/\(name)") }
        let source = try disk.openRoot("\(path)/source", create: false)
        let spool = try disk.openRoot("\(path)/spool", create: false)
        let inbox = try disk.openRoot("\(path)/inbox", create: false)
        let acks = try disk.openRoot("\(path)/acks", create: false)
        for number in 0..<size.count { _ = try write(name(number), byteCount: size.byteCount, in: source) }
        try disk.syncAll(source)
        MeasuringDisk.touchMemory(byteCount: Self.touchedTimes * size.count * size.byteCount)
        func read(_ name: FileName, in folder: borrowing OpenDirectory) throws {
            let file = try disk.open(name, in: folder)
            _ = try disk.readAll(file, at: 0, byteCount: size.byteCount)
        }
        let taken = try seconds {
            for start in stride(from: 0, to: size.count, by: size.batchCount) {
                let batch = start..<min(start + size.batchCount, size.count)
                for number in batch {
                    try read(name(number), in: source)
                    _ = try write(name(number, "."), byteCount: size.byteCount, in: spool)
                }
                try disk.syncAll(spool)
                for number in batch { try disk.publish(name(number, "."), in: spool, as: name(number), in: spool) }
                for number in batch {
                    try disk.publish(name(number), in: spool, as: name(number, "c"), in: spool)
                    try read(name(number, "c"), in: spool)
                    _ = try write(name(number, "."), byteCount: size.byteCount, in: inbox)
                }
                try disk.syncAll(inbox)
                for number in batch {
                    try disk.publish(name(number, "."), in: inbox, as: name(number), in: inbox)
                    _ = try write(name(number, "."), byteCount: 128, in: acks)
                }
                try disk.syncAll(acks)
                for number in batch {
                    try disk.publish(name(number, "."), in: acks, as: name(number), in: acks)
                    try disk.unlink(name(number, "c"), in: spool)
                    try disk.unlink(name(number), in: source)
                    try disk.unlink(name(number), in: acks)
                }
            }
        }
        return Double(size.count) / taken
    }

    /// The seven syncs of one note on an idle pair, by themselves: seconds that they took, for each of `count` notes.
    func sevenSyncs(count: Int) throws -> [Double] {
        let path = try place.folder("syncs")
        for name in ["recordings", "staging", "month", "ledger"] { try MeasuringDisk.makeFolder("\(path)/\(name)") }
        let recordings = try disk.openRoot("\(path)/recordings", create: false)
        let staging = try disk.openRoot("\(path)/staging", create: false)
        let month = try disk.openRoot("\(path)/month", create: false)
        let ledger = FileBox(try disk.create("rows", in: try disk.openRoot("\(path)/ledger", create: false)))
        try disk.syncAll(recordings)
        var end: UInt64 = 0
        return try (0..<count).map { number in
            // As idle as the pair is between two notes: a disk and a processor that rest answer later.
            MeasuringDisk.sleep(seconds: 0.01)
            var taken = 0.0
            func row() throws {
                try disk.writeAll(ledger.file, at: end, bytes[..<200])
                end += 200
            }
            let recording = try write(name(number, "."), byteCount: Self.kibibyte + 250, in: recordings)
            taken += try seconds { try disk.sync(recording.file) }
            try disk.publish(name(number, "."), in: recordings, as: name(number), in: recordings)
            taken += try seconds { try disk.sync(recordings) }
            let staged = try write(name(number), byteCount: Self.kibibyte + 250, in: staging)
            try row()
            try disk.truncate(staged.file, to: UInt64(Self.kibibyte))
            taken += try seconds { try disk.sync(ledger.file) }
            taken += try seconds { try disk.sync(staged.file) }
            try disk.publish(name(number), in: staging, as: name(number), in: month)
            taken += try seconds { try disk.sync(month) }
            taken += try seconds { try disk.sync(staging) }
            try row()
            taken += try seconds { try disk.sync(ledger.file) }
            try disk.unlink(name(number), in: recordings)
            return taken
        }
    }
}

/// A size of note, how many make a backlog, and how many of them the plain hand-over puts behind one barrier.
struct NoteSize {
    let name: String
    let byteCount: Int
    let count: Int
    let batchCount: Int

    static let all = [
        NoteSize(name: "1 KiB", byteCount: 1_024, count: 2_048, batchCount: 64),
        NoteSize(name: "64 KiB", byteCount: 65_536, count: 1_024, batchCount: 64),
        NoteSize(name: "1 MiB", byteCount: 1_048_576, count: 192, batchCount: 8),
    ]

    /// Of the tone that makes a recording of this size: 8,000 frames a second of two bytes behind a header of 44.
    var toneSeconds: String { "\(Double(byteCount - 44) / 16_000)" }
}

/// The benchmark's own trouble, or a pair that did not do its work.
struct BenchError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// What two threads share while one wakes the other.
private final class WakeupState: @unchecked Sendable {
    private let lock = Mutex()
    private var began = Moment.zero
    private var samples: [Double] = []
    private var broken = false
    private var listening = false

    func begin(_ moment: Moment) { lock.whileHeld { began = moment } }

    /// The moment of a wake-up; nil when there will be none.
    func give(_ moment: Moment?) {
        lock.whileHeld {
            guard let moment else {
                broken = true
                return
            }
            samples.append(moment.since(began).inSeconds)
        }
    }

    var isBroken: Bool { lock.whileHeld { broken } }
    var sampleCount: Int { lock.whileHeld { samples.count } }
    var spread: Spread? { lock.whileHeld { broken ? nil : Spread(samples) } }
    var isListening: Bool {
        get { lock.whileHeld { listening } }
        set { lock.whileHeld { listening = newValue } }
    }
}
