import DaemonRuntime
import Soak

/// What `transfer-lab` understands on its command line.
enum LabTool {
    static let name = "transfer-lab"

    static let tool = CommandLineTool(
        name: name, summary: "the bench of the pair: replays what happened in the field, and judges it",
        version: watchFerryVersion, commands: [replay, crash, log, soak, shrink, merge, bench])

    static let whichRuns = [
        Option("--seed", .seed, "N", section: "Which runs", help: "Run with this seed instead of the file's."),
        Option(
            "--seeds", .text, "A..<B", section: "Which runs",
            help:
                "Run with each of these seeds (in quotes, for the shell); still one line a file, with the first seed that "
                + "did not hold."),
    ]

    private static let liveRuns =
        [
            Option("--live", section: "Live", help: "Run with the two real daemons, which lie beside this program."),
            Option(
                "--scale", .text, "N", section: "Live",
                help:
                    "So many times faster than the scenario says, instead of its liveScale: 3600 makes an hour a second."
            ),
            Option(
                "--compare", section: "Live",
                help: "With --live: run it in virtual time too; that both end alike is a part of the verdict."),
        ] + liveFolder

    static let liveFolder = [
        Option(
            "--folder", .path, "DIR", section: "Live",
            help: "Where live runs make their folders, instead of TMPDIR or /tmp. A RAM disk makes the most of it."),
        Option("--keep", section: "Live", help: "Keep the folder of a live run that did not hold."),
    ]

    static let replay = Command(
        name: "replay", summary: "Replay scenarios (Docs/Scenarios.md), a verdict a line.",
        details: [
            "In virtual time inside this process, or live. Both worlds judge by the same monitors (P1 to P7) and by what the "
                + "scenario expects. What did not hold is explained, with the events of that recording in order.",
            "Ends with 0 when all held, 1 when something was violated, 2 when time ran out before something drained, 65 when "
                + "a file is malformed.",
        ],
        positionals: [Positional("FILE", .path, .oneOrMore, help: "Scenario files.")],
        options: whichRuns + liveRuns + [
            Option(
                "--jobs", .integer(1...256), "N", section: "Which runs",
                help: "So many runs at once; as many as there are processors when not given, or 8 live."),
            plant,
            Option(
                "--twice", section: "Which runs",
                help: "Make every run in a second process as well: both must tell the same history, to the last word."),
            Option(
                "--trace", .path, "OUT", section: "What is written",
                help: "Write the one run as a Chrome trace, for https://ui.perfetto.dev."),
            Option(
                "--capture", .path, "OUT", section: "What is written",
                help: "Write what happened in the one run as a scenario that happens so again."),
            Option("--json", section: "What is shown", help: "Print JSON, one object a run, for a program to read."),
            Option("--quiet", section: "What is shown", help: "Only what did not hold."),
        ])

    static let log = Command(
        name: "log", summary: "Print every event of one run, a line each, in order.",
        details: ["Two logs of one scenario and seed are equal, also from two processes; the last line is the digest."],
        positionals: [Positional("FILE", .path, .zeroOrMore, help: "A scenario file.")],
        options: [
            whichRuns[0],
            Option(
                "--drawn", .seed, "N", section: "Which runs",
                help: "Instead of a file: the scenario that `soak` draws from this seed."),
            size,
        ] + liveRuns.filter { $0.name != "--compare" })

    private static let size = Option(
        "--size", .choice(DrawSize.allCases.map(\.rawValue)), "SIZE", default: DrawSize.mixed.rawValue,
        section: "Which runs",
        help:
            "What a seed draws: up to some sixty notes (small), thousands (large), or one seed in sixteen large (mixed)."
    )

    static let soak = Command(
        name: "soak", summary: "Draw a scenario from each seed, run it in virtual time, and judge it (Docs/Soak.md).",
        details: [
            "Each seed draws a whole scenario: what is recorded, a mix of faults with whole kinds switched off, and the "
                + "healing, after which everything has to drain within the bound of P6.",
            "Ends with 0 when all held, 1 when something was violated or, in a campaign of a million transfers, a rare event "
                + "never happened, 2 when time ran out before something drained, or a run was cut short. Each failure "
                + "ends with the line that repeats it. A stop by a signal ends with the report of what was done so far, and with 130 or 143.",
        ],
        options: [
            Option(
                "--seeds", .text, "A..<B", default: "0..<1000", section: "Which runs",
                help: "Which seeds (in quotes, for the shell). A.. has no end and goes with --minutes."),
            Option(
                "--minutes", .integer(1...100_000), "M", section: "Which runs",
                help: "Begin no more runs after so long, whatever seeds are left."),
            size,
            Option(
                "--shard", .text, "I/N", section: "Which runs",
                help: "Only the I-th of N parts of the seeds, without overlap; `merge` adds their results up."),
            Option(
                "--jobs", .integer(1...256), "N", section: "Which runs",
                help: "So many runs at once; as many as there are processors when not given."),
            Option(
                "--twice", section: "Which runs",
                help: "Make every run in a second process as well: both must tell the same history."),
            Option(
                "--show", section: "Which runs",
                help: "Print the scenario of the first seed, to keep or to replay, and run nothing."),
            Option("--result", .path, "OUT", section: "What is written", help: "Write the result, for `merge`."),
            Option("--junit", .path, "OUT", section: "What is written", help: "Write the report as JUnit XML."),
            Option("--json", section: "What is shown", help: "Print the result as JSON, as --result writes it."),
            Option(
                "--each", section: "What is shown",
                help: "Instead of the report: a line of JSON for each seed, in their order."),
        ] + failures + planted + liveSoak)

    static let bench = Command(
        name: "bench", summary: "Measure what this machine allows, and how near the pair comes.",
        details: [
            "Parts: limits (single calls), pair (backlogs of 1 KiB, 64 KiB, 1 MiB), large (64 MiB, 1 GiB), latency (one "
                + "note at a time), backlog (1,000 and 10,000), start (100,000), ram (CPU a note on a RAM disk), counts (calls and "
                + "syncs a note, checked against Docs/Spool.md), virtual (the rate of the virtual world). Docs/Performance.md "
                + "says how to read them.",
            "Compare figures of one run with each other. Ends with 1 when a count is against the law; a time never fails it.",
        ],
        options: [
            Option("--only", .text, "PARTS", help: "Only these parts, with commas."),
            Option("--repeat", .integer(1...99), "N", help: "So many repetitions; 9 when not given, 3 with --quick."),
            Option("--quick", help: "Fewer and smaller: 10,000 in place of 100,000, nothing of 1 GiB."),
            Option("--dir", .path, "DIR", help: "Where to work, instead of TMPDIR or /tmp: the disk that is measured."),
            Option("--ram-dir", .path, "DIR", help: "A folder on a RAM disk, instead of /dev/shm."),
            Option("--json", help: "Print JSON, for a program to read."),
            Option(
                "--transfers", .integer(1...1_000_000_000), "N", default: "20000", section: "The virtual world",
                help: "Stop behind the run in which so many were verified. Given alone: only this part."),
            Option(
                "--seed", .seed, "N", default: "1", section: "The virtual world", help: "The seed of the first run."),
            Option("--show", section: "The virtual world", help: "Print the first run's scenario, and run nothing."),
        ])
}
