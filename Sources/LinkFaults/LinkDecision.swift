package import Spooling
package import WireContract

// From a plan to what happens to one transfer.

/// One transfer, as far as the link may know it. Both ends know all of this from the entry's name and length.
package struct LinkTransfer: Hashable, Sendable {
    package var direction: LinkDirection
    /// Sixteen bits of the id that count the recordings of a run; see `ULID.ordinal`.
    package var ordinal: Int
    /// The bits of the id that are random in the field, and drawn from the seed in a run.
    package var identity: UInt64
    package var start: StartNumber
    package var attempt: Int
    package var byteCount: UInt64

    package init(_ entry: EntryName, byteCount: UInt64) {
        switch entry.kind {
        case .note: direction = .toPhone
        case .ack: direction = .toWatch
        }
        ordinal = entry.id.ordinal
        identity = entry.id.low
        start = entry.start
        attempt = entry.attempt
        self.byteCount = byteCount
    }
}

extension ULID {
    /// The upper sixteen of the eighty bits that are random in the field. A run numbers its recordings in them, so that both
    /// worlds, and both daemons, speak of the same recording whatever the clock said when it was made.
    package var ordinal: Int { Int(high & 0xFFFF) }

    /// The id of the `ordinal`-th recording of a run.
    package init(millisecondsSince1970: UInt64, ordinal: Int, seed: UInt64) {
        precondition((0...0xFFFF).contains(ordinal), "a run has at most 65,535 recordings: \(ordinal)")
        var draw = Draw(seed, UInt64(ordinal), 0x1D)
        self.init(high: millisecondsSince1970 << 16 | UInt64(ordinal), low: draw.next())
    }
}

/// What `didFinish` tells the sender about one transfer.
package enum FinishReport: Hashable, Sendable {
    case finished
    case failed(TransferError)
    /// An error without a code.
    case failedWithoutDetails
    /// It never comes.
    case never
}

/// What happens to one transfer, whoever asks.
package struct LinkDecision: Hashable, Sendable {
    /// How often it is delivered; 0 is never.
    package var deliveryCount = 1
    package var damage: Damage?
    package var report = FinishReport.finished
    package var delay = Duration.zero
    /// Which byte is altered, as a share of the length in 64 bits.
    package var damageDraw: UInt64 = 0

    package static let clean = LinkDecision()

    /// What is done to the `copy`-th delivery (from 0): damage hits one of the copies, which is drawn, and the others are
    /// whole. Otherwise a doubled transfer would never be met half broken, which is when a receiver mixes copies up.
    package func damage(ofCopy copy: Int) -> Damage? {
        guard let damage, deliveryCount > 0, copy == Int(damageDraw >> 32) % deliveryCount else { return nil }
        return damage
    }

    fileprivate mutating func apply(_ fault: LinkFault) {
        switch fault {
        case .drop: deliveryCount = 0
        case .forget: (deliveryCount, report) = (0, .never)
        case .fail(let error): (deliveryCount, report) = (0, .failed(error))
        case .failWithoutDetails: (deliveryCount, report) = (0, .failedWithoutDetails)
        case .duplicate(let extraCopies): if deliveryCount > 0 { deliveryCount += extraCopies }
        case .damage(let damage): self.damage = damage
        case .silent: report = .never
        case .delay(let delay): self.delay += delay
        }
    }
}

extension LinkPlan {
    /// Everything about one transfer that does not depend on when it happens.
    ///
    /// Every rule that matches applies, in their order, and then nothing is left to chance; without one every chance is drawn.
    package func decision(about transfer: LinkTransfer) -> LinkDecision {
        let plan = self[transfer.direction]
        var decision = LinkDecision.clean
        var draw = Draw(
            seed, transfer.direction == .toPhone ? 1 : 2, transfer.identity ^ UInt64(transfer.ordinal) << 48,
            transfer.start.rawValue, UInt64(transfer.attempt))
        decision.damageDraw = draw.next()
        var isRuled = false
        for rule in plan.rules where rule.matches(transfer) {
            decision.apply(rule.fault)
            isRuled = true
        }
        if !isRuled {
            for chance in plan.chances {
                let happens = draw.unit() < chance.chance.rawValue
                let share = draw.unit()
                guard happens else { continue }
                if case .delay(let shortest) = chance.fault, let longest = chance.longestDelay, longest > shortest {
                    decision.apply(.delay(shortest + (longest - shortest) * share))
                } else {
                    decision.apply(chance.fault)
                }
            }
        }
        if let rate = plan.bytesPerSecond, rate > 0 {
            decision.delay += .seconds(Double(transfer.byteCount) / Double(rate))
        }
        return decision
    }

    /// Whether a burst takes a transfer that is delivered so long after the plan came into force.
    package func isLostInBurst(_ transfer: LinkTransfer, at elapsed: Duration) -> Bool {
        guard let burst = self[transfer.direction].burst else { return false }
        let slot = elapsed.wholeNanoseconds / max(1, burst.slot.wholeNanoseconds)
        guard isBad(slot, burst, transfer.direction) else { return false }
        var draw = Draw(
            seed, transfer.direction == .toPhone ? 3 : 4, transfer.identity, transfer.start.rawValue,
            UInt64(transfer.attempt))
        return draw.unit() < burst.loss.rawValue
    }

    /// Slots in one block. A day of seconds is five of them.
    static let burstBlock: UInt64 = 16_384

    /// Whether a slot is a bad one.
    ///
    /// The chain is not walked from its beginning, which would cost a year's slots. Each slot has one draw, which moves
    /// either state on; a draw that moves both to the same state *resets*, it says the slot's state without its past. So
    /// looking back to the nearest reset and going forward from there gives the chain exactly. How far that is, is
    /// geometric. A chain that hardly ever changes, or that alternates, would look back for ever; so the chain begins anew
    /// at every block's first slot, from a draw with the long-run share. That the place of this cut does not depend on the
    /// slot that asks is what keeps all slots in *one* chain.
    func isBad(_ slot: UInt64, _ burst: BurstLoss, _ direction: LinkDirection) -> Bool {
        let (enter, leave) = (burst.enter.rawValue, burst.leave.rawValue)
        let first = slot - slot % LinkPlan.burstBlock
        var at = slot
        var units: [Double] = []
        var state: Bool?
        while state == nil {
            var draw = Draw(seed, direction == .toPhone ? 5 : 6, at)
            let unit = draw.unit()
            // From good: bad when unit < enter. From bad: good when unit >= 1 - leave.
            let (fromGood, fromBad) = (unit < enter, unit < 1 - leave)
            if fromGood == fromBad {
                state = fromGood
            } else {
                units.append(unit)
                if at == first {
                    // Before the first slot of all the link is good.
                    state = at > 0 && draw.unit() * (enter + leave) < enter
                } else {
                    at -= 1
                }
            }
        }
        for unit in units.reversed() { state = state == true ? unit < 1 - leave : unit < enter }
        return state == true
    }
}

/// Pseudo-random bits that are a function of some numbers: SplitMix64 over their mixture.
package struct Draw {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Each number goes through the whole mixer before the next one comes. Were they only added up, (start 1, try 2) and
    /// (start 2, try 3) would meet the same fate, and neighbouring seeds the same bursts in another order.
    package init(_ numbers: UInt64...) {
        for number in numbers {
            state ^= number
            state = next()
        }
    }

    /// Sebastiano Vigna's splitmix64.c, which is in the public domain.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return mixed
    }

    /// In 0..<1, with 53 bits.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
