import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The moments of the kills are a function of the seed, as far as a real machine lets them be.
struct SeededBits {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    mutating func bytes(_ count: Int) -> Data {
        var data = Data(capacity: count)
        for _ in 0..<count { data.append(UInt8(truncatingIfNeeded: next())) }
        return data
    }
}

@Suite("Live: killed again and again", .timeLimit(.minutes(5)))
struct StormTests {
    /// Each round records five notes while both daemons run, and kills one or both of them, at times the recorder too.
    @Test("kill -9 of either, or both, at 45 moments, while 225 notes cross: each is there once, byte for byte")
    func storm() async throws {
        try await withPair { pair in
            var bits = SeededBits(state: 2026)
            var originals: [String: Data] = [:]
            var bodies: Set<Data> = []
            var watch = try pair.startWatch(["--quiet"])
            var phone = try pair.startPhone(["--quiet"])
            var kills = 0
            for round in 0..<45 {
                let files = try (0..<5).map { index in
                    let path = "\(pair.root)/\(round)-\(index).bin"
                    let bytes = bits.bytes(1 + bits.below(3_000))
                    bodies.insert(bytes)
                    try Disk.write(bytes, to: path)
                    return path
                }
                let recorder = try pair.start(.watch, ["record", "--duration", "1s"] + files)
                try await Task.sleep(for: .milliseconds(bits.below(60)))
                let victims = bits.below(3)
                if victims != 0 {
                    watch.send(SIGKILL)
                    _ = try await watch.end()
                    kills += 1
                }
                if victims != 1 {
                    phone.send(SIGKILL)
                    _ = try await phone.end()
                    kills += 1
                }
                if bits.below(6) == 0 {
                    recorder.send(SIGKILL)
                    kills += 1
                }
                let ending = try await recorder.end()
                #expect(ending == .exited(0) || ending == .killed(SIGKILL), "\(recorder.talk)")
                // Told, so durable. An id may be cut short by the kill.
                let told = recorder.output.split(separator: "\n").map(String.init).filter { $0.utf8.count == 26 }
                for (id, file) in zip(told, files) { originals[id] = try Disk.bytes(file) }
                if victims != 0 { watch = try pair.startWatch(["--quiet"]) }
                if victims != 1 { phone = try pair.startPhone(["--quiet"]) }
            }
            #expect(kills >= 45)
            try await pair.eventually("all are through", within: .seconds(60)) { pair.watchIDs.isEmpty }
            // The last round may have started one this very moment, before it has taken its signals over: then the kernel
            // ends it, which a shell shows as 143 too.
            let ends: [Ending] = [.exited(143), .killed(SIGTERM)]
            let watchEnd = try await watch.terminate()
            let phoneEnd = try await phone.terminate()
            #expect(ends.contains(watchEnd), "\(watchEnd) \(tail(watch.talk))")
            #expect(ends.contains(phoneEnd), "\(phoneEnd) \(tail(phone.talk))")
            try await pair.drain()

            let container = pair.container
            for (id, original) in originals {
                #expect(try pair.ingestedBytes(id) == original)
            }
            // A killed recorder may have published what it did not tell: there once too, and some original's bytes.
            for (id, paths) in container {
                #expect(paths.count == 1, "\(id) is there \(paths.count) times")
                #expect(bodies.contains(try pair.ingestedBytes(id)))
            }
            #expect(originals.count >= 150, "most recorders were left alone")
            #expect(pair.watchIDs == [] && pair.queueToPhone == [] && pair.queueToWatch == [])
            #expect(pair.temporaries == [])
            #expect(pair.quarantine(.watch) == [] && pair.quarantine(.phone) == [])
            #expect(Disk.names(pair.phoneHome + "/inbox") == [] && Disk.names(pair.phoneHome + "/staging") == [])
        }
    }
}
