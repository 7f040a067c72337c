import Spooling
import Testing
import WireContract

@testable import PhoneSide

// The node alone: events in, directives out.

@Suite("Phone: the node")
struct PhoneNodeTests {
    private let id = PhoneNote.id(1)
    private let pairing = PairingID(rawValue: 5)
    private let nothingKnown = DeliveryFacts(isVetoed: false, ledger: .unknown, containerHoldsUnknown: false)

    private func key(_ crc32: UInt32, _ id: ULID? = nil) -> DeliveryKey {
        DeliveryKey(identity: .id(id ?? self.id), bodyCRC32: crc32, dictionaryCRC32: 1)
    }

    /// A node with a history of directives.
    private struct Driver {
        var node = PhoneNode(firstRetryWait: .seconds(2))
        var now = Moment.zero

        mutating func callAsFunction(_ event: PhoneEvent) -> [PhoneDirective] {
            var directives: [PhoneDirective] = []
            node.handle(event, at: now, into: &directives)
            return directives
        }

        mutating func tick(after wait: Duration) -> [PhoneDirective] {
            now = now + wait
            return self(.tick)
        }
    }

    private func arrived(_ key: DeliveryKey, waits: GateReason? = nil) -> PhoneEvent {
        .arrived(key, pairing: pairing, byteCount: 10, attempt: 3, waits: waits)
    }

    @Test("the plain way: staged, verified, ingested, acked")
    func plain() {
        var driver = Driver()
        let key = key(1)
        #expect(driver(arrived(key)) == [.stage(key), .verify(key)])
        #expect(driver.node.knows(key) && !driver.node.isIdle)
        #expect(driver(.verified(key, nothingKnown)) == [.ingest(key, replacing: false, adopting: false)])
        #expect(driver(.ingested(key)) == [.ack(id, pairing: pairing, attempt: 3)])
        #expect(!driver.node.isIdle, "the ack is owed")
        #expect(driver(.acked(id)) == [])
        #expect(driver.node.isIdle && driver.node.nextDeadline == nil)
    }

    @Test("events that come twice, or for what is gone, change nothing")
    func doubled() {
        var driver = Driver()
        let key = key(1)
        for event in [
            PhoneEvent.verified(key, nothingKnown), .ingested(key), .ingestFailed(key), .lost(key), .acked(id),
            .ackFailed(id), .vetoed(id), .containerProbed(key, .same), .unreadable(key), .tick,
        ] {
            #expect(driver(event) == [], "\(event) before anything arrived")
        }
        #expect(driver.node == PhoneNode(firstRetryWait: .seconds(2)))
        _ = driver(arrived(key))
        _ = driver(.verified(key, nothingKnown))
        #expect(driver(.ingested(key)).count == 1)
        let after = driver.node
        #expect(driver(.ingested(key)) == [])
        #expect(driver(.ingestFailed(key)) == [])
        #expect(driver.node == after)
        _ = driver(.acked(id))
        #expect(driver(.acked(id)) == [])
        #expect(driver.node.isIdle)
    }

