import DaemonRuntime
import LinkFaults
import Monitors
import Replay
import Scenarios
import Spooling
import WireContract

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// One live run, from its folder to its report. The steps themselves are in `LiveRun+Steps`, what touches processes in
// `LiveRun+Processes`.

final class LiveRun {
    let scenario: Scenario
    /// With its times divided.
    let scaled: Scenario
    let scale: Double
    let options: LiveOptions
    let folder: String
    let places: PairPlaces
    private let takeCensus: LivePair.CensusTaking
    let progress: ((String) -> Void)?
    let clock = MonotonicClock()

    var history: LiveHistory
    var troubles: [String] = []
    /// The moment 0 of the scenario: both daemons are up.
    var beginning: Moment

    // The pair as it is now.
    var phone: LiveProcess?
    /// By number, from 1; `nil` for one that does not run.
    var watches: [LiveProcess?] = [nil]
    var servedWatch: UInt8 = 1
    var watchBuild: Build
    var phoneBuild: Build
    var link: LinkFile
    var watchCapacity: UInt64?
    var phoneCapacity: UInt64?
    var clockOffsetSeconds: Int64 = 0

    // Orders to die that no process has obeyed yet.
    var pendingOrders: [DieOrder] = []
    var dieOrderCount = 0
    var dieWrittenAt: Moment?

    /// The ids of the recordings, by ordinal from 1; `nil` for one that could not be made.
    var ids: [ULID?] = []
    var recordedByteCount: UInt64 = 0
    var largestByteCount: UInt64 = 0
    var plantedCount = 0
    private var settledMoment: Moment?
    private var nextSample: Moment
    private var logCount = 0
    private var trashCount = 0

    init(
        _ scenario: Scenario, _ options: LiveOptions, folder: String, census: @escaping LivePair.CensusTaking,
        progress: ((String) -> Void)?
    ) {
        self.scenario = scenario
        self.options = options
        self.folder = folder
        self.progress = progress
        takeCensus = census
        scale = options.scale ?? scenario.settings.liveScale
        scaled = scenario.scaled(by: scale)
        places = PairPlaces(root: folder + "/pair")
        let settings = scenario.settings
        watchBuild = Build(understands: settings.watchUnderstands, writes: settings.payloadVersion)
        phoneBuild = Build(understands: settings.phoneUnderstands, writes: settings.ackVersion)
        watchCapacity = settings.watchCapacityByteCount
        phoneCapacity = settings.phoneCapacityByteCount
        beginning = clock.now()
        nextSample = beginning
        history = LiveHistory(zero: beginning)
        link = LinkFile(plan: scaled.settings.link)
    }

    var linkPath: String { folder + "/link.json5" }

    func nextLog() -> String {
        logCount += 1
        return "\(folder)/logs/\(logCount)"
    }

    /// A name in the same file system for what is taken away in one step and removed afterwards.
    func nextTrash() -> String {
        trashCount += 1
        return "\(folder)/trash/\(trashCount)"
    }

    func say(_ line: String) {
        let seconds = clock.now().since(beginning).inSeconds
        progress?("\((seconds * 10).rounded() / 10) s: \(line)")
    }

    func tell(_ event: WorldEvent, watch: UInt8? = nil, at moment: Moment? = nil) {
        history.tell(event, watch: watch ?? servedWatch, at: moment ?? clock.now())
    }

    func trouble(_ words: String) {
        say("trouble: \(words)")
        if troubles.count < 100 { troubles.append(words) }
    }

    // MARK: The whole of it

    private enum Due {
        case step(Step)
        case settled
        case look
    }

    func run() throws(LiveError) -> RunReport {
        for name in ["", "/pair", "/logs", "/sources", "/trash", "/copies"] {
            try LiveDisk.makeDirectory(folder + name)
        }
        link.originNanoseconds = clock.now().nanoseconds
        try writeLink()
        tell(.faultsBegan, at: history.zero)
        if scenario.settings.startsBoth {
            try start(.watch)
            try start(.phone)
            awaitBoth()
        }
        beginning = clock.now()
        link.originNanoseconds = beginning.nanoseconds
        try writeLink()
        for (at, due) in timetable() {
            wait(until: beginning + at / scale)
            if options.isGivenUp() { throw LiveError.givenUp }
            switch due {
            case .step(let step):
                say(step.words)
                try perform(step)
            case .settled:
                let now = clock.now()
                settledMoment = now
                tell(.faultsEnded, at: now)
            case .look: look(for: at)
            }
        }
        drain()
        if options.isGivenUp() { throw LiveError.givenUp }
        return try judge()
    }

    /// What the daemons hold, once a second.
    private func sample(at now: Moment) {
        guard now >= nextSample else { return }
        nextSample = now + .seconds(1)
        for (side, process) in [(Side.watch, watch), (.phone, phone)] {
            guard let process, let holdings = holdings(ofProcess: process.pid) else { continue }
            options.sampled(
                LiveSample(
                    side: side, at: now.since(beginning), recordedCount: ids.count, holdings: holdings))
        }
    }

