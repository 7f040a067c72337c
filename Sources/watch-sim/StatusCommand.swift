import DaemonRuntime
import Spooling
import WatchSide

enum StatusCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        let paths = WatchTool.paths(command)
        let status: WatchStatus
        do {
            let inspection = WatchInspection(home: paths.home, spool: paths.spool, fileSystem: DiskFileSystem())
            status = try inspection.status()
        } catch {
            return WatchTool.fail(error)
        }
        if command.flag("--json") {
            standardOutput(json(status, paths).line)
        } else {
            for line in table(status, paths).lines { standardOutput(line) }
        }
        return .held
    }

    private static func table(_ status: WatchStatus, _ paths: PairPaths) -> TextTable {
        var table = TextTable([.init("WATCH"), .init(paths.home)])
        table.add(["daemon", status.holder ?? "none runs"])
        table.add(["starts", status.startNumber.map(String.init) ?? "none yet"])
        table.add(["paired with", status.pairing?.description ?? "nobody yet"])
        table.add(["recordings", "\(status.recordingCount), \(status.recordingByteCount) bytes"])
        table.add(["quarantine", "\(status.quarantineCount)"])
        table.add(["free", "\(status.homeSpace.freeByteCount) bytes"])
        guard let spool = status.spool else {
            table.add(["spool", "none at \(paths.spool) yet"])
            return table
        }
        table.add(["spool", paths.spool])
        table.add(["spool's pairing", spool.pairing?.description ?? "none yet"])
        table.add(["to the phone", "\(spool.toPhoneCount), \(spool.toPhoneByteCount) bytes"])
        table.add(["to the watch", "\(spool.toWatchCount)"])
        table.add(["free in the spool", "\(spool.space.freeByteCount) bytes"])
        return table
    }

    private static func json(_ status: WatchStatus, _ paths: PairPaths) -> JSONObject {
        func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
        var object: JSONObject = [
            "side": "watch", "home": .string(paths.home), "holder": optional(status.holder),
            "start": status.startNumber.map { JSONValue($0) } ?? .null,
            "pairing": optional(status.pairing?.description), "recordings": JSONValue(status.recordingCount),
            "recordingBytes": JSONValue(status.recordingByteCount), "quarantine": JSONValue(status.quarantineCount),
            "freeBytes": JSONValue(status.homeSpace.freeByteCount),
        ]
        guard let spool = status.spool else {
            object.add("spool", .null)
            return object
        }
        object.add(
            "spool",
            [
                "path": .string(paths.spool), "pairing": optional(spool.pairing?.description),
                "toPhone": JSONValue(spool.toPhoneCount), "toPhoneBytes": JSONValue(spool.toPhoneByteCount),
                "toWatch": JSONValue(spool.toWatchCount), "freeBytes": JSONValue(spool.space.freeByteCount),
            ] as JSONObject)
        return object
    }
}
