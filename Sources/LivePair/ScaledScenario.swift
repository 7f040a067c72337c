import LinkFaults
import Scenarios
import Spooling

// A scenario whose hours pass in seconds. The daemons are the product as it is and know nothing of it: what is divided are
// the times that the scenario names. What the product does in its own time (a look around every ten seconds, a pause after a
// full disk) stays as long as it is.

extension RetryPolicy {
    /// Below these a real machine under load decides more than the policy does.
    private static let shortestFirst = Duration.milliseconds(150)
    private static let shortestCap = Duration.milliseconds(500)

    func scaled(by scale: Double) -> RetryPolicy {
        RetryPolicy(
            first: max(first / scale, Self.shortestFirst), cap: max(cap / scale, Self.shortestCap),
            patience: max(patience / scale, Self.shortestCap))
    }
}

extension Scenario {
    /// Every time of it divided by `scale`, which is above 0.
    func scaled(by scale: Double) -> Scenario {
        precondition(scale > 0 && scale.isFinite, "a scale is a positive number: \(scale)")
        var copy = self
        copy.settings.policy = settings.policy.scaled(by: scale)
        copy.settings.link = settings.link.scaled(by: scale)
        copy.settings.drainWithin = settings.drainWithin.map { $0 / scale }
        for index in steps.indices {
            copy.steps[index].at = steps[index].at / scale
            if case .link(let plan) = steps[index].step { copy.steps[index].step = .link(plan.scaled(by: scale)) }
        }
        for index in expectations.indices { copy.expectations[index].at = expectations[index].at.map { $0 / scale } }
        return copy
    }
}

extension LinkPlan {
    func scaled(by scale: Double) -> LinkPlan {
        var copy = self
        for direction in LinkDirection.allCases { copy[direction] = self[direction].scaled(by: scale) }
        return copy
    }
}

extension DirectionPlan {
    fileprivate func scaled(by scale: Double) -> DirectionPlan {
        var copy = self
        copy.rules = rules.map {
            LinkRule(ordinal: $0.ordinal, attempts: $0.attempts, fault: $0.fault.scaled(by: scale))
        }
        copy.chances = chances.map {
            FaultChance($0.fault.scaled(by: scale), $0.chance, longestDelay: $0.longestDelay.map { $0 / scale })
        }
        copy.burst = burst.map { BurstLoss(slot: $0.slot / scale, enter: $0.enter, leave: $0.leave, loss: $0.loss) }
        copy.outages = outages.map { Outage(start: $0.start / scale, end: $0.end / scale) }
        copy.bytesPerSecond = bytesPerSecond.map { UInt64(min(max(1, Double($0) * scale), 1e18)) }
        return copy
    }
}

extension LinkFault {
    fileprivate func scaled(by scale: Double) -> LinkFault {
        switch self {
        case .delay(let delay): .delay(delay / scale)
        case .drop, .forget, .fail, .failWithoutDetails, .duplicate, .damage, .silent: self
        }
    }
}
