import LinkFaults
package import Scenarios
import Spooling

// When a scenario's faults are over. From there on the clock of P6 runs, in both worlds.

extension Scenario {
    /// The moment from which nothing stands in the way of draining: the last step, or the end of the last outage of the
    /// plan that is in force then. `nil` when something stands in the way for ever (a plan that may lose any number of
    /// tries, a session that stays inactive, a disk that stays full) and no `drainWithin` says that it drains all the same.
    package var settledAt: Duration? {
        var end = Duration.zero
        var plan = settings.link
        var planSince = Duration.zero
        var obstacles: Set<Obstacle> = []
        for timed in steps {
            end = max(end, timed.at)
            if case .link(let new) = timed.step { (plan, planSince) = (new, timed.at) }
            switch timed.step {
            case .session(let state): obstacles.set(.session, state != .active)
            case .handler(let handler): obstacles.set(.handler, handler == .none || handler == .takesNothing)
            case .container(let state): obstacles.set(.container, state != .open)
            case .capacity(let side, .full): obstacles.set(.disk(side), true)
            case .capacity(let side, .byteCount), .capacity(let side, .unlimited): obstacles.set(.disk(side), false)
            case .record, .start, .stop, .kill, .reachable, .rawMetadata, .rawUserInfo, .build, .link, .wipe, .keepCopy,
                .restoreCopy, .replacePhone, .switchWatch, .veto, .delete, .cancel, .clock, .reboot:
                break
            }
        }
        for direction in LinkDirection.allCases {
            for outage in plan[direction].outages { end = max(end, planSince + outage.end) }
        }
        let mayNeverEnd = !obstacles.isEmpty || LinkDirection.allCases.contains { plan[$0].mayLoseForEver }
        return mayNeverEnd && settings.drainWithin == nil ? nil : end
    }
}

private enum Obstacle: Hashable {
    case session, handler, container
    case disk(Side)
}

extension Set<Obstacle> {
    fileprivate mutating func set(_ obstacle: Obstacle, _ isThere: Bool) {
        if isThere { insert(obstacle) } else { remove(obstacle) }
    }
}

extension DirectionPlan {
    /// Whether it may take any number of tries of one recording.
    fileprivate var mayLoseForEver: Bool {
        burst != nil || stuckHead != nil || chances.contains { $0.fault.loses && $0.chance != .never }
            || rules.contains { $0.attempts == nil && $0.fault.loses }
    }
}

extension LinkFault {
    /// Whether a transfer that it hits does not arrive as it was sent.
    fileprivate var loses: Bool {
        switch self {
        case .drop, .forget, .fail, .failWithoutDetails, .damage: true
        case .duplicate, .silent, .delay: false
        }
    }
}
