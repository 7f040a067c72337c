import DaemonRuntime
import LinkFaults
import Spooling
import WatchSide

enum RunCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        let paths = WatchTool.paths(command)
        guard let policy = policy(command) else { return .usage }
        if command.isGiven("--timeout"), !command.flag("--until-drained") {
            standardError("\(WatchTool.name) run: --timeout goes with --until-drained")
            return .usage
        }
        var options = DaemonOptions(toolName: WatchTool.name, side: .watch, homePath: paths.home)
        options.untilDrained = command.flag("--until-drained")
        options.timeout = command.duration("--timeout")
        options.isQuiet = command.flag("--quiet")
        options.parent = command.integer("--die-with")
        options.death = CallDeath(command)
        do throws(ScenarioError) {
            options.link = try LinkFollower(command)
        } catch {
            standardError("\(WatchTool.name) run: \(error)")
            return .malformedInput
        }
        let settings = WatchSettings(
            policy: policy, understands: Int(clamping: command.integer("--understands") ?? 0))
        do throws(EventLoopError) {
            let loop = try DaemonLoop(options)
            return loop.run { (surroundings) throws(FolderError) in
                try WatchEngine(
                    home: paths.home, spool: paths.spool, settings: settings, surroundings: surroundings)
            }
        } catch {
            standardError("\(WatchTool.name) run: \(error)")
            return .inputOutput
        }
    }

    private static func policy(_ command: ParsedCommand) -> RetryPolicy? {
        let policy = RetryPolicy(
            first: command.duration("--retry-first") ?? RetryPolicy.standard.first,
            cap: command.duration("--retry-cap") ?? RetryPolicy.standard.cap,
            patience: command.duration("--patience") ?? RetryPolicy.standard.patience)
        // A wait of nothing would send as fast as the disk goes.
        let shortest = Duration.milliseconds(10)
        guard min(policy.first, policy.cap, policy.patience) >= shortest else {
            standardError("\(WatchTool.name) run: --retry-first, --retry-cap and --patience are at least 10ms")
            return nil
        }
        return policy
    }
}
