import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// The live half of the crash lab (Docs/Crash.md), for some seconds each: the same scripts that run for minutes by hand.

/// Power cuts take root on Linux, loop devices, and a file system at least. Where they cannot be had, the tests that need
/// them are skipped, and say so in the run's output.
enum PowerCuts {
    static let why: Comment = "Scripts/powercut --can says that this machine cannot mount loop devices (root on Linux)"
    static let areThere: Bool = {
        let logs = NSTemporaryDirectory() + "/watchferry-powercut-\(getpid())"
        defer { for end in [".out", ".err"] { unlink(logs + end) } }
        guard let child = try? Child(Products.repository + "/Scripts/powercut", ["--can"], logs: logs) else {
            return false
        }
        while child.poll() == nil { usleep(5_000) }
        return child.poll() == .exited(0)
    }()
}

@Suite("Live: dying at every place", .timeLimit(.minutes(5)), .serialized)
struct CrashTests {
    /// Runs a script with the executables that these tests belong to. Answers how it ended, and all that it said.
    private func script(_ name: String, _ arguments: [String]) async throws -> (ending: Ending, output: String) {
        let path = Products.repository + "/Scripts/" + name
        let binaries = try Tool.watch.executable.dropLast(Tool.watch.rawValue.utf8.count + 1)
        var result: (ending: Ending, output: String) = (.exited(-1), "")
        // It keeps all cores busy itself.
        try await withPair(alone: true) { pair in
            let child = try Child(path, arguments + ["--binaries", String(binaries)], logs: pair.logs + "/script")
            result.ending = try await child.end(within: .seconds(180))
            result.output = child.output + child.talk
        }
        return result
    }

    @Test("--die-at dies before a call and --die-after behind it, --count-calls says how many there are")
    func dyingAtACall() async throws {
        try await withPair { pair in
            /// Records one note in a fresh home, so that each makes the same calls. Answers how many notes there are then.
            func record(_ arguments: String...) async throws -> (result: TestPair.Result, noteCount: Int) {
                pair.watchHome = "\(pair.root)/\(arguments.joined())"
                let result = try await pair.run(.watch, ["record", "--seconds", "0.1"] + arguments)
                return (result, pair.watchIDs.count)
            }
            let whole = try await record("--count-calls")
            let words = try #require(whole.result.talk.split(separator: "\n").last { $0.hasSuffix(" calls") })
            let count = try #require(words.split(separator: " ").dropLast().last.flatMap { Int($0) })
            #expect(whole.result.ending == .exited(0) && whole.noteCount == 1 && count > 10, "\(whole.result.talk)")
            // Before the first call nothing is there. Behind the last the note is, and nobody was told of it. A call more
            // than there are is none.
            let first = try await record("--die-at", "1")
            #expect(first.result.ending == .killed(SIGKILL) && first.noteCount == 0)
            let last = try await record("--die-after", "\(count)")
            #expect(last.result.ending == .killed(SIGKILL) && last.noteCount == 1 && last.result.output.isEmpty)
            let never = try await record("--die-at", "\(count + 1)")
            #expect(never.result.ending == .exited(0) && never.noteCount == 1)

            for tool in [Tool.phone, .watch] {
                let daemon = try await pair.run(tool, ["run", "--die-at", "3"])
                #expect(daemon.ending == .killed(SIGKILL), "\(daemon.talk)")
            }
            try pair.startPhone([])
            let counted = try await pair.run(
                .watch, ["run", "--until-drained", "--retry-first", "50ms", "--count-calls"])
            #expect(counted.ending == .exited(0) && counted.talk.contains(" calls"), "\(counted.talk)")
            #expect(pair.container.count == 1)
        }
    }

    @Test("real daemons die at every 13th call of both sides and of record, and recover")
    func liveSweep() async throws {
        let (ending, output) = try await script("crash-live", ["--stride", "13"])
        #expect(ending == .exited(0), "\(output)")
        for victim in ["record", "watch", "phone"] {
            #expect(output.contains("\(victim.padding(toLength: 6, withPad: " ", startingAt: 0)) before call 1 to"))
        }
    }

    @Test("SIGKILL at random moments for six seconds, with no help from the code: nothing is lost")
    func killStorm() async throws {
        let (ending, output) = try await script("kill-storm", ["--seconds", "6"])
        #expect(ending == .exited(0), "\(output)")
    }

    @Test(
        "the power is cut at random moments on real file systems for nine seconds: nothing is lost",
        .enabled(if: PowerCuts.areThere, PowerCuts.why))
    func powerCuts() async throws {
        let (ending, output) = try await script("powercut", ["--seconds", "9"])
        #expect(ending == .exited(0), "\(output)")
    }

    @Test(
        "a daemon whose syncs do nothing loses notes, and the power cut finds it",
        .enabled(if: PowerCuts.areThere, PowerCuts.why))
    func powerCutsFind() async throws {
        let keep = NSTemporaryDirectory() + "/watchferry-planted-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: keep) }
        let arguments = ["--sweep", "--stride", "7", "--plant", "no-syncs", "--keep", keep]
        let (ending, output) = try await script("powercut", arguments)
        #expect(ending == .exited(1), "\(output)")
        #expect(output.contains("P1: ") && output.contains("lost"), "\(output)")
    }
}
