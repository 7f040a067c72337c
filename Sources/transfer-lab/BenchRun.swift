import DaemonRuntime
import LivePair
import Spooling

// One run of the benchmark: the parts that were asked for, interleaved, so that a slow minute of the disk hits all of them.

struct BenchRun {
    let place: BenchPlace
    let parts: Set<BenchPart>
    let isQuick: Bool
    let ramParent: String
    var figures = Figures()
    private let limits: BenchLimits
    private let clock = MonotonicClock()

    /// What takes a minute each time is repeated less.
    private static let mostLongRepetitions = 3
    private static let latencyCount = 60

    init(_ place: BenchPlace, parts: Set<BenchPart>, isQuick: Bool, ramParent: String) {
        self.place = place
        self.parts = parts
        self.isQuick = isQuick
        self.ramParent = ramParent
        limits = BenchLimits(place)
    }

    mutating func measure(_ repetitions: Int) throws {
        for number in 1...repetitions {
            standardError("repetition \(number) of \(repetitions)")
            if parts.contains(.limits) {
                try limits.measure(into: &figures, hasNotes: parts.contains(.pair) ? NoteSize.all : [])
            }
            if parts.contains(.pair) { try pair() }
            if parts.contains(.large) { try large(number) }
            if parts.contains(.latency) { try latency() }
            if parts.contains(.backlog) { try backlog(number) }
            if parts.contains(.ram) { try ram() }
        }
        if parts.contains(.start) { try start() }
        if parts.contains(.counts) { try BenchCounts(place).measure(into: &figures) }
    }

    private func base(_ key: String, of part: BenchPart = .limits) -> String? { parts.contains(part) ? key : nil }

    // MARK: On the disk

    private mutating func pair() throws {
        for size in NoteSize.all {
            let backlog = try BenchPair(try place.folder("pair"))
            try backlog.recordTones(size)
            let crossing = try backlog.cross(count: size.count, byteCount: size.count * size.byteCount)
            figures.add(
                Double(size.count) / crossing.seconds, .pair, "pair.cross.\(size.name)",
                "backlog of \(size.count) notes of \(size.name), both daemons", "notes/s",
                against: base("limits.handOver.\(size.name)"), .atLeast(1.5))
            MeasuringDisk.remove("\(backlog.path)/phone/container")
            let whole = try BenchPair(try place.folder("pair"))
            let sources = try whole.makeSources(size)
            figures.add(
                Double(size.count) / (try whole.recordAndCross(sources)), .pair, "pair.record.\(size.name)",
                "the same with `record FILE…` in it", "notes/s", against: base("limits.handOver.\(size.name)"))
            MeasuringDisk.remove("\(whole.path)/phone/container")
            MeasuringDisk.remove("\(whole.path)/sources")
        }
    }

    private mutating func large(_ number: Int) throws {
        for (name, mebibytes, isLong) in [("64 MiB", 64, false), ("1 GiB", 1_024, true)] {
            if isLong, isQuick || number > Self.mostLongRepetitions { continue }
            let byteCount = mebibytes * BenchLimits.mebibyte
            figures.add(
                try limits.copy(byteCount: byteCount), .large, "large.copy.\(name)",
                "copy of \(name), one sync, one checksummed read", "MB/s")
            let pair = try BenchPair(try place.folder("large"))
            let size = NoteSize(name: name, byteCount: byteCount, count: 1, batchCount: 1)
            let single = try pair.oneByOne(size, count: 1)
            figures.add(
                Double(byteCount) / 1e6 / single.crossSeconds[0], .large, "large.cross.\(name)",
                "one recording of \(name), from `record` returned until it is deleted", "MB/s",
                against: "large.copy.\(name)", .atLeast(0.9))
            figures.add(
                Double(single.peakByteCount) / 1_048_576, .large,
                "large.memory.\(name)", "resident at most, either daemon", "MiB", .atMost(100))
            MeasuringDisk.remove(pair.path)
        }
    }

    private mutating func latency() throws {
        let syncs = try limits.sevenSyncs(count: Self.latencyCount)
        let pair = try BenchPair(try place.folder("latency"))
        let notes = try pair.oneByOne(NoteSize.all[0], count: Self.latencyCount).seconds
        guard let syncSpread = Spread(syncs), let spread = Spread(notes) else { return }
        // The watch of the recording, the phone of the entry, the watch of the ack, and this process of the deletion.
        let wakeups = 4 * 1e3 * (try limits.wakeup())
        figures.add(
            1e3 * syncSpread.median + wakeups, .latency, "latency.syncs", "its seven syncs alone, and four wake-ups",
            "ms")
        figures.add(
            1e3 * spread.median, .latency, "latency.median", "one note of 1 KiB on an idle pair, median", "ms",
            against: "latency.syncs", .atMost(1.25))
        let sorted = notes.sorted()
        figures.add(
            1e3 * sorted[min(sorted.count - 1, sorted.count * 99 / 100)], .latency, "latency.p99",
            "the same, 99th percentile", "ms", against: "latency.syncs")
    }

