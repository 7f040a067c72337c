import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("Live: what cannot be a recording", .timeLimit(.minutes(5)))
struct BadRecordingTests {
    static let good = Products.audioFolder + "/wrist-8k.wav"

    struct Bad: Sendable, CustomTestStringConvertible {
        let name: String
        let code: Int32
        /// What the message must say besides the path.
        let says: String
        let make: @Sendable (_ path: String) throws -> Void
        var testDescription: String { name }
    }

    static let all: [Bad] = [
        Bad(name: "missing.wav", code: 74, says: "no such file") { _ in },
        Bad(name: "directory.wav", code: 65, says: "directory") { mkdir($0, 0o700) },
        Bad(name: "file/inside.wav", code: 74, says: "not a directory") {
            let file = String($0.dropLast("/inside.wav".utf8.count))
            try Disk.write(Data([1]), to: file)
        },
        Bad(name: "empty.wav", code: 65, says: "empty") { try Disk.write(Data(), to: $0) },
        Bad(name: "fifo.wav", code: 65, says: "FIFO") { mkfifo($0, 0o600) },
        Bad(name: "broken.wav", code: 65, says: "broken wav") {
            try Disk.write(Disk.bytes(good).prefix(12) + Data(repeating: 0xff, count: 400), to: $0)
        },
        Bad(name: "broken.m4a", code: 65, says: "broken m4a") {
            var bytes = try Disk.bytes(Products.audioFolder + "/index-first.m4a")
            // The movie header's time scale, and so the duration, becomes nothing.
            guard let header = bytes.range(of: Data("mvhd".utf8)) else { throw Story("no mvhd") }
            bytes.replaceSubrange(header.upperBound + 12..<header.upperBound + 16, with: Data(count: 4))
            try Disk.write(bytes, to: $0)
        },
        Bad(name: "unknown.ogg", code: 65, says: "--duration") {
            try Disk.write(Disk.bytes(Products.audioFolder + "/other.ogg"), to: $0)
        },
    ]

    @Test("between two good ones: named with its reason, not recorded, and the good ones are", arguments: all)
    func betweenGoodOnes(_ bad: Bad) async throws {
        try await withPair { pair in
            let path = pair.root + "/" + bad.name
            try bad.make(path)
            // A FIFO that nobody writes would hold a careless reader for ever: the limit is what catches it.
            let result = try await pair.run(.watch, ["record", Self.good, path, Self.good], within: .seconds(20))
            #expect(result.ending == .exited(bad.code), "\(result.talk)")
            #expect(result.talk.contains(path), "\(result.talk)")
            #expect(result.talk.contains(bad.says), "\(result.talk)")
            #expect(result.lines.count == 2, "ids alone are results: \(result.output)")
            #expect(pair.watchIDs == result.lines.sorted())
            for id in result.lines { #expect(try pair.recordedBody(id) == Disk.bytes(Self.good)) }
            #expect(pair.temporaries == [])
        }
    }

    @Test("all of them on one command line: one good one is recorded, each bad one is named")
    func allAtOnce() async throws {
        try await withPair { pair in
            var paths: [String] = []
            for bad in Self.all {
                paths.append(pair.root + "/" + bad.name)
                try bad.make(paths[paths.count - 1])
            }
            let result = try await pair.run(.watch, ["record"] + paths + [Self.good], within: .seconds(20))
            #expect(result.ending == .exited(74), "one of them could not be read, and that counts more")
            #expect(result.lines.count == 1)
            for path in paths { #expect(result.talk.contains(path)) }
            #expect(pair.watchIDs == result.lines)
        }
    }

    @Test(
        "a file that may not be read", .disabled(if: geteuid() == 0, "root may read every file, so nothing is refused"))
    func unreadable() async throws {
        try await withPair { pair in
            let path = pair.root + "/secret.wav"
            try Disk.write(Disk.bytes(Self.good), to: path, mode: 0)
            let result = try await pair.run(.watch, ["record", path, Self.good])
            #expect(result.ending == .exited(74))
            #expect(result.talk.contains(path) && result.talk.contains("permission"))
            #expect(result.lines.count == 1)
        }
    }

    #if os(Linux)
        @Test("a file whose reads fail: an input/output error, nothing half recorded")
        func readsFail() async throws {
            try await withPair { pair in
                // Its first page is mapped nowhere, so reading it fails; as root it opens all the same.
                let result = try await pair.run(
                    .watch, ["record", "--duration", "1s", "/proc/self/mem", Self.good], within: .seconds(20))
                #expect(result.ending == .exited(74) || result.ending == .exited(65), "\(result.talk)")
                #expect(result.talk.contains("/proc/self/mem"))
                #expect(result.lines.count == 1)
                #expect(pair.temporaries == [])
            }
        }
    #endif

    @Test("nothing to record is a usage error; a home that cannot be made is 73")
    func nothingToRecord() async throws {
        try await withPair { pair in
            #expect(try await pair.run(.watch, ["record"]).ending == .exited(64))
            try Disk.write(Data(), to: pair.root + "/pair")
            let result = try await pair.run(.watch, ["record", Self.good])
            #expect(result.ending == .exited(73), "\(result.talk)")
            #expect(result.talk.contains(pair.root + "/pair"))
            #expect(result.output.isEmpty)
        }
    }
}
