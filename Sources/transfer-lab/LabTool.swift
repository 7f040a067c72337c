import DaemonRuntime

/// What `transfer-lab` understands on its command line.
enum LabTool {
    static let name = "transfer-lab"

    static let tool = CommandLineTool(
        name: name, summary: "the bench of the pair: replays what happened in the field, and judges it",
        version: watchFerryVersion, commands: [replay, bench])

    static let bench = Command(
        name: "bench", summary: "Measure the rate of the virtual world under a full mix of faults.",
        details: [
            "A transfer counts when it was delivered, ingested, acked and deleted. The same seed gives the same digest."
        ],
        options: [
            Option(
                "--transfers", .integer(1...1_000_000_000), "N", default: "20000",
                help: "Stop behind the run in which so many were verified."),
            Option("--seed", .seed, "N", default: "1", help: "The seed of the first run."),
            Option("--show", help: "Print the first run's scenario, to keep or to replay, and run nothing."),
        ])

    static let replay = Command(
        name: "replay", summary: "Replay scenarios (Docs/Scenarios.md), a verdict a line.",
        details: [
            "In virtual time inside this process, or with --live with the two real daemons, which lie beside this program. "
                + "Both worlds judge by the same monitors (P1 to P7) and by what the scenario expects.",
            "Ends with 0 when all held, 1 when something was violated, 2 when time ran out before something drained, 65 when "
                + "a file is malformed. What did not hold is explained on standard output.",
        ],
        positionals: [Positional("FILE", .path, .oneOrMore, help: "Scenario files.")],
        options: [
            Option("--seed", .seed, "N", section: "Which runs", help: "Run with this seed instead of the file's."),
            Option(
                "--seeds", .text, "A..<B", section: "Which runs",
                help: "Run with each of these seeds; a verdict a line all the same, with the first seed that fails."),
            Option("--json", section: "What is shown", help: "Print JSON, one object a run, for a program to read."),
            Option("--quiet", section: "What is shown", help: "No progress, and only what did not hold."),
        ])
}
