import Foundation
import Testing

@Suite("Live: the command line", .timeLimit(.minutes(5)))
struct LiveCommandLineTests {
    static let commands: [(Tool, [String])] =
        ["run", "record", "list", "status", "cancel"].map { (.watch, [$0]) }
        + ["run", "list", "status", "veto", "delete", "quarantine"].map { (.phone, [$0]) }

    @Test("--help and --version of every command: 0, on standard output, and nothing is made")
    func helpAndVersion() async throws {
        try await withPair { pair in
            for (tool, command) in Self.commands + [(.watch, []), (.phone, [])] {
                for option in ["--help", "--version"] {
                    // Without --home and --spool: those go with a command.
                    let child = try Child(
                        try tool.executable, command + [option], logs: "\(pair.logs)/help")
                    #expect(try await child.end() == .exited(0), "\(tool) \(command) \(option)")
                    #expect(child.output.contains(tool.rawValue))
                    #expect(child.talk.isEmpty)
                }
            }
            #expect(!Disk.isThere(pair.root + "/pair"))
        }
    }

    @Test("what is not understood: 64, the reason on standard error, and nothing is made")
    func usage() async throws {
        try await withPair { pair in
            let wrong: [(Tool, [String])] =
                Self.commands.map { ($0, $1 + ["--nonsense"]) } + [
                    (.watch, ["run", "--patience", "soon"]), (.watch, ["run", "--patience"]),
                    (.watch, ["run", "--timeout", "1s"]), (.phone, ["run", "--timeout", "1s"]),
                    (.watch, ["run", "--retry-first", "0"]), (.watch, ["record", "--count", "3"]),
                    (.watch, ["cancel", "no-id"]), (.watch, ["cancel"]), (.phone, ["veto"]),
                    (.phone, ["quarantine", "burn"]), (.phone, ["quarantine", "retry"]), (.watch, ["launch"]),
                    (.phone, ["launch"]),
                ]
            for (tool, arguments) in wrong {
                let result = try await pair.run(tool, arguments)
                #expect(result.ending == .exited(64), "\(tool.rawValue) \(arguments): \(result.talk)")
                #expect(!result.talk.isEmpty && result.output.isEmpty)
            }
            #expect(!Disk.isThere(pair.root + "/pair"))
        }
    }

    @Test("a veto for what is no id is refused before anything is written")
    func vetoOfNoID() async throws {
        try await withPair { pair in
            try await pair.run(.phone, ["run", "--until-drained"])
            for text in ["../../etc/passwd", "01arz3ndektsv4rrffq69g5fav", "81ARZ3NDEKTSV4RRFFQ69G5FAV", ""] {
                let result = try await pair.run(.phone, ["veto", text])
                #expect(result.ending != .exited(0), "\(text): \(result.output)")
            }
            #expect(Disk.names(pair.phoneHome + "/vetoes") == [])
        }
    }

    @Test("list and status speak JSON, one object a line, and agree with the disk")
    func json() async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.5", "--count", "3", "--tz", "Europe/Berlin"])
            let watch = try pair.startWatch()
            try await pair.eventually("all are sent") { try pair.count("enqueued", .watch) == 3 }
            let listed = try await pair.run(.watch, ["list", "--json"])
            let recordings = try jsonLines(listed.output)
            #expect(recordings.compactMap { $0["id"] as? String }.sorted() == ids.sorted())
            #expect(recordings.allSatisfy { $0["state"] as? String == "outstanding" })
            #expect(recordings.allSatisfy { $0["duration"] as? Double == 0.5 })
            #expect(listed.talk.isEmpty)
            let status = try jsonLines(try await pair.run(.watch, ["status", "--json"]).output)
            #expect(status.count == 1)
            #expect(status.first?["recordings"] as? Int == 3)
            #expect((status.first?["holder"] as? String)?.contains("\(watch.pid)") == true)

            try pair.startPhone()
            try await pair.eventually("all are through") { pair.watchIDs.isEmpty }
            let notes = try jsonLines(try await pair.run(.phone, ["list", "--json"]).output)
            #expect(notes.compactMap { $0["id"] as? String }.sorted() == ids.sorted())
            for note in notes {
                #expect(note["state"] as? String == "ingested" && note["tz"] as? String == "Europe/Berlin")
                let path = pair.phoneHome + "/" + (note["path"] as? String ?? "?")
                #expect(try Disk.bytes(path).count == note["byteCount"] as? Int)
            }
            let phoneStatus = try jsonLines(try await pair.run(.phone, ["status", "--json"]).output)
            #expect(phoneStatus.count == 1 && phoneStatus.first?["ingestedCount"] as? Int == 3)
            #expect(try jsonLines(try await pair.run(.phone, ["quarantine", "list", "--json"]).output).isEmpty)
        }
    }

    @Test("looking makes nothing: status and list of a pair that is not there")
    func lookingMakesNothing() async throws {
        try await withPair { pair in
            for tool in [Tool.watch, .phone] {
                for command in ["list", "status"] {
                    let result = try await pair.run(tool, [command])
                    #expect(result.ending != .exited(70) && result.ending != .exited(64), "\(result.talk)")
                    if result.ending != .exited(0) {
                        #expect(result.talk.contains(pair.home(tool)), "\(result.talk)")
                    }
                }
            }
            #expect(!Disk.isThere(pair.root + "/pair"))
        }
    }

    @Test("a home of a newer format is refused untouched: 65", arguments: [Tool.watch, .phone])
    func newerFormat(_ tool: Tool) async throws {
        try await withPair { pair in
            let first = try pair.start(tool, ["run"])
            try await pair.eventually("it runs") { try pair.count("started", tool) == 1 }
            try await first.terminate()
            let path = pair.home(tool) + "/format"
            let text = String(decoding: try Disk.bytes(path), as: UTF8.self)
            try Disk.write(Data(text.replacingOccurrences(of: "1", with: "999").utf8), to: path)
            let before = Disk.tree(pair.root + "/pair").map { Disk.portrait(pair.root + "/pair/" + $0) }
            let result = try await pair.run(tool, ["run"])
            #expect(result.ending == .exited(65), "\(result.talk)")
            #expect(result.talk.contains(pair.home(tool)))
            #expect(Disk.tree(pair.root + "/pair").map { Disk.portrait(pair.root + "/pair/" + $0) } == before)
        }
    }
}
