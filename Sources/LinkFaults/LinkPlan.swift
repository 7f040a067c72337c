package import WireContract

// What the link between the two does to transfers: the misbehaviour of the real thing, as a value.
//
// The link lies between the entry in the spool and the receiver's inbox. Each thing that it does has been seen in the field
// (../REPORTS.md names the reports): it delivers several times, reports finished and never delivers, delivers and never
// reports, forgets a transfer, fails it with a code, cuts or alters bytes, sticks at the head of a queue until the next
// enqueue or a restart, stalls for days, crawls at 16 kB/s, and loses in bursts. The pair must survive all of it, because none
// of it says anything about the recording: only the ack does.
//
// A plan is pure. What happens to one transfer is a function of the plan and of (seed, direction, the recording's ordinal,
// the sender's start number, the try), what happens in a burst of (seed, direction, time slot); never of the order in which
// things happen to run. So two processes that never speak about it agree: the receiving daemon carries a decision out, and
// the sender derives from the same decision what `didFinish` tells it.

/// A chance, from 0 (never) to 1 (always).
package struct Chance: Hashable, Sendable {
    package let rawValue: Double

    package static let never = Chance(unchecked: 0)
    package static let always = Chance(unchecked: 1)

    private init(unchecked rawValue: Double) { self.rawValue = rawValue }

    /// `nil` outside 0...1.
    package init?(_ rawValue: Double) {
        guard rawValue >= 0, rawValue <= 1 else { return nil }
        self.rawValue = rawValue
    }
}

/// Which of the two queues.
package enum LinkDirection: String, Hashable, Sendable, CaseIterable {
    /// Files, from the watch to the phone.
    case toPhone
    /// Acks, from the phone to the watch.
    case toWatch
}

/// What is done to the bytes of one transfer.
package enum Damage: Hashable, Sendable {
    /// Only so much of it arrives: 0 nothing, 1 all but the last byte or so.
    case truncated(share: Double)
    /// One byte is another one; which, is drawn.
    case altered
}

/// One thing that the link does to one transfer.
package enum LinkFault: Hashable, Sendable {
    /// Reported finished and never delivered.
    case drop
    /// Gone without delivery and without a report.
    case forget
    /// Not delivered; `didFinish` comes with this error.
    case fail(TransferError)
    /// Not delivered; `didFinish` comes with an error that says nothing.
    case failWithoutDetails
    /// Delivered so many times more.
    case duplicate(extraCopies: Int)
    case damage(Damage)
    /// Delivered, and never reported.
    case silent
    case delay(Duration)
}

/// A fault with its chance. Several are drawn independently, in their order.
package struct FaultChance: Hashable, Sendable {
    package var fault: LinkFault
    package var chance: Chance
    /// A delay is drawn between the fault's own length and this.
    package var longestDelay: Duration?

    package init(_ fault: LinkFault, _ chance: Chance, longestDelay: Duration? = nil) {
        self.fault = fault
        self.chance = chance
        self.longestDelay = longestDelay
    }
}

/// A fault for certain transfers: those of one recording, or of one try, or all that are not excluded.
package struct LinkRule: Hashable, Sendable {
    /// The recording's ordinal, from 1; `nil` for every one.
    package var ordinal: Int?
    /// Which transfer of it since the sender's start, from 1; `nil` for every one.
    package var attempts: ClosedRange<Int>?
    package var fault: LinkFault

    package init(ordinal: Int?, attempts: ClosedRange<Int>?, fault: LinkFault) {
        self.ordinal = ordinal
        self.attempts = attempts
        self.fault = fault
    }

    func matches(_ transfer: LinkTransfer) -> Bool {
        (ordinal == nil || ordinal == transfer.ordinal) && (attempts?.contains(transfer.attempt) ?? true)
    }
}

/// Loss that comes in bursts: the Gilbert-Elliott model, a chain of two states over time slots.
package struct BurstLoss: Hashable, Sendable {
    package var slot: Duration
    /// From a good slot into a bad one, and back.
    package var enter: Chance
    package var leave: Chance
    /// The share of transfers that a bad slot drops.
    package var loss: Chance

    package init(slot: Duration, enter: Chance, leave: Chance, loss: Chance) {
        self.slot = slot
        self.enter = enter
        self.leave = leave
        self.loss = loss
    }
}

/// Nothing is delivered from `start` until `end`, both counted from when the plan came into force.
package struct Outage: Hashable, Sendable {
    package var start: Duration
    package var end: Duration

    package init(start: Duration, end: Duration) {
        self.start = start
        self.end = end
    }
}

/// A queue whose head does not move.
package enum StuckHead: Hashable, Sendable {
    /// Until something is enqueued behind it.
    case untilNextEnqueue
    /// Until the receiver starts anew.
    case untilRestart
}

/// What the link does in one direction.
package struct DirectionPlan: Hashable, Sendable {
    package var rules: [LinkRule] = []
    package var chances: [FaultChance] = []
    package var burst: BurstLoss?
    package var outages: [Outage] = []
    package var stuckHead: StuckHead?
    package var bytesPerSecond: UInt64?

    package init() {}

    /// Nothing is done to anything.
    package var isClean: Bool { self == DirectionPlan() }
}

/// Everything that the link does.
package struct LinkPlan: Hashable, Sendable {
    package var seed: UInt64
    package var toPhone = DirectionPlan()
    package var toWatch = DirectionPlan()

    package static let clean = LinkPlan(seed: 0)

    package init(seed: UInt64) { self.seed = seed }

    /// `--loss P`: independent loss, alike in both directions.
    package init(seed: UInt64, loss: Chance) {
        self.seed = seed
        toPhone.chances = [FaultChance(.drop, loss)]
        toWatch.chances = [FaultChance(.drop, loss)]
    }

    package subscript(direction: LinkDirection) -> DirectionPlan {
        get {
            switch direction {
            case .toPhone: toPhone
            case .toWatch: toWatch
            }
        }
        set {
            switch direction {
            case .toPhone: toPhone = newValue
            case .toWatch: toWatch = newValue
            }
        }
    }
}
