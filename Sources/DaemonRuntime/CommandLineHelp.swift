// The text of `--help`: at most 100 columns wide, names left, what they do to the right of them.

extension CommandLineTool {
    private static let width = 100
    /// Where explanations begin at the latest; a longer name has its explanation on the next line.
    private static let widestName = 30

    /// What the tool is and which commands it has.
    package var overview: String {
        var lines =
            wrapped("\(name): \(summary)", indent: 0) + ["", "Usage: \(name) COMMAND [OPTION…]", "", "Commands:"]
        lines += definitions(commands.map { ($0.name, $0.summary) })
        lines +=
            [""] + wrapped("\(name) COMMAND --help explains a command. \(name) --version names the version.", indent: 0)
        return lines.joined(separator: "\n")
    }

    package func help(for command: Command) -> String {
        let usage = ["Usage: \(name) \(command.name)", command.options.isEmpty ? "" : "[OPTION…]"]
        let words = usage + command.positionals.map(\.usage)
        var lines = [words.filter { !$0.isEmpty }.joined(separator: " "), ""] + wrapped(command.summary, indent: 0)
        for paragraph in command.details { lines += [""] + wrapped(paragraph, indent: 0) }
        if !command.positionals.isEmpty {
            lines += ["", "Arguments:"] + definitions(command.positionals.map { ($0.name, $0.help) })
        }
        let common = [
            Option("--help", help: "Print this text."), Option("--version", help: "Print the version."),
        ]
        let options = command.options + common
        var sections: [String] = []
        for option in options where !sections.contains(option.section) { sections.append(option.section) }
        // The general ones last, since they hold the common ones.
        for section in sections.filter({ $0 != "Options" }) + ["Options"] {
            let members = options.filter { $0.section == section }.map { ($0.usage, $0.explanation) }
            lines += ["", "\(section):"] + definitions(members)
        }
        return lines.joined(separator: "\n")
    }

    private func definitions(_ entries: [(name: String, text: String)]) -> [String] {
        let longest = entries.map { $0.name.count }.filter { $0 <= Self.widestName }.max() ?? 0
        let indent = 2 + longest + 2
        return entries.flatMap { entry in
            var lines = wrapped(entry.text, indent: indent)
            let name = "  " + entry.name
            if name.count + 2 > indent || lines.isEmpty { return [name] + lines }
            lines[0] = name + lines[0].dropFirst(name.count)
            return lines
        }
    }

    private func wrapped(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > Self.width {
                lines.append(margin + line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        if !line.isEmpty { lines.append(margin + line) }
        return lines
    }
}

extension Option {
    fileprivate var usage: String { valueName.isEmpty ? name : "\(name) \(valueName)" }

    fileprivate var explanation: String {
        var text = help
        if case .choice(let choices) = kind { text += " One of \(choices.joined(separator: ", "))." }
        if repeats { text += " May be given several times." }
        if let defaultValue { text += " (default: \(defaultValue))" }
        return text
    }
}

extension Positional {
    fileprivate var usage: String {
        switch arity {
        case .one: name
        case .optional: "[\(name)]"
        case .zeroOrMore: "[\(name)…]"
        case .oneOrMore: "\(name)…"
        }
    }
}
