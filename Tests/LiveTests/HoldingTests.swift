import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("Live: one holder per home", .timeLimit(.minutes(5)))
struct HoldingTests {
    @Test("a second daemon on one home ends with 75 and says who holds it", arguments: [Tool.watch, .phone])
    func secondOnOneHome(_ tool: Tool) async throws {
        try await withPair { pair in
            let first = try pair.start(tool, ["run"])
            try await pair.eventually("it runs") { try pair.count("started", tool) == 1 }
            let second = try await pair.run(tool, ["run"])
            #expect(second.ending == .exited(75))
            #expect(second.talk.contains("process \(first.pid)"), "\(second.talk)")
            #expect(first.poll() == nil)
            #expect(try await first.terminate() == .exited(143))
        }
    }

    @Test(
        "a second one on the same end of the spool, from another home, ends with 75", arguments: [Tool.watch, .phone])
    func secondOnOneEnd(_ tool: Tool) async throws {
        try await withPair { pair in
            let first = try pair.start(tool, ["run"])
            try await pair.eventually("it runs") { try pair.count("started", tool) == 1 }
            pair.watchHome = pair.root + "/other-watch"
            pair.phoneHome = pair.root + "/other-phone"
            let second = try await pair.run(tool, ["run"])
            #expect(second.ending == .exited(75))
            #expect(second.talk.contains("process \(first.pid)"), "\(second.talk)")
        }
    }

    @Test("the lock dies with its holder, however that dies", arguments: [Tool.watch, .phone])
    func lockDies(_ tool: Tool) async throws {
        try await withPair { pair in
            let first = try pair.start(tool, ["run"])
            try await pair.eventually("it runs") { try pair.count("started", tool) == 1 }
            first.send(SIGKILL)
            #expect(try await first.end() == .killed(SIGKILL))
            let second = try pair.start(tool, ["run"])
            try await pair.eventually("the next one runs") { try pair.count("started", tool) == 2 }
            #expect(second.poll() == nil)
        }
    }

    @Test("record works while a daemon holds the home")
    func recordNeedsNoHolder() async throws {
        try await withPair { pair in
            try pair.startWatch()
            try await pair.eventually("it runs") { try pair.count("started", .watch) == 1 }
            #expect(try await pair.record(["--seconds", "0.1"]).count == 1)
        }
    }

    // MARK: Commands that change a home

    @Test("a veto before arrival: acked, never ingested, never undone", arguments: [false, true])
    func vetoes(daemonRuns: Bool) async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.1", "--count", "2"])
            if daemonRuns {
                try pair.startPhone()
                try await pair.eventually("the phone runs") { try pair.count("started", .phone) == 1 }
            }
            let veto = try await pair.run(.phone, ["veto", ids[0]])
            #expect(veto.ending == .exited(0), "\(veto.talk)")
            #expect(veto.output.contains(ids[0]))
            if !daemonRuns { try pair.startPhone() }
            try pair.startWatch()
            try await pair.eventually("both are off the watch") { pair.watchIDs.isEmpty }
            #expect(pair.container.keys.sorted() == [ids[1]])
            let late = try await pair.run(.phone, ["veto", ids[1]])
            #expect(late.ending == .exited(1))
            #expect(late.output.contains("refused"))
        }
    }

    @Test("a deleted note does not come back when the watch sends it again", arguments: [false, true])
    func deletes(daemonRuns: Bool) async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.1"])
            let note = try Disk.bytes("\(pair.watchHome)/recordings/\(ids[0]).note")
            try await pair.drain()
            #expect(pair.container.keys.sorted() == ids)
            if daemonRuns {
                try pair.startPhone()
                try await pair.eventually("the phone runs") { try pair.count("started", .phone) == 3 }
            }
            let delete = try await pair.run(.phone, ["delete", ids[0]])
            #expect(delete.ending == .exited(0), "\(delete.talk)")
            #expect(pair.container.isEmpty)
            #expect(try await pair.run(.phone, ["delete", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]).ending == .exited(1))

            // The watch lost the ack and has it still.
            try Disk.write(note, to: "\(pair.watchHome)/recordings/\(ids[0]).note")
            if !daemonRuns { try pair.startPhone() }
            try pair.startWatch()
            try await pair.eventually("it is acked again") { pair.watchIDs.isEmpty }
            #expect(pair.container.isEmpty)
        }
    }

    @Test("cancel takes the transfer back and keeps the recording, which is sent again", arguments: [false, true])
    func cancels(daemonRuns: Bool) async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.1"])
            let watch = try pair.startWatch(["--retry-first", "2s"])
            try await pair.eventually("it is sent") { try pair.count("enqueued", .watch) == 1 }
            if !daemonRuns { try await watch.terminate() }
            let cancel = try await pair.run(.watch, ["cancel", ids[0]])
            #expect(cancel.ending == .exited(0), "\(cancel.talk)")
            #expect(pair.queueToPhone.filter { $0.hasSuffix(".note") } == [])
            #expect(pair.watchIDs == ids)
            let again = try await pair.run(.watch, ["cancel", ids[0]])
            #expect(again.ending == .exited(1), "\(again.talk)")
            if !daemonRuns { try pair.startWatch() }
            try pair.startPhone()
            try await pair.eventually("it crosses all the same") { pair.watchIDs.isEmpty }
            #expect(pair.container.keys.sorted() == ids)
        }
    }

    @Test("quarantine: list shows why, drop forgets it, retry hands it over once more", arguments: [false, true])
    func quarantines(daemonRuns: Bool) async throws {
        try await withPair { pair in
            try pair.startPhone(["--until-drained"])
            try await pair.eventually("the spool is there") { Disk.isThere(pair.spool + "/to-phone") }
            for name in ["first", "second"] {
                try Disk.write(Data(name.utf8), to: pair.spool + "/to-phone/" + name)
            }
            let phone = try pair.startPhone(daemonRuns ? [] : ["--until-drained"])
            try await pair.eventually("both are set aside") { pair.quarantine(.phone).count == 2 }
            if !daemonRuns { _ = try await phone.end() }
            let list = try await pair.run(.phone, ["quarantine", "list", "--json"])
            let items = try jsonLines(list.output)
            #expect(items.map { $0["reason"] as? String } == ["strangeName", "strangeName"])
            let numbers = items.compactMap { $0["number"] as? String }
            #expect(try await pair.run(.phone, ["quarantine", "drop", numbers[0]]).ending == .exited(0))
            #expect(pair.quarantine(.phone).count == 1)
            #expect(try await pair.run(.phone, ["quarantine", "retry", numbers[1]]).ending == .exited(0))
            if !daemonRuns { _ = try await pair.run(.phone, ["run", "--until-drained", "--timeout", "30s"]) }
            // It is as bad as before, and comes back under a new number.
            try await pair.eventually("it is set aside again") {
                pair.quarantine(.phone).count == 1 && !pair.quarantine(.phone)[0].hasPrefix(numbers[1])
            }
            #expect(try await pair.run(.phone, ["quarantine", "drop", numbers[0]]).ending == .exited(1))
        }
    }
}

/// Every line as one JSON object.
func jsonLines(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map { line in
        guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
            throw Story("no JSON object: \(line)")
        }
        return object
    }
}
