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
        do {
            return say(
                try WatchCancel.carryOut(id, home: paths.home, spool: paths.spool, surroundings: surroundings), id)
        } catch {
            switch error {
            case .held: return askHolder(id, paths, surroundings)
            case .newerFormat, .notThatFolder, .disk: return WatchTool.fail(error)
            }
        }
    }

    private static func askHolder(_ id: ULID, _ paths: PairPaths, _ surroundings: Surroundings) -> ExitCode {
        guard let request = Request(nonce: surroundings.random(), verb: .cancel, subject: id.description) else {
            preconditionFailure("an id can be asked for: \(id)")
        }
        do {
            let box = try WatchCancel.requestBox(home: paths.home, fileSystem: surroundings.fileSystem)
            do throws(FileSystemError) {
                guard let answer = try HolderRequest.ask(request, in: box) else {
                    standardError("\(WatchTool.name): the daemon that holds \(paths.home) does not answer")
                    return .tryAgain
                }
                return say(answer, id)
            } catch {
                return WatchTool.fail(.disk(error))
            }
        } catch {
            return WatchTool.fail(error)
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
