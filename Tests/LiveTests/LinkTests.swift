import Foundation
import Testing

@Suite("Live: a link that loses", .timeLimit(.minutes(5)))
struct LinkTests {
    private static let quick = ["--retry-first", "100ms", "--retry-cap", "400ms", "--patience", "500ms"]

    @Test("30 % loss each way: forty notes cross byte for byte, and transfers were really lost both ways")
    func lossyLink() async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.05", "--count", "40"])
            var originals: [String: Data] = [:]
            for id in ids { originals[id] = try pair.recordedBody(id) }
            try pair.startPhone(["--loss", "0.3", "--seed", "7"])
            try pair.startWatch(Self.quick + ["--loss", "0.3", "--seed", "7"])
            try await pair.eventually("the watch is empty") { pair.watchIDs.isEmpty }
            #expect(pair.container.keys.sorted() == ids.sorted())
            for id in ids { #expect(try pair.ingestedBytes(id) == originals[id]) }
            #expect(try pair.count("lostByLink", .phone) > 0)
            #expect(try pair.count("lostByLink", .watch) > 0)
        }
    }

    @Test("a link file is followed while it changes; a malformed one is told, and at a start it is exit 65")
    func linkFile() async throws {
        try await withPair { pair in
            let file = pair.root + "/link.json5"
            try Data("{ toPhone: { drop: 1 } }".utf8).write(to: URL(fileURLWithPath: file))
            let ids = try await pair.record(["--seconds", "0.05", "--count", "3"])
            try pair.startPhone(["--link", file])
            try pair.startWatch(Self.quick + ["--link", file])
            try await pair.eventually("a transfer is lost") { (try? pair.count("lostByLink", .phone)) ?? 0 > 0 }
            #expect(pair.container.isEmpty && pair.watchIDs == ids.sorted())
            try Data("{ toPhone: { drop: 0 } }".utf8).write(to: URL(fileURLWithPath: file))
            try await pair.eventually("the watch is empty") { pair.watchIDs.isEmpty }
            #expect(pair.container.keys.sorted() == ids.sorted())

            try Data("{ toPhone: { dorp: 1 } }".utf8).write(to: URL(fileURLWithPath: file))
            let result = try await pair.run(.phone, ["run", "--link", file])
            #expect(result.ending == .exited(65))
            #expect(result.talk.contains("toPhone.dorp") && result.talk.contains("drop"))
        }
    }
}
