import DaemonRuntime
import LinkFaults
import LivePair
import PlantedFaults
import Replay
import Scenarios
import Simulation
import Soak
import Spooling

// What becomes of a failure: a small scenario in a file, and the proof that this file fails in the same way in a process
// that knows nothing of this one.

/// One failure that was made small.
struct ShrunkFailure: Sendable {
    var file: String
    var signature: FailureSignature
    var stepsBefore: Int
    var stepsLeft: Int
    var runCount: Int
    var seconds: Double
    var plant: PlantedFault?
    /// What a fresh process told instead; `nil` when it told the same history and the same violation.
    var contradiction: String?

    var replayLine: String { "\(LabTool.name) replay \(file)\(plant?.optionWords ?? "")" }

    var lines: [String] {
        [
            "\(signature)",
            "\(stepsBefore) steps shrunk to \(stepsLeft) in \(Presenter.words(.seconds(seconds))), \(runCount) runs",
            contradiction.map { "a fresh process does not confirm it: \($0)" }
                ?? "a fresh process tells the same history and the same violation",
            "again: \(replayLine)",
        ]
    }

    var members: JSONObject {
        [
            "file": .string(file), "signature": .string(signature.description),
            "stepsBefore": JSONValue(stepsBefore), "stepsLeft": JSONValue(stepsLeft), "runs": JSONValue(runCount),
            "seconds": .number(seconds), "confirmed": .bool(contradiction == nil),
            "contradiction": contradiction.map { .string($0) } ?? .null, "repeat": .string(replayLine),
        ]
    }
}

/// Why there is no small scenario.
enum ShrinkingError: Error, CustomStringConvertible {
    case cannotWrite(FileSystemError)
    case cannotRunAgain(LiveError)
    /// Our own: what was written is not what was shrunk.
    case slipped(String)

    var description: String {
        switch self {
        case .cannotWrite(let error): error.description
        case .cannotRunAgain(let error): error.description
        case .slipped(let text): "what was written fails in another way: \(text)"
        }
    }

    var exitCode: ExitCode {
        switch self {
        case .cannotWrite, .cannotRunAgain: .inputOutput
        case .slipped: .internalFault
        }
    }
}

/// Makes failures small.
struct FailureShrinker: Sendable {
    var plant: PlantedFault?
    var seconds: Double

    func run(_ scenario: Scenario) -> RunReport {
        World(bounded: scenario, plant: plant?.make()).run()
    }

    /// Shrinks what failed as `report` says, writes it to `file`, and replays that file in a fresh process. `nil` for a report
    /// that held. `source` is where the scenario came from.
    func shrink(
        _ report: RunReport, from source: String, to file: String
    ) throws(ShrinkingError) -> ShrunkFailure? {
        let clock = MonotonicClock()
        let end = clock.now() + .seconds(seconds)
        guard let signature = FailureSignature(report),
            var shrinker = Shrinker(
                sameAs: report, budget: .init(runCount: .max) { clock.now() < end }, run: run,
                runWithout: plant == nil ? nil : { World(bounded: $0).run() })
        else { return nil }
        let began = clock.now()
        var small = shrinker.shrink(report.scenario)
        let took = clock.now().since(began).inSeconds
        small.name = "Shrunk from \(source)".cut(to: 100)
        small.shows = signature.description.cut(to: 400)
        let header = [
            "// \(source), shrunk: \(report.scenario.steps.count) steps to \(small.steps.count).", "// \(signature)",
            "// Again: \(LabTool.name) replay \(file)\(plant?.optionWords ?? "")",
        ]
        do throws(FileSystemError) {
            try write((header + [small.text]).joined(separator: "\n") + "\n", to: file)
        } catch {
            throw .cannotWrite(error)
        }
        return ShrunkFailure(
            file: file, signature: signature, stepsBefore: report.scenario.steps.count, stepsLeft: small.steps.count,
            runCount: shrinker.runCount, seconds: took, plant: plant,
            contradiction: try contradiction(to: signature, file))
    }

