import DaemonRuntime

// What phone-sim can be told.

private let understands = Option(
    "--understands", .integer(1...1_000), "N", default: "1",
    help: "The highest payload version that this build of the phone knows. What is newer waits in staging.")

let runCommand = Command(
    name: "run", summary: "Run the phone until it is stopped.",
    details: [
        "Takes what lies in the spool's queue to the phone, verifies it, ingests it into container/YYYY-MM/, and acks it. "
            + "Says on standard error what happens; the same, one JSON object a line, stands in journal/journal.jsonl.",
        "Ends with 130 or 143 when it is told to stop by a signal, and with 75 when another process holds this home.",
    ],
    options: [
        understands,
        Option(
            "--ack-version", .integer(1...1_000), "N", default: "1",
            help: "The version that the acks are written with, to try a newer phone against an older watch."),
        Option(
            "--staging-cap", .byteCount, "BYTES", default: "4GiB",
            help: "So much of staging may be filled with payloads that wait for a newer build."),
        Option(
            "--quarantine-cap", .byteCount, "BYTES", default: "256MiB",
            help: "So many bytes that were set aside are kept; the oldest go first, their reasons stay."),
        Option("--until-drained", help: "End with 0 as soon as nothing is owed: queue, inbox and staging are empty."),
        Option("--timeout", .duration, "T", help: "With --until-drained: end with 2 when it takes longer."),
        Option("--quiet", help: "Say nothing on standard error about what happens."),
    ] + LinkFollower.options + DaemonOptions.options + Option.pairGroup)

let listCommand = Command(
    name: "list", summary: "Show the notes that this phone knows of, with their metadata.",
    options: [understands, Option.json] + Option.pairGroup)

let statusCommand = Command(
    name: "status", summary: "Show who runs this phone, and how much lies where.",
    options: [understands, Option.json] + Option.pairGroup)

let vetoCommand = Command(
    name: "veto", summary: "Never ingest these notes; they are acked once they arrive. Cannot be undone.",
    details: ["Refused for a note that is ingested already: delete it instead."],
    positionals: [Positional("ID", .text, .oneOrMore, help: "The ids of the notes, before or after they arrived.")],
    options: Option.pairGroup)

let deleteCommand = Command(
    name: "delete", summary: "Delete ingested notes, as a user would. They do not come back.",
    positionals: [Positional("ID", .text, .oneOrMore, help: "The ids of the notes.")], options: Option.pairGroup)

let quarantineCommand = Command(
    name: "quarantine", summary: "Show what was set aside and why; hand it over once more, or drop it.",
    details: [
        "list shows every item with its number and reason. retry NUMBER puts an item's bytes back into the inbox, as after "
            + "an upgrade. drop NUMBER removes bytes and reason. Nothing in the quarantine was acked: the watch still has it."
    ],
    positionals: [
        Positional("ACTION", .text, .one, help: "list, retry or drop."),
        Positional("NUMBER", .text, .zeroOrMore, help: "The items, by the number that list shows."),
    ],
    options: [Option.json] + Option.pairGroup)
