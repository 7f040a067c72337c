// Arguments to a parsed command. In order, from left to right, so that the first thing that is wrong is what is reported,
// and `--help` answers wherever it stands before that.

/// A command with its values, each checked against its declaration.
package struct ParsedCommand: Sendable {
    package let name: String
    private let command: Command
    fileprivate var given: [(name: String, value: String)] = []
    /// All positionals in order.
    package fileprivate(set) var positionals: [String] = []

    fileprivate init(_ command: Command) {
        self.name = command.name
        self.command = command
    }

    /// Whether the option stands on the command line (a default does not count).
    package func isGiven(_ name: String) -> Bool {
        _ = option(name)
        return given.contains { $0.name == name }
    }

    package func flag(_ name: String) -> Bool {
        precondition(option(name).kind == .flag, "\(name) is no flag")
        return isGiven(name)
    }

    /// The value as it was written, or the default; of the last, when the option repeats.
    package func text(_ name: String) -> String? {
        let option = option(name)
        return given.last { $0.name == name }?.value ?? option.defaultValue
    }

    /// Every value of an option that repeats, in order.
    package func texts(_ name: String) -> [String] {
        _ = option(name)
        return given.filter { $0.name == name }.map(\.value)
    }

    package func duration(_ name: String) -> Duration? { value(name, .duration, ArgumentValue.duration) }
    package func signedDuration(_ name: String) -> Duration? {
        value(name, .signedDuration, ArgumentValue.signedDuration)
    }
    package func byteCount(_ name: String) -> UInt64? { value(name, .byteCount, ArgumentValue.byteCount) }
    package func seed(_ name: String) -> UInt64? { value(name, .seed, ArgumentValue.seed) }
    package func probability(_ name: String) -> Double? { value(name, .probability, ArgumentValue.probability) }

    package func integer(_ name: String) -> Int64? {
        guard case .integer = option(name).kind else { preconditionFailure("\(name) is no integer") }
        return text(name).flatMap(ArgumentValue.integer)
    }

    /// These three, for code that several commands share: as if it were not given, where the command does not declare it.
    package func textIfDeclared(_ name: String) -> String? { declares(name) ? text(name) : nil }
    package func flagIfDeclared(_ name: String) -> Bool { declares(name) && flag(name) }
    package func isGivenIfDeclared(_ name: String) -> Bool { declares(name) && isGiven(name) }

    private func declares(_ name: String) -> Bool { command.options.contains { $0.name == name } }

    /// The same, for code that several commands share; `nil` where the command does not declare it.
    package func integerIfDeclared(_ name: String) -> Int64? {
        command.options.contains { $0.name == name } ? integer(name) : nil
    }

    private func value<Value>(_ name: String, _ kind: ValueKind, _ read: (String) -> Value?) -> Value? {
        precondition(option(name).kind == kind, "\(name) is no \(kind)")
        return text(name).flatMap(read)
    }

    /// Asking for an option that the command does not declare is our bug.
    private func option(_ name: String) -> Option {
        guard let option = command.options.first(where: { $0.name == name }) else {
            preconditionFailure("\(command.name) does not declare \(name)")
        }
        return option
    }
}

extension CommandLineTool {
    /// Parses arguments (without the program's name).
    package func parse(_ arguments: [String]) -> Outcome {
        guard let first = arguments.first else {
            return .usageError("\(name): which command?\n\n\(overview)")
        }
        switch first {
        case "--help", "-h": return .text(overview)
        case "--version": return .text("\(name) \(version)")
        case "help":
            guard let topic = arguments.dropFirst().first(where: { !$0.hasPrefix("-") }) else { return .text(overview) }
            return command(topic).map { .text(help(for: $0)) } ?? unknownCommand(topic)
        default: break
        }
        if first.hasPrefix("-") {
            return .usageError("\(name): options come after the command, as in: \(name) \(commands[0].name) \(first)")
        }
        guard let command = command(first) else { return unknownCommand(first) }
        var parsing = Parsing(tool: self, command: command, arguments: Array(arguments.dropFirst()))
        return parsing.run()
    }

    private func command(_ name: String) -> Command? {
        commands.first { $0.name == name }
    }

