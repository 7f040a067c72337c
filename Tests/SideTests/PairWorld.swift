import PhoneSide
import Simulation
import Spooling
import WatchSide
import WireContract

// Both sides in one process, on one simulated disk, in virtual time.
//
// Each side has a seat. A seat is started anew, a second later, whenever its engine died or could not be opened, as whoever
// runs the daemons does. The world steps who is due or has news, and jumps to the next deadline when nobody is. News is
// what inotify would say: every name that was made, renamed or removed in a place of an engine.

/// What happened on either side.
final class PairHistory: History {
    private(set) var events: [PairEvent] = []

    func record(_ event: PairEvent) { events.append(event) }
    func commit() {}

    func count(_ kind: PairEvent.Kind, _ id: ULID? = nil) -> Int {
        events.count { $0.kind == kind && $0.phase == .did && (id == nil || $0.id == id) }
    }
}

final class PairSeat {
    let side: Side
    var engine: (any Engine)?
    var instrument: InstrumentedFileSystem?
    var view: ProcessView?
    let history = PairHistory()
    var isWanted = false
    var due = Moment.zero
    var nextStart = Moment.zero
    var startCount = 0
    var startFailures: [String] = []
    /// What goes wrong in the n-th start (from 1) and the life behind it.
    var plan: (Int) -> [Injection] = { _ in [] }
    var news: [(Place, FileName)] = []
    /// How many calls each life made.
    var callCounts: [Int] = []

    init(_ side: Side) { self.side = side }
}

final class PairWorld {
    static let policy = RetryPolicy(first: .seconds(5), cap: .seconds(40), patience: .seconds(30))
    /// P6: what is unacked when the faults stop is sent again after the longest wait; each way is found at the next full
    /// look, and a phone that was refused tries again after half a minute at most.
    static let bound: Duration =
        policy.cap + policy.patience + .seconds(6 * EngineTiming.rescanSeconds) + .seconds(2 * 30)
    static let home = DiskImage.pairHome

    let disk: SimulatedFileSystem
    let monitor: PairMonitor
    let watch = PairSeat(.watch)
    let phone = PairSeat(.phone)
    let recordHistory = PairHistory()
    var now = Moment.zero
    /// 2026-05-31 23:59:58 UTC.
    var wallMilliseconds: UInt64 = 1_780_271_998_000
    var random: SplitMix64
    var phoneSettings = PhoneSettings()
    var hasNews = true
    var keepsTrace = false
    /// What somebody else does to the disk behind a step of a side.
    var afterStep: ((PairSeat) -> Void)?
    private var sourceCount = 0

    init(_ image: DiskImage = PairWorld.home, seed: UInt64 = 1) {
        disk = SimulatedFileSystem()
        disk.restore(image)
        monitor = PairMonitor(disk)
        random = SplitMix64(seed: seed)
    }

    var seats: [PairSeat] { [watch, phone] }
    var watchEngine: WatchEngine? { watch.engine as? WatchEngine }
    var phoneEngine: PhoneEngine? { phone.engine as? PhoneEngine }

    func surroundings(_ fileSystem: any FileSystem, _ history: any History, _ holder: String) -> Surroundings {
        Surroundings(
            fileSystem: fileSystem, history: history, random: { [unowned self] in random.next() },
            shouldStop: { false }, holder: holder)
    }

    // MARK: Recording

    struct RecordingRefused: Error, CustomStringConvertible {
        let description: String
    }

    /// Bytes that are no audio format and differ from one to the next.
    func bytes(_ count: Int) -> [UInt8] {
        // Random where it differs, then a run: long ones take no time to make.
        var bytes = [UInt8(ascii: "x")]
        while bytes.count < min(count, 64) { bytes.append(UInt8(truncatingIfNeeded: random.next())) }
        return Array(bytes.prefix(count)) + [UInt8](repeating: bytes[bytes.count - 1], count: max(0, count - 64))
    }

