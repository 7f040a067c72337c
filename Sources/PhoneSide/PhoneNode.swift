package import Spooling
package import WireContract

// What the phone decides, and nothing else: no clock, no file, no randomness.
//
// One event and a moment go in, directives come out; the engine carries them out and reports what came of each as another
// event. A delivery is what lies in staging under one key; it goes this way:
//
// | phase | what is on disk | leaves it by | towards |
// |---|---|---|---|
// | arrived | staged, unread | verified, unverifiable | see `judge`; quarantine |
// | behind | staged, verified, another of its id is ahead | that one's end | arrived |
// | probing | staged, verified; the id was final once | containerProbed | acked again, or ingesting |
// | ingesting | on its way into the container | ingested, ingestFailed, lost | ack owed; retrying; gone |
// | retrying | as before the failure | its moment, a veto | ingesting; discarded and acked |
// | waits | staged, verified, not understood | a phone build that understands it | – |
//
// P3 and P4 live in `judge`: nothing is acked that is not final, and what is final is acked again and not ingested again.
// An ack that is owed stays owed until it was written; the watch sends again what it did not hear of, so an ack that is
// forgotten by a crash costs a resend and nothing else.

/// What stands in the way of, or speaks for, a verified delivery.
package struct DeliveryFacts: Hashable, Sendable {
    /// What the ledger knows of its id.
    package enum LedgerView: Hashable, Sendable {
        case unknown
        /// A crash or a failure ended an ingest; nothing is final.
        case unfinished
        case ingested(sameBytes: Bool)
        case deletedByUser
    }

    package var isVetoed: Bool
    package var ledger: LedgerView
    /// The container holds a file of this id although the ledger does not know it (a lost ledger).
    package var containerHoldsUnknown: Bool

    package init(isVetoed: Bool, ledger: LedgerView, containerHoldsUnknown: Bool) {
        self.isVetoed = isVetoed
        self.ledger = ledger
        self.containerHoldsUnknown = containerHoldsUnknown
    }
}

/// What the container holds under an id, compared with the delivery's bytes.
package enum ContainerHolding: Hashable, Sendable {
    case missing, same, other
}

package enum PhoneEvent: Hashable, Sendable {
    /// A delivery lies in the inbox (or, at a start, in staging) and its seal and dictionary are in order.
    case arrived(DeliveryKey, pairing: PairingID, byteCount: UInt64, attempt: Int, waits: GateReason?)
    case verified(DeliveryKey, DeliveryFacts)
    case unverifiable(DeliveryKey, EnvelopeFault)
    case containerProbed(DeliveryKey, ContainerHolding)
    case ingested(DeliveryKey)
    /// The disk refused; the delivery is as it was.
    case ingestFailed(DeliveryKey)
    /// The disk failed in a way after which the staged bytes are not to be trusted; they were thrown away.
    case lost(DeliveryKey)
    /// The container holds something under this name that nobody knew of: judge it again.
    case obstructed(DeliveryKey)
    /// A look at the delivery failed; the disk is to be asked again.
    case unreadable(DeliveryKey)
    case acked(ULID)
    /// The disk refused; the ack is still owed.
    case ackFailed(ULID)
    /// Its transfer failed; it is still owed, and the next one is another transfer.
    case ackTransferFailed(ULID)
    /// The user's veto of this id is durable.
    case vetoed(ULID)
    case tick
}

package enum PhoneDirective: Hashable, Sendable {
    /// Move it from the inbox into staging.
    case stage(DeliveryKey)
    /// Read all of it, compare the checksums, and tell what stands in its way.
    case verify(DeliveryKey)
    /// Compare with what the container holds under its id.
    case probe(DeliveryKey)
    /// Make it final. With `replacing`, what the container holds under its id is set aside first; with `adopting`, the
    /// container has these very bytes and only the ledger must learn of them.
    case ingest(DeliveryKey, replacing: Bool, adopting: Bool)
    /// It is final already, or vetoed: its bytes are not needed.
    case discard(DeliveryKey, because: DiscardReason)
    case setAside(DeliveryKey, QuarantineReason)
    /// Report that it stays in staging.
    case reportWaiting(DeliveryKey, GateReason)
    case ack(ULID, pairing: PairingID, attempt: Int)
}