    private func unknownCommand(_ word: String) -> Outcome {
        let hint = Suggestion.nearest(to: word, among: commands.map(\.name)).map { "; did you mean \($0)?" } ?? ""
        return .usageError("\(name): there is no command \(word)\(hint)\nSee \(name) --help.")
    }
}

private struct Parsing {
    let tool: CommandLineTool
    let command: Command
    let arguments: [String]
    var parsed: ParsedCommand
    var place = 0

    init(tool: CommandLineTool, command: Command, arguments: [String]) {
        self.tool = tool
        self.command = command
        self.arguments = arguments
        self.parsed = ParsedCommand(command)
    }

    mutating func run() -> CommandLineTool.Outcome {
        var optionsEnded = false
        while place < arguments.count {
            let argument = arguments[place]
            place += 1
            if optionsEnded || !argument.hasPrefix("-") || argument == "-" {
                if let problem = takePositional(argument) { return error(problem) }
                continue
            }
            switch argument {
            case "--": optionsEnded = true
            case "--help", "-h": return .text(tool.help(for: command))
            case "--version": return .text("\(tool.name) \(tool.version)")
            default: if let problem = takeOption(argument) { return error(problem) }
            }
        }
        if let missing = missingPositional() { return error("\(missing) is missing") }
        return .command(parsed)
    }

    private mutating func takeOption(_ argument: String) -> String? {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts[0]
        guard let option = command.options.first(where: { $0.name == name }) else {
            let known = command.options.map(\.name) + ["--help", "--version"]
            let hint = Suggestion.nearest(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
            return "there is no option \(name)\(hint)"
        }
        if !option.repeats, parsed.given.contains(where: { $0.name == name }) { return "\(name) is given twice" }
        if option.kind == .flag {
            if parts.count > 1 { return "\(name) takes no value" }
            parsed.given.append((name, ""))
            return nil
        }
        guard let value = parts.count > 1 ? parts[1] : nextValue() else {
            return "\(name) needs a value: \(name) \(option.valueName)"
        }
        if let problem = option.kind.problem(with: value) { return "\(name) \(problem), not \"\(value)\"" }
        parsed.given.append((name, value))
        return nil
    }

    /// The next argument, unless it looks like an option; a value that begins so is given with `=`.
    private mutating func nextValue() -> String? {
        guard place < arguments.count, !arguments[place].hasPrefix("--") else { return nil }
        defer { place += 1 }
        return arguments[place]
    }

    private mutating func takePositional(_ argument: String) -> String? {
        let count = parsed.positionals.count
        let declared: Positional
        if count < command.positionals.count {
            declared = command.positionals[count]
        } else {
            guard let last = command.positionals.last, last.arity == .oneOrMore || last.arity == .zeroOrMore else {
                return "\"\(argument)\" is one too many"
            }
            declared = last
        }
        if let problem = declared.kind.problem(with: argument) {
            return "\(declared.name) \(problem), not \"\(argument)\""
        }
        parsed.positionals.append(argument)
        return nil
    }

    private func missingPositional() -> String? {
        command.positionals.dropFirst(parsed.positionals.count).first {
            switch $0.arity {
            case .one, .oneOrMore: true
            case .optional, .zeroOrMore: false
            }
        }?.name
    }

    private func error(_ problem: String) -> CommandLineTool.Outcome {
        .usageError("\(tool.name) \(command.name): \(problem)\nSee \(tool.name) \(command.name) --help.")
    }
}

enum Suggestion {
    /// The nearest known word, when it is near enough to be meant.
    static func nearest(to word: String, among known: [String]) -> String? {
        let ranked = known.map { (distance: distance(word, $0), word: $0) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        if best.distance <= max(1, word.filter { $0 != "-" }.count / 3) { return best.word }
        // A word that was cut short: `--retry` for `--retry-first`.
        return word.count >= 4 ? known.first { $0.hasPrefix(word) } : nil
    }

    /// Insertions, deletions, exchanges of one scalar (Levenshtein). Quadratic, so long words are not looked at whole.
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.unicodeScalars.prefix(64)), Array(right.unicodeScalars.prefix(64)))
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let exchanged = diagonal + (a == b ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(exchanged, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[right.count]
    }
}
