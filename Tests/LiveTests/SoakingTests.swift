import Foundation
import Testing

// The soak as a person, a CI or a cluster calls it: shards, result files, merging, and a Ctrl-C.

@Suite("Live: transfer-lab soak", .timeLimit(.minutes(8)))
struct SoakingTests {
    private struct Result {
        let ending: Ending
        let output: String
        let talk: String
    }

    private func lab(_ arguments: [String], in folder: String) async throws -> Result {
        let child = try Child(
            try Products.executable("transfer-lab"), arguments, logs: "\(folder)/lab-\(UUID().uuidString)")
        let ending = try await child.end(within: .seconds(300))
        return Result(ending: ending, output: child.output, talk: child.talk)
    }

    /// A result file without what differs from run to run: how long it took, and where.
    private func comparable(_ path: String) throws -> NSDictionary {
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path)))
        var members = try #require(document as? [String: Any])
        #expect(members.removeValue(forKey: "parts") != nil)
        return members as NSDictionary
    }

    @Test func shardsMergedAreTheRunThatWasNotSharded() async throws {
        try await withPair { pair in
            func path(_ name: String) -> String { "\(pair.logs)/\(name).json" }
            let soak = ["soak", "--size", "small", "--seeds", "100..<160"]
            let whole = try await lab(soak + ["--result", path("whole")], in: pair.logs)
            #expect(whole.ending == .exited(0), "\(whole.output)\(whole.talk)")
            for number in 1...4 {
                let shard = try await lab(
                    soak + ["--shard", "\(number)/4", "--jobs", "1", "--result", path("\(number)")], in: pair.logs)
                #expect(shard.ending == .exited(0), "\(shard.talk)")
            }
            let files = [3, 1, 4, 2].map { path("\($0)") }
            let merged = try await lab(
                ["merge", "--result", path("sum"), "--junit", path("junit")] + files, in: pair.logs)
            #expect(merged.ending == .exited(0), "\(merged.talk)")
            #expect(try comparable(path("sum")) == comparable(path("whole")))
            let junit = try String(contentsOfFile: path("junit"), encoding: .utf8)
            #expect(junit.contains("60 of 60 seeds held: 100..&lt;160"))

            let gap = try await lab(["merge"] + files.dropLast(), in: pair.logs)
            #expect(gap.ending == .exited(65) && gap.talk.contains("the seeds 115..<130 were not run"), "\(gap.talk)")
            let double = try await lab(["merge"] + files + files.suffix(1), in: pair.logs)
            #expect(double.ending == .exited(65) && double.talk.contains("both ran the seeds 115..<130"))
            let text = try String(contentsOfFile: files[0], encoding: .utf8)
            let other = text.replacingOccurrences(of: "\"build\": \"", with: "\"build\": \"0")
            try other.write(toFile: files[0], atomically: false, encoding: .utf8)
            let builds = try await lab(["merge"] + files, in: pair.logs)
            #expect(builds.ending == .exited(65) && builds.talk.contains("results of different builds do not add up"))
        }
    }

    @Test func aStopLeavesTheReportOfWhatWasDoneAndTheRestCanBeRunLater() async throws {
        try await withPair { pair in
            let (first, rest) = ("\(pair.logs)/first.json", "\(pair.logs)/rest.json")
            let child = try Child(
                try Products.executable("transfer-lab"),
                ["soak", "--size", "small", "--seeds", "0..<100000", "--result", first], logs: "\(pair.logs)/stopped")
            // The progress line says that it is under way.
            for _ in 0..<600 where !child.talk.contains(" of 100,000 seeds, ") {
                try await Task.sleep(for: .milliseconds(100))
            }
            child.send(SIGINT)
            #expect(try await child.end(within: .seconds(60)) == .exited(130))
            #expect(child.output.contains("held: nothing was lost"), "\(child.output)")
            let result = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: first)))
            let done = try #require((result as? [String: Any])?["done"] as? [[Int]])
            // What was begun is finished, so it is one range from the first seed on.
            #expect(done.count == 1 && done[0][0] == 0 && (1..<100_000).contains(done[0][1]))
            let end = done[0][1]
            let gap = try await lab(["merge", first], in: pair.logs)
            #expect(gap.ending == .exited(65) && gap.talk.contains("the seeds \(end)..<100000 were not run"))
            #expect(try await lab(["merge", "--allow-gaps", first], in: pair.logs).ending == .exited(0))
            let more = try await lab(
                ["soak", "--size", "small", "--seeds", "\(end)..<\(end + 5)", "--result", rest], in: pair.logs)
            #expect(more.ending == .exited(0))
            let merged = try await lab(["merge", first, rest], in: pair.logs)
            #expect(merged.talk.contains("the seeds \(end + 5)..<100000 were not run"), "\(merged.talk)")
        }
    }

    @Test func whatCannotBeMeantIsRefused() async throws {
        try await withPair { pair in
            for arguments in [
                ["--seeds", "5.."], ["--seeds", "9..<3"], ["--seeds", "x"], ["--shard", "3/2"], ["--shard", "0/2"],
                ["--shard", "1"], ["--seeds", "5..", "--minutes", "1", "--shard", "1/2"], ["--size", "huge"],
            ] {
                let result = try await lab(["soak"] + arguments, in: pair.logs)
                #expect(result.ending == .exited(64), "\(arguments): \(result.talk)")
            }
            let nowhere = try await lab(["soak", "--result", "\(pair.logs)/no/such/folder"], in: pair.logs)
            #expect(nowhere.ending == .exited(73), "\(nowhere.talk)")
            #expect(try await lab(["merge", "/dev/null"], in: pair.logs).ending == .exited(65))
        }
    }
}
