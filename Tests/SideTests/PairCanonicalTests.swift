import Simulation
import Spooling
import Testing
import WireContract

/// Three recordings, one before anybody runs and two while both do, in two months.
enum PairCanonical {
    static func play(_ world: PairWorld) throws {
        try world.record(world.bytes(700))
        world.start()
        world.run(for: .seconds(1))
        try world.record(world.bytes(5_000), fileExtension: "wav7")
        try world.record(world.bytes(1))
        world.drain()
        world.checkTheEnd()
    }
}

@Suite struct PairCanonicalTests {
    @Test func threeRecordingsCross() throws {
        let world = PairWorld()
        try PairCanonical.play(world)
        #expect(world.violations == [])
        #expect(world.monitor.ackCount == 3)
        #expect(world.watch.history.count(.deleted) == 3)
        #expect(world.watch.history.count(.enqueued) == 3)
        #expect(world.leftTemporaries == [])
    }

    @Test func aPairBeginsFromNothing() throws {
        let world = PairWorld(.pairNothing)
        try PairCanonical.play(world)
        #expect(world.violations == [])
    }

    /// P1: `record` has told nobody before content and name are durable. By the calls, and by what is left at the end.
    @Test func recordTellsWhenContentAndNameAreDurable() throws {
        let world = PairWorld()
        var trace: [SeamCall] = []
        let id = try world.record(world.bytes(9_000), inspect: { trace = $0.trace })
        #expect(DurabilityOrder.violations(in: trace, of: PairPath.recording(id), before: trace.count) == [])
        let name = PairPath.recording(id)
        #expect(
            Self.changes(trace, from: name + ".part").map(\.short) == [
                "create recordings/<id>.note.part", "write recordings/<id>.note.part",
                "write recordings/<id>.note.part", "sync recordings/<id>.note.part",
                "publish recordings/<id>.note", "sync recordings",
            ])
        // The same by the disk: all that was not synced is lost in the moment in which it returns.
        world.losePower(.durableOnly)
        #expect(world.disk.content(name)?.count ?? 0 > 9_000)
        #expect(world.violations == [])
    }

    /// P3: the way of one note through an idle pair, call by call; and the seven syncs of Docs/Spool.md, in its order.
    @Test func theAckComesBehindEverySync() throws {
        let world = PairWorld()
        world.keepsTrace = true
        // In one month.
        world.wallMilliseconds += 3_600_000
        world.start()
        try world.record(world.bytes(50))
        world.drain()
        // From here on the month is open, the ledger has its generation, and both are idle.
        for seat in world.seats { seat.instrument?.clearTrace() }
        var recordTrace: [SeamCall] = []
        let id = try world.record(world.bytes(700), inspect: { recordTrace = $0.trace })
        world.drain()
        #expect(world.violations == [])

        let recorded = Self.changes(recordTrace, from: PairPath.recording(id) + ".part")
        let received = Self.changes(try #require(world.phone.instrument).trace)
        #expect(
            received.map(\.short) == [
                "publish inbox/<pairing>.<entry>.note",
                "publish staging/<key>.note",
                // Row `ingesting`. (A file shows the path that it was opened with.)
                "write ledger/<generation>.ledger.part",
                "truncate to-phone/<entry>.note",
                "sync ledger/<generation>.ledger.part",
                "sync to-phone/<entry>.note",
                "publish 2026-06/<id>.ogg",
                "sync 2026-06",
                "sync staging",
                // Row `ingested`.
                "write ledger/<generation>.ledger.part",
                "sync ledger/<generation>.ledger.part",
                "create to-watch/<entry>.ack.part",
                "write to-watch/<entry>.ack.part",
                "publish to-watch/<entry>.ack",
            ])
        let syncs = (recorded + received).filter { $0.short.hasPrefix("sync ") }
        #expect(syncs.count == 7)
        let sent = Self.changes(try #require(world.watch.instrument).trace)
        #expect(
            sent.map(\.short) == [
                "create to-phone/<entry>.note.part", "write to-phone/<entry>.note.part",
                "publish to-phone/<entry>.note",
                "unlink recordings/<id>.note", "unlink to-watch/<entry>.ack",
            ], "and the watch syncs nothing more")
    }

    /// The calls that change something, from the first that is about `path` on.
    private static func changes(_ trace: [SeamCall], from path: String? = nil) -> [SeamCall] {
        let start = path.flatMap { path in trace.firstIndex { $0.paths.last == path } } ?? 0
        return trace[start...].filter { call in
            guard call.outcome == .returned else { return false }
            switch call.operation {
            case .create, .write, .truncate, .sync, .syncDirectory, .syncAll, .publish, .unlink, .makeDirectory:
                return true
            case .openRoot, .openDirectory, .openSource, .open, .status, .list, .read, .lock, .space: return false
            }
        }
    }
}

extension SeamCall {
    /// Without ids, entry names and generations: `publish to-watch/<entry>.ack`.
    fileprivate var short: String {
        let verb =
            switch operation {
            case .publish: "publish"
            case .syncDirectory: "sync"
            case .truncate: "truncate"
            case .create, .write, .sync, .syncAll, .unlink, .makeDirectory, .openRoot, .openDirectory, .openSource,
                .open, .status, .list, .read, .lock, .space:
                operation.rawValue
            }
        let parts = (paths.last ?? "").split(separator: "/").suffix(2).map(String.init)
        guard let last = parts.last, let directory = parts.first, last.contains(".") else {
            return "\(verb) \(parts.last ?? "")"
        }
        let suffix = last.firstIndex(of: ".").map { String(last[$0...]) } ?? ""
        let base = String(last.prefix { $0 != "." })
        if directory == "inbox", let point = suffix.dropFirst().firstIndex(of: ".") {
            return "\(verb) inbox/<pairing>.<entry>\(suffix[point...])"
        }
        if directory == "ledger" { return "\(verb) ledger/<generation>\(suffix)" }
        if directory == "staging" { return "\(verb) staging/<key>\(suffix)" }
        return "\(verb) \(directory)/\(ULID(base) == nil ? "<entry>" : "<id>")\(suffix)"
    }
}
