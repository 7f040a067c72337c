import CrashLab
import DaemonRuntime
import LinkFaults
import PlantedFaults
import Replay
import Scenarios
import Simulation
import Spooling

extension LabTool {
    static let crash = Command(
        name: "crash", summary: "Crash scenarios at every call to the disk, and require that the pair recovers.",
        details: [
            "Plays each scenario once in virtual time to count the calls of both daemons and of `record`. Then, before and "
                + "after every call: both die (--kills), one dies and the other lives on (--kills), both die and die again at "
                + "every call of the recovery (--pairs), the power goes and leaves every image that the disk's model allows "
                + "(--power), the call fails in every way that it can (--errors). All of that when none of these is given. "
                + "Docs/Crash.md says what the models are and what is tried.",
            "With --plant NAME a fault is put into the pair, and the sweep shall find it: of the scenarios that are named, or of "
                + "a small one of its own. `--plant all` looks for all of them so, `--plant list` names them.",
            "Ends with 0 when P1 to P7 held everywhere and every place was reached, 1 when not, 65 when a file is malformed.",
        ],
        positionals: [Positional("FILE", .path, .zeroOrMore, help: "Scenario files.")],
        options: [
            Option("--kills", section: "What is tried", help: "Death before and after every call."),
            Option("--pairs", section: "What is tried", help: "A second death at every call of the recovery."),
            Option("--power", section: "What is tried", help: "Loss of power before and after every call."),
            Option("--errors", section: "What is tried", help: "Every call fails, once or from then on."),
            Option(
                "--model", .choice(DiskModel.allCases.map(\.word) + ["all"]), "MODEL", default: "all",
                section: "What is tried",
                help: "What the power may leave: posix, ordered (ext4, xfs), cow (btrfs, APFS)."),
            Option(
                "--at", .text, "PLACE", section: "What is tried",
                help: "Only this, as a failure names it: power:posix:phone:57:after:12."),
            Option(
                "--seed", .seed, "N", section: "What is tried", help: "Play with this seed instead of the file's."),
            Option(
                "--plant", .text, "NAME", section: "What is tried",
                help: "Put this fault into the pair first; `list` names them, `all` looks for each."),
            Option(
                "--stride", .integer(1...1_000_000), "N", default: "1", section: "What is tried",
                help: "Try only every N-th place."),
            Option(
                "--recoveries", .integer(1...1_000_000_000), "N", default: "200000", section: "What is tried",
                help: "Of the images of a model recover from so many at most, drawn at random; the share is printed."),
            Option(
                "--jobs", .integer(1...256), "N", section: "How",
                help: "So many threads; as many as there are processors when not given."),
            Option("--json", section: "What is shown", help: "Print JSON, one object a part, for a program to read."),
        ])
}

/// `transfer-lab crash`.
enum CrashCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        var plant: PlantedFault?
        if let name = command.text("--plant") {
            switch CrashPlants.chosen(name, hasFiles: !command.positionals.isEmpty) {
            case .done(let code): return code
            case .refused(let why): return ReplayCommand.refuse(.usage(why), "crash")
            case .sweeps(let cases): return CrashPlants.look(for: cases, command)
            case .planted(let fault): plant = fault
            }
        }
        guard !command.positionals.isEmpty else {
            return ReplayCommand.refuse(.usage("crash wants scenario files, or --plant NAME"), "crash")
        }
        var scenarios: [(file: String, scenario: Scenario)] = []
        for path in command.positionals {
            do throws(ScenarioError) {
                var scenario = try ScenarioFiles.read(path)
                if let seed = command.seed("--seed") { scenario = scenario.reseeded(seed) }
                scenarios.append((path, scenario))
            } catch {
                return ReplayCommand.refuse(.malformed(error), "crash")
            }
        }
        var attempt: CrashAttempt?
        if let text = command.text("--at") {
            guard scenarios.count == 1, let read = CrashAttempt(text) else {
                return ReplayCommand.refuse(
                    .usage("--at wants one file, and a place such as kill:phone:57:after, not \(text)"), "crash")
            }
            attempt = read
        }
        var ending = ExitCode.held
        for (file, scenario) in scenarios {
            let run = CrashRun(file, scenario, command, plant)
            let held = attempt.map(run.repeatOne) ?? run.sweep()
            if !held { ending = .violated }
        }
        return ending
    }

    static func jobs(_ command: ParsedCommand) -> Int {
        Int(clamping: command.integer("--jobs") ?? Int64(Workers.processorCount))
    }

    static func stride(_ command: ParsedCommand) -> Int { Int(clamping: command.integer("--stride") ?? 1) }

    static func mostRecoveries(_ command: ParsedCommand) -> Int {
        Int(clamping: command.integer("--recoveries") ?? .max)
    }

    static func spread(_ jobs: Int) -> CrashSweep.Spread {
        { count, body in Workers.each(0..<count, jobs: jobs, body) }
    }
}

/// The crashes of one scenario, as a person or a program sees them.
private struct CrashRun {
    let file: String
    let scenario: Scenario
    let command: ParsedCommand
    let plant: PlantedFault?
    let lab: CrashSweep
    let isJSON: Bool
    let jobs: Int
    private let clock = MonotonicClock()

