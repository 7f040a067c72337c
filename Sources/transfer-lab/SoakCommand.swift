import DaemonRuntime
import LinkFaults
import LivePair
import Monitors
import PlantedFaults
import Replay
import Scenarios
import Simulation
import Soak
import Spooling

/// `transfer-lab soak`: drawn scenarios in virtual time, seed after seed.
enum SoakCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        // First of all: threads take the signal mask of the one that makes them.
        let loop = try? EventLoop()
        let plan: SoakPlan
        do throws(RunsError) {
            plan = try SoakPlan(command)
        } catch {
            return ReplayCommand.refuse(error, "soak")
        }
        if command.flag("--live") { return LiveSoak.run(command, plan, loop) }
        if command.flag("--show") {
            standardOutput(ScenarioDraw.draw(seed: plan.first, plan.size).scenario.text)
            return .held
        }
        let failures: FailureShrinking
        do throws(RunsError) {
            failures = try FailureShrinking(command, again: plan.again)
        } catch {
            return ReplayCommand.refuse(error, "soak")
        }
        let files: SoakFiles
        do throws(FileSystemError) {
            files = try SoakFiles(command)
        } catch {
            standardError("\(LabTool.name) soak: \(error)")
            return ExitCode(error)
        }
        let tally = SoakTally(plan, loop)
        Workers.each(0..<plan.jobs, jobs: plan.jobs) { _ in
            while let seed = tally.next() {
                let soaked = SoakedSeed(seed, plan)
                failures.take(soaked.report)
                tally.take(soaked)
            }
        }
        let result = tally.result()
        if !plan.tellsEach { ReportedSoak.show(result, isJSON: command.flag("--json")) }
        if let failure = files.write(result) {
            standardError("\(LabTool.name) soak: \(failure)")
            return .inputOutput
        }
        if let stop = tally.stopped { return stop.exitCode }
        let ending = failures.finish(ReportedSoak.ending(of: result))
        guard plan.isTwice, ending == .held else { return ending }
        return twice(plan, result, tally.digests)
    }

    /// All of it again in another process.
    private static func twice(_ plan: SoakPlan, _ result: SoakResult, _ digests: [UInt64: HistoryDigest]) -> ExitCode {
        do throws(LiveError) {
            for range in result.done.ranges {
                let text = "\(range.lowerBound)..<\(range.upperBound)"
                let there = try Twice.otherProcess(["soak", "--seeds", text, "--size", plan.size.rawValue, "--each"])
                for (index, seed) in range.enumerated() {
                    guard let digest = digests[seed] else { continue }
                    let line = index < there.count ? there[index] : "nothing"
                    if line.contains("\"digest\":\"\(digest)\"") { continue }
                    let difference = try Twice.firstDifference(
                        ScenarioDraw.draw(seed: seed, plan.size).scenario,
                        ["log", "--drawn", "\(seed)", "--size", plan.size.rawValue])
                    standardOutput("violated   seed \(seed): two processes tell two histories\n    \(difference)")
                    return .violated
                }
            }
            standardError("\(result.done.count) seeds told the same history in a second process")
            return .held
        } catch {
            standardError("\(LabTool.name) soak: \(error)")
            return .inputOutput
        }
    }
}

/// What a command line asks for.
struct SoakPlan: Sendable {
    /// What the whole campaign is asked to do, of which this may be a shard.
    let askedFrom: UInt64
    let askedTo: UInt64?
    /// What is run here.
    let first: UInt64
    let end: UInt64?
    let size: DrawSize
    let jobs: Int
    let minutes: Int64?
    let isTwice: Bool
    /// A line of JSON for each seed, and no report.
    let tellsEach: Bool
    let plant: PlantedFault?

    init(_ command: ParsedCommand) throws(RunsError) {
        let text = command.text("--seeds") ?? ""
        minutes = command.integer("--minutes")
        tellsEach = command.flag("--each")
        isTwice = command.flag("--twice")
        plant = try PlantedFault.named(command.text("--plant"))
        if plant != nil, isTwice { throw .usage("--plant or --twice, not both") }
        size = DrawSize(rawValue: command.text("--size") ?? "") ?? .mixed
        jobs = Int(clamping: command.integer("--jobs") ?? Int64(Workers.processorCount))
        if let seeds = SeedRange(text)?.seeds {
            (askedFrom, askedTo) = (seeds.lowerBound, seeds.upperBound)
        } else if text.hasSuffix(".."), let from = UInt64(text.dropLast(2)), from < .max / 2 {
            guard minutes != nil else { throw .usage("--seeds \(text) has no end: say --minutes M") }
            (askedFrom, askedTo) = (from, nil)
        } else {
            throw .usage("--seeds wants A..<B, such as 0..<1000, or A.. with --minutes, not \(text)")
        }
        guard let shard = command.text("--shard") else {
            (first, end) = (askedFrom, askedTo)
            return
        }
        let numbers = shard.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let number = numbers[0], let count = numbers[1], number >= 1, number <= count else {
            throw .usage("--shard wants i/n, such as 1/4 for the first of four, not \(shard)")
        }
        guard let askedTo else { throw .usage("--shard splits seeds that have an end: A..<B") }
        let part = SeedSet.shard(number, of: count, askedFrom..<askedTo)
        (first, end) = (part.lowerBound, part.upperBound)
    }

    func again(_ seed: UInt64) -> String {
        "\(LabTool.name) soak --seeds '\(seed)..<\(seed + 1)'" + (size == .mixed ? "" : " --size \(size.rawValue)")
            + (plant?.optionWords ?? "")
    }
}

/// One seed, run.
struct SoakedSeed: Sendable {
    let drawn: Drawn
    let report: RunReport
    let rare: RareCounts

    init(_ seed: UInt64, _ plan: SoakPlan) {
        drawn = ScenarioDraw.draw(seed: seed, plan.size)
        let world = World(bounded: drawn.scenario, plant: plan.plant?.make(), trailCount: 8_192)
        let watch = RareEventWatch(drawn.scenario)
        world.history.listener = watch
        report = world.run()
        rare = watch.counts
    }
}

/// The files that a soak leaves: made before it begins, so that a path that cannot be is said at once and not after hours.
final class SoakFiles {
    private let result: OutputFile?
    private let junit: OutputFile?

    init(_ command: ParsedCommand) throws(FileSystemError) {
        result = if let path = command.textIfDeclared("--result") { try OutputFile(path) } else { nil }
        junit = if let path = command.text("--junit") { try OutputFile(path) } else { nil }
    }

    /// What went wrong.
    func write(_ soaked: SoakResult) -> FileSystemError? {
        result?.write(Array(soaked.json.text.utf8))
        junit?.write(Array(soaked.junit().utf8))
        return result?.failure ?? junit?.failure
    }
}

/// How a result is told: by a run and by a merge in the same way.
enum ReportedSoak {
    static func show(_ result: SoakResult, isJSON: Bool) {
        if isJSON {
            standardOutput(String(result.json.text.dropLast()))
        } else {
            for line in result.lines { standardOutput(line) }
        }
    }

    static func ending(of result: SoakResult) -> ExitCode {
        switch result.outcome {
        case .held: .held
        case .undecided: .undecided
        case .violated: .violated
        }
    }
}
