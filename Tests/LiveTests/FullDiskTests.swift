import Foundation
import Testing

@Suite("Live: full disks", .timeLimit(.minutes(5)), .enabled(if: Mounts.canMount, Mounts.why))
struct FullDiskTests {
    @Test(
        "all on one disk of 32 MiB that recordings fill: record says 74 and leaves nothing, and the pair drains by itself"
    )
    func oneDiskForAll() async throws {
        try await withSmallDisk(mebibytes: 32) { disk in
            try await withPair { pair in
                pair.watchHome = disk + "/watch"
                pair.phoneHome = disk + "/phone"
                pair.spool = disk + "/spool"
                // A long one first: what comes behind it must not take the room that its copy needs.
                let long = try await pair.record(["--seconds", "262.144"])
                // 1 MiB each; more than there is room for.
                let result = try await pair.run(.watch, ["record", "--seconds", "65.536", "--count", "40"])
                #expect(result.ending == .exited(74), "\(result.talk)")
                #expect(result.talk.contains("no space left") && result.talk.contains("make room"))
                let ids = long + result.lines
                #expect(ids.count > 15 && ids.count < 40, "\(ids.count) of 1 MiB on 32 MiB")
                #expect(pair.watchIDs == ids.sorted(), "what was not told is not there")
                #expect(Disk.tree(disk).filter { $0.hasSuffix(".part") } == [])
                let body = try pair.recordedBody(ids[1])

                try pair.startWatch(["--retry-first", "5s"])
                try pair.startPhone()
                try await pair.eventually("it drains by itself", within: .seconds(60)) { pair.watchIDs.isEmpty }
                #expect(pair.container.keys.sorted() == ids.sorted())
                for id in ids.dropFirst() { #expect(try pair.ingestedBytes(id) == body) }
            }
        }
    }

    @Test(
        "the phone's disk is full: nothing is acked, the watch keeps all, and with room again it goes on",
        arguments: [false, true])
    func phoneDisk(fullAtStart: Bool) async throws {
        try await withSmallDisk(mebibytes: 8) { disk in
            try await withPair { pair in
                pair.phoneHome = disk + "/phone"
                if fullAtStart { try fill(disk + "/filler") }
                let ids = try await pair.record(["--seconds", "3", "--count", "6"])
                let bodies = try ids.map { try pair.recordedBody($0) }
                let phone = try pair.startPhone()
                if !fullAtStart {
                    try await pair.eventually("the phone runs") { try pair.count("started", .phone) == 1 }
                    try fill(disk + "/filler")
                }
                let watch = try pair.startWatch()
                try await pair.eventually("all are sent, some again") {
                    try pair.count("enqueued", .watch) + pair.count("requeued", .watch) > ids.count
                }
                try await pair.eventually("the phone says what is wrong and what to do") {
                    phone.talk.contains("no space left") && phone.talk.contains("make room")
                }
                #expect(pair.watchIDs == ids.sorted())
                #expect(pair.queueToWatch == [] && pair.container.isEmpty)
                #expect(try pair.count("deleted", .watch) == 0)
                #expect(phone.poll() == nil && watch.poll() == nil)

                try FileManager.default.removeItem(atPath: disk + "/filler")
                try await pair.eventually("it goes on by itself", within: .seconds(60)) { pair.watchIDs.isEmpty }
                for (id, body) in zip(ids, bodies) { #expect(try pair.ingestedBytes(id) == body) }
                #expect(phone.poll() == nil && watch.poll() == nil)
            }
        }
    }

    @Test(
        "the disk of the watch and the spool is full to the last block: nothing is lost, and with room again it goes on"
    )
    func watchDisk() async throws {
        try await withSmallDisk(mebibytes: 8) { disk in
            try await withPair { pair in
                pair.watchHome = disk + "/watch"
                pair.spool = disk + "/spool"
                let ids = try await pair.record(["--seconds", "30", "--count", "4"])
                try fill(disk + "/filler")
                let refused = try await pair.run(.watch, ["record", "--seconds", "30"])
                #expect(refused.ending == .exited(74) && refused.output.isEmpty, "\(refused.talk)")
                let watch = try pair.startWatch()
                let phone = try pair.startPhone()
                try await pair.eventually("the watch says so") { watch.talk.contains("make room") }
                try await pair.eventually("so does the phone") { phone.talk.contains("make room") }
                #expect(pair.watchIDs == ids.sorted() && pair.container.isEmpty)
                #expect(watch.poll() == nil && phone.poll() == nil)
                try FileManager.default.removeItem(atPath: disk + "/filler")
                try await pair.eventually("it goes on by itself", within: .seconds(60)) { pair.watchIDs.isEmpty }
                #expect(pair.container.keys.sorted() == ids.sorted())
            }
        }
    }
}
