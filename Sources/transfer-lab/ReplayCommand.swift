import DaemonRuntime
import LinkFaults
import LivePair
import Monitors
import Replay
import Scenarios
import Spooling

/// `transfer-lab replay`.
enum ReplayCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        let runs: [[Run]]
        let world: WorldChoice
        do throws(RunsError) {
            runs = try Runs.read(command)
            world = try WorldChoice(command)
            try checkOutputs(command, runs)
        } catch {
            return refuse(error, "replay")
        }
        let writesRun = command.isGiven("--trace") || command.isGiven("--capture")
        let presenter = Presenter(runs, world, isJSON: command.flag("--json"), isQuiet: command.flag("--quiet"))
        let jobs = Int(clamping: command.integer("--jobs") ?? Int64(world.standardJobs))
        let all = runs.flatMap { $0 }
        Workers.each(0..<all.count, jobs: jobs) { index in
            presenter.take(index, world.carryOut(all[index], keepsEntries: writesRun))
        }
        var ending = presenter.end()
        if command.flag("--twice") {
            ending = Twice.check(command, all, presenter.jsonLines) ?? ending
        }
        if writesRun, let report = presenter.onlyReport {
            guard write(command, report) else { return .inputOutput }
        }
        return ending
    }

    static func refuse(_ error: RunsError, _ name: String) -> ExitCode {
        switch error {
        case .malformed(let error):
            standardError("\(error)")
            return .malformedInput
        case .usage(let text):
            standardError("\(LabTool.name) \(name): \(text)\nSee \(LabTool.name) \(name) --help.")
            return .usage
        }
    }

    private static func checkOutputs(_ command: ParsedCommand, _ runs: [[Run]]) throws(RunsError) {
        if command.flag("--twice"), command.flag("--live") {
            throw .usage("--twice is for virtual time: no two live runs are the same to the last word")
        }
        for option in ["--trace", "--capture"] where command.isGiven(option) {
            guard runs.count == 1, runs[0].count == 1 else {
                throw .usage("\(option) is about one run: one file, one seed")
            }
        }
    }

    private static func write(_ command: ParsedCommand, _ report: RunReport) -> Bool {
        do throws(FileSystemError) {
            if let path = command.text("--trace") {
                let file = try OutputFile(path)
                ChromeTrace.write(report.entries, title: report.scenario.name) { file.write(copy $0) }
                if let failure = file.failure { throw failure }
            }
            if let path = command.text("--capture") {
                let captured = Capture.scenario(
                    from: report.entries, of: report.scenario, name: "\(report.scenario.name), captured",
                    timeScale: report.timeScale)
                let file = try OutputFile(path)
                file.write(Array((captured.text + "\n").utf8))
                if let failure = file.failure { throw failure }
            }
            return true
        } catch {
            standardError("\(LabTool.name) replay: \(error)")
            return false
        }
    }
}
