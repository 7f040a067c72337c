import DaemonRuntime
import LinkFaults
import LivePair
import Monitors
import PairInspection
import PlantedFaults
import Replay
import Scenarios
import Simulation
import Spooling

// Which runs a command line asks for, and how each is carried out.

/// One run to be made.
struct Run: Sendable {
    var file: String
    var scenario: Scenario

    /// A line to paste that repeats it.
    func repeatLine(_ world: WorldChoice) -> String {
        "\(LabTool.name) replay \(file) --seed \(scenario.seed)\(world.isLive ? " --live" : "")"
            + (world.plant?.optionWords ?? "")
    }
}

/// Why there is nothing to run.
enum RunsError: Error {
    case malformed(ScenarioError)
    case usage(String)
}

/// The seeds `A..<B`.
struct SeedRange {
    let seeds: Range<UInt64>

    init?(_ text: String) {
        let parts = text.components(separatedBy: "..<")
        guard parts.count == 2, let lower = UInt64(parts[0]), let upper = UInt64(parts[1]), lower < upper else {
            return nil
        }
        seeds = lower..<upper
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [String] {
        guard let place = firstRange(of: separator) else { return [self] }
        return [String(self[..<place.lowerBound]), String(self[place.upperBound...])]
    }
}

enum Runs {
    /// The runs of each file, in order.
    static func read(_ command: ParsedCommand) throws(RunsError) -> [[Run]] {
        var range: SeedRange?
        if let text = command.textIfDeclared("--seeds") {
            guard let read = SeedRange(text) else { throw .usage("--seeds wants A..<B, such as 0..<1000, not \(text)") }
            guard !command.isGiven("--seed") else { throw .usage("--seed or --seeds, not both") }
            range = read
        }
        var runs: [[Run]] = []
        for path in command.positionals {
            let scenario: Scenario
            do throws(ScenarioError) {
                scenario = try ScenarioFiles.read(path)
            } catch {
                throw .malformed(error)
            }
            if let range {
                runs.append(range.seeds.map { Run(file: path, scenario: scenario.reseeded($0)) })
            } else if let seed = command.seed("--seed") {
                runs.append([Run(file: path, scenario: scenario.reseeded(seed))])
            } else {
                runs.append([Run(file: path, scenario: scenario)])
            }
        }
        return runs
    }
}

/// In which world, and how.
struct WorldChoice: Sendable {
    var isLive = false
    var scale: Double?
    var comparesWorlds = false
    var folder: String
    var keepsFolder = false
    /// In virtual time, what is wrong on purpose.
    var plant: PlantedFault?

    init(_ command: ParsedCommand) throws(RunsError) {
        isLive = command.flag("--live")
        folder = command.text("--folder") ?? Environment.temporaryFolder
        keepsFolder = command.flag("--keep")
        comparesWorlds = command.flagIfDeclared("--compare")
        if let text = command.text("--scale") {
            guard let number = Double(text), number > 0, number.isFinite, text.utf8.allSatisfy({ $0 < 0x3A }) else {
                throw .usage("--scale wants a number above 0, not \(text)")
            }
            scale = number
        }
        plant = try PlantedFault.named(command.textIfDeclared("--plant"))
        if isLive, plant != nil { throw .usage("--plant is for virtual time: no daemon has a planted fault in it") }
        let onlyLive = ["--scale", "--compare", "--folder", "--keep"].filter { command.isGivenIfDeclared($0) }
        if !isLive, let option = onlyLive.first { throw .usage("\(option) goes with --live") }
    }

    /// How many runs at once are good for this machine. Live ones mostly wait.
    var standardJobs: Int { isLive ? 8 : Workers.processorCount }

    /// Carries a run out. `nil`, and said why, when it could not be begun.
    func carryOut(_ run: Run, keepsEntries: Bool) -> Result<RunReport, LiveError> {
        guard isLive else {
            return .success(World(run.scenario, keepsEntries: keepsEntries, plant: plant?.make()).run())
        }
        let options = LiveOptions(
            scale: scale, executables: (Environment.sibling("watch-sim"), Environment.sibling("phone-sim")),
            parent: folder, keepsFolder: keepsFolder, keepsEntries: keepsEntries || comparesWorlds)
        do throws(LiveError) {
            var report = try LivePair.run(run.scenario, options)
            if comparesWorlds {
                let virtual = World(run.scenario, keepsEntries: true).run()
                report.troubles += Comparison.differences(live: report, virtual: virtual)
            }
            return .success(report)
        } catch {
            return .failure(error)
        }
    }
}

extension LivePair {
    /// With the census of the real disk.
    static func run(_ scenario: Scenario, _ options: LiveOptions) throws(LiveError) -> RunReport {
        try run(scenario, options) { (places, watchCount, moment) throws(FileSystemError) in
            try CensusTaker(places, DiskFileSystem()).census(at: moment, watchCount: watchCount)
        }
    }
}

/// That both worlds come to the same end.
enum Comparison {
    static func differences(live: RunReport, virtual: RunReport) -> [String] {
        var found: [String] = []
        if live.outcome != virtual.outcome {
            found.append("live it is \(live.outcome.rawValue), in virtual time \(virtual.outcome.rawValue)")
        }
        let isInOrder = live.scenario.expectations.contains { $0.expectation == .inOrder }
        let order = CausalOrder(live.entries, inOrder: isInOrder)
        if let difference = order.difference(from: CausalOrder(virtual.entries, inOrder: isInOrder)) {
            found.append("the worlds differ (here: live, there: virtual): \(difference)")
        }
        let state = FinalState(live.census, NoteNumbers(live.entries))
        let other = FinalState(virtual.census, NoteNumbers(virtual.entries))
        if let difference = state.difference(from: other) {
            found.append("the worlds end differently (here: live, there: virtual): \(difference)")
        }
        return found
    }
}
