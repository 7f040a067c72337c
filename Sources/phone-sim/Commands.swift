import DaemonRuntime
import LinkFaults
import PhoneSide
import Spooling

// What each command does.

private func say(_ message: String) { standardError("phone-sim: \(message)") }

func run(_ command: ParsedCommand, _ paths: PairPaths) -> ExitCode {
    if command.isGiven("--timeout"), !command.flag("--until-drained") {
        say("--timeout goes with --until-drained")
        return .usage
    }
    var settings = PhoneSettings()
    settings.understands = Int(command.integer("--understands") ?? 1)
    settings.ackVersion = Int(command.integer("--ack-version") ?? 1)
    settings.stagingCapByteCount = command.byteCount("--staging-cap") ?? settings.stagingCapByteCount
    settings.quarantineCaps.byteCount = command.byteCount("--quarantine-cap") ?? settings.quarantineCaps.byteCount
    var options = DaemonOptions(toolName: "phone-sim", side: .phone, homePath: paths.home)
    options.untilDrained = command.flag("--until-drained")
    options.timeout = command.duration("--timeout")
    options.isQuiet = command.flag("--quiet")
    options.parent = command.integer("--die-with")
    options.death = CallDeath(command)
    do throws(ScenarioError) {
        options.link = try LinkFollower(command)
    } catch {
        say("\(error)")
        return .malformedInput
    }
    do throws(EventLoopError) {
        return try DaemonLoop(options).run { surroundings throws(FolderError) in
            try PhoneEngine(
                homePath: paths.home, spoolPath: paths.spool, settings: settings, surroundings: surroundings)
        }
    } catch {
        say(error.description)
        return .inputOutput
    }
}

/// Opens a home for looking at it, or says why not.
private func inspect(
    _ command: ParsedCommand, _ paths: PairPaths, _ body: (borrowing PhoneInspector) throws(FileSystemError) -> ExitCode
) -> ExitCode {
    var settings = PhoneSettings()
    if let understands = command.integerIfDeclared("--understands") { settings.understands = Int(understands) }
    let problem: FolderError
    do throws(FolderError) {
        let inspector = try PhoneInspector(
            homePath: paths.home, fileSystem: DiskFileSystem(), settings: settings)
        do throws(FileSystemError) {
            return try body(inspector)
        } catch {
            throw .disk(error)
        }
    } catch {
        problem = error
    }
    say(problem.description)
    return ExitCode(problem)
}

func list(_ command: ParsedCommand, _ paths: PairPaths) -> ExitCode {
    inspect(command, paths) { inspector throws(FileSystemError) in
        let notes = try inspector.notes()
        if command.flag("--json") { return print(notes.map { JSONValue($0.json).text }) }
        var table = TextTable([
            .init("id"), .init("state"), .init("recorded at"), .init("seconds", .right), .init("zone"),
            .init("bytes", .right), .init("where, or why"),
        ])
        for note in notes { table.add(note.cells) }
        return print(notes.isEmpty ? ["no notes"] : table.lines)
    }
}

func status(_ command: ParsedCommand, _ paths: PairPaths) -> ExitCode {
    inspect(command, paths) { inspector throws(FileSystemError) in
        let status = try inspector.status(spoolPath: paths.spool)
        if command.flag("--json") { return print([status.json.line]) }
        var table = TextTable([.init("what"), .init("how much")])
        for (what, value) in status.rows { table.add([what, value]) }
        return print(table.lines)
    }
}

func quarantine(_ command: ParsedCommand, _ paths: PairPaths) -> ExitCode {
    let numbers = Array(command.positionals.dropFirst())
    switch command.positionals[0] {
    case "list" where numbers.isEmpty: return listQuarantine(command, paths)
    case "retry" where !numbers.isEmpty: return request(.retry, numbers, paths)
    case "drop" where !numbers.isEmpty: return request(.drop, numbers, paths)
    default:
        say("quarantine list, quarantine retry NUMBER…, or quarantine drop NUMBER…")
        return .usage
    }
}

private func listQuarantine(_ command: ParsedCommand, _ paths: PairPaths) -> ExitCode {
    inspect(command, paths) { inspector throws(FileSystemError) in
        let items = try inspector.quarantine()
        if command.flag("--json") {
            return print(
                items.map { found in
                    let object: JSONObject = [
                        "number": JSONValue(found.item.number), "reason": JSONValue(found.item.reason.description),
                        "subject": JSONValue(found.item.subject), "byteCount": JSONValue(found.byteCount),
                        "hasBytes": JSONValue(found.item.holdsBytes),
                    ]
                    return object.line
                })
        }
        var table = TextTable([.init("number"), .init("reason"), .init("bytes", .right), .init("subject")])
        for (item, byteCount) in items {
            table.add([
                item.number, item.reason.description, item.holdsBytes ? "\(byteCount)" : "dropped", item.subject,
            ])
        }
        return print(items.isEmpty ? ["nothing was set aside"] : table.lines)
    }
}

/// Carries a request out for each subject, through the daemon or as the holder of the home, and says what came of it.
func request(_ verb: Request.Verb, _ subjects: [String], _ paths: PairPaths) -> ExitCode {
    let entropy = Entropy()
    var requests: [Request] = []
    for subject in subjects {
        guard let request = Request(nonce: entropy.next(), verb: verb, subject: subject) else {
            say("\(subject) is neither an id nor a number")
            return .usage
        }
        requests.append(request)
    }
    let fileSystem = DiskFileSystem()
    let client = RequestClient(kind: .phone, homePath: paths.home, fileSystem: fileSystem)
    let answers: [Answer]
    do throws(RequestClient.Failure) {
        answers = try client.perform(requests) { requests throws(FolderError) in
            let history = DaemonHistory(side: .phone, isQuiet: true)
            let surroundings = Surroundings(
                fileSystem: fileSystem, history: history, random: { entropy.next() }, shouldStop: { false },
                holder: ProcessDescription.current("phone-sim \(verb.rawValue)"))
            let engine = try PhoneEngine(
                homePath: paths.home, spoolPath: nil, settings: PhoneSettings(), surroundings: surroundings)
            history.attachJournal(home: paths.home)
            defer { history.commit() }
            return requests.map { engine.perform($0) }
        }
    } catch {
        say(error.description)
        return error.exitCode
    }
    var code = ExitCode.held
    for (request, answer) in zip(requests, answers) {
        standardOutput("\(request.subject) \(answer.words(for: verb))")
        if answer != .done, answer != .already { code = answer == .failed ? .inputOutput : .violated }
    }
    return code
}

private func print(_ lines: [String]) -> ExitCode {
    lines.isEmpty || standardOutput(lines.joined(separator: "\n")) ? .held : .inputOutput
}
