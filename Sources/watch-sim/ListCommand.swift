import DaemonRuntime
import Foundation
import Spooling
import WatchSide

enum ListCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        let paths = WatchTool.paths(command)
        let recordings: [ListedRecording]
        do {
            recordings = try WatchInspection(home: paths.home, spool: paths.spool, fileSystem: DiskFileSystem()).list()
        } catch {
            return WatchTool.fail(error)
        }
        if command.flag("--json") {
            for recording in recordings { standardOutput(json(recording).line) }
        } else {
            for line in table(recordings).lines { standardOutput(line) }
        }
        return .held
    }

    private static func table(_ recordings: [ListedRecording]) -> TextTable {
        var table = TextTable([
            .init("ID"), .init("RECORDED"), .init("SECONDS", .right), .init("ZONE"), .init("EXT"),
            .init("BYTES", .right),
            .init("STATE"),
        ])
        for recording in recordings {
            table.add([
                recording.id?.description ?? recording.name.description, recording.recordedAt.map(instant) ?? "-",
                recording.durationSeconds.map(seconds) ?? "-", recording.timeZoneID ?? "-",
                recording.fileExtension?.description ?? "-", recording.byteCount.map(String.init) ?? "-",
                state(recording.state),
            ])
        }
        return table
    }

    private static func json(_ recording: ListedRecording) -> JSONObject {
        var object = JSONObject()
        if let id = recording.id { object.add("id", id.description) }
        object.add("name", recording.name.description)
        if let recordedAt = recording.recordedAt { object.add("recordedAt", instant(recordedAt)) }
        if let duration = recording.durationSeconds { object.add("duration", duration) }
        if let zone = recording.timeZoneID { object.add("tz", zone) }
        if let fileExtension = recording.fileExtension { object.add("extension", fileExtension.description) }
        if let byteCount = recording.byteCount { object.add("byteCount", byteCount) }
        switch recording.state {
        case .recorded: object.add("state", "recorded")
        case .outstanding(let entry):
            object.add("state", "outstanding")
            object.add("entry", entry.description)
            object.add("attempt", entry.attempt)
        case .unusable(let reason):
            object.add("state", "unusable")
            object.add("reason", reason)
        }
        return object
    }

    private static func state(_ state: ListedRecording.State) -> String {
        switch state {
        case .recorded: "recorded"
        case .outstanding(let entry): "outstanding, try \(entry.attempt)"
        case .unusable(let reason): "unusable: \(reason)"
        }
    }

    /// The gate lets dates of the years 1970 to 9999 through, so the milliseconds fit.
    private static func instant(_ date: Date) -> String {
        UTCTime.instant(millisecondsSince1970: Int64((date.timeIntervalSince1970 * 1_000).rounded()))
    }

    private static func seconds(_ seconds: Double) -> String {
        // Of a recording, so mostly small; what is not goes without decimals.
        guard seconds < 1e9 else { return "\(seconds)" }
        let hundredths = Int64((seconds * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
