import DaemonRuntime
import LivePair
import Monitors
import Replay
import Soak
import Spooling

/// `transfer-lab log`: what happened, line by line. The line of an event says everything that its digest counts, so two logs
/// differ where two digests do.
enum LogCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        let run: Run
        let world: WorldChoice
        do throws(RunsError) {
            let size = DrawSize(rawValue: command.text("--size") ?? "") ?? .mixed
            if let seed = command.seed("--drawn"), command.positionals.isEmpty {
                run = Run(file: "seed \(seed)", scenario: ScenarioDraw.draw(seed: seed, size).scenario)
            } else {
                guard command.positionals.count == 1, !command.isGiven("--drawn") else {
                    throw RunsError.usage("name one scenario file, or a seed with --drawn")
                }
                run = try Runs.read(command)[0][0]
            }
            world = try WorldChoice(command)
        } catch {
            return ReplayCommand.refuse(error, "log")
        }
        switch world.carryOut(run, keepsEntries: true) {
        case .failure(let error):
            standardError("\(LabTool.name) log: \(error)")
            return .inputOutput
        case .success(let report):
            var digest = HistoryDigest()
            for entry in report.entries {
                digest.add(entry)
                standardOutput("\(entry.fullLine) \(digest)")
            }
            standardOutput("\(report.outcome.rawValue) \(report.digest)")
            switch report.outcome {
            case .held: return .held
            case .undecided: return .undecided
            case .violated: return .violated
            }
        }
    }
}
