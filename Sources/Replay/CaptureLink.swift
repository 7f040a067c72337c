import LinkFaults
import Monitors
import Spooling
import WireContract

/// What the link did, as rules: a plan for each start of the watch, and for each plan that the original brought into force.
struct CaptureLink {
    /// From when on which plan's rules count.
    private struct Segment {
        var at: Duration
        /// What was in force, as the original says, and since when.
        var base: LinkPlan
        var baseBegan: Duration
        /// Who started anew between the base's beginning and this one's: nothing is stuck for it any more. And who did so
        /// later, which says something about the next one only.
        var startedBefore: [Side] = []
        var startedLater: [Side] = []
        /// The transfers that the link decided about in it.
        var transfers: [Int] = []
    }

    private struct Transfer {
        var entry: EntryName
        /// In which the link decided about it; `nil` until it has.
        var segment: Int?
        var isLost = false
        var isDamaged = false
        var arrivals = 0
        var byteCount: UInt64?
        /// As what it was set aside: its length, and why.
        var asideByteCount: UInt64?
        var asideReason: String?
        /// What the watch was told of it.
        var report: String?
    }

    /// Whether the base is that of the run.
    private let isKnown: Bool
    private var segments: [Segment]
    private var transfers: [Transfer] = []
    private var indices: [EntryName: Int] = [:]

    init(_ base: LinkPlan, isKnown: Bool) {
        self.isKnown = isKnown
        segments = [Segment(at: .zero, base: base, baseBegan: .zero)]
    }

    // MARK: Segments

    /// A new segment, if the one so far has anything to say.
    mutating func watchStarts(at: Duration) -> Int? {
        let current = segments.count - 1
        segments[current].startedLater.append(.watch)
        guard !segments[current].transfers.isEmpty else { return nil }
        var next = segments[current]
        next.at = at
        next.startedBefore += next.startedLater
        next.startedLater = []
        next.transfers = []
        segments.append(next)
        return segments.count - 1
    }

    /// A new segment: another plan comes into force.
    mutating func change(to plan: LinkPlan, at: Duration) -> Int {
        segments.append(Segment(at: at, base: plan, baseBegan: at))
        return segments.count - 1
    }

    mutating func phoneStarts() { segments[segments.count - 1].startedLater.append(.phone) }

    func beginning(ofSegment segment: Int) -> Duration { segments[segment].at }

    /// Whether that segment's plan has to be said, where `inForce` is. At a start of the watch only for its rules: outages
    /// go on, and what was stuck is free, by themselves. (Without a start of the watch before it, it is a change of base.)
    func isNews(_ segment: Int, _ plan: LinkPlan, after inForce: LinkPlan) -> Bool {
        if segments[segment].startedBefore.contains(.watch) {
            return plan.toPhone.rules != inForce.toPhone.rules || plan.toWatch.rules != inForce.toWatch.rules
        }
        // The same plan again begins its outages, and what is stuck, anew.
        return plan != inForce
            || LinkDirection.allCases.contains { !plan[$0].outages.isEmpty || plan[$0].stuckHead != nil }
    }

    func plan(ofSegment number: Int, _ numbers: NoteNumbers) -> LinkPlan {
        let segment = segments[number]
        var plan = LinkPlan(seed: segment.base.seed)
        for direction in LinkDirection.allCases {
            let base = segment.base[direction]
            var kept = DirectionPlan()
            kept.bytesPerSecond = base.bytesPerSecond
            kept.outages = base.outages.compactMap { outage in
                let gone = segment.at - segment.baseBegan
                guard outage.end > gone else { return nil }
                return Outage(start: max(.zero, outage.start - gone), end: outage.end - gone)
            }
            let isFree = segment.startedBefore.contains(direction == .toPhone ? .phone : .watch)
            kept.stuckHead = base.stuckHead == .untilRestart && isFree ? nil : base.stuckHead
            kept.rules = rules(ofSegment: number, direction, numbers)
            plan[direction] = kept
        }
        return plan
    }

    // MARK: Transfers

    mutating func observe(_ event: PairEvent, _ source: HistoryEntry.Source) {
        guard event.phase == .did, let entry = event.name.flatMap({ EntryName(ending: $0) }) else { return }
        switch event.kind {
        case .lostByLink: decided(entry) { $0.isLost = true }
        case .damagedByLink: decided(entry) { $0.isDamaged = true }
        case .taken where entry.kind == .note:
            decided(entry) { transfer in
                transfer.arrivals += 1
                transfer.byteCount = event.byteCount
            }
        case .ackReceived where entry.kind == .ack: decided(entry) { $0.arrivals += 1 }
        case .setAside:
            change(entry) { transfer in
                transfer.asideByteCount = event.byteCount
                transfer.asideReason = event.detail
            }
        case .transferFinished: change(entry) { $0.report = event.detail }
        case .started, .stopped, .paired, .refused, .failed, .spoolReopened, .recorded, .found, .enqueued, .requeued,
            .ackReceived, .strayAck, .deleted, .cancelled, .spoolFull, .taken, .staged, .duplicate, .waits, .ingested,
            .acked, .vetoed, .userDeleted, .discarded, .containerLost:
            break
        }
    }

