// What a tool's command line can say, as data: commands, options, positionals. Parsing is in `CommandLineParser`, the text of
// `--help` in `CommandLineHelp`; both read the same declarations, so help cannot promise what parsing does not know.

package struct Option: Sendable {
    /// With its dashes: `--pair`.
    package var name: String
    package var kind: ValueKind
    /// What stands for the value in the help: `DIR`. Not used for a flag.
    package var valueName: String
    package var help: String
    /// What holds when the option is not given, in the form in which it would be given.
    package var defaultValue: String?
    /// Whether it may be given several times.
    package var repeats: Bool
    /// The heading in the help that it stands under.
    package var section: String

    package init(
        _ name: String, _ kind: ValueKind = .flag, _ valueName: String = "", default defaultValue: String? = nil,
        repeats: Bool = false, section: String = "Options", help: String
    ) {
        precondition(name.hasPrefix("--") && name.utf8.count > 2, "an option's name begins with two dashes: \(name)")
        precondition((kind == .flag) == valueName.isEmpty, "\(name): a value needs a name, a flag has none")
        if let defaultValue, let problem = kind.problem(with: defaultValue) {
            preconditionFailure("\(name): the default \(defaultValue) does not parse: \(problem)")
        }
        self.name = name
        self.kind = kind
        self.valueName = valueName
        self.help = help
        self.defaultValue = defaultValue
        self.repeats = repeats
        self.section = section
    }
}

package struct Positional: Sendable {
    package enum Arity: Sendable { case one, optional, zeroOrMore, oneOrMore }

    package var name: String
    package var kind: ValueKind
    package var arity: Arity
    package var help: String

    package init(_ name: String, _ kind: ValueKind = .text, _ arity: Arity = .one, help: String) {
        self.name = name
        self.kind = kind
        self.arity = arity
        self.help = help
    }
}

package struct Command: Sendable {
    package var name: String
    package var summary: String
    /// Paragraphs for the help of this command.
    package var details: [String]
    package var positionals: [Positional]
    package var options: [Option]

    package init(
        name: String, summary: String, details: [String] = [], positionals: [Positional] = [], options: [Option] = []
    ) {
        precondition(
            positionals.dropLast().allSatisfy { $0.arity == .one }, "\(name): only the last positional may vary")
        for (index, option) in options.enumerated() {
            precondition(!options[..<index].contains { $0.name == option.name }, "\(name): \(option.name) twice")
        }
        self.name = name
        self.summary = summary
        self.details = details
        self.positionals = positionals
        self.options = options
    }
}

package struct CommandLineTool: Sendable {
    package var name: String
    package var summary: String
    package var version: String
    package var commands: [Command]

    package init(name: String, summary: String, version: String, commands: [Command]) {
        self.name = name
        self.summary = summary
        self.version = version
        self.commands = commands
    }

    package enum Outcome: Sendable {
        case command(ParsedCommand)
        /// `--help` or `--version`: the text is the result.
        case text(String)
        case usageError(String)
    }

    /// Parses this process's arguments, or prints what there is to print and ends the process (0, or 64).
    package func parseOrExit() -> ParsedCommand {
        switch parse(Array(CommandLine.arguments.dropFirst())) {
        case .command(let command): return command
        case .text(let text):
            (standardOutput(text) ? ExitCode.held : .inputOutput).exit()
        case .usageError(let message):
            standardError(message)
            ExitCode.usage.exit()
        }
    }
}

/// Options that more than one tool has.
extension Option {
    /// `--pair`, `--home` and `--spool`, which every command of the daemons takes; read them with `PairPaths`.
    package static let pairGroup: [Option] = [
        Option(
            "--pair", .path, "DIR", default: "./pair", section: "Where",
            help: "The folder of the pair; holds watch/, phone/ and spool/."),
        Option("--home", .path, "DIR", section: "Where", help: "This side's home, if it lies elsewhere."),
        Option("--spool", .path, "DIR", section: "Where", help: "The spool, if it lies elsewhere."),
    ]

    package static let json = Option("--json", help: "Print JSON, one object a line, for a program to read.")
}

/// Where a side of the pair lives, from `Option.pairGroup`.
package struct PairPaths: Sendable, Equatable {
    package var home: String
    package var spool: String

    package init(home: String, spool: String) {
        self.home = home
        self.spool = spool
    }

    /// `side` is the name of the home inside the pair's folder: `watch` or `phone`.
    package init(_ command: ParsedCommand, side: String) {
        let pair = RootPath.withoutTrailingSlashes(command.text("--pair") ?? "./pair")
        home = command.text("--home") ?? "\(pair)/\(side)"
        spool = command.text("--spool") ?? "\(pair)/spool"
    }
}
