import Foundation

// The rules that the repository keeps, as functions on text: they can be fed good and bad text, and the planted examples
// show for each rule that it sees what it is for. Docs/Architecture.md says why the rules are what they are.

/// Something that breaks a rule.
struct Breach: Hashable, CustomStringConvertible {
    let path: String
    let line: Int
    let what: String

    var description: String { "\(path):\(line): \(what)" }
}

/// A file of the repository, with its path from the top.
struct SourceFile {
    let path: String
    let text: String

    init(_ path: String, _ text: String) {
        self.path = path
        self.text = text
    }

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// The target that it belongs to: the folder below `Sources` or `Tests`.
    var target: String {
        let parts = path.split(separator: "/")
        return parts.count > 2 ? String(parts[1]) : ""
    }

    /// The lines with comments, and what stands between quotation marks, taken out; as many lines as the text has.
    var codeLines: [String] {
        var isInBlock = false
        return lines.map { line in
            var code = ""
            var isInString = false
            var rest = line[...]
            while let character = rest.first {
                if isInBlock {
                    if rest.hasPrefix("*/") { isInBlock = false }
                    rest = rest.dropFirst(rest.hasPrefix("*/") ? 2 : 1)
                } else if isInString {
                    if character == "\"" { isInString = false }
                    rest = rest.dropFirst(character == "\\" ? 2 : 1)
                } else if rest.hasPrefix("//") {
                    break
                } else if rest.hasPrefix("/*") {
                    isInBlock = true
                    rest = rest.dropFirst(2)
                } else {
                    if character == "\"" { isInString = true }
                    code.append(character)
                    rest = rest.dropFirst()
                }
            }
            return code
        }
    }

    func breaches(_ what: String, where isBad: (String) -> Bool) -> [Breach] {
        codeLines.enumerated().filter { isBad($0.element) }.map { Breach(path: path, line: $0.offset + 1, what: what) }
    }
}

// MARK: Who imports whom

/// The modules that a text imports, with the lines: `import X`, with attributes, an access level, a kind, or several on one
/// line behind `;`.
func imports(of file: SourceFile) -> [(module: String, line: Int)] {
    let access: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
    let kinds: Set<Substring> = [
        "struct", "class", "enum", "protocol", "func", "var", "let", "typealias", "actor", "macro",
    ]
    var found: [(String, Int)] = []
    for (index, line) in file.codeLines.enumerated() {
        for statement in line.split(separator: ";") {
            var words = statement.split(whereSeparator: \.isWhitespace)[...]
            while let first = words.first, first.hasPrefix("@") || access.contains(first) { words.removeFirst() }
            guard words.popFirst() == "import" else { continue }
            if let first = words.first, kinds.contains(first) { words.removeFirst() }
            guard let path = words.first, let module = path.split(separator: ".").first else { continue }
            found.append((String(module), index + 1))
        }
    }
    return found
}

/// Modules that are the platform itself, or make of it.
private let platformModules: Set<String> = [
    "Glibc", "Darwin", "Musl", "Android", "WinSDK", "Dispatch", "System", "SystemPackage", "os", "XPC", "CoreServices",
    "Synchronization", "Network",
]

private let foundationModules: Set<String> = [
    "Foundation", "FoundationEssentials", "FoundationNetworking", "FoundationXML",
]

