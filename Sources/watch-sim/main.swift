// watch-sim: the watch of the pair. Puts WatchSide on the real disk and under the real clock; every decision is there.

import DaemonRuntime

let command = WatchTool.tool.parseOrExit()
let exitCode: ExitCode =
    switch command.name {
    case "run": RunCommand.run(command)
    case "record": RecordCommand.run(command)
    case "list": ListCommand.run(command)
    case "status": StatusCommand.run(command)
    case "cancel": CancelCommand.run(command)
    default: preconditionFailure("the tool declares a command that is not here: \(command.name)")
    }
exitCode.exit()
