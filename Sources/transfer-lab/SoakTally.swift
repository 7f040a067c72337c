import DaemonRuntime
import LinkFaults
import Monitors
import Replay
import Scenarios
import Soak
import Spooling

/// A soak under way: which seed is next, and what came of those before. Several threads ask and bring.
///
/// Seeds are handed out in their order, and what was begun is finished, so whatever ends a soak early leaves one gap, at its
/// end.
final class SoakTally: @unchecked Sendable {
    private let plan: SoakPlan
    private let clock = MonotonicClock()
    private let began: Moment
    private let deadline: Moment?
    private let lock = Mutex()
    /// Takes signals; asked by whoever holds the lock.
    private let loop: EventLoop?
    private var stop: StopSignal?
    private var nextSeed: UInt64
    private var sum: SoakResult
    private var shownAt: Moment
    private var digestOf: [UInt64: HistoryDigest] = [:]
    /// Of seeds that came before one that is still under way.
    private var lines: [UInt64: String] = [:]
    private var nextLine: UInt64

    init(_ plan: SoakPlan, _ loop: EventLoop?) {
        self.plan = plan
        self.loop = loop
        began = clock.now()
        shownAt = began
        deadline = plan.minutes.map { [began] in began + .seconds(60 * $0) }
        nextSeed = plan.first
        nextLine = plan.first
        sum = SoakResult(
            build: Build.identity, size: plan.size, askedFrom: plan.askedFrom, askedTo: plan.askedTo)
    }

    /// The next seed to run; `nil` when there is none, time is over, or somebody wants it to stop.
    func next() -> UInt64? {
        lock.whileHeld {
            if stop == nil { stop = loop?.stopRequested() }
            guard stop == nil, plan.end.map({ nextSeed < $0 }) ?? (nextSeed < .max),
                deadline.map({ clock.now() < $0 }) ?? true
            else { return nil }
            defer { nextSeed += 1 }
            return nextSeed
        }
    }

    var stopped: StopSignal? { lock.whileHeld { stop } }
    var digests: [UInt64: HistoryDigest] { lock.whileHeld { digestOf } }

    func take(_ soaked: SoakedSeed) {
        lock.whileHeld {
            let report = soaked.report
            sum.add(soaked.drawn, report, soaked.rare, again: plan.again)
            if plan.isTwice { digestOf[report.scenario.seed] = report.digest }
            if plan.tellsEach { show(report) } else if report.outcome != .held { tell(report) }
            progress()
        }
    }

    /// In the order of the seeds.
    private func show(_ report: RunReport) {
        let object: JSONObject = [
            "seed": JSONValue(report.scenario.seed), "outcome": .string(report.outcome.rawValue),
            "digest": .string(report.digest.description), "events": JSONValue(report.entryCount),
            "calls": JSONValue(report.callCount),
            "recorded": JSONValue(report.recordedCount), "verified": JSONValue(report.verifiedCount),
            "complaints": .array(report.complaints.map { .string($0) }),
        ]
        lines[report.scenario.seed] = object.line
        while let line = lines.removeValue(forKey: nextLine) {
            standardOutput(line)
            nextLine += 1
        }
    }

    /// At once: a soak may run for days.
    private func tell(_ report: RunReport) {
        let seed = report.scenario.seed
        standardError("\(report.outcome.rawValue)   seed \(seed)")
        for line in report.complaints { standardError("    " + line) }
        standardError("    again: \(plan.again(seed))")
    }

    private func progress() {
        let now = clock.now()
        guard !plan.tellsEach, now.since(shownAt) >= .seconds(plan.minutes ?? 0 > 5 ? 10 : 1) else { return }
        shownAt = now
        let seconds = max(0.001, now.since(began).inSeconds)
        let count = sum.done.count
        var left = deadline.map { $0.since(now).inSeconds }
        if let end = plan.end, count > 0 {
            let bySeeds = Double(end - plan.first - count) * seconds / Double(count)
            left = min(left ?? bySeeds, bySeeds)
        }
        let of = plan.end.map { " of \(grouped($0 - plan.first))" } ?? ""
        standardError(
            "\(grouped(count))\(of) seeds, \(grouped(sum.verifiedCount)) transfers,"
                + " \(grouped(UInt64(Double(sum.verifiedCount) / seconds))) a second,"
                + " \(left.map { Presenter.words(.seconds($0)) } ?? "no") left,"
                + " \(sum.violatedCount) violations")
    }

    /// What was done until now.
    func result() -> SoakResult {
        lock.whileHeld {
            sum.parts = [
                SoakResult.Part(
                    machine: MachineName.current, jobs: plan.jobs, seconds: clock.now().since(began).inSeconds)
            ]
            return sum
        }
    }
}

/// Which program this is.
enum Build {
    private static let mostByteCount = 1 << 30

    /// Differs where the code differs: a digest of the executable itself.
    static let identity: String = {
        let disk = DiskFileSystem()
        do throws(FileSystemError) {
            let file = try disk.openSource(Environment.executable)
            return BuildDigest.of(try disk.readAll(file, at: 0, byteCount: mostByteCount))
        } catch {
            // Nothing can be said of it, so nothing is like it.
            return "unknown (\(error.reason))"
        }
    }()
}
