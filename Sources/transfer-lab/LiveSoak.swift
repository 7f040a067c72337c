import DaemonRuntime
import LivePair
import Monitors
import PhoneSide
import Replay
import Scenarios
import Soak
import Spooling

// `transfer-lab soak --live`: the real daemons, on a real disk, for as long as somebody wants. Storms run one after the
// other, several at a time, and beside them stands one pair that nobody kills (see `LiveDraw`).

enum LiveSoak {
    private static let stormLength = Duration.seconds(30)
    /// Beyond the faults: to heal, drain and be judged.
    private static let aftermath = Duration.seconds(15)
    private static let standardJobs = 4

    /// `loop` takes the signals, and was made on the main thread: others inherit that they are blocked.
    static func run(_ command: ParsedCommand, _ plan: SoakPlan, _ loop: EventLoop?) -> ExitCode {
        if command.flag("--show") {
            standardOutput(LiveDraw.storm(seed: plan.first, length: stormLength).text)
            return .held
        }
        let stop = StopAsked(loop)
        let length = plan.minutes.map { Duration.seconds(60 * $0) }
        let tally = LiveTally(length: length, folder: command.text("--failures") ?? ".")
        let options = liveOptions(command, stop)
        // Index 0 is the standing pair, where there is a length to stand for.
        let count = Int(min((plan.end ?? .max) - plan.first, UInt64(Int32.max)))
        let jobs = Int(clamping: command.integer("--jobs") ?? Int64(standardJobs))
        Workers.each(0..<count + 1, jobs: length == nil ? jobs : jobs + 1) { index in
            if index == 0 {
                guard let length else { return }
                let scenario = LiveDraw.standing(seed: plan.first, length: length)
                play(scenario, options, tally, index, isStanding: true)
            } else {
                guard stop.signal == nil, tally.isTime(for: stormLength + aftermath) else { return }
                let scenario = LiveDraw.storm(seed: plan.first + UInt64(index - 1), length: stormLength)
                play(scenario, options, tally, index, isStanding: false)
            }
        }
        let ending = tally.finish()
        if ending == .violated || ending == .inputOutput { return ending }
        return stop.signal?.exitCode ?? ending
    }

    private static func liveOptions(_ command: ParsedCommand, _ stop: StopAsked) -> LiveOptions {
        var options = LiveOptions(
            executables: (Environment.sibling("watch-sim"), Environment.sibling("phone-sim")),
            parent: command.text("--folder") ?? Environment.temporaryFolder, keepsFolder: command.flag("--keep"),
            keepsEntries: true)
        options.isGivenUp = { stop.signal != nil }
        return options
    }

    private static func play(
        _ scenario: Scenario, _ options: LiveOptions, _ tally: LiveTally, _ index: Int, isStanding: Bool
    ) {
        var options = options
        options.sampled = { tally.take($0, of: index, isStanding: isStanding) }
        // The standing pair's history would be all that the lab holds.
        if isStanding { options.keepsEntries = false }
        do throws(LiveError) {
            tally.take(try LivePair.run(scenario, options), of: index)
        } catch {
            if !options.isGivenUp() { tally.take(error) }
        }
    }
}

/// A signal that asks this process to stop, for threads to ask about.
private final class StopAsked: @unchecked Sendable {
    private let lock = Mutex()
    private let loop: EventLoop?

    init(_ loop: EventLoop?) { self.loop = loop }

    var signal: StopSignal? { lock.whileHeld { loop?.stopRequested() } }
}

/// What came of it so far. Several threads bring reports and samples.
private final class LiveTally: @unchecked Sendable {
    /// More than a daemon has any use for (three batches of notes and thirty others); what is above is a leak even if it stands still.
    private static let mostDescriptors = UInt64(PhoneSettings().mostAheadCount + 64)
    private static let mostResidentByteCount: UInt64 = 100 << 20
    /// What a daemon may keep of each note, in its ledger and queues, and what its allocator may.
    private static let byteCountOfNote: UInt64 = 1_024
    private static let slackByteCount: UInt64 = 2 << 20
    private static let slackOfLabByteCount: UInt64 = 32 << 20

    private let length: Duration?
    private let folder: String
    private let clock = MonotonicClock()
    private let began: Moment
    private let lock = Mutex()
    private var shownAt: Moment
    private var stormCount = 0
    private var recordedCount = 0
    private var verifiedCount = 0
    private var killCount = 0
    private var fullCount = 0
    private var failureCount = 0
    private var worst = RunReport.Outcome.held
    private var isBroken = false
    /// Of the runs under way, by their index.
    private var recordedSoFar: [Int: Int] = [:]
    private var standingNotes = 0
    private var standing: [Side: (descriptors: Growth, memory: Growth)] = [:]
    private var most: [Side: ProcessHoldings] = [:]
    private var own: (descriptors: Growth, memory: Growth) = (Growth(), Growth())

    init(length: Duration?, folder: String) {
        self.length = length
        self.folder = folder
        began = clock.now()
        shownAt = began
    }

    private var elapsed: Duration { clock.now().since(began) }

    func isTime(for needed: Duration) -> Bool {
        guard let length else { return true }
        return elapsed + needed <= max(length, needed + .seconds(1))
    }

    // MARK: Taking