    /// Records as `watch-sim record` does, in a process of its own. `onDeath` is what happens to the machine then.
    @discardableResult
    func record(
        _ body: [UInt8], fileExtension: String = "ogg", payloadVersion: Int = AudioNotePayload.currentVersion,
        injections: [Injection] = [], onDeath: (() -> Void)? = nil, inspect: (InstrumentedFileSystem) -> Void = { _ in }
    ) throws -> ULID {
        sourceCount += 1
        let source = "/sources/\(sourceCount).\(fileExtension)"
        try disk.plant(source, bytes: body)
        let view = disk.asProcess("record")
        defer { view.kill() }
        let instrument = InstrumentedFileSystem(
            PairTap(view, self), injections: injections, onDeath: onDeath ?? { view.kill() })
        defer { inspect(instrument) }
        let recorder = try Recorder(
            home: PairPath.watch, settings: RecorderSettings(payloadVersion: payloadVersion, timeZoneID: nil),
            surroundings: surroundings(instrument, recordHistory, "record"),
            wallMilliseconds: { [unowned self] in wallMilliseconds })
        wallMilliseconds += 1_500
        var outcome: RecordingOutcome?
        recorder.record([.file(path: source, durationSeconds: 1)]) { outcome = $1 }
        switch outcome {
        case .recorded(let id, byteCount: _):
            let isOfTheFuture = payloadVersion > phoneSettings.understands
            monitor.tell(id, .init(body: body, fileExtension: fileExtension, isOfTheFuture: isOfTheFuture))
            return id
        case .failed(let failure): throw RecordingRefused(description: "\(failure)")
        case nil: throw RecordingRefused(description: "no outcome")
        }
    }

    // MARK: Processes

    func start() {
        for seat in seats {
            seat.isWanted = true
            seat.nextStart = now
        }
    }

    private func open(_ seat: PairSeat) {
        seat.startCount += 1
        seat.news = []
        let view = disk.asProcess(seat.side.rawValue)
        seat.view = view
        let instrument = InstrumentedFileSystem(
            PairTap(view, self), injections: seat.plan(seat.startCount), onDeath: { view.kill() })
        instrument.keepsTrace = keepsTrace
        seat.instrument = instrument
        seat.due = now
        do {
            switch seat.side {
            case .watch:
                seat.engine = try WatchEngine(
                    home: PairPath.watch, spool: PairPath.spool,
                    settings: WatchSettings(policy: Self.policy, understands: IngestAck.currentVersion),
                    surroundings: surroundings(instrument, seat.history, "watch"))
            case .phone:
                seat.engine = try PhoneEngine(
                    homePath: PairPath.phone, spoolPath: PairPath.spool, settings: phoneSettings,
                    surroundings: surroundings(instrument, seat.history, "phone"))
            }
            buryIfDead(seat)
        } catch {
            seat.startFailures.append("\(error)")
            end(seat)
        }
        monitor.check(after: "a start of the \(seat.side)")
    }

    /// Its engine is let go of, and whoever runs it starts it again in a second.
    private func end(_ seat: PairSeat) {
        if let instrument = seat.instrument { seat.callCounts.append(instrument.callCount) }
        seat.view?.kill()
        seat.engine = nil
        seat.instrument = nil
        seat.view = nil
        seat.nextStart = now + .seconds(1)
    }

    private func buryIfDead(_ seat: PairSeat) {
        if let view = seat.view, !view.isAlive || seat.instrument?.isDead == true { end(seat) }
    }

    func kill(_ seat: PairSeat) { end(seat) }

    /// Also inside a call of either side: both find themselves dead.
    func losePower(_ loss: PowerLoss) {
        disk.losePower(loss)
        monitor.lookForSecondNames()
        monitor.check(after: "the power was cut (\(loss))")
    }

    // MARK: Time

    private func step(_ seat: PairSeat) {
        guard let engine = seat.engine else { return }
        if hasNews {
            let news = seat.news
            for (place, name) in news { engine.hear(.names([name]), of: place) }
        }
        seat.news = []
        seat.due = engine.step(at: now)
        buryIfDead(seat)
        monitor.check(after: "a step of the \(seat.side) at \(now.nanoseconds / 1_000_000) ms")
        afterStep?(seat)
    }

