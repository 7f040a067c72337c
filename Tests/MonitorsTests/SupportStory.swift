import Monitors
import Spooling
import WireContract

/// A history written by hand: each line happens a second after the one before.
struct Story {
    static let policy = RetryPolicy(first: .seconds(1), cap: .seconds(8), patience: .seconds(4))

    private(set) var entries: [HistoryEntry] = []
    private(set) var now = Moment.zero

    static func id(_ number: UInt64) -> ULID { ULID(high: 0x0190_0000_0000_0000, low: number &* 0x9E37_79B9_7F4A_7C15) }
    static func sums(_ number: UInt64) -> Checksums { Checksums(crc32: UInt32(number), adler32: UInt32(number) + 1) }

    mutating func add(_ source: HistoryEntry.Source, _ what: HistoryEntry.What, after wait: Duration = .seconds(1)) {
        now = now + wait
        entries.append(HistoryEntry(moment: now, sequence: UInt64(entries.count), source: source, what))
    }

    mutating func world(_ event: WorldEvent, after wait: Duration = .seconds(1)) {
        add(.world, .world(event), after: wait)
    }
    mutating func watch(_ event: PairEvent) { add(.watch, .pair(event)) }
    mutating func phone(_ event: PairEvent) { add(.phone, .pair(event)) }

    // MARK: What happens often

    mutating func record(_ number: UInt64, version: Int = 1) {
        world(.recordReturned(Self.id(number), byteCount: 100, checksums: Self.sums(number), version: version))
    }

    mutating func send(_ number: UInt64) {
        watch(PairEvent(.enqueued, id: Self.id(number), attempt: 1))
        phone(PairEvent(.taken, id: Self.id(number), byteCount: 300, attempt: 1))
        watch(PairEvent(.transferFinished, id: Self.id(number), attempt: 1, detail: "delivered"))
        phone(PairEvent(.staged, id: Self.id(number)))
    }

    mutating func ingest(_ number: UInt64, checksums: Checksums? = nil) {
        phone(PairEvent(.ingested, phase: .intends, id: Self.id(number), byteCount: 100))
        phone(
            PairEvent(
                .ingested, id: Self.id(number), byteCount: 100, checksums: checksums ?? Self.sums(number)))
    }

    mutating func ack(_ number: UInt64, pairing: PairingID? = nil) {
        phone(PairEvent(.acked, phase: .intends, id: Self.id(number), pairing: pairing))
        phone(PairEvent(.acked, id: Self.id(number), pairing: pairing))
    }

    mutating func receiveAck(_ number: UInt64, pairing: PairingID? = nil) {
        watch(PairEvent(.ackReceived, id: Self.id(number), pairing: pairing))
    }

    mutating func delete(_ number: UInt64) {
        watch(PairEvent(.deleted, phase: .intends, id: Self.id(number)))
        watch(PairEvent(.deleted, id: Self.id(number)))
    }

    /// All of it, from record to delete.
    mutating func deliver(_ number: UInt64) {
        record(number)
        send(number)
        ingest(number)
        ack(number)
        receiveAck(number)
        delete(number)
    }

    // MARK: The end

    func census(
        onWatch: [UInt64] = [], inContainer: [UInt64] = [], after wait: Duration = .seconds(1)
    ) -> Census {
        var census = Census(moment: now + wait)
        census.recordings = onWatch.map { .init(id: Self.id($0), checksums: Self.sums($0)) }
        census.container = inContainer.map {
            .init(id: Self.id($0), fileExtension: .none, checksums: Self.sums($0))
        }
        census.ledger = inContainer.map { .init(id: Self.id($0), outcome: .ingested) }
        return census
    }

    func verdict(_ census: Census, trailCount: Int = 65_536) -> Verdict {
        var judge = Judge(policy: Self.policy, trailCount: trailCount)
        for entry in entries { judge.observe(entry) }
        return judge.finish(census)
    }
}

extension Verdict {
    /// Which promises broke, in order.
    var broken: [Promise] {
        guard case .violated(let violations) = self else { return [] }
        return violations.map(\.promise)
    }

    var why: String? {
        guard case .violated(let violations) = self else { return nil }
        return violations.first?.why
    }
}