    private mutating func decided(_ entry: EntryName, _ body: (inout Transfer) -> Void) {
        let segment = segments.count - 1
        let index = change(entry, body)
        guard transfers[index].segment == nil else { return }
        transfers[index].segment = segment
        segments[segment].transfers.append(index)
    }

    @discardableResult
    private mutating func change(_ entry: EntryName, _ body: (inout Transfer) -> Void) -> Int {
        let index = indices[entry] ?? transfers.count
        if index == transfers.count {
            transfers.append(Transfer(entry: entry))
            indices[entry] = index
        }
        body(&transfers[index])
        return index
    }

    /// How many transfers the link did something to that belong to no recording of the run.
    func strangerCount(_ numbers: NoteNumbers) -> Int {
        transfers.count { numbers[$0.entry.id] == nil && !faults($0).isEmpty }
    }

    // MARK: Rules

    private func rules(ofSegment segment: Int, _ direction: LinkDirection, _ numbers: NoteNumbers) -> [LinkRule] {
        struct Hit {
            var ordinal: Int
            var attempt: Int
            var order: Int
            var faults: [LinkFault]
        }
        var hits: [Hit] = []
        for order in segments[segment].transfers {
            let transfer = transfers[order]
            guard transfer.entry.kind == (direction == .toPhone ? .note : .ack), transfer.entry.attempt > 0,
                let ordinal = numbers[transfer.entry.id]
            else { continue }
            let faults = faults(transfer)
            if !faults.isEmpty {
                hits.append(Hit(ordinal: ordinal, attempt: transfer.entry.attempt, order: order, faults: faults))
            }
        }
        hits.sort { ($0.ordinal, $0.attempt, $0.order) < ($1.ordinal, $1.attempt, $1.order) }
        var rules: [LinkRule] = []
        /// Where this recording's rules begin.
        var first = 0
        for (index, hit) in hits.enumerated() {
            if index == 0 || hits[index - 1].ordinal != hit.ordinal { first = rules.count }
            for fault in hit.faults {
                let known = rules[first...].lastIndex { $0.fault == fault }
                if let known, let range = rules[known].attempts, range.upperBound >= hit.attempt - 1 {
                    rules[known].attempts = range.lowerBound...max(range.upperBound, hit.attempt)
                } else {
                    rules.append(LinkRule(ordinal: hit.ordinal, attempts: hit.attempt...hit.attempt, fault: fault))
                }
            }
        }
        return rules
    }

    private func faults(_ transfer: Transfer) -> [LinkFault] {
        guard let segment = transfer.segment else { return [] }
        // What the plan of the run decided, as far as it is known. No length: what bandwidth costs is no rule.
        let decision =
            isKnown
            ? segments[segment].base.decision(about: LinkTransfer(transfer.entry, byteCount: 0)) : LinkDecision.clean
        var faults: [LinkFault] = []
        if transfer.isLost {
            faults.append(loss(transfer, decision))
        } else {
            if transfer.arrivals > 1 {
                faults.append(.duplicate(extraCopies: min(100, transfer.arrivals - 1)))
            }
            if transfer.isDamaged { faults.append(.damage(damage(transfer, decision))) }
            if decision.deliveryCount > 0, decision.report == .never, transfer.entry.kind == .note {
                faults.append(.silent)
            }
        }
        if decision.delay > .zero { faults.append(.delay(decision.delay)) }
        return faults
    }

    private func loss(_ transfer: Transfer, _ decision: LinkDecision) -> LinkFault {
        if transfer.entry.kind == .ack { return .drop }
        // Otherwise a burst took it, or nobody knows the plan.
        if decision.deliveryCount == 0 {
            switch decision.report {
            case .finished: return .drop
            case .failed(let error): return .fail(error)
            case .failedWithoutDetails: return .failWithoutDetails
            case .never: return .forget
            }
        }
        // No report, which can also be because the watch was dead by then: it learned as little.
        guard let report = transfer.report else { return .forget }
        guard report.hasPrefix("failed:") else { return .drop }
        let error = TransferError.allCases.first { report.contains("(\($0.rawValue))") }
        return error.map { $0 == .genericError ? .failWithoutDetails : .fail($0) } ?? .failWithoutDetails
    }

    private func damage(_ transfer: Transfer, _ decision: LinkDecision) -> Damage {
        if let damage = decision.damage { return damage }
        // The seal is at the end, so what was cut has none.
        guard let reason = transfer.asideReason, reason.hasPrefix("noSeal") || reason.hasPrefix("empty"),
            let rest = transfer.asideByteCount, let whole = transfer.byteCount, rest < whole
        else { return .altered }
        return .truncated(share: Double(rest) / Double(whole))
    }
}