    private mutating func backlog(_ number: Int) throws {
        let size = NoteSize.all[0]
        for count in [1_000, 10_000] {
            let pair = try BenchPair(try place.folder("backlog"))
            try pair.recordTones(size, count: count)
            let crossing = try pair.cross(count: count)
            figures.add(
                1e6 * crossing.seconds / Double(count), .backlog, "backlog.\(count)", "a note in a backlog of \(count)",
                "µs", against: count == 1_000 ? nil : "backlog.1000", count == 1_000 ? nil : .atMost(1.2))
        }
    }

    /// 100,000 recordings that wait, then cross; then a start with all of them in the ledger.
    private mutating func start() throws {
        let count = isQuick ? 10_000 : 100_000
        let size = NoteSize.all[0]
        let pair = try BenchPair(try place.folder("start"))
        try pair.recordTones(size, count: count)
        let began = clock.now()
        let watch = try pair.watch()
        var enqueued: Moment?
        while enqueued == nil {
            guard watch.isRunning, clock.now().since(began).inSeconds < 60 else {
                throw BenchError("nothing was sent within 60 s of a start in \(pair.path)")
            }
            MeasuringDisk.sleep(seconds: 0.2)
            enqueued = try pair.first(.enqueued, of: "watch")
        }
        if let enqueued {
            figures.add(
                enqueued.since(began).inSeconds, .start, "start.waiting",
                "start of the watch to its first transfer, \(count) recordings waiting", "s", .atMost(1))
        }
        let watchEnd = watch.stop()
        let crossing = try pair.cross(count: count)
        figures.add(
            1e6 * crossing.seconds / Double(count), .start, "start.backlog", "a note in a backlog of \(count)", "µs",
            against: parts.contains(.backlog) ? "backlog.1000" : nil, .atMost(1.2))
        for (name, byteCount) in [
            ("watch", max(watchEnd.peakByteCount, crossing.watch.peakByteCount)),
            ("phone", crossing.phone.peakByteCount),
        ] {
            figures.add(
                Double(byteCount) / 1_048_576, .start, "start.memory.\(name)",
                "resident at most, \(name), \(count) notes",
                "MiB", .atMost(100))
        }
        try pair.recordTones(size, count: 1)
        // Up and waiting first: what counts is the phone's start.
        let waiting = try pair.watch()
        MeasuringDisk.sleep(seconds: 0.3)
        let phoneBegan = clock.now()
        let phone = try pair.phone()
        try pair.waitUntilDeleted(within: 60)
        figures.add(
            clock.now().since(phoneBegan).inSeconds, .start, "start.ledger",
            "start of the phone to the first note across, \(count) in the ledger", "s", .atMost(1))
        _ = waiting.stop()
        figures.add(
            Double(phone.stop().peakByteCount) / 1_048_576, .start, "start.ledger.memory", "resident at most, phone",
            "MiB",
            .atMost(100))
    }

    // MARK: On a RAM disk

    private mutating func ram() throws {
        guard MeasuringDisk.isThere(ramParent) else {
            return figures.skip("the RAM disk: there is no \(ramParent); name a folder on one with --ram-dir")
        }
        let ram = try BenchPlace(below: ramParent)
        let size = NoteSize.all[0]
        let counts = [200, 4_200]
        // A start costs some milliseconds: what one note costs is the difference of two runs.
        var runs: [BenchPair.Crossing] = []
        for count in counts {
            let pair = try BenchPair(try ram.folder("ram"))
            try pair.recordTones(size, count: count)
            runs.append(try pair.cross(count: count))
        }
        let notes = Double(counts[1] - counts[0])
        figures.add(
            1e6 * (runs[1].watch.cpuSeconds - runs[0].watch.cpuSeconds) / notes, .ram, "ram.watch",
            "CPU of the watch a note",
            "µs", .atMost(150))
        figures.add(
            1e6 * (runs[1].phone.cpuSeconds - runs[0].phone.cpuSeconds) / notes, .ram, "ram.phone",
            "CPU of the phone a note",
            "µs", .atMost(150))
        figures.add(
            notes / (runs[1].seconds - runs[0].seconds), .ram, "ram.rate", "notes of 1 KiB across", "notes/s")
    }
}