package enum DiscardReason: Hashable, Sendable {
    case duplicate, vetoed, deletedByUser
}

package struct PhoneNode: Hashable, Sendable {
    private enum Phase: Hashable, Sendable {
        case arrived, behind
        /// `isKnown`: the ledger says that this id was ingested with these bytes.
        case probing(isKnown: Bool)
        case ingesting(replacing: Bool, adopting: Bool)
        case retrying(until: Moment, replacing: Bool, adopting: Bool)
        case unreadable(until: Moment)
        case waits(GateReason)
    }

    private struct Delivery: Hashable, Sendable {
        var pairing: PairingID
        var byteCount: UInt64
        var attempt: Int
        var waits: GateReason?
        var phase: Phase
        var failures = 0
    }

    private struct OwedAck: Hashable, Sendable {
        var pairing: PairingID
        var attempt: Int
        /// `nil` while its directive is out.
        var retryAt: Moment?
        var failures = 0
    }

    private enum Timed: Hashable, Comparable, Sendable {
        case delivery(DeliveryKey)
        case ack(ULID)
    }

    private struct Timer: Hashable, Comparable, Sendable {
        var moment: Moment
        var what: Timed

        static func < (left: Timer, right: Timer) -> Bool {
            left.moment != right.moment ? left.moment < right.moment : left.what < right.what
        }
    }

    /// Waits after a refusal by the disk grow from the first to the last of these.
    private let firstRetryWait: Duration
    private static let longestRetryWait = Duration.seconds(EngineTiming.longestRefusedSeconds)
    /// Those after an ack whose transfer failed grow further: nobody waits for that ack, since the watch sends again and
    /// is acked again then, and a link that takes nothing for weeks must not get one every half minute.
    private static let longestAckWait = Duration.seconds(600)

    private var deliveries: [DeliveryKey: Delivery] = [:]
    /// The delivery of each id that is verified and not finished yet; others of that id come behind it.
    private var ahead: [ULID: DeliveryKey] = [:]
    private var behind: [ULID: [DeliveryKey]] = [:]
    private var owed: [ULID: OwedAck] = [:]
    private var timers = DueQueue<Timer>()
    /// Bytes of deliveries that wait for a later build, counted from their arrival.
    package private(set) var waitingByteCount: UInt64 = 0
    package private(set) var waitingCount = 0

    package init(firstRetryWait: Duration) {
        self.firstRetryWait = firstRetryWait
    }

    /// Nothing lies in staging and no ack is owed.
    package var isIdle: Bool { deliveries.isEmpty && owed.isEmpty }

    package var stagedCount: Int { deliveries.count }

    /// Whether this very delivery is in staging: then a resend has met its own first copy, and is of no use. P7: once,
    /// however often it is sent.
    package func knows(_ key: DeliveryKey) -> Bool { deliveries[key] != nil }

    /// Whether the disk does not give this delivery's bytes back: then a resend is of more use than it.
    package func isUnreadable(_ key: DeliveryKey) -> Bool {
        switch deliveries[key]?.phase {
        case .unreadable: true
        case .arrived, .behind, .probing, .ingesting, .retrying, .waits, nil: false
        }
    }

    /// When `tick` is wanted next; `nil` when only events can change anything. May be earlier than needed.
    package var nextDeadline: Moment? { timers.first?.moment }

    package mutating func handle(_ event: PhoneEvent, at now: Moment, into directives: inout [PhoneDirective]) {
        switch event {
        case .arrived(let key, let pairing, let byteCount, let attempt, let waits):
            arrived(
                key, Delivery(pairing: pairing, byteCount: byteCount, attempt: attempt, waits: waits, phase: .arrived),
                into: &directives)
        case .verified(let key, let facts): verified(key, facts, into: &directives)
        case .unverifiable(let key, let fault):
            directives.append(.setAside(key, QuarantineReason(fault)))
            finish(key, into: &directives)
        case .containerProbed(let key, let holding): probed(key, holding, into: &directives)
        case .ingested(let key): becameFinal(key, into: &directives)
        case .ingestFailed(let key): ingestFailed(key, at: now)
        case .lost(let key): finish(key, into: &directives)
        case .obstructed(let key):
            deliveries[key]?.phase = .arrived
            directives.append(.verify(key))
        case .unreadable(let key): unreadable(key, at: now)
        case .acked(let id): owed[id] = nil
        case .ackFailed(let id): ackFailed(id, longestWait: Self.longestRetryWait, at: now)
        case .ackTransferFailed(let id): ackFailed(id, longestWait: Self.longestAckWait, at: now)
        case .vetoed(let id): vetoed(id, into: &directives)
        case .tick: tick(at: now, into: &directives)
        }
    }

    private mutating func arrived(_ key: DeliveryKey, _ delivery: Delivery, into directives: inout [PhoneDirective]) {
        precondition(deliveries[key] == nil, "a delivery that is in staging arrives once: ask `knows` first: \(key)")
        deliveries[key] = delivery
        if delivery.waits != nil {
            waitingByteCount += delivery.byteCount
            waitingCount += 1
        }
        directives.append(.stage(key))
        directives.append(.verify(key))
    }

    /// The heart of the phone: what a delivery whose bytes are proven becomes.
    private mutating func verified(_ key: DeliveryKey, _ facts: DeliveryFacts, into directives: inout [PhoneDirective])
    {
        guard var delivery = deliveries[key] else { return }
        if let reason = delivery.waits {
            delivery.phase = .waits(reason)
            deliveries[key] = delivery
            directives.append(.reportWaiting(key, reason))
            return
        }
        guard let id = key.id else { preconditionFailure("the gate lets no payload through without an id: \(key)") }
        if let first = ahead[id], first != key {
            delivery.phase = .behind
            deliveries[key] = delivery
            behind[id, default: []].append(key)
            return
        }
        ahead[id] = key
        judge(key, id, facts, into: &directives)
    }

    private mutating func judge(
        _ key: DeliveryKey, _ id: ULID, _ facts: DeliveryFacts, into directives: inout [PhoneDirective]
    ) {
        switch facts.ledger {
        case .deletedByUser:
            // P4: it does not come back. P3: the ledger's word is enough for the ack.
            directives.append(.discard(key, because: .deletedByUser))
            becameFinal(key, into: &directives)
        case .ingested(sameBytes: false):
            directives.append(.setAside(key, .idReused))
            finish(key, into: &directives)
        case .ingested(sameBytes: true):
            // P3: acked again only while the container still holds it.
            deliveries[key]?.phase = .probing(isKnown: true)
            directives.append(.probe(key))
        case .unknown, .unfinished:
            if facts.isVetoed {
                directives.append(.discard(key, because: .vetoed))
                becameFinal(key, into: &directives)
            } else if facts.containerHoldsUnknown {
                deliveries[key]?.phase = .probing(isKnown: false)
                directives.append(.probe(key))
            } else {
                ingest(key, replacing: false, adopting: false, into: &directives)
            }
        }
    }

    private mutating func probed(
        _ key: DeliveryKey, _ holding: ContainerHolding, into directives: inout [PhoneDirective]
    ) {
        guard let delivery = deliveries[key], case .probing(let isKnown) = delivery.phase else { return }
        switch (holding, isKnown) {
        case (.same, _): ingest(key, replacing: false, adopting: true, into: &directives)
        case (.missing, _): ingest(key, replacing: false, adopting: false, into: &directives)
        case (.other, true): ingest(key, replacing: true, adopting: false, into: &directives)
        case (.other, false):
            // P4: with the ledger lost, what the container holds counts if its bytes are the delivery's. These are not.
            directives.append(.setAside(key, .idReused))
            finish(key, into: &directives)
        }
    }

    private mutating func ingest(
        _ key: DeliveryKey, replacing: Bool, adopting: Bool, into directives: inout [PhoneDirective]
    ) {
        deliveries[key]?.phase = .ingesting(replacing: replacing, adopting: adopting)
        directives.append(.ingest(key, replacing: replacing, adopting: adopting))
    }

    private mutating func ingestFailed(_ key: DeliveryKey, at now: Moment) {
        guard var delivery = deliveries[key], case .ingesting(let replacing, let adopting) = delivery.phase else {
            return
        }
        delivery.failures += 1
        let until = now + firstRetryWait.doubled(attempts: delivery.failures, cap: Self.longestRetryWait)
        delivery.phase = .retrying(until: until, replacing: replacing, adopting: adopting)
        deliveries[key] = delivery
        timers.insert(Timer(moment: until, what: .delivery(key)))
    }

    private mutating func unreadable(_ key: DeliveryKey, at now: Moment) {
        guard var delivery = deliveries[key] else { return }
        delivery.failures += 1
        let until = now + firstRetryWait.doubled(attempts: delivery.failures, cap: Self.longestRetryWait)
        delivery.phase = .unreadable(until: until)
        deliveries[key] = delivery
        timers.insert(Timer(moment: until, what: .delivery(key)))
    }

    private mutating func ackFailed(_ id: ULID, longestWait: Duration, at now: Moment) {
        guard var ack = owed[id] else { return }
        ack.failures += 1
        let until = now + firstRetryWait.doubled(attempts: ack.failures, cap: longestWait)
        ack.retryAt = until
        owed[id] = ack
        timers.insert(Timer(moment: until, what: .ack(id)))
    }

    /// A veto comes before a retry of an ingest that failed; an ingest that is under way has won.
    private mutating func vetoed(_ id: ULID, into directives: inout [PhoneDirective]) {
        guard let key = ahead[id], let delivery = deliveries[key] else { return }
        switch delivery.phase {
        case .retrying:
            directives.append(.discard(key, because: .vetoed))
            becameFinal(key, into: &directives)
        case .arrived, .behind, .probing, .ingesting, .unreadable, .waits: return
        }
    }

    private mutating func tick(at now: Moment, into directives: inout [PhoneDirective]) {
        while let timer = timers.first, timer.moment <= now {
            _ = timers.popFirst()
            switch timer.what {
            case .ack(let id):
                guard var ack = owed[id], ack.retryAt == timer.moment else { continue }
                ack.retryAt = nil
                owed[id] = ack
                // Another transfer of this ack, and so another try.
                directives.append(.ack(id, pairing: ack.pairing, attempt: ack.attempt + ack.failures))
            case .delivery(let key):
                guard let delivery = deliveries[key] else { continue }
                switch delivery.phase {
                case .retrying(until: timer.moment, let replacing, let adopting):
                    ingest(key, replacing: replacing, adopting: adopting, into: &directives)
                case .unreadable(until: timer.moment):
                    deliveries[key]?.phase = .arrived
                    directives.append(.verify(key))
                case .retrying, .unreadable, .arrived, .behind, .probing, .ingesting, .waits: continue
                }
            }
        }
    }

    /// The note is final: the ack is owed over the pairing that the delivery came by.
    private mutating func becameFinal(_ key: DeliveryKey, into directives: inout [PhoneDirective]) {
        guard let delivery = deliveries[key], let id = key.id else { return }
        owed[id] = OwedAck(pairing: delivery.pairing, attempt: delivery.attempt)
        directives.append(.ack(id, pairing: delivery.pairing, attempt: delivery.attempt))
        finish(key, into: &directives)
    }

    /// The delivery is gone from staging; whoever came behind it is looked at again.
    private mutating func finish(_ key: DeliveryKey, into directives: inout [PhoneDirective]) {
        guard let delivery = deliveries.removeValue(forKey: key) else { return }
        if delivery.waits != nil {
            waitingByteCount -= delivery.byteCount
            waitingCount -= 1
        }
        guard let id = key.id, ahead[id] == key else { return }
        ahead[id] = nil
        for next in behind.removeValue(forKey: id) ?? [] {
            deliveries[next]?.phase = .arrived
            directives.append(.verify(next))
        }
    }
}
