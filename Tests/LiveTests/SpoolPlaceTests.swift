import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("Live: where the spool lies", .timeLimit(.minutes(5)))
struct SpoolPlaceTests {
    private static let otherDisk = "/dev/shm"

    private static let hasOtherDisk: Bool = {
        var here = stat()
        var there = stat()
        return stat(NSTemporaryDirectory(), &here) == 0 && stat(otherDisk, &there) == 0 && here.st_dev != there.st_dev
            && access(otherDisk, W_OK) == 0
    }()

    @Test(
        "a spool on another file system than the homes: one copy more, the same bytes",
        .enabled(if: hasOtherDisk, "there is no second file system at /dev/shm"))
    func anotherFileSystem() async throws {
        try await withPair { pair in
            pair.spool = "\(Self.otherDisk)/\(pair.root.split(separator: "/").last ?? "watchferry-live")"
            let ids = try await pair.record(["--seconds", "5", "--count", "5"])
            let bodies = try ids.map { try pair.recordedBody($0) }
            try pair.startWatch()
            try pair.startPhone()
            try await pair.eventually("all are through") { pair.watchIDs.isEmpty }
            for (id, body) in zip(ids, bodies) { #expect(try pair.ingestedBytes(id) == body) }
            #expect(pair.queueToPhone == [] && Disk.names(pair.phoneHome + "/inbox") == [])
        }
    }

    @Test("a spool that is deleted while both run, and made again by them, is opened anew")
    func deletedWhileRunning() async throws {
        try await withPair { pair in
            let first = try await pair.record(["--seconds", "0.1", "--count", "3"])
            let watch = try pair.startWatch()
            let phone = try pair.startPhone()
            // The acks too: the watch unlinks each behind its recording, and a removal that meets that fails.
            try await pair.eventually("the first are through") { pair.watchIDs.isEmpty && pair.queueToWatch.isEmpty }
            // In one step: the daemons make what is missing again, even in the middle of a slow removal.
            guard rename(pair.spool, pair.root + "/old-spool") == 0 else { throw Story("cannot move the spool away") }
            try FileManager.default.removeItem(atPath: pair.root + "/old-spool")
            let second = try await pair.record(["--seconds", "0.1", "--count", "3"])
            try await pair.eventually("the second are through") { pair.watchIDs.isEmpty }
            #expect(pair.container.keys.sorted() == (first + second).sorted())
            #expect(watch.poll() == nil && phone.poll() == nil)
        }
    }

    @Test("a spool that is deleted with what lies in it, while the phone is down: all is sent again")
    func deletedWithEntries() async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.1", "--count", "3"])
            try pair.startWatch()
            try await pair.eventually("all are sent") { try pair.count("enqueued", .watch) == 3 }
            guard rename(pair.spool, pair.root + "/old-spool") == 0 else { throw Story("cannot move the spool away") }
            try FileManager.default.removeItem(atPath: pair.root + "/old-spool")
            try pair.startPhone()
            try await pair.eventually("all are through") { pair.watchIDs.isEmpty }
            #expect(pair.container.keys.sorted() == ids.sorted())
        }
    }

    @Test("a spool that is deleted while both are down")
    func deletedWhileDown() async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.1", "--count", "3"])
            let watch = try pair.startWatch()
            try await pair.eventually("all are sent") { try pair.count("enqueued", .watch) == 3 }
            try await watch.terminate()
            try FileManager.default.removeItem(atPath: pair.spool)
            try await pair.drain()
            #expect(pair.container.keys.sorted() == ids.sorted())
        }
    }

    @Test("a phone that is exchanged for a new one gets what is still on the watch")
    func newPhone() async throws {
        try await withPair { pair in
            let first = try await pair.record(["--seconds", "0.1", "--count", "2"])
            try await pair.drain()
            #expect(pair.container.keys.sorted() == first.sorted())
            pair.phoneHome = pair.root + "/new-phone"
            let second = try await pair.record(["--seconds", "0.1", "--count", "2"])
            try await pair.drain()
            #expect(pair.container.keys.sorted() == second.sorted())
        }
    }

    #if os(Linux)
        @Test("idle daemons sleep: in five seconds a few wake-ups, and next to none of the processor's time")
        func idle() async throws {
            try await withPair(alone: true) { pair in
                let daemons = [try pair.startWatch(["--retry-first", "10s"]), try pair.startPhone()]
                _ = try await pair.record(["--seconds", "0.1"])
                try await pair.eventually("it is through") { pair.watchIDs.isEmpty }
                try await Task.sleep(for: .milliseconds(300))
                let before = try daemons.map { (try wakeUps($0.pid), try processorTicks($0.pid)) }
                try await Task.sleep(for: .seconds(5))
                for (daemon, before) in zip(daemons, before) {
                    // One look every ten seconds, which may wait for a disk a few times more.
                    #expect(try wakeUps(daemon.pid) - before.0 <= 10, "\(daemon.title)")
                    // Hundredths of a second. Somebody who spins wakes up never: he takes 500 of them.
                    #expect(try processorTicks(daemon.pid) - before.1 <= 10, "\(daemon.title)")
                }
            }
        }

        private func wakeUps(_ pid: pid_t) throws -> Int {
            let status = String(decoding: try Disk.bytes("/proc/\(pid)/status"), as: UTF8.self)
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            guard let count = line?.split(separator: "\t").last.flatMap({ Int($0) }) else { throw Story(status) }
            return count
        }

        private func processorTicks(_ pid: pid_t) throws -> Int {
            let line = String(decoding: try Disk.bytes("/proc/\(pid)/stat"), as: UTF8.self)
            // The program's name stands in brackets and may hold blanks; behind it field 14 is the twelfth.
            let fields = line[(line.lastIndex(of: ")") ?? line.startIndex)...].split(separator: " ").dropFirst()
            guard fields.count > 13, let user = Int(Array(fields)[11]), let system = Int(Array(fields)[12]) else {
                throw Story(line)
            }
            return user + system
        }
    #endif
}
