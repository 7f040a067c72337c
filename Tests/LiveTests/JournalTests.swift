import Foundation
import Testing

@Suite("Live: the journal", .timeLimit(.minutes(5)))
struct LiveJournalTests {
    @Test("intends ingested, did ingested, did acked, and on the watch intends deleted before did deleted")
    func causalOrder() async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.1", "--count", "12"])
            try await pair.drain()
            let phone = try pair.journal(.phone)
            let watch = try pair.journal(.watch)
            for id in ids {
                func index(_ lines: [TestPair.Line], _ event: String, _ phase: String = "did") throws -> Int {
                    guard let index = lines.firstIndex(where: { $0.id == id && $0.event == event && $0.phase == phase })
                    else { throw Story("\(id): no \(phase) \(event)") }
                    return index
                }
                let phoneOrder = [
                    try index(phone, "taken"), try index(phone, "staged"), try index(phone, "ingested", "intends"),
                    try index(phone, "ingested"), try index(phone, "acked", "intends"), try index(phone, "acked"),
                ]
                #expect(phoneOrder == phoneOrder.sorted(), "\(id)")
                let watchOrder = [
                    try index(watch, "found"), try index(watch, "enqueued"), try index(watch, "ackReceived"),
                    try index(watch, "deleted", "intends"), try index(watch, "deleted"),
                ]
                #expect(watchOrder == watchOrder.sorted(), "\(id)")
            }
        }
    }

    @Test("a journal that cannot be written stops nothing", arguments: [Tool.watch, .phone])
    func brokenJournal(_ tool: Tool) async throws {
        try await withPair { pair in
            let ids = try await pair.record(["--seconds", "0.1", "--count", "3"])
            try FileManager.default.createDirectory(
                atPath: pair.phoneHome, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            // Where the journal's folder should be lies a file.
            try Disk.write(Data("in the way".utf8), to: pair.home(tool) + "/journal")
            try pair.startWatch()
            try pair.startPhone()
            try await pair.eventually("all are through") { pair.watchIDs.isEmpty }
            #expect(pair.container.keys.sorted() == ids.sorted())
            #expect(try Disk.bytes(pair.home(tool) + "/journal") == Data("in the way".utf8))
        }
    }
}
