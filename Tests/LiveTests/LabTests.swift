import Foundation
import Testing

// The bench as a person calls it: the program, its exit codes, and what it says.

@Suite("Live: transfer-lab", .timeLimit(.minutes(8)))
struct LabTests {
    private struct Result {
        let ending: Ending
        let output: String
        let talk: String
        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    private func lab(_ arguments: [String], in folder: String, within limit: Duration = .seconds(400)) async throws
        -> Result
    {
        let child = try Child(
            try Products.executable("transfer-lab"), arguments, logs: "\(folder)/lab-\(UUID().uuidString)")
        let ending = try await child.end(within: limit)
        return Result(ending: ending, output: child.output, talk: child.talk)
    }

    private static let catalogue: [String] = {
        let folder = Products.repository + "/Scripts/Scenarios"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".json5") }.sorted().map { "\(folder)/\($0)" }
    }()

    private func write(_ text: String, _ name: String, in folder: String) throws -> String {
        let path = "\(folder)/\(name)"
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }

    private static let plain = "{ name: 'x', shows: 'y', steps: [{ at: 0, record: 2 }], expect: [{ ingested: 2 }] }"

    /// Every scenario holds with the real daemons, and ends as it does in virtual time: the same final states, and the same
    /// order of causes for each recording.
    @Test func bothWorldsEndAlike() async throws {
        try await withPair(alone: true) { pair in
            let result = try await lab(["replay", "--live", "--compare"] + Self.catalogue, in: pair.logs)
            #expect(result.ending == .exited(0), "\(result.output)\n\(result.talk)")
            #expect(result.lines.count == Self.catalogue.count && result.lines.allSatisfy { $0.hasPrefix("held ") })
        }
    }

    /// Two processes hash differently; their histories are the same.
    @Test func twoProcessesTellTheSameHistory() async throws {
        try await withPair { pair in
            let first = try await lab(["replay", "--json"] + Self.catalogue, in: pair.logs)
            let second = try await lab(["replay", "--json", "--jobs", "1"] + Self.catalogue, in: pair.logs)
            #expect(first.ending == .exited(0) && first.lines.count == Self.catalogue.count)
            #expect(first.output == second.output)
            let file = Self.catalogue[39]
            let log = try await lab(["log", file], in: pair.logs)
            #expect(log.lines.count > 50)
            let again = try await lab(["log", file], in: pair.logs)
            #expect(zip(log.lines, again.lines).first { $0 != $1 } == nil && log.output == again.output)
        }
    }

    @Test func aMistakeIsNamedWithItsPlace() async throws {
        try await withPair { pair in
            let file = try write(
                "{ name: 'x', shows: 'y', steps: [{ at: 0, link: { toWatch: { drop: 1.5 } } }] }", "mistake.json5",
                in: pair.logs)
            let result = try await lab(["replay", file], in: pair.logs)
            #expect(result.ending == .exited(65))
            #expect(
                result.talk.contains("\(file): steps[0].link.toWatch.drop: found 1.5; accepted: "), "\(result.talk)")
        }
    }

    @Test func whatDoesNotHoldIsExplainedAndCanBeRepeated() async throws {
        try await withPair { pair in
            let file = try write(
                Self.plain.replacingOccurrences(of: "ingested: 2", with: "ingested: 3"), "wrong.json5", in: pair.logs)
            let good = try write(Self.plain, "good.json5", in: pair.logs)
            let result = try await lab(["replay", good, file], in: pair.logs)
            #expect(result.ending == .exited(1))
            #expect(result.lines.first?.hasPrefix("held ") == true)
            #expect(result.output.contains("at the end: expected 3 in the container, found 2"), "\(result.output)")
            let line = try #require(result.lines.first { $0.contains("again: ") })
            let words = try #require(line.components(separatedBy: "again: transfer-lab ").last)
            let again = try await lab(words.split(separator: " ").map(String.init), in: pair.logs)
            #expect(again.ending == .exited(1))
            let undecided = try write(
                "{ name: 'x', shows: 'y', steps: [{ at: 0, stop: 'phone' }, { at: 1, record: 1 }] }", "open.json5",
                in: pair.logs)
            #expect(try await lab(["replay", undecided], in: pair.logs).ending == .exited(2))
        }
    }

    @Test func aTraceOpensAndACaptureHolds() async throws {
        try await withPair { pair in
            let file = Self.catalogue[7]
            let (trace, captured) = ("\(pair.logs)/trace.json", "\(pair.logs)/captured.json5")
            let result = try await lab(
                ["replay", "--live", file, "--trace", trace, "--capture", captured], in: pair.logs)
            #expect(result.ending == .exited(0), "\(result.output)")
            let document = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: trace)))
            let events = try #require((document as? [String: Any])?["traceEvents"] as? [[String: Any]])
            let names = Set(events.compactMap { ($0["args"] as? [String: Any])?["name"] as? String })
            #expect(names.isSuperset(of: ["watch", "link", "phone", "world"]), "\(names)")
            #expect(events.contains { $0["ph"] as? String == "s" } && events.contains { $0["ph"] as? String == "f" })
            let replayed = try await lab(["replay", captured], in: pair.logs)
            #expect(replayed.ending == .exited(0), "\(replayed.output)")
            #expect(try String(contentsOfFile: captured, encoding: .utf8).contains("only"))
        }
    }

    @Test func optionsThatDoNotGoTogetherAreRefused() async throws {
        try await withPair { pair in
            for arguments in [
                ["replay", "--scale", "2"], ["replay", "--seeds", "3"], ["replay", "--seeds", "0..<2", "--seed", "1"],
                ["replay", "--compare"], ["replay", "--trace", "x"] + Self.catalogue.prefix(1),
            ] {
                let result = try await lab(arguments + Self.catalogue.suffix(1), in: pair.logs)
                #expect(result.ending == .exited(64), "\(arguments): \(result.talk)")
            }
        }
    }

    @Test func aLiveSoakStormsAndLeavesNothingBehind() async throws {
        try await withPair { pair in
            let folder = "\(pair.logs)/soak"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let result = try await lab(["soak", "--live", "--folder", folder, "--seeds", "0..<1"], in: pair.logs)
            #expect(result.ending == .exited(0), "\(result.output)\n\(result.talk)")
            #expect(result.output.contains("1 runs with the real daemons") && !result.output.contains(" 0 SIGKILLs"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    /// Ctrl-C: what was done so far is told, the daemons are gone and so are their folders.
    @Test func aLiveSoakIsInterrupted() async throws {
        try await withPair { pair in
            let folder = "\(pair.logs)/soak"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let child = try Child(
                try Products.executable("transfer-lab"),
                ["soak", "--live", "--folder", folder, "--minutes", "5", "--jobs", "1"], logs: "\(pair.logs)/live")
            // Both pairs are up, and have made something.
            let giveUp = ContinuousClock.now + .seconds(60)
            while !child.talk.contains("2 under way"), ContinuousClock.now < giveUp {
                try await Task.sleep(for: .milliseconds(20))
            }
            child.send(SIGINT)
            #expect(try await child.end() == .exited(130))
            #expect(child.output.contains("0 runs with the real daemons"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }
}
