import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// Whatever lies in the spool: both daemons live and stay small, what is behind it gets through, what is not a plain file of
// ours is left exactly as it was, and nothing is written outside the homes and the spool.

@Suite("Live: an enemy in the spool", .timeLimit(.minutes(5)))
struct EnemyTests {
    /// A place in the queue in front of everything that a daemon sends: start 0, and a number of its own.
    static func name(_ number: Int, _ ending: String, id: String = "01ARZ3NDEKTSV4RRFFQ69G5FAV") -> String {
        let digits = String(number)
        return "0000000000-" + String(repeating: "0", count: 10 - digits.count) + digits + "-deadbeef-\(id)-00001"
            + ending
    }

    /// A pair whose spool was made, with daemons that are stopped again, and a note and an ack of it to copy.
    private func prepared(_ pair: TestPair) async throws -> (note: Data, ack: Data) {
        let ids = try await pair.record(["--seconds", "0.1"])
        let note = try Disk.bytes("\(pair.watchHome)/recordings/\(ids[0]).note")
        let watch = try pair.startWatch()
        try await pair.eventually("it is sent") { try pair.count("enqueued", .watch) == 1 }
        try await watch.terminate()
        let phone = try pair.startPhone()
        try await pair.eventually("it is acked") { pair.queueToWatch.count == 1 }
        try await phone.terminate()
        let ack = try Disk.bytes("\(pair.spool)/to-watch/\(pair.queueToWatch[0])")
        try await pair.drain()
        return (note, ack)
    }

