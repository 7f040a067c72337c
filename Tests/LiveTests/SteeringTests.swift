import Foundation
import LinkFaults
import Testing
import WireContract

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("Live: steered by the file of --link", .timeLimit(.minutes(5)))
struct SteeringTests {
    private func put(_ file: LinkFile, _ pair: TestPair) throws -> String {
        let path = pair.root + "/link.json5"
        try Disk.write(Data(file.text.utf8), to: path + ".new")
        guard rename(path + ".new", path) == 0 else { throw Story("cannot rename \(path)") }
        return path
    }

    private func die(_ number: Int, isFresh: Bool = false, _ point: DiePoint) -> LinkFile {
        LinkFile(plan: .clean, die: DieOrder(side: .phone, number: number, isFresh: isFresh, point: point))
    }

    @Test(
        "a phone that is told to dies before its first publish into the container, with the note in staging; it drains after"
    )
    func death() async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.1", "--count", "1"])
            let into = DiePoint.before(.publish, pathContaining: "container/")
            // An order that a start finds is not for it, unless it says so.
            let link = try put(die(1, into), pair)
            let first = try pair.startPhone(["--link", link])
            try pair.startWatch(["--link", link])
            try await pair.eventually("the watch is empty") { pair.watchIDs.isEmpty }
            #expect(first.poll() == nil && pair.container.keys.sorted() == ids)

            // One that comes while it runs is.
            _ = try put(die(2, into), pair)
            let more = try await pair.record(["--seconds", "0.1", "--count", "1"])
            #expect(try await first.end() == .killed(SIGKILL))
            #expect(pair.container.keys.sorted() == ids)
            #expect(Disk.names(pair.phoneHome + "/staging").contains { $0.hasPrefix(more[0]) })

            // A fresh process obeys what is for fresh ones, at its first call even.
            _ = try put(die(3, isFresh: true, .beforeCall(1)), pair)
            let second = try await pair.run(.phone, ["run", "--link", link])
            #expect(second.ending == .killed(SIGKILL) && second.talk.isEmpty, "\(second.talk)")

            _ = try put(LinkFile(plan: .clean), pair)
            try pair.startPhone(["--link", link])
            try await pair.eventually("the watch is empty") { pair.watchIDs.isEmpty }
            #expect(pair.container.keys.sorted() == (ids + more).sorted())
        }
    }

    @Test("a file that is renamed into place is followed at once: twenty changes take no twenty looks")
    func atOnce() async throws {
        try await withPair { pair in
            let phone = try pair.startPhone(["--link", try put(LinkFile(plan: .clean), pair)])
            try await pair.eventually("the phone runs") { try pair.count("started", .phone) == 1 }
            let start = ContinuousClock.now
            // Each is put right behind the look at the one before, so by looks alone they would take nineteen seconds.
            for number in 1...20 {
                let path = pair.root + "/link.json5"
                try Disk.write(Data("{ change: \(number) }".utf8), to: path + ".new")
                #expect(rename(path + ".new", path) == 0)
                try await pair.eventually("change \(number) is told") { try pair.count("failed", .phone) == number }
            }
            #expect(ContinuousClock.now - start < .seconds(15))
            #expect(phone.talk.contains("link.json5: change: found the unknown key"), "\(phone.talk)")
        }
    }

    @Test(
        "a small disk of the file's: a phone that finds none waits for room, record is refused, and with room all goes on"
    )
    func disks() async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "1", "--count", "3"])
            let full = [pair.watchHome, pair.phoneHome].map { DiskLimit(paths: [$0], byteCount: 0) }
            let link = try put(LinkFile(plan: .clean, disks: full), pair)
            let refused = try await pair.run(.watch, ["record", "--seconds", "1", "--link", link])
            #expect(refused.ending == .exited(74) && refused.talk.contains("no space left"), "\(refused.talk)")
            #expect(pair.watchIDs == ids.sorted() && pair.temporaries == [])
            let phone = try pair.startPhone(["--link", link])
            try await pair.eventually("the phone says so") { phone.talk.contains("no space left") }
            _ = try put(LinkFile(plan: .clean), pair)
            try pair.startWatch(["--link", link])
            try await pair.eventually("the watch is empty") { pair.watchIDs.isEmpty }
            #expect(pair.container.keys.sorted() == ids.sorted() && phone.poll() == nil)
        }
    }

    @Test("record makes the ids of a run, and takes the wall clock for what it is told")
    func replaying() async throws {
        try await withPair { pair in
            let run = ["--seconds", "0.1", "--run-seed", "0x51"]
            let ids = try await pair.record(run + ["--count", "3"])
            let later = try await pair.record(run + ["--count", "2", "--first-ordinal", "65534"])
            let old = try await pair.record(run + ["--first-ordinal", "9", "--clock-offset", "-365d"])
            for (id, ordinal) in zip(ids + later + old, [1, 2, 3, 65_534, 65_535, 9]) {
                let ulid = try #require(ULID(id))
                let same = ULID(millisecondsSince1970: ulid.high >> 16, ordinal: ordinal, seed: 0x51)
                #expect(ulid == same && ulid.ordinal == ordinal)
            }
            let days = try [ids[2], old[0]].map { try #require(ULID($0)).high >> 16 }.map { $0 / 86_400_000 }
            #expect((364...366).contains(days[0] - days[1]))
            let usages = [
                ["--first-ordinal", "2"], ["--run-seed", "1", "--first-ordinal", "65535", "--count", "2"],
                ["--run-seed", "1", "--first-ordinal", "0"], ["--clock-offset", "yesterday"],
            ]
            for arguments in usages {
                let result = try await pair.run(.watch, ["record", "--seconds", "0.1"] + arguments)
                #expect(result.ending == .exited(64), "\(arguments): \(result.talk)")
            }
            #expect(pair.watchIDs.count == 6)
        }
    }

    @Test("the help says what replays and steers, in sections of its own")
    func help() async throws {
        try await withPair { pair in
            let record = try await pair.run(.watch, ["record", "--help"]).output
            let replaying = try #require(record.components(separatedBy: "Replaying").last)
            for option in ["--run-seed N", "--first-ordinal K", "--clock-offset T", "--link FILE"] {
                #expect(replaying.contains(option), "\(record)")
            }
            for tool in [Tool.watch, .phone] {
                let run = try await pair.run(tool, ["run", "--help"]).output
                let link = try #require(run.components(separatedBy: "The link").last)
                #expect(link.contains("--link FILE") && link.contains("steers"), "\(run)")
            }
        }
    }
}
