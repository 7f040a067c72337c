import DaemonRuntime
import PlantedFaults

/// What the lab understands about failures: shrinking them, and faults that are planted to be found.
extension LabTool {
    static let plant = Option(
        "--plant", .text, "NAME", section: "Which runs",
        help: "With this planted fault in the pair, to see what its failure looks like (Docs/Soak-finding.md).")

    /// Of `soak`.
    static let failures = [
        Option(
            "--failures", .path, "DIR", default: "./soak-failures", section: "When it finds something",
            help: "Where the shrunk scenario of a failure is written, as seed-N.json5."),
        Option(
            "--shrink-seconds", .integer(0...86_400), "S", default: "60", section: "When it finds something",
            help: "Shrink a failure for so long at most; with 0, not at all."),
        Option(
            "--plant", .text, "NAME", section: "When it finds something",
            help: "Soak a pair with this planted fault in it, to see what a failure looks like."),
    ]

    /// Of `soak`.
    static let planted = [
        Option(
            "--planted", .text, "NAMES", section: "Planted faults",
            help:
                "Instead of soaking: hunt for planted faults (all, or names with commas between) in drawn seeds, and print "
                + "how soon each was found."),
        Option(
            "--starts", .integer(1...1_000), "N", default: "20", section: "Planted faults",
            help: "Hunt for each from so many starting seeds, a million apart."),
        Option(
            "--budget", .integer(1...86_400), "S", default: "120", section: "Planted faults",
            help: "Seconds for one hunt; a fault that is not found from every start within them fails the run."),
        Option(
            "--shrink", .integer(0...1_000), "N", default: "0", section: "Planted faults",
            help: "Shrink the first N finds of each too, and print the steps left and the seconds it took."),
    ]

    /// Of `soak`.
    static let liveSoak =
        [
            Option(
                "--live", section: "Live",
                help: "With the two real daemons, which lie beside this program: storms of half a minute with a random "
                    + "SIGKILL every moment, and with --minutes one pair beside them that nobody kills and that must not grow."
            )
        ] + liveFolder

    static let shrink = Command(
        name: "shrink", summary: "Make a failing scenario as small as it gets, failing in the same way.",
        details: [
            "Leaves out steps and recordings, drops or simplifies faults, shortens times, and keeps what still breaks the same "
                + "promise for the same reason, and no other. What is left is written, read again, and replayed in a fresh "
                + "process, which must tell the same history.",
            "Ends with 0 when the file holds (there is nothing to shrink), 1 when it was violated, 2 when it did not drain in "
                + "time, 70 when a fresh process tells something else.",
        ],
        positionals: [Positional("FILE", .path, .oneOrMore, help: "Scenario files.")],
        options: [
            whichRuns[0], plant,
            Option(
                "--out", .path, "OUT", section: "What is written",
                help: "Where the small scenario is written (one FILE); beside FILE as NAME.shrunk.json5 when not given."
            ),
            Option(
                "--seconds", .integer(1...86_400), "S", default: "60", section: "How",
                help: "Look for so long at most."),
            Option("--json", section: "What is shown", help: "Print JSON, one object a file, for a program to read."),
        ])
}

extension PlantedFault {
    /// `nil` for no name.
    static func named(_ name: String?) throws(RunsError) -> PlantedFault? {
        guard let name else { return nil }
        guard let fault = PlantedFault(rawValue: name) else {
            let names = allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("there is no planted fault \(name); there are \(names)")
        }
        return fault
    }

    /// What a line that repeats a run needs besides.
    var optionWords: String { " --plant \(rawValue)" }
}