/// Why a target may not use a module; `nil` when it may.
func refusal(of module: String, in target: String, path: String) -> String? {
    if platformModules.contains(module) {
        return platformTargets.contains(target) ? nil : "only DaemonRuntime and LivePair touch the platform (\(module))"
    }
    if foundationModules.contains(module) {
        let isAllowed = foundationFiles.contains(path) || foundationTargets.contains(target)
        return isAllowed ? nil : "Foundation is not for this file"
    }
    if module == "PlantedFaults", target != "transfer-lab" {
        return "planted faults are for tests and the lab; they never ship (PlantedFaults)"
    }
    if module == "CZlib" { return target == "Spooling" ? nil : "zlib is Spooling's" }
    switch target {
    case "WireContract": return "WireContract imports none of ours (\(module))"
    case "Spooling": return module == "WireContract" ? nil : "Spooling imports WireContract and zlib, not \(module)"
    case "WatchSide", "PhoneSide":
        return ["WireContract", "Spooling", "LinkFaults"].contains(module)
            ? nil : "a side imports WireContract, Spooling and LinkFaults, not \(module)"
    case "LinkFaults", "Monitors":
        return ["WireContract", "Spooling"].contains(module)
            ? nil : "\(target) imports WireContract and Spooling, not \(module)"
    case "Scenarios":
        return ["WireContract", "Spooling", "LinkFaults"].contains(module)
            ? nil : "Scenarios imports WireContract, Spooling and LinkFaults, not \(module)"
    case "Replay":
        return ["WireContract", "Spooling", "LinkFaults", "Scenarios", "Monitors"].contains(module)
            ? nil : "Replay is what both worlds share; it knows neither (\(module))"
    case "PairInspection":
        return ["WireContract", "Spooling", "PhoneSide", "Monitors", "Replay"].contains(module)
            ? nil : "PairInspection reads what lies on a disk, in either world (\(module))"
    case "Soak":
        return [
            "WireContract", "Spooling", "LinkFaults", "Scenarios", "Monitors", "Replay", "Simulation",
        ].contains(module) ? nil : "Soak draws, runs and shrinks scenarios in virtual time (\(module))"
    case "DaemonRuntime":
        return ["WatchSide", "PhoneSide"].contains(module) ? "DaemonRuntime knows neither side (\(module))" : nil
    case "LivePair":
        // PairInspection imports a side; what is seen on the disks is handed in.
        return ["WireContract", "Spooling", "LinkFaults", "Scenarios", "Monitors", "Replay", "DaemonRuntime"].contains(
            module)
            ? nil : "LivePair knows the daemons only as processes (\(module))"
    case "CrashLab":
        return [
            "WireContract", "Spooling", "LinkFaults", "Scenarios", "Monitors", "Replay", "PairInspection", "Simulation",
        ].contains(module) ? nil : "CrashLab works in virtual time, and knows neither side (\(module))"
    case "Simulation": return module == "DaemonRuntime" ? "Simulation never touches the platform (\(module))" : nil
    case "PlantedFaults":
        return module == "DaemonRuntime" || module == "LivePair"
            ? "faults are planted in virtual time (\(module))" : nil
    case "watch-sim": return module == "PhoneSide" ? "the two sides never meet in one daemon (\(module))" : nil
    case "phone-sim": return module == "WatchSide" ? "the two sides never meet in one daemon (\(module))" : nil
    case _: return nil
    }
}

private let platformTargets: Set<String> = ["DaemonRuntime", "LivePair"]

/// What an app would take speaks Foundation's types: `[String: Any]`, `Date`.
private let foundationFiles: Set<String> = [
    "Sources/WireContract/AudioNotePayload.swift", "Sources/WireContract/IngestAck.swift",
    "Sources/WireContract/PropertyListBridge.swift", "Sources/WireContract/PropertyListBridge+Linux.swift",
    "Sources/WireContract/PropertyListBridge+Darwin.swift",
    // What a user wrote himself, as JSON5.
    "Sources/LinkFaults/Document/JSONTree+Reading.swift",
    // A payload's `recordedAt` is a `Date`: these make one, carry one, and show one. They use nothing else of Foundation.
    "Sources/WatchSide/RecordingSealer.swift", "Sources/WatchSide/WatchInspection.swift",
    "Sources/watch-sim/ListCommand.swift",
]

/// Foundation reads what the user himself wrote: scenario files.
private let foundationTargets: Set<String> = ["Scenarios"]

func importBreaches(in file: SourceFile) -> [Breach] {
    imports(of: file).compactMap { module, line in
        refusal(of: module, in: file.target, path: file.path).map { Breach(path: file.path, line: line, what: $0) }
    }
}

// MARK: The manifest

/// The targets that a manifest declares, each with what it says that it depends on.
func targets(ofManifest text: String) -> [(name: String, isTest: Bool, dependencies: [String])] {
    let code = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        line.range(of: "//").map { String(line[..<$0.lowerBound]) } ?? String(line)
    }.joined(separator: "\n")
    let pattern =
        /\.(target|executableTarget|testTarget)\s*\(\s*name:\s*"([^"]+)"(?:\s*,\s*dependencies:\s*\[([^\]]*)\])?/
    return code.matches(of: pattern).map { match in
        let dependencies = (match.3 ?? "").matches(of: /"([^"]+)"/).map { String($0.1) }
        return (String(match.2), match.1 == "testTarget", dependencies)
    }
}

func manifestBreaches(in file: SourceFile) -> [Breach] {
    var found = file.breaches("the pair has no package dependencies") { $0.contains(".package(") }
    // The code lines are without what stands in quotation marks, so a name is looked for in the text.
    for target in targets(ofManifest: file.text) where !target.isTest {
        for dependency in target.dependencies {
            guard let why = refusal(of: dependency, in: target.name, path: "Package.swift") else { continue }
            let line = file.lines.firstIndex { $0.contains("\"\(target.name)\"") && !$0.contains(".library") } ?? 0
            found.append(Breach(path: file.path, line: line + 1, what: why))
        }
    }
    return found
}
