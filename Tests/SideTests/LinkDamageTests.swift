import LinkFaults
import Spooling
import Testing
import WatchSide
import WireContract

@testable import PhoneSide

/// A transfer that is delivered several times and damaged: one of the copies is hit, and the others are whole.
@Suite struct LinkDamageTests {
    private static let count = 12

    private func conditions(
        _ damage: Damage, _ direction: WritableKeyPath<LinkPlan, DirectionPlan>
    ) -> LinkConditions {
        var conditions = LinkConditions()
        conditions.plan = LinkPlan(seed: 5)
        conditions.plan[keyPath: direction].rules = [
            LinkRule(ordinal: nil, attempts: nil, fault: .duplicate(extraCopies: 1)),
            LinkRule(ordinal: nil, attempts: nil, fault: .damage(damage)),
        ]
        return conditions
    }

    /// What the plan says of a transfer: which of its two copies is hit.
    private func hit(_ entry: EntryName, _ byteCount: Int, _ plan: LinkPlan) throws -> Int {
        let decision = plan.decision(about: LinkTransfer(entry, byteCount: UInt64(byteCount)))
        return try #require((0..<2).first { decision.damage(ofCopy: $0) != nil })
    }

    @Test(arguments: [Damage.truncated(share: 0.5), .altered])
    func aFileIsIngestedFromItsWholeCopy(_ damage: Damage) throws {
        let world = try PhoneWorld.started()
        let conditions = conditions(damage, \.toPhone)
        world.engine?.follow(conditions, at: .zero)
        let notes = (0..<Self.count).map { PhoneNote($0, byteCount: 20_000) }
        var hits: [Int] = []
        for note in notes {
            let path = try world.deliver(note)
            let entry = try #require(FileName(PairPath.last(path)).flatMap { EntryName($0) })
            hits.append(try hit(entry, note.envelope.count, conditions.plan))
        }
        #expect(Set(hits) == [0, 1])
        world.hearAndRun()
        for note in notes { #expect(world.disk.content(note.containerPath) == note.body) }
        #expect(world.acks().count >= Self.count && Set(world.acks()) == Set(notes.map(\.id)))
        #expect(world.history.count(.damagedByLink) == Self.count && world.history.count(.taken) == 2 * Self.count)
        #expect(world.phone("inbox").isEmpty && world.phone("staging").isEmpty)
        // A copy behind the first has its number in its name, and that stands in the quarantine.
        let second = world.inQuarantine.count { $0.subject.dropFirst(16).hasPrefix("_1_") }
        switch damage {
        case .truncated:
            #expect(world.inQuarantine.count == Self.count)
            #expect(second == hits.count { $0 == 1 })
        case .altered:
            // A second copy with another byte in its body has the key of the first, and is dropped as its duplicate.
            #expect(world.inQuarantine.count - second == hits.count { $0 == 0 })
        }
    }

    @Test(arguments: [Damage.truncated(share: 0.5), .altered])
    func anAckDeletesByItsWholeCopy(_ damage: Damage) throws {
        let world = try WatchWorld()
        let conditions = conditions(damage, \.toWatch)
        let ids = try world.record(Self.count)
        try world.start()
        world.engine?.follow(conditions, at: .zero)
        world.settle()
        for id in ids { try world.ack(id) }
        let hits = try world.acks.map { name in
            let byteCount = world.disk.content("/spool/to-watch/\(name)")?.count ?? 0
            return try hit(try #require(EntryName(name)), byteCount, conditions.plan)
        }
        #expect(Set(hits) == [0, 1])
        world.settle()
        #expect(world.recordings == [] && world.acks == [])
        #expect(world.log.all(.deleted).map(\.id) == ids)
        #expect(world.log.all(.damagedByLink).count == Self.count)
        #expect(world.quarantine.count == Self.count)
        #expect(world.quarantine.count { $0.subject.hasPrefix("1_") } == hits.count { $0 == 1 })
        #expect(world.engine?.isDrained == true)
    }

    /// Delivered once and damaged, it is not delivered; an ack that is no plain file of ours is left alone, damage or not.
    @Test func aDamagedAckAloneDeletesNothing() throws {
        let world = try WatchWorld()
        var conditions = conditions(.altered, \.toWatch)
        conditions.plan.toWatch.rules.removeFirst()
        let ids = try world.record(2)
        try world.start()
        world.engine?.follow(conditions, at: .zero)
        world.settle()
        try world.ack(ids[0])
        let linked = "/spool/to-watch/\(try world.ack(ids[1]))"
        let bytes = world.disk.content(linked)
        try world.disk.plant(linked, bytes: bytes ?? [], linkCount: 2)
        world.settle()
        #expect(world.recordings == ids)
        #expect(world.quarantine.count == 1)
        #expect(world.disk.content(linked) == bytes)
        #expect(world.log.all(.refused).count == 1 && world.log.all(.damagedByLink).count == 1)
    }
}
