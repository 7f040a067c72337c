import DaemonRuntime
import Spooling
import WatchSide

enum RecordCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        guard let sources = sources(command) else { return .usage }
        let settings = RecorderSettings(
            payloadVersion: Int(clamping: command.integer("--payload-version") ?? 0),
            timeZoneID: command.text("--tz") ?? TimeZoneName.current())
        let wallClock = WallClock()
        let recorder: Recorder
        do {
            recorder = try Recorder(
                home: WatchTool.paths(command).home, settings: settings,
                surroundings: WatchTool.surroundings(DiskFileSystem()),
                wallMilliseconds: { UInt64(clamping: wallClock.millisecondsSince1970()) })
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
        return isFailed ? .inputOutput : isMalformed ? .malformedInput : .held
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