    init(_ file: String, _ scenario: Scenario, _ command: ParsedCommand, _ plant: PlantedFault?) {
        self.file = file
        self.scenario = scenario
        self.command = command
        isJSON = command.flag("--json")
        self.plant = plant
        jobs = CrashCommand.jobs(command)
        lab = CrashSweep(
            scenario, spread: CrashCommand.spread(jobs), stopsAtFirst: plant != nil,
            mostRecoveries: CrashCommand.mostRecoveries(command),
            makePlant: { plant?.makeForCrash() })
    }

    /// Whether it held.
    func sweep() -> Bool {
        let report = lab.reference()
        guard report.outcome == .held else {
            standardOutput("\(file): \(report.outcome.rawValue) without any crash")
            for line in report.complaints { standardOutput("    " + line) }
            return false
        }
        let counts = lab.callCounts()
        if !isJSON {
            standardOutput(
                "\(file): \(scenario.name)\n  calls: watch \(counts[0]), phone \(counts[1]), record \(counts[2])")
        }
        let began = clock.now()
        var held = true
        for part in parts() {
            let began = clock.now()
            let section = lab.section(part, stride: CrashCommand.stride(command))
            show(section, seconds: clock.now().since(began).inSeconds)
            if !section.held { held = false }
        }
        if !isJSON {
            let seconds = rounded(clock.now().since(began).inSeconds)
            standardOutput("\(file): \(held ? "held" : "violated") in \(seconds) s")
        }
        return held
    }

    private func parts() -> [CrashPart] {
        let isAll = !["--kills", "--pairs", "--power", "--errors"].contains { command.flag($0) }
        var parts: [CrashPart] = []
        if isAll || command.flag("--kills") { parts += [.kills, .killsAlone] }
        if isAll || command.flag("--pairs") { parts.append(.pairs) }
        if isAll || command.flag("--power") {
            let word = command.text("--model") ?? "all"
            parts += DiskModel.allCases.filter { word == "all" || word == $0.word }.map { .power($0) }
        }
        if isAll || command.flag("--errors") { parts.append(.errors) }
        return parts
    }

    private func show(_ section: CrashSection, seconds: Double) {
        guard !isJSON else {
            standardOutput(json(section, seconds).line)
            return
        }
        var line = "  \(section.name): \(section.reachedCount) of \(section.pointCount) places"
        if section.rawImageCount > 0 {
            line += ", \(section.rawImageCount) images, \(section.distinctImageCount) distinct"
        }
        line += "; \(section.recoveryCount) runs, \(section.verdictCount) verdicts in \(rounded(seconds)) s"
        standardOutput(line)
        if section.rawImageCount > 0, seconds > 0 {
            let rates = [section.rawImageCount, section.distinctImageCount, section.recoveryCount].map {
                Int(Double($0) / seconds / Double(jobs))
            }
            standardOutput(
                "      a second and core: \(rates[0]) images, \(rates[1]) distinct, \(rates[2]) recovered from")
        }
        for note in section.notes { standardOutput("      \(note)") }
        for place in section.unreached.prefix(20) { standardOutput("      not reached: \(place)") }
        if section.unreached.count > 20 { standardOutput("      and \(section.unreached.count - 20) more") }
        if section.failureCount > 0 {
            standardOutput("    \(section.failureCount) did not hold; the first of each kind:")
        }
        for failure in section.failures {
            standardOutput("    \(repeatLine(failure.attempt))")
            for line in failure.lines { standardOutput("      \(line)") }
        }
    }

    private func repeatLine(_ attempt: CrashAttempt) -> String {
        "\(LabTool.name) crash \(file) --seed \(scenario.seed) --at \(attempt)" + (plant.map { " --plant \($0)" } ?? "")
    }

    private func json(_ section: CrashSection, _ seconds: Double) -> JSONObject {
        let failures = section.failures.map { failure -> JSONValue in
            .object([
                "repeat": .string(repeatLine(failure.attempt)), "lines": .array(failure.lines.map { .string($0) }),
            ])
        }
        return [
            "file": .string(file), "part": .string(section.name), "held": .bool(section.held),
            "places": .integer(Int64(section.pointCount)), "reached": .integer(Int64(section.reachedCount)),
            "notReached": .array(section.unreached.map { .string($0) }),
            "images": .integer(Int64(section.rawImageCount)), "distinct": .integer(Int64(section.distinctImageCount)),
            "runs": .integer(Int64(section.recoveryCount)), "verdicts": .integer(Int64(section.verdictCount)),
            "seconds": .number(seconds), "notes": .array(section.notes.map { .string($0) }),
            "failureCount": .integer(Int64(section.failureCount)), "failures": .array(failures),
        ]
    }

    private func rounded(_ seconds: Double) -> Double { (seconds * 100).rounded() / 100 }

    /// Only what a failure names.
    func repeatOne(_ attempt: CrashAttempt) -> Bool {
        guard let lines = lab.repeated(attempt) else {
            standardOutput("\(file): there is no \(attempt) in it")
            return false
        }
        standardOutput("\(file): \(attempt) \(lines.isEmpty ? "held" : "did not hold")")
        for line in lines { standardOutput("  \(line)") }
        return lines.isEmpty
    }
}
