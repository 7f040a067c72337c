import Foundation
import Testing

@Suite("Live: recordings cross", .timeLimit(.minutes(5)))
struct CrossingTests {
    @Test("five real recordings and two tones cross byte for byte, and the watch deletes them")
    func realRecordingsCross() async throws {
        try await withPair { pair in
            let files = ["wrist-8k.wav", "reminder-16k.wav", "index-first.m4a", "index-last.m4a"]
                .map { Products.audioFolder + "/" + $0 }
            let ogg = Products.audioFolder + "/other.ogg"
            let ids =
                try await pair.record(files) + pair.record(["--duration", "2s", ogg])
                + pair.record(["--seconds", "1", "--count", "2"])
            #expect(ids.count == 7)
            #expect(Set(ids).count == 7)
            #expect(pair.watchIDs == ids.sorted())
            var originals: [String: Data] = [:]
            for (id, file) in zip(ids, files + [ogg]) { originals[id] = try Disk.bytes(file) }
            for id in ids.suffix(2) { originals[id] = try pair.recordedBody(id) }
            #expect(originals[ids[5]]?.count == 16_044)

            let phone = try pair.startPhone(["--until-drained", "--timeout", "30s"])
            // An idle phone owes nothing. That is its right; it comes back below.
            _ = try await phone.end()
            try await pair.drain()

            #expect(pair.watchIDs == [])
            #expect(pair.container.keys.sorted() == ids.sorted())
            for id in ids { #expect(try pair.ingestedBytes(id) == originals[id]) }
            #expect(pair.container[ids[2]]?[0].hasSuffix("\(ids[2]).m4a") == true)
            #expect(pair.queueToPhone == [] && pair.queueToWatch == [] && pair.temporaries == [])
            #expect(pair.quarantine(.phone) == [] && pair.quarantine(.watch) == [])
        }
    }

    @Test("what is recorded while both run crosses without a restart")
    func recordsWhileRunning() async throws {
        try await withPair { pair in
            try pair.startWatch()
            try pair.startPhone()
            let ids = try await pair.record(["--seconds", "0.1", "--count", "20"])
            try await pair.eventually("the watch is empty") { pair.watchIDs.isEmpty }
            #expect(pair.container.keys.sorted() == ids.sorted())
        }
    }

    @Test("--timeout ends with 2 on the watch while the phone is down, and the recording stays")
    func watchTimesOut() async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.1"])
            let result = try await pair.run(.watch, ["run", "--until-drained", "--timeout", "300ms"])
            #expect(result.ending == .exited(2))
            #expect(result.talk.contains("not drained"))
            #expect(pair.watchIDs == ids)
        }
    }

    @Test("a payload of the future is something owed: the phone's --timeout ends with 2, and nothing is acked")
    func phoneTimesOut() async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.1", "--payload-version", "2"])
            try pair.startWatch()
            try await pair.eventually("it is sent") { !pair.queueToPhone.isEmpty }
            let result = try await pair.run(.phone, ["run", "--until-drained", "--timeout", "500ms"])
            #expect(result.ending == .exited(2), "\(result.talk)")
            #expect(pair.watchIDs == ids && pair.container.isEmpty && pair.queueToWatch == [])
            #expect(try pair.count("waits", .phone, id: ids[0]) >= 1)
        }
    }

    @Test("the watch drains by itself once the phone is there, and both end with 0")
    func bothUntilDrained() async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.1", "--count", "3"])
            let watch = try pair.startWatch(["--until-drained", "--timeout", "60s"])
            try await pair.eventually("all are sent") {
                pair.queueToPhone.filter { $0.hasSuffix(".note") }.count == 3
            }
            let phone = try await pair.run(.phone, ["run", "--until-drained", "--timeout", "60s"])
            #expect(phone.ending == .exited(0), "\(phone.talk)")
            #expect(try await watch.end() == .exited(0))
            #expect(pair.container.keys.sorted() == ids.sorted())
        }
    }
}