    /// Starts both, records three more, and expects them to cross and both to live and stay small.
    private func crossAndLive(
        _ pair: TestPair, watch extraWatch: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let watch = try pair.startWatch(extraWatch)
        let phone = try pair.startPhone()
        let ids = try await pair.record(["--seconds", "0.1", "--count", "3"])
        try await pair.eventually("what is behind it gets through", within: .seconds(60)) {
            pair.watchIDs.allSatisfy { !ids.contains($0) }
        }
        for id in ids { #expect(pair.container[id]?.count == 1, sourceLocation: sourceLocation) }
        for daemon in [watch, phone] {
            #expect(daemon.poll() == nil, "\(daemon.title): \(tail(daemon.talk))", sourceLocation: sourceLocation)
            #if os(Linux)
                let peak = try peakKibibytes(daemon.pid)
                #expect(peak < 64 * 1_024, "\(daemon.title) took \(peak) KiB", sourceLocation: sourceLocation)
            #endif
        }
    }

    private func peakKibibytes(_ pid: pid_t) throws -> Int {
        let status = String(decoding: try Disk.bytes("/proc/\(pid)/status"), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        guard let peak = line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap({ Int($0) })
        else { throw Story(status) }
        return peak
    }

    @Test("what is no plain file of ours is refused, reported and left alone, in both queues and among the recordings")
    func noPlainFiles() async throws {
        try await withPair { pair in
            _ = try await prepared(pair)
            let victim = pair.root + "/victim"
            try Disk.write(Data("of no concern to the pair".utf8), to: victim)
            var planted: [String] = []
            func plant(_ folder: String, _ name: (Int) -> String) throws {
                var number = 0
                func next() -> String {
                    number += 1
                    planted.append(folder + "/" + name(number))
                    return planted[planted.count - 1]
                }
                symlink("/etc/passwd", next())
                symlink(victim, next())
                symlink(pair.root + "/nowhere", next())
                mkfifo(next(), 0o600)
                mkdir(next(), 0o700)
                link(victim, next())
                try Disk.write(Data("too open".utf8), to: next(), mode: 0o666)
                try makeSocket(next(), in: pair.root)
                if geteuid() == 0 {
                    // A disk and /dev/null: reading the first, or writing either, would be a catastrophe elsewhere.
                    mknod(next(), S_IFCHR | 0o600, makeDevice(1, 3))
                    mknod(next(), S_IFBLK | 0o600, makeDevice(7, 77))
                    let foreign = next()
                    try Disk.write(Data("somebody else's".utf8), to: foreign)
                    chown(foreign, 65_534, 65_534)
                }
            }
            try plant(pair.spool + "/to-phone") { Self.name($0, ".note") }
            try plant(pair.spool + "/to-watch") { Self.name($0, ".ack") }
            // The last of the 26 characters counts up, so that each is another recording's name.
            try plant(pair.watchHome + "/recordings") {
                "01ARZ3NDEKTSV4RRFFQ69G5F" + String(format: "%02d", $0) + ".note"
            }
            let before = planted.map(Disk.portrait)
            #expect(before.count == (geteuid() == 0 ? 33 : 24) && !before.contains("gone"))

            try await crossAndLive(pair)
            #expect(planted.map(Disk.portrait) == before)
            // Met, and by now met again.
            for tool in [Tool.watch, .phone] {
                try await pair.eventually("\(tool) reports them") { try pair.count("refused", tool) >= 8 }
            }
            #expect(planted.map(Disk.portrait) == before)
            #expect(try Disk.bytes(victim) == Data("of no concern to the pair".utf8))
            #expect(pair.quarantine(.phone) == [] && pair.quarantine(.watch) == [])
        }
    }

    @Test("bytes of all kinds as envelopes and acks: set aside with a reason, never ingested, never acted on")
    func allKindsOfBytes() async throws {
        try await withPair { pair in
            let (note, ack) = try await prepared(pair)
            let held = pair.container.keys.sorted()
            var bits = SeededBits(state: 7)
            var number = 0
            for (folder, ending, good) in [("to-phone", ".note", note), ("to-watch", ".ack", ack)] {
                var all: [Data] = [
                    Data(), Data([0]), bits.bytes(64), bits.bytes(70_000), Data(repeating: 0xff, count: 4_096),
                    Data("<?xml version=\"1.0\"?><plist><dict/></plist>".utf8), good.dropLast(), good.dropFirst(),
                    good.prefix(good.count / 2), good + Data([0]), Data(good.suffix(64)),
                    ending == ".note" ? ack : note,
                ]
                // Lengths that overflow, and each byte of the seal in turn.
                for place in 0..<64 {
                    var altered = good
                    altered[altered.count - 64 + place] ^= 0xff
                    all.append(altered)
                }
                // The body (an ack has none, so its dictionary), and the dictionary.
                for place in [0, good.count - 74] {
                    var altered = good
                    altered[place] ^= 1
                    all.append(altered)
                }
                for place in [0, 8] {
                    var huge = good
                    for offset in 0..<8 { huge[huge.count - 64 + place + offset] = 0xff }
                    all.append(huge)
                }
                for bytes in all {
                    number += 1
                    try Disk.write(Data(bytes), to: "\(pair.spool)/\(folder)/\(Self.name(number, ending))")
                }
            }
            try await crossAndLive(pair)
            try await pair.eventually("all are set aside") {
                (pair.queueToPhone + pair.queueToWatch).allSatisfy { !$0.hasPrefix("0000000000-") }
            }
            #expect(pair.quarantine(.phone).count == 80, "each with its reason")
            #expect(pair.quarantine(.watch).count == 80)
            #expect(pair.container.keys.filter { held.contains($0) }.sorted() == held)
            #expect(pair.container.count == held.count + 3, "nothing of it was ingested")
        }
    }

    @Test("names of all kinds, ten thousand of them, in both queues")
    func tenThousandNames() async throws {
        try await withPair { pair in
            _ = try await prepared(pair)
            for folder in ["to-phone", "to-watch"] {
                let base = "\(pair.spool)/\(folder)/"
                // In front of all entries, in the order of names.
                for number in 0..<10_000 {
                    let file = open(base + "!\(number)", O_CREAT | O_WRONLY, 0o600)
                    guard file >= 0 else { throw Story("cannot make \(base)!\(number)") }
                    close(file)
                }
                for name in [
                    "-rf", " ", "\n", "\u{1b}[2J", "...", "a\\b", String(repeating: "x", count: 255), "é", "%s%n",
                    "0000000000-0000000001-deadbeef-01arz3ndektsv4rrffq69g5fav-00001.note", "9999999999-.note",
                    "0000000000-0000000001-deadbeef-............../../../-00001.note".replacingOccurrences(
                        of: "/", with: "_"),
                ] { try Disk.write(Data("x".utf8), to: base + name) }
                // Not even UTF-8.
                let file = ([UInt8](base.utf8) + [0xff, 0xfe, 0x80, 0]).withUnsafeBufferPointer { bytes in
                    bytes.withMemoryRebound(to: CChar.self) { open($0.baseAddress!, O_CREAT | O_WRONLY, 0o600) }
                }
                if file >= 0 { close(file) }
            }
            try await crossAndLive(pair)
            #expect(pair.quarantine(.phone).count <= 1_001, "it keeps within its cap")
            #expect(pair.quarantine(.watch).count <= 1_001)
        }
    }

    @Test("100 MB of garbage, named as an entry, and as an ack")
    func hugeFiles() async throws {
        try await withPair { pair in
            _ = try await prepared(pair)
            for (folder, ending) in [("to-phone", ".note"), ("to-watch", ".ack")] {
                let path = "\(pair.spool)/\(folder)/\(Self.name(1, ending))"
                var bits = SeededBits(state: 5)
                try Disk.write(bits.bytes(65_536), to: path)
                truncate(path, 100_000_000)
            }
            try await crossAndLive(pair)
            try await pair.eventually("both are set aside") {
                pair.quarantine(.phone).count == 1 && pair.quarantine(.watch).count == 1
            }
        }
    }

    @Test("acks of another pairing, for unknown ids, and doubled: nothing is deleted that was not acked")
    func strangeAcks() async throws {
        try await withPair { other in
            let (_, foreignAck) = try await prepared(other)
            try await withPairBeside { pair in
                let (_, ack) = try await prepared(pair)
                let waiting = try await pair.record(["--seconds", "0.1", "--payload-version", "2"])
                let toWatch = pair.spool + "/to-watch/"
                try Disk.write(foreignAck, to: toWatch + Self.name(1, ".ack", id: waiting[0]))
                // A true ack of a recording that is long gone, twice, and under the name of one that is still here.
                for number in 2...3 { try Disk.write(ack, to: toWatch + Self.name(number, ".ack")) }
                try Disk.write(ack, to: toWatch + Self.name(4, ".ack", id: waiting[0]))
                try await crossAndLive(pair)
                try await pair.eventually("all acks are read") {
                    pair.queueToWatch.allSatisfy { !$0.hasPrefix("0000000000-") }
                }
                #expect(pair.watchIDs == waiting, "a name acks nothing; what the ack says counts")
                #expect(try pair.count("strayAck", .watch) >= 3)
                #expect(pair.quarantine(.watch).filter { $0.contains("otherPairing") }.count == 1)
            }
        }
    }

    /// A second pair inside one story, which has its place on the stage already.
    private func withPairBeside(_ body: (TestPair) async throws -> Void) async throws {
        let pair = try TestPair()
        defer { pair.end() }
        try await body(pair)
    }

    private func makeSocket(_ path: String, in folder: String) throws {
        // A socket's address is short; bind where the path is, then move it.
        let short = folder + "/s"
        #if canImport(Darwin)
            let kind = SOCK_STREAM
        #else
            let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(short.utf8) + [0]) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        close(descriptor)
        guard bound == 0, rename(short, path) == 0 else { throw Story("cannot make a socket at \(path)") }
    }

    private func makeDevice(_ major: Int, _ minor: Int) -> dev_t {
        #if canImport(Darwin)
            dev_t(major << 24 | minor)
        #else
            dev_t(major << 8 | minor)
        #endif
    }
}
