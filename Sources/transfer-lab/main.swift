import DaemonRuntime

// transfer-lab: the bench of the pair. It replays scenarios in virtual time and with the two real daemons.

let command = LabTool.tool.parseOrExit()
let exitCode: ExitCode =
    switch command.name {
    case LabTool.replay.name: ReplayCommand.run(command)
    case LabTool.log.name: LogCommand.run(command)
    case LabTool.crash.name: CrashCommand.run(command)
    case LabTool.bench.name: BenchCommand.run(command)
    case LabTool.soak.name: command.isGiven("--planted") ? PlantedCommand.run(command) : SoakCommand.run(command)
    case LabTool.shrink.name: ShrinkCommand.run(command)
    case LabTool.merge.name: MergeCommand.run(command)
    default: preconditionFailure("the tool declares a command that is not here: \(command.name)")
    }
exitCode.exit()
