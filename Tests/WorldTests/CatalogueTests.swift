import Foundation
import LinkFaults
import Replay
import Scenarios
import Simulation
import Testing

@Suite struct CatalogueTests {
    @Test(arguments: Repository.catalogue)
    func holdsInVirtualTime(_ file: String) throws {
        let report = play(try Repository.scenario(file))
        #expect(report.outcome == .held, "\(file): \(report.complaints.joined(separator: "\n"))")
    }

    @Test func isNotEmpty() {
        #expect(Repository.catalogue.count >= 45)
    }

    /// A scenario that expects something else does not hold: expectations are really held against the run.
    @Test(arguments: Repository.catalogue)
    func doesNotHoldWhenItExpectsSomethingElse(_ file: String) throws {
        var scenario = try Repository.scenario(file)
        scenario.expectations.append(TimedExpectation(at: nil, .ingested(1_000...1_000)))
        let report = play(scenario)
        #expect(report.outcome == .violated)
        #expect(report.unmet.count == 1)
    }

    /// Nothing of what the examples say is only read: each runs, and none breaks a promise.
    @Test func everyExampleOfTheDocumentRuns() throws {
        var kinds: [String: Int] = [:]
        for (kind, text, line) in try examples() {
            let notes = "{ at: 0, record: 5 }"
            let whole: String
            switch kind {
            case "json5": whole = text
            case "json5 step": whole = wrapped("\(notes), \(text)")
            case "json5 steps": whole = wrapped("\(notes), \(text.dropFirst().dropLast())")
            case "json5 link": whole = wrapped("\(notes), { at: 0, link: \(text) }, { at: '3h', link: {} }")
            case "json5 settings": whole = wrapped(notes, settings: text)
            default: continue
            }
            kinds[kind, default: 0] += 1
            let report = play(try ScenarioReader.read(text: whole, file: "example at line \(line)"))
            let isHarmless =
                if case .violated = report.verdict { false } else { report.troubles.isEmpty && report.unmet.isEmpty }
            #expect(isHarmless, "line \(line): \(text)\n\(report.complaints.joined(separator: "\n"))")
        }
        #expect(kinds["json5 step"] ?? 0 > 20 && kinds["json5 link"] ?? 0 > 10 && kinds.count == 5, "\(kinds)")
    }

    private func wrapped(_ steps: String, settings: String = "{}") -> String {
        "{ name: 'x', shows: 'y', settings: \(settings), steps: [\(steps)] }"
    }

    private func examples() throws -> [(kind: String, text: String, line: Int)] {
        var found: [(kind: String, text: String, line: Int)] = []
        var open: (kind: String, lines: [Substring], line: Int)?
        let lines = try Repository.text("Docs/Scenarios.md").split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("```") {
                if let example = open {
                    found.append((example.kind, example.lines.joined(separator: "\n"), example.line))
                    open = nil
                } else {
                    open = (String(line.dropFirst(3)), [], index + 1)
                }
            } else {
                open?.lines.append(line)
            }
        }
        return found
    }
}
