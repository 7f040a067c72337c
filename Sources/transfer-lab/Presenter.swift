import DaemonRuntime
import LinkFaults
import LivePair
import Monitors
import Replay
import Scenarios
import Spooling

// What a person, or a program, sees of the runs: a line for each file, in the order of the files, as soon as all of its runs
// are over; then a sum. Several threads bring reports.

final class Presenter: @unchecked Sendable {
    private let runs: [[Run]]
    private let world: WorldChoice
    private let isJSON: Bool
    private let isQuiet: Bool
    private let lock = Mutex()
    private let clock = MonotonicClock()
    private let began: Moment
    /// Of each file's runs, what has come so far.
    private var sums: [FileSum]
    private var nextFile = 0
    private var counts: [RunReport.Outcome: Int] = [:]
    private var brokenCount = 0
    private(set) var onlyReport: RunReport?

    private struct FileSum {
        var missing: Int
        var verified = 0
        var length = Duration.zero
        /// The first run, by its seed, that did not hold.
        var worst: (run: Run, report: RunReport)?
        var failure: LiveError?
        /// One a run, in the order of the seeds.
        var lines: [String]
    }

    init(_ runs: [[Run]], _ world: WorldChoice, isJSON: Bool, isQuiet: Bool) {
        self.runs = runs
        self.world = world
        self.isJSON = isJSON
        self.isQuiet = isQuiet
        began = clock.now()
        sums = runs.map { FileSum(missing: $0.count, lines: [String](repeating: "", count: $0.count)) }
    }

    /// Takes the result of the run with that index, counted over all files.
    func take(_ index: Int, _ result: Result<RunReport, LiveError>) {
        lock.whileHeld {
            var file = 0
            var rest = index
            while rest >= runs[file].count {
                rest -= runs[file].count
                file += 1
            }
            switch result {
            case .success(let report): add(report, of: rest, to: file)
            case .failure(let error):
                brokenCount += 1
                sums[file].failure = error
            }
            sums[file].missing -= 1
            while nextFile < runs.count, sums[nextFile].missing == 0 {
                show(nextFile)
                nextFile += 1
            }
        }
    }

    private func add(_ report: RunReport, of index: Int, to file: Int) {
        let run = runs[file][index]
        counts[report.outcome, default: 0] += 1
        sums[file].verified += report.verifiedCount
        sums[file].length += report.length
        sums[file].lines[index] = Self.json(report, file: run.file).line
        if report.outcome != .held, sums[file].worst.map({ run.scenario.seed < $0.run.scenario.seed }) ?? true {
            sums[file].worst = (run, report)
        }
        if runs.count == 1, runs[0].count == 1 { onlyReport = report }
    }

    private func show(_ file: Int) {
        let sum = sums[file]
        if let failure = sum.failure { standardError("\(LabTool.name): \(runs[file][0].file): \(failure)") }
        if isJSON {
            for line in sum.lines where !line.isEmpty { standardOutput(line) }
            return
        }
        guard sum.failure == nil else { return }
        let name = "\(runs[file][0].file): \(runs[file][0].scenario.name)"
        guard let (run, report) = sum.worst else {
            guard !isQuiet else { return }
            let count = runs[file].count
            let what = count == 1 ? "\(sum.verified) notes" : "\(count) seeds, \(sum.verified) notes"
            standardOutput("held       \(name) (\(what), \(Self.words(sum.length)))")
            return
        }
        standardOutput("\(report.outcome.rawValue.padded(to: 10)) \(name), seed \(run.scenario.seed)")
        for line in report.complaints { standardOutput("    \(line)") }
        standardOutput("    again: \(run.repeatLine(world))")
    }

    /// What `--json` prints, or would, in order.
    var jsonLines: [String] { lock.whileHeld { sums.flatMap(\.lines) } }

    /// The sum, and how the process ends.
    func end() -> ExitCode {
        let violated = counts[.violated] ?? 0
        let undecided = counts[.undecided] ?? 0
        if !isJSON, !isQuiet {
            let took = clock.now().since(began)
            standardError(
                "\(counts[.held] ?? 0) held, \(violated) violated, \(undecided) undecided, in \(Self.words(took))"
                    + (world.isLive ? " live" : ""))
        }
        if violated > 0 { return .violated }
        if brokenCount > 0 { return .inputOutput }
        return undecided > 0 ? .undecided : .held
    }

    /// What `--json` says of one run.
    static func json(_ report: RunReport, file: String) -> JSONObject {
        [
            "file": .string(file), "name": .string(report.scenario.name), "seed": JSONValue(report.scenario.seed),
            "world": .string(report.world.rawValue), "outcome": .string(report.outcome.rawValue),
            "digest": .string(report.digest.description), "events": JSONValue(report.entryCount),
            "recorded": JSONValue(report.recordedCount), "verified": JSONValue(report.verifiedCount),
            "seconds": JSONValue(report.length.inSeconds), "complaints": .array(report.complaints.map { .string($0) }),
        ]
    }

    /// A time for people: three digits and a unit.
    static func words(_ duration: Duration) -> String {
        let seconds = duration.inSeconds
        let units: [(below: Double, words: () -> String)] = [
            (0.001, { "\(Int(seconds * 1_000_000)) µs" }), (1, { "\(Int(seconds * 1_000)) ms" }),
            (120, { "\((seconds * 10).rounded() / 10) s" }), (7_200, { "\(Int(seconds / 60)) min" }),
            (172_800, { "\(Int(seconds / 3_600)) h" }),
        ]
        return units.first { seconds < $0.below }?.words() ?? "\(Int(seconds / 86_400)) d"
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String {
        self + String(repeating: " ", count: max(0, count - self.count))
    }
}
