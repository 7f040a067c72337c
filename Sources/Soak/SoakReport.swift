// A result for a person, as lines, and for a CI system, as JUnit XML.

extension SoakResult {
    /// The report of a run. A merged result gives the same one.
    package var lines: [String] {
        var lines = summary + [""] + kindLines + [""] + rareLines
        if !failures.isEmpty { lines += [""] + failureLines }
        for event in missingRareEvents {
            lines.append(
                "violated   \(event.rawValue) never happened in \(grouped(verifiedCount)) transfers: \(event.sentence)")
        }
        lines += ["", verdict]
        return lines
    }

    private var summary: [String] {
        let rate = coreSeconds > 0 ? UInt64(Double(verifiedCount) / coreSeconds) : 0
        let machines = Set(parts.map(\.machine)).count
        let times =
            parts.count == 1
            ? "\(tenths(longestSeconds)) s with \(parts[0].jobs) jobs"
            : "\(parts.count) parts on \(machines) machines, the longest \(tenths(longestSeconds)) s"
        return [
            "seeds       \(grouped(done.count)) (\(done)), \(grouped(largeCount)) of them large",
            "transfers   \(grouped(verifiedCount)) verified of \(grouped(recordedCount)) recorded",
            "events      \(grouped(eventCount))",
            "time        \(times)", "rate        \(grouped(rate)) transfers a second and core",
            "violations  \(grouped(violatedCount)), undecided \(grouped(undecidedCount))", "build       \(build)",
        ]
    }

    /// Three to a line.
    private var kindLines: [String] {
        let cells = FaultKind.allCases.map { kind in
            pad(kind.rawValue, 16) + right(grouped(kinds[kind.index]), 11)
        }
        return ["faults drawn: in so many seeds"]
            + stride(from: 0, to: cells.count, by: 3).map { start in
                "  " + cells[start..<min(start + 3, cells.count)].joined(separator: "   ")
            }
    }

    private var rareLines: [String] {
        var lines = ["rare events: how often, in so many seeds, first in"]
        let width = max(8, RareEvent.allCases.map { String(self[$0].firstSeed ?? 0).count }.max() ?? 0) + 2
        for event in RareEvent.allCases {
            let rare = self[event]
            let first = rare.firstSeed.map(String.init) ?? "never"
            lines.append(
                "  " + right(grouped(rare.count), 11) + right(grouped(rare.seedCount), 11) + right(first, width) + "  "
                    + event.sentence)
        }
        return lines
    }

    private var failureLines: [String] {
        var lines: [String] = []
        for failure in failures.prefix(50) {
            lines.append("\(failure.outcome.rawValue)   seed \(failure.seed): \(failure.signature)")
            lines.append("    again: \(failure.again)")
        }
        let all = violatedCount + undecidedCount
        if all > UInt64(min(50, failures.count)) { lines.append("and \(all - UInt64(min(50, failures.count))) more") }
        return lines
    }

    private var verdict: String {
        switch outcome {
        case .held: "held: nothing was lost"
        case .undecided: "undecided: time ran out before something drained, or a run was cut short"
        case .violated: "violated"
        }
    }

    // MARK: JUnit

    /// JUnit XML as CI systems read it: a suite, in which every rare event is a case, every seed that did not hold is one,
    /// and all others together are one.
    package func junit(name: String = "transfer-lab soak") -> String {
        var cases: [String] = []
        var failureCount = 0
        let held = done.count - min(done.count, violatedCount + undecidedCount)
        cases.append(testcase("seeds", "\(held) of \(done.count) seeds held: \(done)", seconds: longestSeconds, nil))
        for failure in failures {
            failureCount += 1
            cases.append(
                testcase(
                    "seeds", "seed \(failure.seed)", seconds: 0,
                    "<failure message=\"\(escaped(failure.signature))\" type=\"\(failure.outcome.rawValue)\">"
                        + escaped(failure.again) + "</failure>"))
        }
        var skippedCount = 0
        for event in RareEvent.allCases {
            var inner: String?
            if missingRareEvents.contains(event) {
                failureCount += 1
                inner = "<failure message=\"it never happened\" type=\"rare\">\(escaped(event.sentence))</failure>"
            } else if self[event].count == 0 {
                skippedCount += 1
                inner = "<skipped/>"
            }
            cases.append(testcase("rare events", event.rawValue, seconds: 0, inner))
        }
        let counts = "tests=\"\(cases.count)\" failures=\"\(failureCount)\" errors=\"0\""
        let time = "time=\"\(thousandths(longestSeconds))\""
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"\(escaped(name))\" \(counts) \(time)>\n"
            + "  <testsuite name=\"\(escaped(name))\" \(counts) skipped=\"\(skippedCount)\" \(time)>\n    <properties>\n"
            + properties.map { "      <property name=\"\($0.0)\" value=\"\(escaped($0.1))\"/>\n" }.joined()
            + "    </properties>\n" + cases.joined() + "  </testsuite>\n</testsuites>\n"
    }

    private var properties: [(String, String)] {
        [
            ("build", build), ("size", size.rawValue), ("seeds", done.description),
            ("transfers", "\(verifiedCount)"), ("events", "\(eventCount)"), ("violations", "\(violatedCount)"),
            ("undecided", "\(undecidedCount)"),
        ]
    }

    private func testcase(_ group: String, _ name: String, seconds: Double, _ inner: String?) -> String {
        let head =
            "    <testcase classname=\"soak.\(group)\" name=\"\(escaped(name))\" time=\"\(thousandths(seconds))\""
        return inner.map { "\(head)>\($0)</testcase>\n" } ?? "\(head)/>\n"
    }
}

/// With commas between thousands.
package func grouped(_ number: UInt64) -> String {
    var text = String(number)
    var place = text.count - 3
    while place > 0 {
        text.insert(",", at: text.index(text.startIndex, offsetBy: place))
        place -= 3
    }
    return text
}

private func tenths(_ seconds: Double) -> String { String((seconds * 10).rounded() / 10) }

private func thousandths(_ seconds: Double) -> String { String((seconds * 1_000).rounded() / 1_000) }

private func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
}

private func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

/// For an attribute or text of XML 1.0, which knows no control characters.
private func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "&": escaped += "&amp;"
        case "<": escaped += "&lt;"
        case ">": escaped += "&gt;"
        case "\"": escaped += "&quot;"
        case "\n": escaped += "&#10;"
        case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
        case _: escaped.unicodeScalars.append(scalar)
        }
    }
    return escaped
}
