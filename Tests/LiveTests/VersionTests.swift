import Foundation
import Testing

@Suite("Live: old and new builds", .timeLimit(.minutes(5)))
struct VersionTests {
    @Test("a payload of the future waits unacked, once, and is ingested by a build that understands it")
    func futurePayload() async throws {
        try await withPair { pair in
            let old = try await pair.record(["--seconds", "0.2"])
            let new = try await pair.record(["--seconds", "0.2", "--payload-version", "2"])
            let body = try pair.recordedBody(new[0])
            try pair.startWatch()
            let phone = try pair.startPhone()
            try await pair.eventually("the old one is through") { pair.watchIDs == new }
            // Sent again and again, and still once in staging.
            try await pair.eventually("the new one was sent three times") {
                try pair.count("taken", .phone, id: new[0]) >= 3
            }
            #expect(Disk.names(pair.phoneHome + "/staging").filter { $0.hasPrefix(new[0]) }.count == 1)
            #expect(pair.container.keys.sorted() == old)
            #expect(try pair.count("acked", .phone, id: new[0]) == 0)
            #expect(pair.watchIDs == new)
            try await phone.terminate()

            // The watch is gone; what waits in staging is ingested from there.
            let status = try await pair.run(.phone, ["list", "--json"])
            #expect(try jsonLines(status.output).contains { $0["state"] as? String != "ingested" })
            try pair.startPhone(["--understands", "2"])
            try await pair.eventually("the new build acks it") { pair.watchIDs.isEmpty }
            #expect(try pair.ingestedBytes(new[0]) == body)
            #expect(Disk.names(pair.phoneHome + "/staging") == [])
        }
    }

    @Test("a new build ingests from staging what waited there, with no watch in sight")
    func ingestsFromStagingAlone() async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.2", "--payload-version", "2"])
            let body = try pair.recordedBody(ids[0])
            let watch = try pair.startWatch()
            let phone = try pair.startPhone()
            try await pair.eventually("it waits") { try pair.count("waits", .phone) >= 1 }
            try await watch.terminate()
            try await phone.terminate()
            for entry in pair.queueToPhone {
                try FileManager.default.removeItem(atPath: "\(pair.spool)/to-phone/\(entry)")
            }
            let result = try await pair.run(
                .phone, ["run", "--understands", "2", "--until-drained", "--timeout", "30s"])
            #expect(result.ending == .exited(0), "\(result.talk)")
            #expect(try pair.ingestedBytes(ids[0]) == body)
        }
    }

    @Test("an ack of the future deletes nothing and is set aside; a watch that understands it drains")
    func futureAck() async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.1", "--count", "2"])
            let watch = try pair.startWatch()
            try pair.startPhone(["--ack-version", "2"])
            try await pair.eventually("both are ingested") { pair.container.count == 2 }
            try await pair.eventually("both acks are set aside") { pair.quarantine(.watch).count >= 2 }
            #expect(pair.watchIDs == ids.sorted())
            #expect(try pair.count("deleted", .watch) == 0)
            try await watch.terminate()
            let result = try await pair.run(
                .watch,
                ["run", "--understands", "2", "--retry-first", "300ms", "--until-drained", "--timeout", "30s"])
            #expect(result.ending == .exited(0), "\(result.talk)")
            #expect(pair.container.count == 2)
        }
    }
}
