import LinkFaults
import Monitors
import Spooling
import WireContract

/// A history written by hand: each line happens `pace` after the one before.
struct Run {
    var entries: [HistoryEntry] = []
    var now = Moment.zero
    var pace = Duration.seconds(1)

    static func id(_ ordinal: Int) -> ULID { ULID(millisecondsSince1970: 1_700_000_000_000, ordinal: ordinal, seed: 7) }
    static func sums(_ ordinal: Int) -> Checksums { Checksums(crc32: UInt32(ordinal), adler32: UInt32(ordinal) + 1) }

    static func entry(
        _ kind: EnvelopeKind, _ ordinal: Int, start: UInt64 = 1, counter: UInt64 = 0, attempt: Int = 1
    ) -> FileName {
        guard let start = StartNumber(rawValue: start) else { preconditionFailure("no start number: \(start)") }
        return EntryName(
            kind: kind, start: start, counter: counter, nonce: 1, id: id(ordinal), attempt: attempt
        ).fileName
    }

    mutating func add(_ source: HistoryEntry.Source, _ what: HistoryEntry.What) {
        entries.append(HistoryEntry(moment: now, sequence: UInt64(entries.count), source: source, what))
        now = now + pace
    }

    mutating func world(_ event: WorldEvent) { add(.world, .world(event)) }
    mutating func watch(_ event: PairEvent) { add(.watch, .pair(event)) }
    mutating func phone(_ event: PairEvent) { add(.phone, .pair(event)) }

    mutating func start() {
        world(.started(.watch, Build()))
        world(.started(.phone, Build()))
    }

    mutating func record(_ ordinal: Int, byteCount: UInt64 = 100) {
        world(.recordReturned(Self.id(ordinal), byteCount: byteCount, checksums: Self.sums(ordinal), version: 1))
    }

    mutating func enqueue(_ ordinal: Int, attempt: Int = 1, start: UInt64 = 1) {
        let name = Self.entry(.note, ordinal, start: start, attempt: attempt)
        watch(PairEvent(.enqueued, id: Self.id(ordinal), name: name, attempt: attempt))
    }

    mutating func take(_ ordinal: Int, attempt: Int = 1, start: UInt64 = 1) {
        let name = Self.entry(.note, ordinal, start: start, attempt: attempt)
        phone(PairEvent(.taken, id: Self.id(ordinal), name: name, byteCount: 300, attempt: attempt))
        phone(PairEvent(.staged, id: Self.id(ordinal)))
    }

    /// The watch notices that an entry is gone.
    mutating func finish(_ ordinal: Int, attempt: Int = 1, start: UInt64 = 1, _ word: String = "delivered") {
        let name = Self.entry(.note, ordinal, start: start, attempt: attempt)
        watch(PairEvent(.transferFinished, id: Self.id(ordinal), name: name, attempt: attempt, detail: word))
    }

    mutating func ingest(_ ordinal: Int) {
        phone(PairEvent(.ingested, phase: .intends, id: Self.id(ordinal), byteCount: 100))
        phone(PairEvent(.ingested, id: Self.id(ordinal), byteCount: 100, checksums: Self.sums(ordinal)))
    }

    mutating func ack(_ ordinal: Int, attempt: Int = 1) {
        phone(PairEvent(.acked, phase: .intends, id: Self.id(ordinal), attempt: attempt))
        let name = Self.entry(.ack, ordinal, attempt: attempt)
        phone(PairEvent(.acked, id: Self.id(ordinal), name: name, attempt: attempt))
    }

    mutating func lose(_ kind: EnvelopeKind, _ ordinal: Int, attempt: Int = 1, start: UInt64 = 1) {
        let name = Self.entry(kind, ordinal, start: start, attempt: attempt)
        let event = PairEvent(.lostByLink, id: Self.id(ordinal), name: name, attempt: attempt)
        switch kind {
        case .note: phone(event)
        case .ack: watch(event)
        }
    }

    mutating func receiveAck(_ ordinal: Int, attempt: Int = 1) {
        watch(PairEvent(.ackReceived, id: Self.id(ordinal), name: Self.entry(.ack, ordinal, attempt: attempt)))
    }

    mutating func delete(_ ordinal: Int) {
        watch(PairEvent(.deleted, phase: .intends, id: Self.id(ordinal)))
        watch(PairEvent(.deleted, id: Self.id(ordinal)))
    }

    /// From the ingest to the deletion.
    mutating func complete(_ ordinal: Int) {
        ingest(ordinal)
        ack(ordinal)
        receiveAck(ordinal)
        delete(ordinal)
    }

    mutating func deliver(_ ordinal: Int) {
        record(ordinal)
        enqueue(ordinal)
        take(ordinal)
        complete(ordinal)
    }

    mutating func census(onWatch: [Int] = [], inContainer: [Int] = [], _ change: (inout Census) -> Void = { _ in }) {
        var census = Census(moment: now)
        census.recordings = onWatch.map { .init(id: Self.id($0), checksums: Self.sums($0)) }
        census.container = inContainer.map { .init(id: Self.id($0), fileExtension: .none, checksums: Self.sums($0)) }
        census.ledger = inContainer.map { .init(id: Self.id($0), outcome: .ingested) }
        change(&census)
        world(.census(census))
    }
}