    func take(_ sample: LiveSample, of index: Int, isStanding: Bool) {
        lock.whileHeld {
            recordedSoFar[index] = sample.recordedCount
            let holdings = sample.holdings
            var highest = most[sample.side] ?? holdings
            highest.descriptorCount = max(highest.descriptorCount, holdings.descriptorCount)
            highest.residentByteCount = max(highest.residentByteCount, holdings.residentByteCount)
            most[sample.side] = highest
            progress()
            guard isStanding else { return }
            standingNotes = sample.recordedCount
            var series = standing[sample.side] ?? (Growth(), Growth())
            series.descriptors.add(UInt64(holdings.descriptorCount), at: sample.at)
            series.memory.add(holdings.residentByteCount, at: sample.at)
            standing[sample.side] = series
        }
    }

    func take(_ report: RunReport, of index: Int) {
        lock.whileHeld {
            recordedSoFar[index] = nil
            stormCount += 1
            recordedCount += report.recordedCount
            verifiedCount += report.verifiedCount
            for timed in report.scenario.steps {
                if case .kill = timed.step { killCount += 1 }
                if case .reboot = timed.step { killCount += 2 }
                if case .capacity(_, .full) = timed.step { fullCount += 1 }
            }
            if let holdings = ProcessHoldings.own {
                own.descriptors.add(UInt64(holdings.descriptorCount), at: elapsed)
                own.memory.add(holdings.residentByteCount, at: elapsed)
            }
            if report.outcome != .held { tell(report) }
            progress()
        }
    }

    func take(_ error: LiveError) {
        lock.whileHeld {
            isBroken = true
            standardError("\(LabTool.name) soak: \(error)")
        }
    }

    // MARK: Telling

    private func tell(_ report: RunReport) {
        failureCount += 1
        if worst != .violated { worst = report.outcome }
        let seed = report.scenario.seed
        standardOutput("\(report.outcome.rawValue)   \(report.scenario.name)")
        for line in report.complaints { standardOutput("    " + line) }
        standardOutput("    again: \(LabTool.name) soak --live --seeds '\(seed)..<\(seed + 1)'")
        guard !report.entries.isEmpty else { return }
        let path = "\(folder)/live-\(seed).json5"
        let captured = Capture.scenario(
            from: report.entries, of: report.scenario, name: "\(report.scenario.name), captured")
        do throws(FileSystemError) {
            let file = try OutputFile(path)
            file.write(Array((captured.text + "\n").utf8))
            if let failure = file.failure { throw failure }
            standardOutput("    what happened, to replay: \(path)")
        } catch {
            standardError("\(LabTool.name) soak: \(error)")
        }
    }

    private func progress() {
        let now = clock.now()
        guard now.since(shownAt) >= .seconds(5) else { return }
        shownAt = now
        let left = length.map { ", \(max(0, Int(($0 - elapsed).inSeconds))) s left" } ?? ""
        standardError(
            "\(stormCount) runs over, \(verifiedCount) transfers, \(killCount) kills; \(recordedSoFar.count) under way with "
                + "\(recordedSoFar.values.reduce(0, +)) recorded\(left), \(failureCount) failures")
    }

    func finish() -> ExitCode {
        lock.whileHeld {
            standardOutput(
                "\(stormCount) runs with the real daemons: \(recordedCount) recorded, \(verifiedCount) transfers verified, "
                    + "\(killCount) SIGKILLs, \(fullCount) full disks, 30 % loss each way, in \(Presenter.words(elapsed))"
            )
            var grows: [String] = []
            for side in [Side.watch, .phone] { grows += look(at: side) }
            grows += look(own, "lab", mostBytes: UInt64.max, slack: Self.slackOfLabByteCount)
            if OtherProcess.hasChildren { grows.append("a process that was started here still runs") }
            for line in grows { standardOutput("violated   " + line) }
            standardOutput("\(failureCount) failures, \(grows.count) things that grow or stay")
            if !grows.isEmpty { return .violated }
            if isBroken { return .inputOutput }
            switch worst {
            case .held: return stormCount > 0 ? .held : .undecided
            case .undecided: return .undecided
            case .violated: return .violated
            }
        }
    }

    private func look(at side: Side) -> [String] {
        var problems: [String] = []
        if let highest = most[side] {
            standardOutput(
                "\(side.rawValue): at most \(highest.descriptorCount) descriptors, "
                    + "\(highest.residentByteCount >> 20) MiB resident")
            if UInt64(highest.descriptorCount) > Self.mostDescriptors {
                problems.append("the \(side.rawValue) held \(highest.descriptorCount) descriptors")
            }
        }
        let slack = Self.slackByteCount + UInt64(standingNotes) * Self.byteCountOfNote
        guard let series = standing[side] else { return problems }
        return problems
            + look(series, "\(side.rawValue) that stood", mostBytes: Self.mostResidentByteCount, slack: slack)
    }

    private func look(
        _ series: (descriptors: Growth, memory: Growth), _ name: String, mostBytes: UInt64, slack: UInt64
    ) -> [String] {
        guard let descriptors = series.descriptors.increase, let bytes = series.memory.increase else {
            standardOutput("\(name): too short to say whether it grows")
            return []
        }
        standardOutput(
            "\(name): \(series.memory.count) looks, \(descriptors) descriptors and \(bytes >> 10) KiB more at the end")
        var problems: [String] = []
        if descriptors > 0 { problems.append("the \(name) holds \(descriptors) descriptors more than before") }
        if bytes > slack { problems.append("the \(name) holds \(bytes) bytes more than before") }
        if let most = series.memory.most, most > mostBytes {
            problems.append("the \(name) held \(most) bytes")
        }
        return problems
    }
}
