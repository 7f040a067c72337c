import Foundation

// How the repository's own text looks. After TigerBeetle's src/tidy.zig, which keeps its rules by a test as well: what is
// only agreed upon is forgotten in a hurry.

let largestLineCount = 450
let longestCodeLine = 120
/// `swift format` keeps code to 120 columns; it breaks neither comments nor strings.
let longestOtherLine = 150

func sizeBreaches(in file: SourceFile) -> [Breach] {
    let lines = file.lines
    let count = lines.last == "" ? lines.count - 1 : lines.count
    var found: [Breach] = []
    if count > largestLineCount {
        found.append(Breach(path: file.path, line: count, what: "\(count) lines, \(largestLineCount) are allowed"))
    }
    for (index, line) in lines.enumerated() {
        let canBeBroken = !line.contains("\"") && !line.drop { $0 == " " }.hasPrefix("//")
        let limit = canBeBroken ? longestCodeLine : longestOtherLine
        if line.count > limit {
            found.append(Breach(path: file.path, line: index + 1, what: "\(line.count) columns, \(limit) are allowed"))
        }
    }
    return found
}

func unfinishedBreaches(in file: SourceFile) -> [Breach] {
    // In halves, so that this file does not name itself.
    let words: Set<Substring> = ["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]
    return file.lines.enumerated().filter { line in
        line.element.split { !$0.isLetter }.contains { words.contains($0) }
    }.map {
        Breach(path: file.path, line: $0.offset + 1, what: "unfinished: \($0.element.drop { $0 == " " })")
    }
}

/// What ends the process where an error was due. A fuzz target ends its process on purpose: that is how it reports.
func trapBreaches(in file: SourceFile) -> [Breach] {
    let mayEnd = file.path.hasPrefix("Tests/Fuzz/")
    return file.breaches("a trap where an error is due") { line in
        line.contains("try!") || line.contains("as!") || (!mayEnd && line.contains("fatalError("))
    }
}

/// A `default` in a switch over an enum of ours hides the case that somebody adds. Over numbers, characters and bytes there
/// is no other way; how many of those a file has, and over what, stands here.
private let knownDefaults: [(file: String, count: Int, over: String)] = [
    ("FileName.swift", 1, "bytes"), ("Ids.swift", 2, "bytes"), ("DiskFileSystem.swift", 1, "file types of the kernel"),
    ("SystemCall.swift", 1, "errno"), ("CommandLineParser.swift", 2, "arguments"), ("JSON.swift", 1, "characters"),
    ("TextTable.swift", 1, "characters"), ("ULID.swift", 2, "digits"),
    ("PropertyListBridge.swift", 2, "types of Foundation"), ("BinaryPropertyListWriter.swift", 1, "widths"),
    ("BinaryPropertyListReader.swift", 5, "markers"), ("AudioProbe+MPEG4.swift", 2, "names of boxes"),
    ("ToneWAV.swift", 1, "quarters of a turn"), ("Commands.swift", 1, "words"), ("main.swift", 1, "names of commands"),
    ("JSONTree.swift", 1, "characters"), ("DuplicateKeyScanner.swift", 1, "bytes"), ("Vocabulary.swift", 1, "keys"),
]

func defaultBreaches(in file: SourceFile) -> [Breach] {
    let pattern = /^\s*default\s*:/
    let found = file.breaches("a default: switch over every case, or say in Tidy.swift why that cannot be") {
        $0.firstMatch(of: pattern) != nil
    }
    let name = file.path.split(separator: "/").last.map(String.init) ?? ""
    let known = knownDefaults.first { $0.file == name }?.count ?? 0
    return found.count > known ? found : []
}

/// The wall clock and randomness come in through DaemonRuntime; a run is a function of its scenario and its seed.
func determinismBreaches(in file: SourceFile) -> [Breach] {
    guard file.target != "DaemonRuntime" else { return [] }
    let words = [
        "Date()", "Date.now", "SystemRandomNumberGenerator", "ContinuousClock", "SuspendingClock", "UUID()",
        "CFAbsoluteTimeGetCurrent", "DispatchTime", "ProcessInfo", "arc4random", "gettimeofday", "clock_gettime",
        "Task.sleep", "Bool.random()", "randomElement()", ".shuffled()", ".shuffle()", "timeIntervalSinceNow",
        ".hashValue", "ObjectIdentifier(",
    ]
    return file.breaches("the wall clock, or chance that no seed decides") { line in
        words.contains { line.contains($0) }
            || (line.contains("random(in:") && !line.contains("using:"))
    }
}

// MARK: What is not Swift

/// What may stand at the top, and why nothing else: a newcomer reads the list in one look.
private let knownAtTheTop: Set<String> = [
    ".ci", ".gitignore", ".swift-format", "Docs", "LICENSE", "Package.swift", "README.md", "Scripts", "Sources",
    "Tests",
]

/// - Parameter ignored: what `.gitignore` names.
func topLevelBreaches(_ names: [String], ignored text: String) -> [Breach] {
    let ignored = Set(text.split(separator: "\n").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "/ ")) })
    return names.sorted().filter { !knownAtTheTop.contains($0) && !ignored.contains($0) && $0 != ".git" }.map {
        Breach(path: $0, line: 0, what: "nothing but the known stands at the top of the repository")
    }
}

/// A script can be started as it lies there.
func scriptBreaches(_ path: String, permissions: Int, firstBytes: String) -> [Breach] {
    let isScript =
        (path.hasPrefix("Scripts/") && !path.hasPrefix("Scripts/Scenarios/")) || path.hasPrefix(".ci/")
        || firstBytes.hasPrefix("#!")
    return isScript && permissions & 0o111 == 0
        ? [Breach(path: path, line: 0, what: "a script without its run bit")] : []
}

/// Links that lead nowhere. Of a page on the web nothing is asked.
///
/// - Parameter exists: whether there is anything at a path from the top.
func linkBreaches(in file: SourceFile, exists: (String) -> Bool) -> [Breach] {
    var found: [Breach] = []
    var isCode = false
    for (index, line) in file.lines.enumerated() {
        if line.hasPrefix("```") { isCode.toggle() }
        if isCode || line.hasPrefix("    ") { continue }
        let inline = line.matches(of: /\]\(\s*<?([^)\s>]+)>?[^)]*\)/).map(\.1)
        let reference = line.matches(of: /^\[[^\]]+\]:\s*(\S+)/).map(\.1)
        for target in inline + reference where !isFine(target, in: file.path, exists: exists) {
            found.append(Breach(path: file.path, line: index + 1, what: "a link that leads nowhere: \(target)"))
        }
    }
    return found
}

private func isFine(_ target: Substring, in path: String, exists: (String) -> Bool) -> Bool {
    if target.hasPrefix("#") || target.hasPrefix("https://") || target.hasPrefix("http://") { return true }
    if target.hasPrefix("mailto:") { return true }
    var parts = path.split(separator: "/").dropLast().map(String.init)
    guard let plain = target.split(separator: "#").first, !plain.hasPrefix("/") else { return false }
    for part in plain.split(separator: "/") {
        switch part {
        case ".": break
        case "..":
            if parts.isEmpty { return false }
            parts.removeLast()
        case _: parts.append(String(part).removingPercentEncoding ?? String(part))
        }
    }
    return exists(parts.joined(separator: "/"))
}
