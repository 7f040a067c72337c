import DaemonRuntime
import LivePair
import Monitors
import Replay
import Scenarios
import Simulation
import Spooling

// A run is a function of its scenario, its seed and the code. This is how that is checked: each run once more in another
// process, which hashes differently and lies elsewhere in memory. Where the digests differ, the histories are compared line by
// line, and the first event that differs is named.

enum Twice {
    /// Makes `runs` again in another process and compares with what this one told (`lines`, as `--json` prints them).
    /// `nil` when all is the same; otherwise how this process ends, and the difference was said.
    static func check(_ command: ParsedCommand, _ runs: [Run], _ lines: [String]) -> ExitCode? {
        var arguments = ["replay", "--json"]
        for option in ["--seed", "--seeds", "--jobs"] where command.isGiven(option) {
            arguments += [option, command.text(option) ?? ""]
        }
        do throws(LiveError) {
            let other = try otherProcess(arguments + command.positionals)
            for (index, run) in runs.enumerated() {
                let there = index < other.count ? other[index] : "nothing"
                guard lines[index] != there else { continue }
                standardOutput("violated   \(run.file), seed \(run.scenario.seed): two processes tell two histories")
                let difference = try firstDifference(
                    run.scenario, ["log", run.file, "--seed", "\(run.scenario.seed)"])
                standardOutput("    \(difference)")
                return .violated
            }
            standardError("\(runs.count) runs told the same history in a second process")
            return nil
        } catch {
            standardError("\(LabTool.name) replay: \(error)")
            return .inputOutput
        }
    }

    /// What this program prints when another process of it runs, in lines.
    static func otherProcess(_ arguments: [String]) throws(LiveError) -> [String] {
        let folder = Environment.temporaryFolder
        let output = try OtherProcess.run(Environment.executable, arguments, below: folder).output
        return output.split(separator: "\n").map(String.init)
    }

    /// The first event in which the log of `scenario` here differs from what `logArguments` print in another process.
    static func firstDifference(_ scenario: Scenario, _ logArguments: [String]) throws(LiveError) -> String {
        let there = try otherProcess(logArguments)
        var digest = HistoryDigest()
        var number = 0
        for entry in World(scenario, keepsEntries: true).run().entries {
            digest.add(entry)
            let line = "\(entry.fullLine) \(digest)"
            let other = number < there.count ? there[number] : "nothing"
            number += 1
            if line != other { return "event \(number) differs: here \(line); there \(other)" }
        }
        return "their logs are equal by now: what differs shows only sometimes"
    }
}
