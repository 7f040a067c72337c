import DaemonRuntime
import LinkFaults
import Spooling
import WatchSide
import WireContract

enum RecordCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        guard let sources = sources(command), isReplayable(command, sources.count) else { return .usage }
        let settings = RecorderSettings(
            payloadVersion: Int(clamping: command.integer("--payload-version") ?? 0),
            timeZoneID: command.text("--tz") ?? TimeZoneName.current())
        let death = CallDeath(command)
        let disk: any FileSystem
        do throws(ScenarioError) {
            disk = death.disk(
                over: try LinkFollower.disk(limitedBy: command.text("--link"), of: .watch), of: .watch)
        } catch {
            standardError("\(WatchTool.name) record: \(error)")
            return .malformedInput
        }
        let wallClock = WallClock()
        let offset = command.signedDuration("--clock-offset") ?? .zero
        let offsetMilliseconds = Int64(offset / .milliseconds(1))
        let recorder: Recorder
        do {
            recorder = try Recorder(
                home: WatchTool.paths(command).home, settings: settings,
                surroundings: WatchTool.surroundings(disk),
                wallMilliseconds: { UInt64(clamping: wallClock.millisecondsSince1970() + offsetMilliseconds) },
                mint: mint(command))
        } catch {
            return WatchTool.fail(error)
        }
        var isMalformed = false
        var isFailed = false
        recorder.record(sources) { index, outcome in
            switch outcome {
            case .recorded(let id, _):
                standardOutput(id.description)
            case .failed(.malformed(let reason)):
                isMalformed = true
                standardError("\(WatchTool.name): not recorded: \(sources[index].name): \(reason)")
            case .failed(.disk(let error)):
                isFailed = true
                standardError("\(WatchTool.name): not recorded: \(sources[index].name): \(error)")
            }
        }
        death.tell(disk, toolName: "\(WatchTool.name) record")
        return isFailed ? .inputOutput : isMalformed ? .malformedInput : .held
    }

    /// Ids of a run that is replayed, so that the link meets the same recordings in every world; nil for random ones.
    private static func mint(_ command: ParsedCommand) -> ((UInt64) -> ULID)? {
        guard let seed = command.seed("--run-seed") else { return nil }
        var ordinal = Int(command.integer("--first-ordinal") ?? 1)
        return { milliseconds in
            defer { ordinal += 1 }
            return ULID(millisecondsSince1970: milliseconds, ordinal: ordinal, seed: seed)
        }
    }

    /// Says what is wrong when not.
    private static func isReplayable(_ command: ParsedCommand, _ count: Int) -> Bool {
        func usage(_ problem: String) -> Bool {
            standardError("\(WatchTool.name) record: \(problem)\nSee \(WatchTool.name) record --help.")
            return false
        }
        guard command.isGiven("--run-seed") else {
            return !command.isGiven("--first-ordinal") || usage("--first-ordinal goes with --run-seed")
        }
        let last = Int(command.integer("--first-ordinal") ?? 1) + count - 1
        return last <= 65_535 || usage("a run has at most 65535 recordings; the last of these would be number \(last)")
    }

    /// nil, and the reason said, when the command line asks for nothing that could be recorded.
    private static func sources(_ command: ParsedCommand) -> [RecordingSource]? {
        func usage(_ problem: String) -> [RecordingSource]? {
            standardError("\(WatchTool.name) record: \(problem)\nSee \(WatchTool.name) record --help.")
            return nil
        }
        let duration = command.duration("--duration")?.inSeconds
        var sources: [RecordingSource] = command.positionals.map { .file(path: $0, durationSeconds: duration) }
        if let seconds = command.duration("--seconds") {
            let frequency = Double(command.integer("--frequency") ?? 440)
            guard let tone = ToneWAV(durationSeconds: seconds.inSeconds, frequencyHertz: frequency) else {
                return usage("a tone of \(seconds.inSeconds) s is longer than a WAV file can be")
            }
            sources += [RecordingSource](repeating: .tone(tone), count: Int(clamping: command.integer("--count") ?? 1))
        } else if command.isGiven("--count") || command.isGiven("--frequency") {
            return usage("--count and --frequency go with --seconds")
        }
        return sources.isEmpty ? usage("name files to record, or give --seconds for tones") : sources
    }
}