    /// Everything that has its moment, in order: at one moment the steps first, then the end of faults, then looks.
    private func timetable() -> [(at: Duration, due: Due)] {
        var table: [(at: Duration, rank: Int, due: Due)] = scenario.steps.enumerated().map {
            ($0.element.at, $0.offset, .step($0.element.step))
        }
        if let settledAt = scenario.settledAt { table.append((settledAt, table.count, .settled)) }
        for moment in scenario.expectedMoments { table.append((moment, Int.max, .look)) }
        return table.sorted { ($0.at, $0.rank) < ($1.at, $1.rank) }.map { ($0.at, $0.due) }
    }

    private func look(for moment: Duration) {
        let now = clock.now()
        if let census = census(at: now) { history.look(census, for: moment, at: now) }
    }

    private func census(at moment: Moment) -> Census? {
        do throws(FileSystemError) {
            return try takeCensus(places, UInt8(watches.count), history.relative(moment))
        } catch {
            trouble("the disks cannot be looked at: \(error)")
            return nil
        }
    }

    /// Meanwhile the daemons are looked after.
    func wait(until moment: Moment) {
        while true {
            lookAfterProcesses()
            let now = clock.now()
            sample(at: now)
            guard now < moment, !options.isGivenUp() else { return }
            usleep(UInt32(min(moment.since(now), .milliseconds(3)).wholeNanoseconds / 1_000 + 1))
        }
    }

    /// Until a condition holds, or so long. Answers whether it holds.
    func wait(atMost limit: Duration, until condition: () -> Bool) -> Bool {
        let giveUp = clock.now() + limit
        while !condition() {
            let now = clock.now()
            sample(at: now)
            guard now < giveUp, !options.isGivenUp() else { return false }
            lookAfterProcesses()
            usleep(2_000)
        }
        return true
    }

    // MARK: Draining

    /// For what was recorded: never less than the policy needs, whatever the scaled scenario says.
    private var timeToDrain: Duration {
        let bound = DrainBound(scaled.settings.policy).duration(
            count: ids.count, byteCount: recordedByteCount, largestByteCount: largestByteCount)
        guard let within = scaled.settings.drainWithin else { return bound }
        return scenario.expectsToOwe ? within : max(within, bound)
    }

    private func drain() {
        if scenario.expectsToOwe {
            say("waits for what shall be owed")
            wait(until: (settledMoment ?? clock.now()) + timeToDrain)
            return
        }
        // With one side down nothing drains any more.
        _ = wait(atMost: timeToDrain) { isEverythingEmpty || watch == nil || phone == nil }
        guard isEverythingEmpty else { return }
        // Acks of duplicates, and whatever was on its way: a short while in which nothing has to happen.
        _ = wait(atMost: .seconds(1)) { isEmpty(places.spool(servedWatch) + "/to-watch") }
        wait(until: clock.now() + .milliseconds(300))
        say("drained")
    }

    private var isEverythingEmpty: Bool {
        isEmpty(places.watchHome(servedWatch) + "/recordings") && isEmpty(places.spool(servedWatch) + "/to-phone")
            && isEmpty(places.phoneHome + "/inbox") && isEmpty(places.phoneHome + "/staging")
    }

    private func isEmpty(_ path: String) -> Bool {
        do {
            return try LiveDisk.names(path).isEmpty
        } catch {
            // Between two states of a folder that is being made anew: not yet.
            return false
        }
    }

    // MARK: The end

    private func judge() throws(LiveError) -> RunReport {
        let end = clock.now()
        stop(.watch)
        stop(.phone)
        for number in watches.indices where watches[number] != nil { stopWatch(UInt8(number + 1)) }
        gatherAll()
        let now = clock.now()
        guard let census = census(at: now) else {
            throw LiveError("look at", folder, errno: EIO, remedy: troubles.last ?? "see that it can be read")
        }
        let within = scaled.settings.drainWithin.map { _ in timeToDrain }
        let judged = RunHistory(
            scenario, policy: scaled.settings.policy, drainWithin: within, keepsEntries: options.keepsEntries)
        history.replay(into: judged)
        judged.troubles = troubles
        var report = judged.finish(census, world: .live, length: end.since(beginning) * scale)
        report.timeScale = scale
        return report
    }

    private func gatherAll() {
        for number in 1...UInt8(watches.count) { gather(.watch, watch: number) }
        gather(.phone, watch: servedWatch)
    }

    func gather(_ side: Side, watch: UInt8) {
        let home = side == .watch ? places.watchHome(watch) : places.phoneHome
        do throws(FileSystemError) {
            try history.gather(side, watch: watch, home: home, at: clock.now())
        } catch {
            trouble("the journal of \(home) cannot be read: \(error)")
            tell(.historyGap(side), watch: watch, at: history.zero)
        }
    }

    /// Whatever still runs is gone when this returns.
    func end() {
        phone?.destroy()
        for watch in watches { watch?.destroy() }
    }
}

extension Step {
    /// For a line of progress.
    fileprivate var words: String {
        let text = "\(self)"
        return text.utf8.count <= 200 ? text : "\(text.prefix(200))…"
    }
}
