import Spooling
import Testing

@testable import DaemonRuntime

@Suite("The command line") struct CommandLineTests {
    static let tool = CommandLineTool(
        name: "watch-sim", summary: "The watch of the pair.", version: "1.0",
        commands: [
            Command(
                name: "run", summary: "Serve the home.", details: ["Runs until it is told to stop."],
                options: Option.pairGroup + [
                    Option("--until-drained", help: "End when nothing is owed."),
                    Option("--timeout", .duration, "T", help: "Give up after this long."),
                    Option("--retry-first", .duration, "T", default: "90s", help: "The first wait."),
                    Option("--retry-cap", .duration, "T", default: "5h", help: "The longest wait."),
                    Option("--loss", .probability, "P", help: "Lose that share."),
                    Option("--seed", .seed, "N", help: "Where the faults come from."),
                    Option("--understands", .integer(0...9), "N", default: "1", help: "Versions."),
                    Option("--reserve", .byteCount, "SIZE", default: "16MiB", help: "Room to leave."),
                    Option("--tag", .text, "TEXT", repeats: true, help: "A word."),
                    Option("--mode", .choice(["fast", "slow"]), "MODE", help: "How."),
                ]),
            Command(
                name: "record", summary: "Seal recordings.",
                positionals: [Positional("FILE", .path, .zeroOrMore, help: "What to record.")],
                options: Option.pairGroup),
            Command(
                name: "cancel", summary: "Cancel.", positionals: [Positional("ID", help: "Which.")],
                options: Option.pairGroup + [.json]),
            Command(
                name: "quarantine", summary: "Quarantine.",
                positionals: [
                    Positional("ACTION", .choice(["list", "retry", "drop"]), help: "What to do."),
                    Positional("ID", .text, .zeroOrMore, help: "With which."),
                ]),
        ])

    private func parsed(_ arguments: String...) throws -> ParsedCommand {
        guard case .command(let command) = Self.tool.parse(arguments) else {
            throw Unexpected(outcome: "\(Self.tool.parse(arguments))")
        }
        return command
    }

    private func printed(_ outcome: CommandLineTool.Outcome) -> String? {
        switch outcome {
        case .text(let text): text
        case .command, .usageError: nil
        }
    }

    private struct Unexpected: Error { var outcome: String }

    @Test("both forms of an option, defaults, typed values")
    func options() throws {
        let run = try parsed(
            "run", "--timeout=1.5", "--until-drained", "--loss", "20%", "--seed", "0xff", "--tag", "a", "--tag=b=c",
            "--retry-cap", "8d", "--mode", "slow")
        #expect(run.name == "run")
        #expect(run.flag("--until-drained"))
        #expect(run.duration("--timeout") == .milliseconds(1_500))
        #expect(run.duration("--retry-first") == .seconds(90))
        #expect(run.duration("--retry-cap") == .seconds(8 * 86_400))
        #expect(run.isGiven("--retry-cap") && !run.isGiven("--retry-first"))
        #expect(run.probability("--loss") == 0.2)
        #expect(run.seed("--seed") == 255)
        #expect(run.integer("--understands") == 1)
        #expect(run.byteCount("--reserve") == 16 << 20)
        #expect(run.texts("--tag") == ["a", "b=c"])
        #expect(run.text("--mode") == "slow")
        let bare = try parsed("run")
        #expect(!bare.flag("--until-drained") && bare.duration("--timeout") == nil && bare.texts("--tag") == [])
    }

    @Test("where the pair lies")
    func pairPaths() throws {
        #expect(PairPaths(try parsed("run"), side: "watch") == PairPaths(home: "./pair/watch", spool: "./pair/spool"))
        let moved = try parsed("run", "--pair", "/p/", "--spool=/elsewhere")
        #expect(PairPaths(moved, side: "watch") == PairPaths(home: "/p/watch", spool: "/elsewhere"))
    }