    /// Steps who is due until `stop` says so or `limit` is reached.
    func run(until limit: Moment, stop: () -> Bool = { false }) {
        var turns = 0
        while !stop() {
            var acted = false
            for seat in seats where seat.isWanted {
                buryIfDead(seat)
                if seat.engine == nil {
                    guard seat.nextStart <= now else { continue }
                    open(seat)
                    acted = true
                } else if seat.due <= now || hasNews && !seat.news.isEmpty {
                    step(seat)
                    acted = true
                }
            }
            if acted {
                turns += 1
                guard turns < 5_000 else {
                    let who = seats.filter { $0.due <= now }.map(\.side)
                    monitor.violated("a busy loop of \(who) at \(now): \(census()), \(lastWords(12))")
                    return
                }
                continue
            }
            turns = 0
            let next = seats.filter(\.isWanted).map { $0.engine == nil ? $0.nextStart : $0.due }.min() ?? limit
            guard next < limit else {
                now = max(now, limit)
                return
            }
            now = next
        }
    }

    func run(for duration: Duration) { run(until: now + duration) }

    /// P6: both sides are drained within the bound from now on.
    func drain(within bound: Duration = PairWorld.bound) {
        let start = now
        var hasDrained = false
        run(until: now + bound) {
            hasDrained = isDrained
            return hasDrained
        }
        if !hasDrained {
            let left = seats.compactMap { $0.startFailures.last }
            monitor.violated(
                "P6: not drained after \(now.since(start)): \(census()), \(left), \(lastWords(12))")
        }
    }

    var isDrained: Bool {
        for id in monitor.ids where monitor.told[id]?.isOfTheFuture == false {
            if disk.content(PairPath.recording(id)) != nil { return false }
        }
        if monitor.told.values.contains(where: \.isOfTheFuture) {
            // What waits is owed; all the rest must be through.
            return seats.allSatisfy { $0.engine != nil } && entries.isEmpty
        }
        return seats.allSatisfy { $0.engine?.isDrained == true } && entries.isEmpty
    }

    /// (What has a second name is none: it is left alone.)
    var entries: [String] {
        disk.paths(directlyIn: "/pair/spool/to-phone").filter {
            $0.hasSuffix(".note") && disk.status($0)?.linkCount == 1
        }
    }
    var acks: [String] { disk.paths(directlyIn: "/pair/spool/to-watch").filter { $0.hasSuffix(".ack") } }

    /// What is left at the end: every note is in the container once, with its bytes, and nothing else is anywhere.
    func checkTheEnd() {
        run(for: .seconds(EngineTiming.rescanSeconds + 1))
        let paths = disk.paths()
        for id in monitor.ids {
            guard let recording = monitor.told[id] else { continue }
            let held = monitor.heldPaths(of: id)
            if monitor.unwanted.contains(id) || recording.isOfTheFuture {
                if !held.isEmpty { monitor.violated("\(id) is in the container and should not be: \(held)") }
                continue
            }
            if held.isEmpty, monitor.mayBeAbsent.contains(id) { continue }
            if held.count != 1 { monitor.violated("P4: \(id) is in the container \(held.count) times at the end") }
            if let path = held.first, disk.content(path) != recording.body {
                monitor.violated("P5: \(path) is not what was recorded, at the end")
            }
            if !monitor.mayBeAbsent.contains(id), let missing = monitor.missingFinality(id) {
                monitor.violated("P3: \(id) at the end: \(missing)")
            }
        }
        let waiting = monitor.told.values.count(where: \.isOfTheFuture)
        let staged = paths.filter { $0.hasPrefix(PairPath.staging) || $0.hasPrefix(PairPath.inbox) }
        if staged.count != waiting { monitor.violated("in staging and inbox at the end: \(staged)") }
        // As with entries: one that a cut of the power left with a second name, in the quarantine, is left alone.
        let unread = acks.filter { disk.status($0)?.linkCount == 1 }
        if !unread.isEmpty { monitor.violated("unread acks at the end: \(unread)") }
        let temporaries = paths.filter { $0.hasPrefix("/pair/") && $0.hasSuffix(".part") }
        if !temporaries.isEmpty, seats.allSatisfy({ $0.startFailures.isEmpty }) {
            leftTemporaries = temporaries
        }
    }

