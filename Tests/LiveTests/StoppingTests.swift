import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// "Within a second plus the system call in progress", and as much again for a machine that is busy with other tests.
private let stopLimit = Duration.seconds(2)

@Suite("Live: stopping", .timeLimit(.minutes(5)))
struct StoppingTests {
    @Test("idle: SIGTERM gives 143 and SIGINT 130, within a second", arguments: [Tool.watch, .phone])
    func idle(_ tool: Tool) async throws {
        try await withPair(alone: true) { pair in
            for (number, (signal, code)) in [(SIGTERM, 143), (SIGINT, 130)].enumerated() {
                let daemon = try pair.start(tool, ["run"])
                try await pair.eventually("it runs") { try pair.count("started", tool) == number + 1 }
                // Let it fall asleep: what is tested is that the signal wakes it.
                try await Task.sleep(for: .milliseconds(100))
                daemon.send(signal)
                #expect(try await daemon.end(within: stopLimit) == .exited(Int32(code)))
                #expect(try pair.journal(tool).last?.event == "stopped")
            }
        }
    }

    @Test(
        "in the middle of 512 MiB, on the watch and on the phone: 143, nothing half under a final name, and it goes on")
    func inTheMiddle() async throws {
        try await withPair(alone: true) { pair in
            let source = pair.root + "/long.ogg"
            try makeLongFile(source, byteCount: 512 << 20)
            let ids = try await pair.record(["--duration", "3h", source])

            let firstWatch = try pair.startWatch(["--patience", "1m"])
            try await pair.eventually("the copy has begun") { pair.queueToPhone.contains { $0.hasSuffix(".part") } }
            firstWatch.send(SIGTERM)
            #expect(try await firstWatch.end(within: stopLimit) == .exited(143))
            // Had the copy been through by then, this would have shown nothing.
            #expect(pair.queueToPhone == [], "nothing under a final name, and its own temporary is swept")

            let watch = try pair.startWatch(["--patience", "1m", "--retry-first", "1m"])
            try await pair.eventually("it is sent after the restart") { try pair.count("enqueued", .watch) == 1 }

            let firstPhone = try pair.startPhone()
            try await pair.eventually("it is in staging") { !Disk.names(pair.phoneHome + "/staging").isEmpty }
            firstPhone.send(SIGTERM)
            #expect(try await firstPhone.end(within: stopLimit) == .exited(143))
            #expect(pair.container.isEmpty && pair.queueToWatch == [])
            #expect(pair.watchIDs == ids)

            try pair.startPhone()
            try await pair.eventually("it goes on after the restart") { pair.watchIDs.isEmpty }
            #expect(try await watch.terminate() == .exited(143))
            let path = try #require(pair.container[ids[0]]?.first)
            #expect(try isSame(path, source))
            // One copy, watch to spool: the phone moved what it had and asked for no second one.
            #expect(try pair.count("enqueued", .watch) == 1)
        }
    }

    @Test("record ends on a signal, and leaves nothing under a final name that it did not tell")
    func record() async throws {
        try await withPair { pair in
            let source = pair.root + "/long.ogg"
            try makeLongFile(source, byteCount: 256 << 20)
            let recorder = try pair.start(.watch, ["record", "--duration", "3h", source])
            try await pair.eventually("it writes") {
                Disk.names(pair.watchHome + "/recordings").contains { $0.hasSuffix(".part") }
            }
            recorder.send(SIGTERM)
            #expect(try await recorder.end(within: stopLimit) != .exited(0))
            #expect(pair.watchIDs == [] && recorder.output.isEmpty)
            // The next start sweeps what it left.
            let watch = try pair.startWatch()
            try await pair.eventually("it runs") { try pair.count("started", .watch) == 1 }
            #expect(pair.temporaries == [])
            try await watch.terminate()
        }
    }

    /// Mostly a hole, with something to compare at both ends and in the middle.
    private func makeLongFile(_ path: String, byteCount: Int) throws {
        try Disk.write(Data("the beginning".utf8), to: path)
        guard let handle = FileHandle(forWritingAtPath: path) else { throw Story("cannot open \(path)") }
        for offset in [byteCount / 2, byteCount - 7] {
            try handle.seek(toOffset: UInt64(offset))
            try handle.write(contentsOf: Data("the end".utf8))
        }
        try handle.close()
    }

    private func isSame(_ one: String, _ other: String) throws -> Bool {
        guard let left = FileHandle(forReadingAtPath: one), let right = FileHandle(forReadingAtPath: other) else {
            throw Story("cannot open \(one) and \(other)")
        }
        while true {
            let slice = try left.read(upToCount: 4 << 20)
            guard try right.read(upToCount: 4 << 20) == slice else { return false }
            guard let slice, !slice.isEmpty else { return true }
        }
    }
}
