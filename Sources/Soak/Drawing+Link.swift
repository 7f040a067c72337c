import LinkFaults
import Scenarios
import Spooling
import WireContract

// What the link does: the plan from the beginning, and the plans that come into force on the way.

extension Drawing {
    mutating func drawLink() {
        settings.link = drawPlan()
        guard has(.linkChanges) else { return }
        for _ in 0..<strikes(5) {
            let at = anyMoment()
            let plan = dice.happens(0.25) ? cleanLink : drawPlan()
            add(.link(plan), at: at)
        }
    }

    private mutating func drawPlan() -> LinkPlan {
        var plan = LinkPlan(seed: seed)
        for direction in LinkDirection.allCases { plan[direction] = drawDirection(direction) }
        return plan
    }

    private mutating func drawDirection(_ direction: LinkDirection) -> DirectionPlan {
        var plan = DirectionPlan()
        let isOn =
            switch direction {
            case .toPhone: has(.linkToPhone)
            case .toWatch: has(.linkToWatch)
            }
        if isOn {
            // Whole faults are off here too, and the chances of the others reach from rare to always.
            for fault in drawnFaults where dice.happens(0.35) { plan.chances.append(drawChance(of: fault)) }
        }
        if has(.bursts), dice.happens(0.6) {
            plan.burst = BurstLoss(
                slot: dice.scaled(.milliseconds(100)...max(.seconds(1), span / 10)), enter: drawChance(),
                leave: drawChance(), loss: drawChance())
        }
        if has(.outages), dice.happens(0.6) {
            for _ in 0..<strikes(3) {
                let start = dice.scaled(.zero...span)
                plan.outages.append(
                    Outage(start: start, end: start + dice.scaled(.milliseconds(10)...max(.seconds(1), span))))
            }
        }
        if has(.stuckHead), dice.happens(0.6) { plan.stuckHead = dice.one(of: StuckHead.allCases) }
        if has(.bandwidth), dice.happens(0.6) { plan.bytesPerSecond = UInt64(dice.scaled(500...1_000_000)) }
        if has(.rules) { plan.rules = drawRules() }
        return plan
    }

    private mutating func drawRules() -> [LinkRule] {
        (0..<strikes(6)).map { _ in
            let ordinal = dice.happens(0.8) ? dice.number(1...recordedAt.count) : nil
            let first = dice.number(1...3)
            let last = first + dice.scaled(0...20)
            return LinkRule(
                ordinal: ordinal, attempts: dice.happens(0.85) ? first...last : nil, fault: dice.one(of: drawnFaults))
        }
    }

    /// One of each kind, with its details drawn.
    private var drawnFaults: [LinkFault] {
        mutating get {
            [
                .drop, .forget, .fail(dice.one(of: TransferError.allCases)), .failWithoutDetails,
                .duplicate(extraCopies: dice.scaled(1...12)),
                .damage(.truncated(share: Double(dice.number(0...100)) / 100)),
                .damage(.altered), .silent, .delay(dice.scaled(.milliseconds(1)...max(.seconds(1), span / 4))),
            ]
        }
    }

    private mutating func drawChance(of fault: LinkFault) -> FaultChance {
        var item = FaultChance(fault, drawChance())
        if case .delay(let shortest) = fault, dice.happens(0.6) {
            item.longestDelay = shortest + dice.scaled(.milliseconds(1)...max(.seconds(1), span / 4))
        }
        return item
    }

    /// In hundredths: rare ones as often as frequent ones, and now and then always.
    private mutating func drawChance() -> Chance {
        Chance(Double(dice.scaled(1...100)) / 100) ?? .always
    }
}
