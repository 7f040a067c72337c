import LinkFaults
import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

@Suite("Acks as the phone lays them out")
struct PhoneAckTests {
    private static func files(_ world: PhoneWorld) -> [String: [ULID]] {
        Dictionary(grouping: world.ackEntries(), by: \.path).mapValues { $0.map(\.id) }
    }

    @Test("what became final together is acked in one file, in its order; what came at another try in another one")
    func together() throws {
        let world = try PhoneWorld.started()
        let notes = (1...40).map { PhoneNote($0) }
        for note in notes[..<20] { try world.deliver(note) }
        for note in notes[20...] { try world.deliver(note, attempt: 2) }
        world.hearAndRun()
        #expect(world.acks() == notes.map(\.id))
        #expect(Set(Self.files(world).values) == [notes[..<20].map(\.id), notes[20...].map(\.id)])
        let told = world.history.events.filter { $0.kind == .acked && $0.phase == .did }
        #expect(Set(told.compactMap(\.name)).count == 40, "each is a transfer of its own")
        for event in told { #expect(event.name.flatMap(EntryName.init)?.id == event.id) }
    }

    @Test("a link that does something to acks meets each by itself")
    func alone() throws {
        let world = try PhoneWorld.started()
        var conditions = LinkConditions()
        conditions.plan.toWatch.bytesPerSecond = 16_000
        world.engine?.follow(conditions, at: world.now)
        let notes = (1...20).map { PhoneNote($0) }
        for note in notes { try world.deliver(note) }
        world.hearAndRun()
        #expect(world.acks() == notes.map(\.id))
        #expect(Self.files(world).count == 20)
    }

    @Test("a file of acks that cannot be written is owed, all of it, and written later")
    func owed() throws {
        let world = try PhoneWorld.started()
        let notes = (1...20).map { PhoneNote($0) }
        world.instrument.injections = [
            Injection(
                .first { operation, paths in operation == .publish && paths.contains { $0.contains("/to-watch/") } },
                .fail(.inputOutput))
        ]
        for note in notes { try world.deliver(note) }
        world.hearAndRun()
        #expect(world.acks().isEmpty && world.engine?.isDrained == false)
        world.run(seconds: 60)
        #expect(Set(world.acks()) == Set(notes.map(\.id)))
        #expect(world.endFaults(notes) == [])
    }

    @Test("a patched ack is the ack that the codec writes, for every id and version")
    func isWhatTheCodecWrites() throws {
        for version in [1, 2, 300, 70_000] {
            let form = AckForm(version: version)
            for id in [
                ULID(high: 0, low: 0), ULID(high: .max, low: .max),
                ULID(high: 1_780_271_998_000 << 16, low: 0x0123_4567),
            ] {
                let written = try TransferLimit.encode(IngestAck(id: id.description).dictionary(version: version))
                #expect(form.dictionaryBytes(of: id) == written)
            }
        }
    }
}
