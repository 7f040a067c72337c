import DaemonRuntime
import LinkFaults
import Monitors
import Replay
import Scenarios
import Simulation
import Spooling

/// `transfer-lab replay`.
enum ReplayCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        var files: [(path: String, scenario: Scenario)] = []
        for path in command.positionals {
            do throws(ScenarioError) {
                files.append((path, try ScenarioFiles.read(path)))
            } catch {
                standardError("\(error)")
                return .malformedInput
            }
        }
        var worst = RunReport.Outcome.held
        let clock = MonotonicClock()
        for (path, scenario) in files {
            let began = clock.now()
            let report = World(scenario).run()
            let took = clock.now().since(began)
            standardOutput("\(report.outcome.rawValue) \(path) \(report.scenario.name) \(report.digest) \(took)")
            for line in report.complaints { standardOutput("    " + line) }
            if report.outcome != .held, worst != .violated { worst = report.outcome }
        }
        switch worst {
        case .held: return .held
        case .undecided: return .undecided
        case .violated: return .violated
        }
    }
}
