package import Spooling

/// One direction of the link, at its receiving end: when the next transfer of a queue arrives, and as what.
///
/// A queue is served in its order, one transfer at a time, as WatchConnectivity does: a transfer that is delayed, crawls, or
/// meets an outage holds up those behind it. What it remembers is only about the head; it starts anew with its process.
package struct LinkReceiver: Hashable, Sendable {
    package enum Admission: Hashable, Sendable {
        /// It arrives now; carry the decision out.
        case arrives(LinkDecision)
        /// Not before this moment.
        case notBefore(Moment)
        /// Not before something else happens: an enqueue, or a restart.
        case waitsForNews
    }

    private let direction: LinkDirection
    package private(set) var plan: LinkPlan
    private var origin: Moment
    /// When this process began. A head that is stuck until a restart is stuck for processes that began before the plan.
    private let began: Moment
    /// The transfer at the head, and since when it is there.
    private var head: EntryName?
    private var headSince = Moment.zero

    package init(direction: LinkDirection, plan: LinkPlan, origin: Moment, began: Moment) {
        self.direction = direction
        self.began = began
        self.plan = plan
        self.origin = origin
    }

    /// Another plan comes into force. Outages, stalls and slots count from `origin`. The same plan again changes nothing:
    /// the head goes on with the delay that it has.
    package mutating func change(to plan: LinkPlan, origin: Moment) {
        guard plan != self.plan || origin != self.origin else { return }
        self.plan = plan
        self.origin = origin
        head = nil
    }

    /// Whether every transfer simply arrives, so that nobody needs to ask.
    package var isClean: Bool { plan[direction].isClean }

    /// Asks for the head of the queue. `isLast`: nothing was enqueued behind it.
    package mutating func admit(_ entry: EntryName, byteCount: UInt64, isLast: Bool, at now: Moment) -> Admission {
        let plan = plan[direction]
        if plan.isClean { return .arrives(.clean) }
        if head != entry { (head, headSince) = (entry, now) }
        switch plan.stuckHead {
        case .untilNextEnqueue where isLast: return .waitsForNews
        case .untilRestart where began <= origin: return .waitsForNews
        case .untilNextEnqueue, .untilRestart, nil: break
        }
        let elapsed = now.since(origin)
        for outage in plan.outages where elapsed >= outage.start && elapsed < outage.end {
            return .notBefore(origin + outage.end)
        }
        let transfer = LinkTransfer(entry, byteCount: byteCount)
        var decision = self.plan.decision(about: transfer)
        let due = headSince + decision.delay
        if due > now { return .notBefore(due) }
        if self.plan.isLostInBurst(transfer, at: elapsed) { decision.deliveryCount = 0 }
        head = nil
        return .arrives(decision)
    }
}
