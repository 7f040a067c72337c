import DaemonRuntime
import LinkFaults
import Soak
import Spooling

extension LabTool {
    static let merge = Command(
        name: "merge", summary: "Add the result files of soaks on many machines up (Docs/Soak.md).",
        details: [
            "Prints the report that one run of all their seeds would have printed. Refuses with 65 what does not add up: "
                + "a file that is none, results of different programs or sizes, seeds that two files have, seeds that none has.",
            "Ends as `soak` does: 0, 1 or 2.",
        ],
        positionals: [Positional("FILE", .path, .oneOrMore, help: "What `soak --result` wrote.")],
        options: [
            Option("--allow-gaps", help: "Also when seeds are missing; the report says which were run."),
            Option("--json", help: "Print the sum as a result file."),
            Option("--result", .path, "OUT", help: "Write the sum as a result file, to merge again."),
            Option("--junit", .path, "OUT", help: "Write the report as JUnit XML."),
        ])
}

/// `transfer-lab merge`.
enum MergeCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        var results: [(file: String, result: SoakResult)] = []
        for path in command.positionals {
            do throws(ScenarioError) {
                results.append(
                    (path, try SoakResult(try JSONTree.read(try ScenarioFiles.text(path), file: path), file: path)))
            } catch {
                return refuse("\(error)")
            }
        }
        let sum: SoakResult
        do throws(SoakMerge.Refusal) {
            sum = try SoakMerge.merge(results, allowsGaps: command.flag("--allow-gaps"))
        } catch {
            return refuse("\(error)")
        }
        do throws(FileSystemError) {
            let files = try SoakFiles(command)
            if let failure = files.write(sum) { throw failure }
        } catch {
            standardError("\(LabTool.name) merge: \(error)")
            return ExitCode(error)
        }
        ReportedSoak.show(sum, isJSON: command.flag("--json"))
        return ReportedSoak.ending(of: sum)
    }

    private static func refuse(_ why: String) -> ExitCode {
        standardError("\(LabTool.name) merge: \(why)")
        return .malformedInput
    }
}