    private func write(_ text: String, to path: String) throws(FileSystemError) {
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            _ = try DiskFileSystem().openRoot(String(path[..<slash]), create: true)
        }
        let file = try OutputFile(path)
        file.write(Array(text.utf8))
        if let failure = file.failure { throw failure }
    }

    /// What a fresh process says of `file` that this one does not. This one reads it from the file too.
    private func contradiction(
        to signature: FailureSignature, _ file: String
    ) throws(ShrinkingError) -> String? {
        let here: RunReport
        do throws(ScenarioError) { here = run(try ScenarioFiles.read(file)) } catch { throw .slipped("\(error)") }
        guard let found = FailureSignature(here), found.isSame(as: signature) else {
            throw .slipped(FailureSignature(here)?.description ?? "it holds")
        }
        let arguments = ["replay", file, "--json"] + (plant.map { ["--plant", $0.rawValue] } ?? [])
        let there: [String]
        do throws(LiveError) { there = try Twice.otherProcess(arguments) } catch { throw .cannotRunAgain(error) }
        let wanted = Presenter.json(here, file: file).line
        guard there.count == 1, there[0] == wanted else { return there.first ?? "nothing at all" }
        return nil
    }
}

extension String {
    fileprivate func cut(to count: Int) -> String { self.count <= count ? self : String(prefix(count - 1)) + "…" }
}

/// The failures of a soak: several threads bring them; at the end the first of each kind is shrunk.
final class FailureShrinking: @unchecked Sendable {
    /// So many kinds of failures are shrunk; a broken build has no more to say than that.
    private static let mostShrunk = 5

    private let shrinker: FailureShrinker
    private let folder: String
    private let jobs: Int
    private let isJSON: Bool
    private let again: @Sendable (UInt64) -> String
    private let lock = Mutex()
    private var failures: [Failure] = []

    private struct Failure {
        var scenario: Scenario
        var signature: FailureSignature
    }

    /// `again` makes the line that repeats a seed.
    init(_ command: ParsedCommand, again: @escaping @Sendable (UInt64) -> String) throws(RunsError) {
        let plant = try PlantedFault.named(command.text("--plant"))
        self.again = again
        shrinker = FailureShrinker(plant: plant, seconds: Double(command.integer("--shrink-seconds") ?? 60))
        folder = command.text("--failures") ?? "./soak-failures"
        jobs = Int(clamping: command.integer("--jobs") ?? Int64(Workers.processorCount))
        isJSON = command.flag("--json")
    }

    /// Remembers what failed. Not what was cut short: each try of a smaller one would cost as much.
    func take(_ report: RunReport) {
        guard report.callLimit == nil, let signature = FailureSignature(report) else { return }
        lock.whileHeld { failures.append(Failure(scenario: report.scenario, signature: signature)) }
    }

    /// Shrinks the failure with the smallest seed of each kind, says what became of them, and answers how the soak ends.
    func finish(_ ending: ExitCode) -> ExitCode {
        guard !failures.isEmpty, shrinker.seconds > 0 else { return ending }
        failures.sort { $0.scenario.seed < $1.scenario.seed }
        var chosen: [Failure] = []
        for failure in failures where chosen.count < Self.mostShrunk {
            // What is broken besides differs from seed to seed; the kind is what a person reads.
            let kind = failure.signature.description
            if !chosen.contains(where: { $0.signature.description == kind }) { chosen.append(failure) }
        }
        let scenarios = chosen.map(\.scenario)
        if !isJSON {
            standardError("\(failures.count) failures; \(scenarios.count) of them are shrunk, the first of each kind")
        }
        let endings = FoundEndings(ending)
        Workers.each(0..<scenarios.count, jobs: jobs) { [self] index in
            do throws(ShrinkingError) {
                try shrink(scenarios[index])
            } catch {
                standardError("\(LabTool.name) soak: seed \(scenarios[index].seed): \(error)")
                endings.add(error.exitCode)
            }
        }
        return endings.worst
    }

    private func shrink(_ scenario: Scenario) throws(ShrinkingError) {
        let seed = scenario.seed
        let again = again(seed)
        guard
            let shrunk = try shrinker.shrink(
                shrinker.run(scenario), from: "seed \(seed)",
                to: "\(folder)/seed-\(seed).json5")
        else { throw .slipped("it holds when it is run again") }
        lock.whileHeld {
            if isJSON {
                var object: JSONObject = ["shrunkSeed": JSONValue(seed), "again": .string(again)]
                object.add("shrunk", shrunk.members)
                standardOutput(object.line)
            } else {
                let lines = ["shrunk     seed \(seed): \(again)"] + shrunk.lines.map { "    " + $0 }
                standardOutput(lines.joined(separator: "\n"))
            }
        }
        if let contradiction = shrunk.contradiction { throw .slipped(contradiction) }
    }
}

/// How several threads end together.
private final class FoundEndings: @unchecked Sendable {
    private let lock = Mutex()
    private var found: ExitCode

    init(_ ending: ExitCode) { found = ending }

    func add(_ ending: ExitCode) { lock.whileHeld { found = ending } }

    var worst: ExitCode { lock.whileHeld { found } }
}
