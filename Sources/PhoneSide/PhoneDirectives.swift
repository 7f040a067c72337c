import Spooling
import WireContract

// What the node directs, carried out: at once, or gathered into what shares a barrier.

extension PhoneEngine {
    /// An event for the node; what it directs is queued.
    func tell(_ event: PhoneEvent) {
        node.handle(event, at: now, into: &directives.waiting)
    }

    /// Carries out what is queued until nothing is left, a batch was ingested and acked, or the process was told to stop. What
    /// can share a barrier is gathered first. Acks go out before the next batch is ingested, of which some may be ready by
    /// then: the watch waits for them.
    func carryOut() {
        var hasIngested = false
        while true {
            carryOutWaiting()
            if surroundings.shouldStop() { return }
            if !directives.acks.isEmpty {
                let batch = directives.acks
                directives.acks = []
                writeAcks(batch)
            } else if !directives.ingests.isEmpty {
                if hasIngested { return }
                hasIngested = true
                let batch = Array(directives.ingests.prefix(settings.batchCount))
                directives.ingests.removeFirst(batch.count)
                ingest(batch)
            } else {
                return
            }
        }
    }

    /// All but ingests and acks, which are gathered. What is to be verified is read together: no more notes than make a batch,
    /// because each holds a file open, and no more bytes than are read at once.
    func carryOutWaiting() {
        repeat {
            while canCarryOut, let directive = directives.next() {
                carryOut(directive)
                if surroundings.shouldStop() { return }
            }
            verify(directives.takeVerifies())
            if surroundings.shouldStop() { return }
        } while canCarryOut
    }

    private var canCarryOut: Bool {
        directives.hasWaiting && directives.ingests.count + directives.verifies.count < settings.mostAheadCount
            && directives.verifyByteCount < Self.verifyByteCount
    }

    private func carryOut(_ directive: PhoneDirective) {
        switch directive {
        case .stage(let key): stage(key)
        case .verify(let key): directives.verify(key, byteCount: staged[key]?.content.byteCount ?? 0)
        case .probe(let key): probe(key)
        case .ingest(let key, let replacing, let adopting):
            directives.ingests.append(IngestOrder(key: key, replacing: replacing, adopting: adopting))
        case .discard(let key, let reason): discard(key, because: reason)
        case .setAside(let key, let reason): setAside(key, reason)
        case .reportWaiting(let key, let reason):
            // A payload without an id is known by these.
            let checksums = staged[key]?.content.checksums
            staged[key]?.letGo()
            report(.init(.waits, id: key.id, checksums: checksums, detail: reason.description))
        case .ack(let id, let pairing, let attempt):
            directives.acks.append(AckOrder(id: id, pairing: pairing, attempt: attempt))
        }
    }
}

/// Directives on their way, sorted into what is done at once and what shares barriers.
struct DirectiveQueue {
    /// In order; taken from the front by index, so that a long queue is not moved about.
    var waiting: [PhoneDirective] = []
    private var taken = 0
    /// To be verified together, and how many bytes they have.
    private(set) var verifies: [DeliveryKey] = []
    private(set) var verifyByteCount: UInt64 = 0
    var ingests: [IngestOrder] = []
    var acks: [AckOrder] = []

    var isEmpty: Bool { !hasWaiting && verifies.isEmpty && ingests.isEmpty && acks.isEmpty }
    var hasWaiting: Bool { taken < waiting.count }
    /// Carried out or not.
    var keptCount: Int { waiting.count + verifies.count + ingests.count + acks.count }

    mutating func next() -> PhoneDirective? {
        guard hasWaiting else { return nil }
        let directive = waiting[taken]
        taken += 1
        if !hasWaiting {
            waiting.removeAll(keepingCapacity: true)
            taken = 0
        }
        return directive
    }

    mutating func verify(_ key: DeliveryKey, byteCount: UInt64) {
        verifies.append(key)
        verifyByteCount += byteCount
    }

    mutating func takeVerifies() -> [DeliveryKey] {
        defer {
            verifies = []
            verifyByteCount = 0
        }
        return verifies
    }
}

struct IngestOrder: Hashable {
    var key: DeliveryKey
    var replacing: Bool
    var adopting: Bool
}

struct AckOrder: Hashable {
    var id: ULID
    var pairing: PairingID
    var attempt: Int
}
