import DaemonRuntime
import LivePair
import Monitors
import Replay
import Scenarios
import Simulation
import Soak
import Spooling

/// `transfer-lab soak`: drawn scenarios in virtual time, seed after seed.
enum SoakCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        let text = command.text("--seeds") ?? ""
        guard let seeds = SeedRange(text)?.seeds else {
            return ReplayCommand.refuse(.usage("--seeds wants A..<B, such as 0..<1000, not \(text)"), "soak")
        }
        if command.flag("--live") { return LiveSoak.run(command, seeds: seeds) }
        if command.flag("--show") {
            standardOutput(ScenarioDraw.scenario(seed: seeds.lowerBound).text)
            return .held
        }
        let failures: FailureShrinking
        do throws(RunsError) { failures = try FailureShrinking(command) } catch {
            return ReplayCommand.refuse(error, "soak")
        }
        let jobs = Int(clamping: command.integer("--jobs") ?? Int64(Workers.processorCount))
        let tally = SoakTally(seeds, minutes: command.integer("--minutes"), isJSON: command.flag("--json"))
        Workers.each(0..<seeds.count, jobs: jobs) { index in
            guard tally.isTimeLeft else { return }
            tally.take(failures.run(seed: seeds.lowerBound + UInt64(index)), at: index)
        }
        let ending = failures.finish(tally.finish())
        guard command.flag("--twice"), ending == .held else { return ending }
        return twice(seeds, tally.digests)
    }

    /// All of it again in another process.
    private static func twice(_ seeds: Range<UInt64>, _ digests: [HistoryDigest?]) -> ExitCode {
        do throws(LiveError) {
            let range = "\(seeds.lowerBound)..<\(seeds.upperBound)"
            let there = try Twice.otherProcess(["soak", "--seeds", range, "--json"])
            for (index, seed) in seeds.enumerated() {
                guard let digest = digests[index] else { continue }
                let line = index < there.count ? there[index] : "nothing"
                if line.contains("\"digest\":\"\(digest)\"") { continue }
                let difference = try Twice.firstDifference(
                    ScenarioDraw.scenario(seed: seed), ["log", "--drawn", "\(seed)"])
                standardOutput("violated   seed \(seed): two processes tell two histories\n    \(difference)")
                return .violated
            }
            standardError("\(seeds.count) seeds told the same history in a second process")
            return .held
        } catch {
            standardError("\(LabTool.name) soak: \(error)")
            return .inputOutput
        }
    }
}

/// What was run so far. Several threads bring reports.
private final class SoakTally: @unchecked Sendable {
    private let seeds: Range<UInt64>
    private let isJSON: Bool
    private let clock = MonotonicClock()
    private let began: Moment
    private let deadline: Moment?
    private let lock = Mutex()
    private var count = 0
    private var verifiedCount = 0
    private var eventCount: UInt64 = 0
    private var failureCount = 0
    private var worst = RunReport.Outcome.held
    private var shownAt: Moment
    /// By the seed's place in the range.
    private var reports: [HistoryDigest?]
    private var lines: [String?]
    private var nextLine = 0

    init(_ seeds: Range<UInt64>, minutes: Int64?, isJSON: Bool) {
        self.seeds = seeds
        self.isJSON = isJSON
        began = clock.now()
        shownAt = began
        deadline = minutes.map { [began] in began + .seconds(60 * $0) }
        reports = [HistoryDigest?](repeating: nil, count: seeds.count)
        lines = [String?](repeating: nil, count: isJSON ? seeds.count : 0)
    }

    var isTimeLeft: Bool { deadline.map { clock.now() < $0 } ?? true }

    var digests: [HistoryDigest?] { lock.whileHeld { reports } }

    func take(_ report: RunReport, at index: Int) {
        lock.whileHeld {
            count += 1
            verifiedCount += report.verifiedCount
            eventCount += report.entryCount
            reports[index] = report.digest
            if report.outcome != .held {
                failureCount += 1
                if worst != .violated { worst = report.outcome }
            }
            if isJSON { show(report, at: index) } else if report.outcome != .held { tell(report) }
            progress()
        }
    }

    /// In the order of the seeds.
    private func show(_ report: RunReport, at index: Int) {
        let object: JSONObject = [
            "seed": JSONValue(report.scenario.seed), "outcome": .string(report.outcome.rawValue),
            "digest": .string(report.digest.description), "events": JSONValue(report.entryCount),
            "recorded": JSONValue(report.recordedCount), "verified": JSONValue(report.verifiedCount),
            "complaints": .array(report.complaints.map { .string($0) }),
        ]
        lines[index] = object.line
        while nextLine < lines.count, let line = lines[nextLine] {
            standardOutput(line)
            lines[nextLine] = ""
            nextLine += 1
        }
    }

    private func tell(_ report: RunReport) {
        let seed = report.scenario.seed
        standardOutput("\(report.outcome.rawValue)   seed \(seed)")
        for line in report.complaints { standardOutput("    " + line) }
        standardOutput("    again: \(LabTool.name) soak --seeds '\(seed)..<\(seed + 1)'")
    }

    private func progress() {
        let now = clock.now()
        guard !isJSON, now.since(shownAt) >= .seconds(1) else { return }
        shownAt = now
        let rate = Double(count) / max(0.001, now.since(began).inSeconds)
        let left = Double(seeds.count - count) / rate
        standardError(
            "\(count) of \(seeds.count) seeds, \(verifiedCount) transfers, \(Int(rate)) seeds a second, \(Int(left)) s left,"
                + " \(failureCount) failures")
    }

    func finish() -> ExitCode {
        if !isJSON {
            let seconds = max(0.001, clock.now().since(began).inSeconds)
            standardOutput(
                "\(count) of \(seeds.count) seeds: \(verifiedCount) transfers verified, \(eventCount) events,"
                    + " \(failureCount) failures, in \(Presenter.words(.seconds(seconds)));"
                    + " \(Int(Double(verifiedCount) / seconds)) transfers a second")
        }
        switch worst {
        case .held: return .held
        case .undecided: return .undecided
        case .violated: return .violated
        }
    }
}
