import DaemonRuntime
import LivePair
import Spooling
import WatchSide
import WireContract

// The pair as a person runs it: two processes, started, watched from outside, stopped. What is timed begins when the second
// daemon is started, or a note is recorded, and ends when the last recording is deleted, which only an ack does.

/// The home of one measurement, and what runs in it.
final class BenchPair {
    let path: String
    private var logCount = 0
    private let clock = MonotonicClock()
    private let options: [String]

    /// `options` go to both daemons' `run`.
    init(_ path: String, options: [String] = []) throws(LiveError) {
        self.path = path
        self.options = options
        try MeasuringDisk.makeFolder("\(path)/logs")
    }

    /// By itself, or as `wrapper`'s last arguments.
    private func start(
        _ tool: String, _ arguments: [String], wrapper: [String] = []
    ) throws(LiveError) -> MeasuredProcess {
        logCount += 1
        // Nothing is left behind when this process is killed. A traced daemon has another parent.
        let bound = wrapper.isEmpty && arguments.first == "run" ? ["--die-with", "\(MeasuringDisk.processNumber)"] : []
        let own = [Environment.sibling(tool)] + arguments + bound + ["--pair", path]
        let all = wrapper + own
        return try MeasuredProcess(all[0], Array(all.dropFirst()), logs: "\(path)/logs/\(logCount)")
    }

    func phone(_ more: [String] = [], wrapper: [String] = []) throws -> MeasuredProcess {
        let process = try start("phone-sim", ["run", "--quiet"] + options + more, wrapper: wrapper)
        try wait(for: "phone/journal/journal.jsonl", of: process)
        return process
    }

    /// Until no recording is left.
    func drainingWatch(_ more: [String] = [], wrapper: [String] = []) throws(LiveError) -> MeasuredProcess {
        try start(
            "watch-sim", ["run", "--quiet", "--until-drained", "--timeout", "10m"] + options + more, wrapper: wrapper)
    }

    func watch(_ more: [String] = [], wrapper: [String] = []) throws -> MeasuredProcess {
        let process = try start("watch-sim", ["run", "--quiet"] + options + more, wrapper: wrapper)
        try wait(for: "watch/journal/journal.jsonl", of: process)
        return process
    }

    /// Waits until a daemon is up, and has had time to look at everything.
    private func wait(for file: String, of process: MeasuredProcess) throws {
        let deadline = clock.now() + .seconds(60)
        while !MeasuringDisk.isThere("\(path)/\(file)") {
            guard process.isRunning, clock.now() < deadline else {
                throw BenchError("a daemon did not start in \(path)")
            }
            MeasuringDisk.sleep(seconds: 0.002)
        }
    }

    @discardableResult
    func record(_ arguments: [String]) throws -> MeasuredProcess.End {
        let end = try start("watch-sim", ["record"] + arguments).end()
        guard end.exitCode == 0 else { throw BenchError("record failed in \(path): \(end.talk)") }
        return end
    }

    @discardableResult
    func recordTones(_ size: NoteSize, count: Int? = nil, _ more: [String] = []) throws -> MeasuredProcess.End {
        try record(["--seconds", size.toneSeconds, "--count", "\(count ?? size.count)"] + more)
    }

    /// Files of a user's, to be recorded.
    func makeSources(_ size: NoteSize) throws -> [String] {
        guard let tone = ToneWAV(durationSeconds: Double(size.byteCount - 44) / 16_000, frequencyHertz: 440) else {
            preconditionFailure("a tone of \(size.name)")
        }
        let bytes = tone.bytes(offset: 0, count: size.byteCount)
        let disk = DiskFileSystem()
        try MeasuringDisk.makeFolder("\(path)/sources")
        let folder = try disk.openRoot("\(path)/sources", create: false)
        let paths = try (0..<size.count).map { number in
            guard let name = FileName("\(number).wav") else { preconditionFailure("a number is a file name") }
            let file = try disk.create(name, in: folder)
            try disk.writeAll(file, at: 0, bytes)
            return "\(path)/sources/\(number).wav"
        }
        try disk.syncAll(folder)
        return paths
    }

    struct Crossing {
        let seconds: Double
        let watch: MeasuredProcess.End
        let phone: MeasuredProcess.End
    }

    /// Takes what is recorded across. The phone runs already; the clock runs from the start of the watch to its end.
    func cross(count: Int, byteCount: Int = 0) throws -> Crossing {
        let phone = try phone()
        try settle(byteCount: byteCount)
        let began = clock.now()
        let watch = try drainingWatch()
        let watchEnd = watch.end()
        let seconds = clock.now().since(began).inSeconds
        guard watchEnd.exitCode == 0 else { throw BenchError("the watch did not drain in \(path): \(watchEnd.talk)") }
        let phoneEnd = phone.stop()
        try check(count: count)
        return Crossing(seconds: seconds, watch: watchEnd, phone: phoneEnd)
    }

