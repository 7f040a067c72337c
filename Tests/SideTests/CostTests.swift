import Simulation
import Spooling
import Testing

/// What a note costs, in calls through the seam: counts and not times, so that they hold on every machine. The syncs are
/// those of the table in Docs/Spool.md, and no others.
@Suite struct CostTests {
    private struct Cost {
        var watch: [SeamCall] = []
        var phone: [SeamCall] = []
        var all: [SeamCall] { watch + phone }
    }

    private static let syncs: Set<FileSystemError.Operation> = [.sync, .syncDirectory, .syncAll]

    /// Calls of both sides from their start until `count` notes that were recorded before are across.
    private static func backlog(_ count: Int, byteCount: Int = 300) throws -> Cost {
        let world = PairWorld()
        world.keepsTrace = true
        for _ in 0..<count { try world.record(world.bytes(byteCount)) }
        world.start()
        world.drain()
        #expect(world.monitor.violations.isEmpty)
        return Cost(watch: world.watch.instrument?.trace ?? [], phone: world.phone.instrument?.trace ?? [])
    }

    @Test("one note on an idle pair: seven syncs, one after the other, in the order of the table")
    func sevenSyncs() throws {
        let world = PairWorld()
        world.keepsTrace = true
        world.start()
        world.run(for: .seconds(1))
        // Not at the end of a month, which is there from the second note on.
        world.wallMilliseconds += 10_000
        try world.record(world.bytes(300))
        world.drain()
        for seat in world.seats { seat.instrument?.clearTrace() }
        var recorder: [SeamCall] = []
        let id = try world.record(world.bytes(300), inspect: { recorder = $0.trace })
        world.drain()
        #expect(world.monitor.violations.isEmpty)
        func paths(_ calls: [SeamCall]) -> [String] {
            calls.filter { Self.syncs.contains($0.operation) }.map { $0.paths.last ?? "" }
        }
        // One that was started for this note: the home's sign says that its folders are durable.
        let byRecord = paths(recorder)
        #expect(byRecord.count == 2, "\(byRecord)")
        #expect(byRecord.first?.contains("\(id).note.part") == true, "1: its content")
        #expect(byRecord.last == "/pair/watch/recordings", "2: its name")
        #expect(paths(world.watch.instrument?.trace ?? []) == [], "the middle carries no promise")
        let byPhone = paths(world.phone.instrument?.trace ?? [])
        #expect(byPhone.count == 5, "\(byPhone)")
        guard byPhone.count == 5 else { return }
        #expect(byPhone[0].contains("/phone/ledger/"), "3: the row, before the name is in the container")
        #expect(byPhone[1].contains("to-phone") || byPhone[1].contains("/phone/"), "4: the content")
        #expect(byPhone[2].contains("/phone/container/2026-"), "5: the month")
        #expect(byPhone[3].hasSuffix("/phone/staging"), "6: the old name, behind the month")
        #expect(byPhone[4].contains("/phone/ledger/"), "7: the row that the ack stands on")
    }

    @Test("a backlog shares its syncs, and ten times as many notes cost the same each")
    func flat() throws {
        let none = try Self.backlog(0)
        let few = try Self.backlog(128)
        let many = try Self.backlog(1_280)
        for (side, calls) in [("watch", \Cost.watch), ("phone", \Cost.phone)] as [(String, KeyPath<Cost, [SeamCall]>)] {
            let start = none[keyPath: calls].count
            let eachOfFew = Double(few[keyPath: calls].count - start) / 128
            let eachOfMany = Double(many[keyPath: calls].count - start) / 1_280
            #expect(eachOfMany <= 1.05 * eachOfFew, "\(side): \(eachOfFew) calls a note, then \(eachOfMany)")
            #expect(eachOfMany <= 32, "\(side): \(eachOfMany) calls a note")
        }
        func syncCount(_ cost: Cost) -> Int { cost.all.count { Self.syncs.contains($0.operation) } }
        // One barrier, the month, staging, the rows: four for each batch, and one more for the first month.
        let batches = Double(syncCount(many) - syncCount(none)) / 4
        #expect(batches <= 1_280 / 32, "\(batches) batches for 1,280 notes")
        #expect(batches >= 1_280 / 128, "a batch has at most 128 notes: fewer syncs than that are missing ones")
    }

    @Test("the bytes are written once on their way: by the watch into the spool; the phone only renames")
    func oneCopy() throws {
        let cost = try Self.backlog(3, byteCount: 100_000)
        func writes(_ calls: [SeamCall], below folder: String) -> Int {
            calls.count { $0.operation == .write && $0.paths.contains { $0.contains(folder) } }
        }
        // Body, dictionary and seal of each in one.
        #expect(writes(cost.watch, below: "/to-phone/") == 3)
        #expect(writes(cost.watch, below: "/recordings/") == 0)
        for folder in ["/to-phone/", "/inbox/", "/staging/", "/container/"] {
            #expect(writes(cost.phone, below: folder) == 0, "the phone wrote below \(folder)")
        }
    }
}
