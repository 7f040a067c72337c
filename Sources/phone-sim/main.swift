import DaemonRuntime
import Spooling

// phone-sim: the companion on the phone. It takes what the watch sends, ingests it into its container, and acks.

let tool = CommandLineTool(
    name: "phone-sim",
    summary: "The phone of a pair: takes recordings from the spool, ingests them, and acks what is final.",
    version: watchFerryVersion,
    commands: [runCommand, listCommand, statusCommand, vetoCommand, deleteCommand, quarantineCommand])

let command = tool.parseOrExit()
let paths = PairPaths(command, side: "phone")

switch command.name {
case runCommand.name: run(command, paths).exit()
case listCommand.name: list(command, paths).exit()
case statusCommand.name: status(command, paths).exit()
case vetoCommand.name: request(.veto, command.positionals, paths).exit()
case deleteCommand.name: request(.delete, command.positionals, paths).exit()
case quarantineCommand.name: quarantine(command, paths).exit()
default: preconditionFailure("the parser lets no unknown command through: \(command.name)")
}