    /// What was recorded before is through, as the sources are of the plain hand-over, and the daemon that runs is idle.
    private func settle(byteCount: Int) throws {
        let disk = DiskFileSystem()
        try disk.syncAll(try disk.openRoot("\(path)/watch/recordings", create: false))
        MeasuringDisk.sleep(seconds: 0.3)
        MeasuringDisk.touchMemory(byteCount: BenchLimits.touchedTimes * byteCount)
    }

    /// The same with `record` in it, into a pair that runs and is idle.
    func recordAndCross(_ sources: [String]) throws -> Double {
        let phone = try phone()
        let watch = try watch()
        MeasuringDisk.sleep(seconds: 0.05)
        let began = clock.now()
        try record(sources)
        try waitUntilDeleted(within: 300)
        let seconds = clock.now().since(began).inSeconds
        _ = watch.stop()
        _ = phone.stop()
        try check(count: sources.count)
        return seconds
    }

    /// Looks every other millisecond.
    func waitUntilDeleted(within limit: Int) throws {
        let deadline = clock.now() + .seconds(limit)
        let disk = DiskFileSystem()
        let recordings = try disk.openRoot("\(path)/watch/recordings", create: false)
        while true {
            var isLeft = false
            try disk.forEachName(in: recordings) { _ in
                isLeft = true
                return false
            }
            if !isLeft { return }
            guard clock.now() < deadline else { throw BenchError("recordings are left after \(limit) s in \(path)") }
            MeasuringDisk.sleep(seconds: 0.002)
        }
    }

    /// A figure counts only when everything arrived.
    private func check(count: Int) throws {
        let disk = DiskFileSystem()
        let container = try disk.openRoot("\(path)/phone/container", create: false)
        var held = 0
        for month in try disk.sortedNames(in: container) {
            held += MeasuringDisk.nameCount("\(path)/phone/container/\(month)")
        }
        guard held == count else { throw BenchError("\(held) of \(count) notes are in the container of \(path)") }
    }

    // MARK: One note at a time

    struct Singles {
        /// From before `record` until the recording is gone, note by note.
        var seconds: [Double] = []
        /// The same from where `record` returned.
        var crossSeconds: [Double] = []
        var peakByteCount: UInt64 = 0
    }

    /// Notes one by one into a pair that is idle. The recorder is this process, so that the start of a program is not in it.
    func oneByOne(_ size: NoteSize, count: Int) throws -> Singles {
        let phone = try phone()
        let watch = try watch()
        MeasuringDisk.sleep(seconds: 0.3)
        var singles: Singles
        do {
            singles = try record(size, count: count)
        } catch {
            _ = watch.stop()
            _ = phone.stop()
            throw error
        }
        singles.peakByteCount = max(watch.stop().peakByteCount, phone.stop().peakByteCount)
        return singles
    }

    private func record(_ size: NoteSize, count: Int) throws -> Singles {
        let disk = DiskFileSystem()
        let recordings = try disk.openRoot("\(path)/watch/recordings", create: false)
        let loop = try EventLoop()
        try loop.watch(recordings, as: 0, for: .both)
        let recorder = try inProcessRecorder(disk)
        guard let tone = ToneWAV(durationSeconds: Double(size.byteCount - 44) / 16_000, frequencyHertz: 440) else {
            preconditionFailure("a tone of \(size.name)")
        }
        var singles = Singles()
        for _ in 0..<count {
            MeasuringDisk.sleep(seconds: 0.01)
            _ = loop.wait(until: clock.now())
            let began = clock.now()
            var recorded: ULID?
            recorder.record([RecordingSource.tone(tone)]) { _, outcome in
                if case .recorded(let id, _) = outcome { recorded = id }
            }
            let returned = clock.now()
            guard let id = recorded, let name = FileName("\(id).note") else {
                throw BenchError("a note was not recorded")
            }
            while try disk.exists(name, in: recordings) {
                let wakeups = loop.wait(until: began + .seconds(60))
                guard !wakeups.deadlinePassed else { throw BenchError("a note did not cross within 60 s in \(path)") }
            }
            let deleted = clock.now()
            singles.seconds.append(deleted.since(began).inSeconds)
            singles.crossSeconds.append(deleted.since(returned).inSeconds)
        }
        return singles
    }

    private func inProcessRecorder(_ disk: DiskFileSystem) throws -> Recorder {
        let entropy = Entropy()
        let wallClock = WallClock()
        let surroundings = Surroundings(
            fileSystem: disk, history: NoHistory(), random: { entropy.next() }, shouldStop: { false },
            holder: ProcessDescription.current(LabTool.name))
        return try Recorder(
            home: "\(path)/watch",
            settings: RecorderSettings(
                payloadVersion: AudioNotePayload.currentVersion, timeZoneID: TimeZoneName.current()),
            surroundings: surroundings, wallMilliseconds: { UInt64(clamping: wallClock.millisecondsSince1970()) })
    }

    private final class NoHistory: History {
        func record(_ event: PairEvent) {}
        func commit() {}
    }

    /// The moment of the first event of a kind in a home's journal.
    func first(_ kind: PairEvent.Kind, of home: String) throws -> Moment? {
        try JournalReader.entries(home: "\(path)/\(home)").entries.first {
            $0.event.kind == kind && $0.event.phase == .did
        }?
        .moment
    }
}
