import DaemonRuntime
import Spooling
import WatchSide
import WireContract

enum CancelCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        let text = command.positionals[0]
        guard let id = ULID(text) else {
            standardError("\(WatchTool.name) cancel: \(text) is no id (26 characters, as record and list print them)")
            return .usage
        }
        let paths = WatchTool.paths(command)
        let surroundings = WatchTool.surroundings(DiskFileSystem())
        guard let request = Request(nonce: surroundings.random(), verb: .cancel, subject: id.description) else {
            preconditionFailure("an id can be asked for: \(id)")
        }
        let client = RequestClient(kind: .watch, homePath: paths.home, fileSystem: surroundings.fileSystem)
        do throws(RequestClient.Failure) {
            let answers = try client.perform([request]) { _ throws(FolderError) in
                [
                    try WatchCancel.carryOut(
                        id, home: paths.home, spool: paths.spool, surroundings: surroundings)
                ]
            }
            return say(answers[0], id)
        } catch {
            standardError("\(WatchTool.name): \(error)")
            return error.exitCode
        }
    }

    private static func say(_ answer: Answer, _ id: ULID) -> ExitCode {
        switch answer {
        case .done, .already:
            standardOutput("\(id) cancelled")
            return .held
        case .unknown, .refused:
            standardError("\(WatchTool.name): no transfer of \(id) is outstanding")
            return .violated
        case .failed:
            standardError("\(WatchTool.name): the daemon could not cancel \(id); its own talk says why")
            return .inputOutput
        }
    }
}