    @Test("what stands in the ledger decides: deleted, other bytes, ingested, vetoed, held by the container")
    func judge() {
        let key = key(1)
        func directives(_ facts: DeliveryFacts) -> [PhoneDirective] {
            var driver = Driver()
            _ = driver(arrived(key))
            return driver(.verified(key, facts))
        }
        let ack = PhoneDirective.ack(id, pairing: pairing, attempt: 3)
        for isVetoed in [false, true] {
            #expect(
                directives(.init(isVetoed: isVetoed, ledger: .deletedByUser, containerHoldsUnknown: false))
                    == [.discard(key, because: .deletedByUser), ack])
            #expect(
                directives(.init(isVetoed: isVetoed, ledger: .ingested(sameBytes: false), containerHoldsUnknown: false))
                    == [.setAside(key, .idReused)])
            #expect(
                directives(.init(isVetoed: isVetoed, ledger: .ingested(sameBytes: true), containerHoldsUnknown: false))
                    == [.probe(key)])
        }
        for view in [DeliveryFacts.LedgerView.unknown, .unfinished] {
            #expect(
                directives(.init(isVetoed: true, ledger: view, containerHoldsUnknown: false))
                    == [.discard(key, because: .vetoed), ack])
            #expect(directives(.init(isVetoed: false, ledger: view, containerHoldsUnknown: true)) == [.probe(key)])
        }
    }

    @Test(
        "what a probe finds decides: the same is adopted, nothing is ingested again, other bytes are replaced only if known"
    )
    func probe() {
        let key = key(1)
        func directives(_ ledger: DeliveryFacts.LedgerView, _ holding: ContainerHolding) -> [PhoneDirective] {
            var driver = Driver()
            _ = driver(arrived(key))
            _ = driver(.verified(key, .init(isVetoed: false, ledger: ledger, containerHoldsUnknown: true)))
            return driver(.containerProbed(key, holding))
        }
        let known = DeliveryFacts.LedgerView.ingested(sameBytes: true)
        #expect(directives(known, .same) == [.ingest(key, replacing: false, adopting: true)])
        #expect(directives(known, .missing) == [.ingest(key, replacing: false, adopting: false)])
        #expect(directives(known, .other) == [.ingest(key, replacing: true, adopting: false)])
        #expect(directives(.unknown, .same) == [.ingest(key, replacing: false, adopting: true)])
        #expect(directives(.unknown, .missing) == [.ingest(key, replacing: false, adopting: false)])
        #expect(directives(.unknown, .other) == [.setAside(key, .idReused)])
    }

    @Test(
        "two deliveries of one id with other bytes: the second waits behind the first and is judged when that is done")
    func behind() {
        var driver = Driver()
        let (first, second, third) = (key(1), key(2), key(3))
        for key in [first, second, third] { _ = driver(arrived(key)) }
        #expect(driver(.verified(first, nothingKnown)) == [.ingest(first, replacing: false, adopting: false)])
        #expect(driver(.verified(second, nothingKnown)) == [])
        #expect(driver(.verified(third, nothingKnown)) == [])
        #expect(
            driver(.ingested(first)) == [.ack(id, pairing: pairing, attempt: 3), .verify(second), .verify(third)])
        let reused = DeliveryFacts(isVetoed: false, ledger: .ingested(sameBytes: false), containerHoldsUnknown: false)
        #expect(driver(.verified(second, reused)) == [.setAside(second, .idReused)])
        #expect(driver(.verified(third, reused)) == [.setAside(third, .idReused)])
        _ = driver(.acked(id))
        #expect(driver.node.isIdle && driver.node.stagedCount == 0)
    }

    @Test("the first of two is lost or unverifiable: the second takes its place")
    func aheadIsLost() {
        for event in [PhoneEvent.lost(key(1)), .unverifiable(key(1), .bodyAltered)] {
            var driver = Driver()
            let (first, second) = (key(1), key(2))
            for key in [first, second] { _ = driver(arrived(key)) }
            _ = driver(.verified(first, nothingKnown))
            _ = driver(.verified(second, nothingKnown))
            #expect(driver(event).last == .verify(second))
            #expect(driver(.verified(second, nothingKnown)) == [.ingest(second, replacing: false, adopting: false)])
        }
    }

    @Test("waits after refusals grow from the first to half a minute; a tick too early does nothing")
    func retryWaits() {
        var driver = Driver()
        let key = key(1)
        _ = driver(arrived(key))
        _ = driver(.verified(key, nothingKnown))
        for wait in [2, 4, 8, 16, 30, 30] {
            #expect(driver(.ingestFailed(key)) == [])
            #expect(driver.node.nextDeadline == driver.now + .seconds(wait))
            #expect(driver.tick(after: .seconds(wait) - .nanoseconds(1)) == [])
            #expect(driver.tick(after: .nanoseconds(1)) == [.ingest(key, replacing: false, adopting: false)])
            #expect(driver.tick(after: .zero) == [])
        }
        _ = driver(.ingested(key))
        // Each is another transfer, and so another try.
        for (failures, wait) in [2, 4, 8, 16, 30, 30].enumerated() {
            #expect(driver(.ackFailed(id)) == [])
            #expect(driver.tick(after: .seconds(wait)) == [.ack(id, pairing: pairing, attempt: 4 + failures)])
        }
        // One that the link does not carry is not owed any less, and nobody waits for it: the watch sends again.
        for (failures, wait) in [128, 256, 512, 600, 600].enumerated() {
            #expect(driver(.ackTransferFailed(id)) == [])
            #expect(driver.tick(after: .seconds(wait) - .nanoseconds(1)) == [])
            #expect(driver.tick(after: .nanoseconds(1)) == [.ack(id, pairing: pairing, attempt: 10 + failures)])
        }
        _ = driver(.acked(id))
        #expect(driver.tick(after: .seconds(1_000)) == [])
    }

    @Test("a veto wins over a retry and over nothing else")
    func veto() {
        var driver = Driver()
        let key = key(1)
        _ = driver(arrived(key))
        #expect(driver(.vetoed(id)) == [])
        _ = driver(.verified(key, nothingKnown))
        #expect(driver(.vetoed(id)) == [], "an ingest under way has won")
        _ = driver(.ingestFailed(key))
        #expect(
            driver(.vetoed(id)) == [.discard(key, because: .vetoed), .ack(id, pairing: pairing, attempt: 3)])
        #expect(driver.tick(after: .seconds(60)) == [], "its retry is forgotten")
    }

    @Test("what is not understood is counted from its arrival until it is gone, and never judged")
    func waiting() {
        var driver = Driver()
        let key = key(1)
        _ = driver(arrived(key, waits: .versionMissing))
        #expect(driver.node.waitingCount == 1 && driver.node.waitingByteCount == 10)
        #expect(driver(.verified(key, nothingKnown)) == [.reportWaiting(key, .versionMissing)])
        #expect(driver(.vetoed(id)) == [])
        #expect(driver.tick(after: .seconds(10_000)) == [])
        #expect(!driver.node.isIdle && driver.node.nextDeadline == nil)
        _ = driver(.lost(key))
        #expect(driver.node.waitingCount == 0 && driver.node.waitingByteCount == 0 && driver.node.isIdle)
    }

    @Test("an unreadable delivery is looked at again with growing waits")
    func unreadable() {
        var driver = Driver()
        let key = key(1)
        _ = driver(arrived(key))
        #expect(!driver.node.isUnreadable(key))
        for wait in [2, 4, 8] {
            #expect(driver(.unreadable(key)) == [])
            #expect(driver.node.isUnreadable(key))
            #expect(driver.tick(after: .seconds(wait)) == [.verify(key)])
        }
    }
}