    /// Temporaries that the next start is to sweep.
    private(set) var leftTemporaries: [String] = []

    func census() -> String {
        let paths = disk.paths().filter { path in
            [PairPath.recordings, PairPath.toPhone, PairPath.toWatch, PairPath.inbox, PairPath.staging].contains {
                path.hasPrefix($0)
            }
        }
        return "on disk \(paths)"
    }

    func lastWords(_ count: Int) -> String {
        "watch: \(watch.history.events.suffix(count).map(\.short)), phone: \(phone.history.events.suffix(count).map(\.short))"
    }

    /// Everything that was found, for an expectation.
    var violations: [String] { monitor.violations }
}

extension PairEvent {
    var short: String {
        "\(kind.rawValue)\(phase == .intends ? "?" : "") \(id.map { String($0.description.suffix(4)) } ?? "") \(detail ?? "")"
    }
}

// MARK: News, and what the monitor wants to see

extension PairWorld: PairObserver {
    /// As the kernel does, for who asked for it.
    private func heard(_ path: String, _ what: Interest) {
        guard hasNews, let slash = path.lastIndex(of: "/"), let name = FileName(PairPath.last(path)) else { return }
        let places: [(PairSeat, Place)] =
            switch String(path[...slash]) {
            case PairPath.recordings: [(watch, .recordings)]
            case PairPath.toPhone: [(watch, .toPhone), (phone, .toPhone)]
            case PairPath.toWatch: [(watch, .toWatch)]
            case "/pair/watch/requests/": [(watch, .requests)]
            case "/pair/phone/requests/": [(phone, .requests)]
            default: []
            }
        for (seat, place) in places {
            seat.engine?.forEachPlace { wanted, interest, _ in
                if wanted == place, interest == .both || interest == what { seat.news.append((place, name)) }
            }
        }
    }

    func willPublish(_ path: String, as newPath: String, by process: String) {
        monitor.willPublish(path, as: newPath, by: process)
    }

    func didPublish(_ path: String, as newPath: String, by process: String) {
        monitor.didPublish(path, as: newPath, by: process)
        heard(path, .departures)
        heard(newPath, .arrivals)
    }

    func willUnlink(_ path: String, by process: String) { monitor.willUnlink(path, by: process) }

    func didUnlink(_ path: String, by process: String) {
        monitor.didUnlink(path, by: process)
        heard(path, .departures)
    }

    func didCreate(_ path: String, by process: String) {
        monitor.didCreate(path, by: process)
        heard(path, .arrivals)
    }
}

extension DiskImage {
    /// A disk with nothing of the pair on it. Sources lie on a disk of their own.
    static let pairNothing: DiskImage = make(.twoHalves)

    private static func make(_ renames: RenameAcrossDirectories) -> DiskImage {
        let disk = SimulatedFileSystem(renameAcrossDirectories: renames)
        do {
            try disk.mount("/sources")
        } catch {
            preconditionFailure("an empty disk takes a mount: \(error)")
        }
        return disk.snapshot()
    }

    /// A pair that was started once and is idle: homes, spool and pairing are there, and one note has crossed.
    static let pairHome = idle(.twoHalves)

    /// The idle pair on a disk whose renames between directories are one step.
    static let pairJournalled = idle(.atomic)

    private static func idle(_ renames: RenameAcrossDirectories) -> DiskImage {
        // Other numbers than any test's, so that ids differ.
        let world = PairWorld(make(renames), seed: 0xA11)
        world.wallMilliseconds -= 1_000_000
        do {
            try world.record(world.bytes(100))
        } catch {
            preconditionFailure("a fresh disk takes a recording: \(error)")
        }
        world.start()
        world.drain()
        world.checkTheEnd()
        precondition(world.violations.isEmpty, "the first note of all: \(world.violations)")
        for seat in world.seats { world.kill(seat) }
        return world.disk.snapshot()
    }
}
