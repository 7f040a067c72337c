import DaemonRuntime
import PlantedFaults
import Replay
import Scenarios
import Soak
import Spooling

/// `transfer-lab shrink`.
enum ShrinkCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        let runs: [Run]
        let shrinker: FailureShrinker
        do throws(RunsError) {
            runs = try Runs.read(command).flatMap { $0 }
            if runs.count > 1, command.isGiven("--out") { throw .usage("--out is about one file") }
            shrinker = FailureShrinker(
                plant: try PlantedFault.named(command.text("--plant")),
                seconds: Double(command.integer("--seconds") ?? 60))
        } catch {
            return ReplayCommand.refuse(error, "shrink")
        }
        var ending = ExitCode.held
        for run in runs {
            let out = command.text("--out") ?? shrunkName(run.file)
            let code = shrink(run, shrinker, to: out, isJSON: command.flag("--json"))
            // The worst: a bug of ours, then what was violated.
            if ending == .held || code == .internalFault || (ending == .undecided && code == .violated) {
                ending = code
            }
        }
        return ending
    }

    private static func shrink(
        _ run: Run, _ shrinker: FailureShrinker, to out: String, isJSON: Bool
    ) -> ExitCode {
        let report = shrinker.run(run.scenario)
        do throws(ShrinkingError) {
            guard let shrunk = try shrinker.shrink(report, from: run.file, to: out) else {
                let length = Presenter.words(report.length)
                let object: JSONObject = ["source": .string(run.file), "outcome": "held"]
                standardOutput(
                    isJSON
                        ? object.line
                        : "held       \(run.file): it holds (\(report.verifiedCount) notes, \(length)); there is nothing to shrink"
                )
                return .held
            }
            if isJSON {
                var object: JSONObject = ["source": .string(run.file), "outcome": .string(report.outcome.rawValue)]
                object.add("shrunk", shrunk.members)
                standardOutput(object.line)
            } else {
                let lines = ["shrunk     \(run.file)"] + shrunk.lines.map { "    " + $0 }
                standardOutput(lines.joined(separator: "\n"))
            }
            if shrunk.contradiction != nil { return .internalFault }
            return report.outcome == .undecided ? .undecided : .violated
        } catch {
            standardError("\(LabTool.name) shrink: \(run.file): \(error)")
            return error.exitCode
        }
    }

    /// `x.json5` gives `x.shrunk.json5`.
    private static func shrunkName(_ file: String) -> String {
        let ending = ".json5"
        return (file.hasSuffix(ending) ? String(file.dropLast(ending.count)) : file) + ".shrunk" + ending
    }
}
