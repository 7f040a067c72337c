import LinkFaults
import Scenarios
import Spooling
import Testing

/// The examples of Docs/Scenarios.md: each is read, and each thing that can be said has one.
@Suite struct DocumentTests {
    private struct Example {
        var kind: String
        var text: String
        var line: Int

        /// As a whole scenario. Five notes are recorded before, so that there is something to veto.
        var scenario: String {
            let five = "{ at: 0, record: 5 }"
            return switch kind {
            case "json5 step": wrapped(steps: "\(five), \(text)")
            case "json5 steps": wrapped(steps: "\(five), \(text.dropFirst().dropLast())")
            case "json5 link": wrapped(steps: "{ at: 0, link: \(text) }")
            case "json5 settings": wrapped(settings: text)
            case "json5 expect": wrapped(steps: five, expect: text)
            default: text
            }
        }
    }

    /// What reads as a scenario, or a part of one.
    private func examples() throws -> [Example] { try everything().filter { $0.kind != "json5 link file" } }

    @Test func theFileOfALiveRunIsRead() throws {
        let examples = try everything().filter { $0.kind == "json5 link file" }
        #expect(examples.count == 1)
        for example in examples {
            let file = try LinkFile.read(text: example.text, file: "link")
            #expect(file.die != nil && !file.disks.isEmpty && file.container != nil && file.reachable != nil)
            #expect(try LinkFile.read(text: file.text, file: "link") == file)
        }
    }

    private func everything() throws -> [Example] {
        var examples: [Example] = []
        var open: Example?
        for (index, line) in try Repository.text("Docs/Scenarios.md").split(
            separator: "\n", omittingEmptySubsequences: false
        ).enumerated() {
            if line.hasPrefix("```") {
                if var example = open {
                    example.text = String(example.text.dropLast())
                    examples.append(example)
                    open = nil
                } else {
                    open = Example(kind: String(line.dropFirst(3)), text: "", line: index + 2)
                }
            } else if open != nil {
                open?.text.append("\(line)\n")
            }
        }
        #expect(open == nil)
        return examples
    }

    @Test func everyExampleIsRead() throws {
        let examples = try examples()
        #expect(examples.count > 40)
        for example in examples {
            #expect(
                ["json5", "json5 step", "json5 steps", "json5 link", "json5 settings", "json5 expect"].contains(
                    example.kind))
            #expect(throws: Never.self, "Docs/Scenarios.md:\(example.line): \(example.text)") {
                let scenario = try read(example.scenario)
                #expect(try read(scenario.text) == scenario)
            }
        }
    }

    @Test func everyStepHasAnExample() throws {
        let scenarios = try examples().map { try read($0.scenario) }
        let shown = Set(scenarios.flatMap(\.steps).map { verb(of: $0.step) })
        #expect(ScenarioSchema.stepVerbs.filter { !shown.contains($0) } == [])
        #expect(shown.subtracting(ScenarioSchema.stepVerbs).isEmpty)
        let points = scenarios.flatMap(\.steps).compactMap { timed in
            if case .kill(_, let point) = timed.step { point } else { nil }
        }
        #expect(points.contains(.now) && points.contains(.beforeCall(12)))
        #expect(points.contains(.after(.publish, pathContaining: "container/")))
    }

    @Test func everyFaultHasAnExample() throws {
        let plans = try examples().filter { $0.kind == "json5 link" }.flatMap { try read($0.scenario).steps }.compactMap
        {
            timed in if case .link(let plan) = timed.step { plan } else { nil }
        }
        let directions = plans.flatMap { [$0.toPhone, $0.toWatch] }
        let shown = Set(directions.flatMap { $0.chances.map(\.fault) + $0.rules.map(\.fault) }.map(name))
        let all: [LinkFault] = [
            .drop, .forget, .fail(.deliveryFailed), .failWithoutDetails, .duplicate(extraCopies: 1),
            .damage(.truncated(share: 0)), .damage(.altered), .silent, .delay(.zero),
        ]
        #expect(shown == Set(all.map(name)))
        #expect(directions.contains { $0.burst != nil } && directions.contains { $0.outages.count == 2 })
        #expect(directions.contains { $0.stuckHead != nil } && directions.contains { $0.bytesPerSecond != nil })
    }

    @Test func everyExpectationHasAnExample() throws {
        let text = try examples().filter { $0.kind == "json5 expect" }.map(\.text).joined()
        for key in ScenarioSchema.expectationKeys { #expect(text.contains("\(key):"), "no example of \(key)") }
        let document = try Repository.text("Docs/Scenarios.md")
        for kind in PairEvent.Kind.allCases { #expect(document.contains("`\(kind.rawValue)`"), "\(kind) is not named") }
    }

    private func name(_ fault: LinkFault) -> String {
        switch fault {
        case .drop: "drop"
        case .forget: "forget"
        case .fail: "fail"
        case .failWithoutDetails: "failBare"
        case .duplicate: "duplicate"
        case .damage(.truncated): "truncate"
        case .damage(.altered): "alter"
        case .silent: "silent"
        case .delay: "delay"
        }
    }

    private func verb(of step: Step) -> String {
        switch step {
        case .record: "record"
        case .start: "start"
        case .stop: "stop"
        case .kill: "kill"
        case .session: "session"
        case .reachable: "reachable"
        case .handler: "handler"
        case .rawMetadata: "rawMetadata"
        case .rawUserInfo: "rawUserInfo"
        case .build: "build"
        case .link: "link"
        case .capacity: "capacity"
        case .container: "container"
        case .wipe: "wipe"
        case .keepCopy: "keepCopy"
        case .restoreCopy: "restoreCopy"
        case .replacePhone: "replacePhone"
        case .switchWatch: "switchWatch"
        case .veto: "veto"
        case .delete: "delete"
        case .cancel: "cancel"
        case .clock: "clock"
        case .reboot: "reboot"
        }
    }
}
