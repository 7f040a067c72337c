import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

// Law 1, by the sequence of calls: content, rows and directories are durable before an ack can be seen.

@Suite("Phone: durable before anyone is told")
struct PhoneDurabilityTests {
    /// Delivers `count` notes to an idle phone whose month exists, and gives what it did.
    private func traced(_ count: Int, from first: Int = 1) throws -> (PhoneWorld, [PhoneNote], [SeamCall]) {
        let world = try PhoneWorld.started()
        try world.deliver(PhoneNote(0))
        world.hearAndRun()
        try world.takeAcks()
        let notes = (first..<first + count).map { PhoneNote($0) }
        for note in notes { try world.deliver(note) }
        world.instrument.clearTrace()
        world.hearAndRun()
        #expect(world.acks() == notes.map(\.id))
        return (world, notes, world.instrument.trace)
    }

    /// Where the file with an ack of `id` comes into view.
    private func ackIndex(_ world: PhoneWorld, _ id: ULID) throws -> Int {
        let path = try #require(world.ackEntries().first { $0.id == id }?.path)
        return try #require(world.instrument.trace.firstIndex { $0.operation == .publish && $0.paths[1] == path })
    }

    @Test(
        "content, rows, month and staging are durable before the ack is renamed into view", arguments: [1, 2, 4, 5, 20])
    func order(count: Int) throws {
        let (world, notes, trace) = try traced(count)
        for note in notes {
            let told = try ackIndex(world, note.id)
            let staged = try #require(
                trace.firstIndex { $0.operation == .publish && $0.paths[1] == note.containerPath }.map {
                    trace[$0].paths[0]
                })
            // The cut is written through the handle under which the file was first opened: its name in the spool.
            let cut = try #require(
                trace.firstIndex { $0.operation == .truncate && $0.paths[0].contains(note.id.description) })
            let published = try #require(trace.firstIndex(of: .publish, note.containerPath))
            #expect(staged.hasPrefix("/pair/phone/staging/"))
            #expect(
                trace[cut..<published].contains {
                    ($0.operation == .sync && $0.paths == trace[cut].paths) || $0.operation == .syncAll
                }, "the content is synced after the cut and before the rename")
            // The row is written before the cut, and a barrier covers the ledger before the rename.
            let row = try #require(
                trace[..<cut].lastIndex { $0.operation == .write && $0.paths[0].contains("/ledger/") })
            #expect(
                trace[row..<published].contains {
                    ($0.operation == .sync && $0.paths[0].contains("/ledger/")) || $0.operation == .syncAll
                })
            let month = try #require(
                trace[published..<told].firstIndex {
                    $0.operation == .syncDirectory && $0.paths[0] == "/pair/phone/container/2023-11"
                })
            let staging = try #require(
                trace[published..<told].firstIndex {
                    $0.operation == .syncDirectory && $0.paths[0] == "/pair/phone/staging"
                })
            #expect(month < staging)
            let lastRow = try #require(
                trace[staging..<told].firstIndex { $0.operation == .write && $0.paths[0].contains("/ledger/") })
            #expect(
                trace[lastRow..<told].contains { $0.operation == .sync && $0.paths[0].contains("/ledger/") })
        }
    }

    @Test("one note on an idle phone costs five syncs: ledger, content, month, staging, ledger")
    func fiveSyncs() throws {
        let (_, note, trace) = try traced(1)
        let syncs = trace.filter { [.sync, .syncDirectory, .syncAll].contains($0.operation) }.map {
            ($0.operation, $0.paths[0])
        }
        try #require(syncs.count == 5, "\(syncs)")
        #expect(syncs[0].0 == .sync && syncs[0].1.contains("/ledger/"))
        #expect(syncs[1].0 == .sync && syncs[1].1.contains(note[0].id.description))
        #expect(syncs[2] == (.syncDirectory, "/pair/phone/container/2023-11"))
        #expect(syncs[3] == (.syncDirectory, "/pair/phone/staging"))
        #expect(syncs[4].0 == .sync && syncs[4].1 == syncs[0].1)
    }

    @Test("twenty notes cost four barriers, with one syncAll")
    func batchSyncs() throws {
        let (_, _, trace) = try traced(20)
        #expect(trace.count(of: .syncAll) == 1)
        #expect(trace.count(of: .sync) + trace.count(of: .syncDirectory) == 3)
    }

    @Test("the first note of a month: the month's own name is durable before the ack")
    func newMonth() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        try world.deliver(note)
        world.instrument.clearTrace()
        world.hearAndRun()
        let trace = world.instrument.trace
        let told = try ackIndex(world, note.id)
        #expect(trace[..<told].contains { $0.operation == .syncDirectory && $0.paths[0] == "/pair/phone/container" })
    }

    @Test("a veto's name is durable before its note is acked")
    func vetoOrder() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        world.instrument.clearTrace()
        #expect(try world.ask(.veto, note.id.description) == .done)
        try world.deliver(note)
        world.hearAndRun()
        let trace = world.instrument.trace
        let told = try ackIndex(world, note.id)
        #expect(
            DurabilityOrder.violations(in: trace, of: "/pair/phone/vetoes/\(note.id)", before: told).isEmpty)
        #expect(world.containerFiles.isEmpty)
    }

    @Test("adopting what a lost ledger had ingested: content and name synced again, the row durable, then the ack")
    func adoptOrder() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        try world.deliver(note)
        world.hearAndRun()
        try world.takeAcks()
        world.quit()
        for name in world.phone("ledger") { try world.disk.remove("/pair/phone/ledger/\(name)") }
        try world.start()
        world.run()
        try world.deliver(note, attempt: 2)
        world.instrument.clearTrace()
        world.hearAndRun()
        let trace = world.instrument.trace
        let told = try ackIndex(world, note.id)
        #expect(trace[..<told].contains { $0.operation == .sync && $0.paths == [note.containerPath] })
        let adopted = try #require(world.history.events.last { $0.kind == .ingested })
        #expect(adopted.byteCount == nil && adopted.checksums == nil, "nothing was put into the container")
        #expect(
            trace[..<told].contains {
                $0.operation == .syncDirectory && $0.paths[0] == "/pair/phone/container/2023-11"
            })
        let row = try #require(
            trace[..<told].lastIndex { $0.operation == .write && $0.paths[0].contains("/ledger/") })
        #expect(trace[row..<told].contains { $0.operation == .sync && $0.paths == trace[row].paths })
    }
}
