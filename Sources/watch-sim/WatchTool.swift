import DaemonRuntime
import Spooling
import WireContract

/// What `watch-sim` understands on its command line.
enum WatchTool {
    static let name = "watch-sim"

    static let tool = CommandLineTool(
        name: name, summary: "the watch: records audio notes, sends them, keeps each until the phone acked it",
        version: watchFerryVersion, commands: [run, record, list, status, cancel])

    private static let run = Command(
        name: "run", summary: "Send what is recorded, again and again, until the phone acks it; then delete it.",
        details: [
            "Runs until SIGINT or SIGTERM (exit 130 or 143), or until it has drained. News of the folders wakes it; every "
                + "\(EngineTiming.rescanSeconds) seconds it looks at everything by itself.",
            "One daemon holds a home and the watch's end of a spool; a second one ends with 75.",
        ],
        options: Option.pairGroup + [
            Option(
                "--retry-first", .duration, "T", default: "10s", section: "Sending again",
                help: "How long to wait for the ack of the first delivery. The wait doubles each time."),
            Option(
                "--retry-cap", .duration, "T", default: "10m", section: "Sending again",
                help: "The longest wait. There is no cap on the number of tries."),
            Option(
                "--patience", .duration, "T", default: "2m", section: "Sending again",
                help: "How long a transfer may lie in the spool untouched before it is queued anew."),
            Option(
                "--understands", .integer(0...1_000_000), "N", default: "\(IngestAck.currentVersion)",
                help: "The highest version of acks that this build acts on."),
            Option("--until-drained", help: "End with 0 as soon as no recording is left."),
            Option("--timeout", .duration, "T", help: "With --until-drained: end with 2 after this long."),
            Option("--quiet", help: "Say nothing on standard error about what goes as it should."),
        ] + LinkFollower.options + DaemonOptions.options)

    private static let record = Command(
        name: "record", summary: "Record notes: from audio files, or tones. Prints one id a line, once it is durable.",
        details: [
            "WAV and M4A files tell their duration; for anything else give --duration. Works whether or not a daemon runs.",
            "A source that cannot be recorded does not keep the others from it. Exit 65 when one of them is no recording, 74 "
                + "when one cannot be read or the disk failed.",
        ],
        positionals: [Positional("FILE", .path, .zeroOrMore, help: "Audio files to record.")],
        options: Option.pairGroup + [
            Option(
                "--duration", .duration, "T", section: "What to record",
                help: "The duration of the files whose headers do not tell it."),
            Option("--seconds", .duration, "S", section: "What to record", help: "Record tones of this length."),
            Option(
                "--count", .integer(1...1_000_000), "N", section: "What to record",
                help: "How many tones; 1 when not given."),
            Option(
                "--frequency", .integer(1...3_999), "HZ", section: "What to record",
                help: "The pitch of the tones; 440 when not given."),
            Option(
                "--payload-version", .integer(0...1_000_000), "N", default: "\(AudioNotePayload.currentVersion)",
                help: "The version of the metadata that is written."),
            Option("--tz", .text, "ZONE", help: "The IANA time zone of the recording; this machine's when not given."),
            Option(
                "--run-seed", .seed, "N", section: "Replaying",
                help: "Make the ids of a run of this seed, which number its recordings, instead of random ones."),
            Option(
                "--first-ordinal", .integer(1...65_535), "K", default: "1", section: "Replaying",
                help: "With --run-seed: the number of the first of these recordings in the run."),
            Option(
                "--clock-offset", .signedDuration, "T", section: "Replaying",
                help: "Record as if the wall clock were off by this: -365d is a year ago."),
            Option(
                "--link", .path, "FILE", section: "Replaying",
                help: "The file that the daemons follow; of it, the sizes of the disks count here."),
        ] + CallDeath.options)

    private static let list = Command(
        name: "list", summary: "Show the recordings that are on the watch.",
        options: Option.pairGroup + [Option.json])

    private static let status = Command(
        name: "status", summary: "Show who holds the watch, what it keeps, and what lies in the spool.",
        options: Option.pairGroup + [Option.json])

    private static let cancel = Command(
        name: "cancel", summary: "Take the outstanding transfer of a recording back. The recording stays.",
        details: ["It is sent again later: only an ack ends that. Exit 1 when no transfer of it is outstanding."],
        positionals: [Positional("ID", help: "The recording's id.")], options: Option.pairGroup)

    static func paths(_ command: ParsedCommand) -> PairPaths { PairPaths(command, side: "watch") }

    /// Says what stands in the way and how the process ends.
    static func fail(_ error: FolderError) -> ExitCode {
        standardError("\(name): \(error)")
        return ExitCode(error)
    }

    /// What a command that is over in a moment does with events.
    final class Silence: History {
        func record(_ event: PairEvent) {}
        func commit() {}
    }

    /// For commands that are over in a moment; a signal just ends them.
    static func surroundings(_ fileSystem: any FileSystem) -> Surroundings {
        let entropy = Entropy()
        return Surroundings(
            fileSystem: fileSystem, history: Silence(), random: { entropy.next() }, shouldStop: { false },
            holder: ProcessDescription.current(name))
    }
}