    @Test("positionals, between options, after --, and a lone dash")
    func positionals() throws {
        #expect(
            try parsed("record", "a", "--pair", "p", "-", "--", "--pair", "-x").positionals == [
                "a", "-", "--pair", "-x",
            ])
        #expect(try parsed("record").positionals == [])
        #expect(try parsed("quarantine", "retry", "1", "2").positionals == ["retry", "1", "2"])
        #expect(try parsed("cancel", "--json", "ID").flag("--json"))
    }

    @Test(
        "what is wrong is said, with what was probably meant",
        arguments: [
            (["run", "--tiemout", "3"], "there is no option --tiemout; did you mean --timeout?"),
            (["run", "--retry", "3"], "there is no option --retry; did you mean --retry-first?"),
            (["run", "--zzzzzz"], "there is no option --zzzzzz\n"),
            (["run", "-v"], "there is no option -v"),
            (["run", "--timeout"], "--timeout needs a value: --timeout T"),
            (["run", "--timeout", "--until-drained"], "--timeout needs a value"),
            (["run", "--timeout="], "--timeout wants a time such as"),
            (["run", "--timeout", "-3"], "--timeout wants a time such as"),
            (["run", "--until-drained=yes"], "--until-drained takes no value"),
            (["run", "--seed", "1", "--seed", "2"], "--seed is given twice"),
            (["run", "--understands", "10"], "--understands wants a whole number from 0 to 9, not \"10\""),
            (["run", "--loss", "1.1"], "--loss wants a probability"),
            (["run", "--loss", "nan"], "--loss wants a probability"),
            (["run", "--mode", "x"], "--mode wants one of fast, slow"),
            (["run", "--home="], "--home wants a path"),
            (["run", "extra"], "\"extra\" is one too many"),
            (["cancel"], "ID is missing"),
            (["cancel", "a", "b"], "\"b\" is one too many"),
            (["quarantine", "burn"], "ACTION wants one of list, retry, drop"),
            (["recrod"], "there is no command recrod; did you mean record?"),
            (["help", "rn"], "there is no command rn; did you mean run?"),
            (["--pair", "p", "run"], "options come after the command"),
            ([], "which command?"),
        ])
    func mistakes(arguments: [String], message: String) throws {
        guard case .usageError(let text) = Self.tool.parse(arguments) else {
            Issue.record("no usage error: \(Self.tool.parse(arguments))")
            return
        }
        #expect(text.contains(message), "\(text)")
    }

    @Test(
        "help and version everywhere",
        arguments: [["help", "run"], ["run", "--help"]])
    func help(arguments: [String]) throws {
        let text = try #require(printed(Self.tool.parse(arguments)))
        for word in [
            "Usage: watch-sim run [OPTION…]", "--pair DIR", "(default: ./pair)", "One of fast, slow.", "Where:",
        ] {
            #expect(text.contains(word), "\(word) in \(text)")
        }
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
        for version in [["--version"], ["record", "a", "--version"]] {
            guard case .text("watch-sim 1.0") = Self.tool.parse(version) else {
                Issue.record("no version for \(version)")
                continue
            }
        }
        let overview = try #require(printed(Self.tool.parse(["-h"])))
        #expect(overview.contains("  record      Seal recordings."))
        let record = try #require(printed(Self.tool.parse(["help", "record"])))
        #expect(record.hasPrefix("Usage: watch-sim record [OPTION…] [FILE…]\n"))
    }

    @Test("long help is wrapped and aligned")
    func wrapping() throws {
        let words = Array(repeating: "words", count: 60).joined(separator: " ")
        let tool = CommandLineTool(
            name: "t", summary: "s", version: "1",
            commands: [
                Command(
                    name: "c", summary: words,
                    options: [
                        Option("--a", .text, "X", help: words),
                        Option("--a-name-that-is-much-too-long-for-its-column", .text, "X", help: "short"),
                    ])
            ])
        let text = try #require(printed(tool.parse(["c", "--help"])))
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { $0.count <= 100 })
        #expect(lines.contains { $0.hasPrefix("  --a X      words words") })
        #expect(lines.contains("  --a-name-that-is-much-too-long-for-its-column X"))
        #expect(lines.contains("             short"))
    }

    @Test("times")
    func durations() {
        let good: [(String, Duration)] = [
            ("0", .zero), ("250ms", .milliseconds(250)), ("1.5ms", .microseconds(1_500)), ("90s", .seconds(90)),
            ("1.5", .milliseconds(1_500)), ("10m", .seconds(600)), ("0.5h", .seconds(1_800)), ("8d", .seconds(691_200)),
            ("0.000000001", .nanoseconds(1)), ("0.123456789012345678999", .nanoseconds(123_456_789)),
        ]
        for (text, duration) in good { #expect(ArgumentValue.duration(text) == duration, "\(text)") }
        for text in ["", "s", "-1", "+1", "1.", ".5", "1e3", "1 s", "1S", "1.2.3", "inf", "99999999999d", "١"] {
            #expect(ArgumentValue.duration(text) == nil, "\(text)")
        }
    }

    @Test("sizes, seeds, probabilities, whole numbers")
    func numbers() {
        #expect(ArgumentValue.byteCount("256MiB") == 268_435_456)
        #expect(ArgumentValue.byteCount("1.5kib") == 1_536)
        #expect(ArgumentValue.byteCount("10kB") == 10_000)
        #expect(ArgumentValue.byteCount("7B") == 7)
        #expect(ArgumentValue.byteCount("7") == 7)
        for text in ["", "B", "-1", "1K", "99999999999999999999", "20000000000GiB"] {
            #expect(ArgumentValue.byteCount(text) == nil, "\(text)")
        }
        #expect(ArgumentValue.seed("18446744073709551615") == .max)
        for text in ["18446744073709551616", "-1", "0x", "0x-1", "1_000", " 1"] {
            #expect(ArgumentValue.seed(text) == nil)
        }
        #expect(ArgumentValue.probability("1") == 1)
        #expect(ArgumentValue.probability("0.25") == 0.25)
        #expect(ArgumentValue.probability("100%") == 1)
        for text in ["", "%", "-0.1", "1.01", "101%", "nan", "inf", "0x1p-1", "1e-3"] {
            #expect(ArgumentValue.probability(text) == nil, "\(text)")
        }
        #expect(ArgumentValue.integer("-5") == -5)
        for text in ["", "-", "+5", "5.0", "9223372036854775808"] { #expect(ArgumentValue.integer(text) == nil) }
    }
}
