package import Spooling

/// How long after the last fault everything has drained: the bound of P6.
///
/// The worst that a recording can be in when faults end: its transfer was forgotten, so the watch sees an entry that it
/// believes to be untouched and has to lose its longest *patience*; the cancelled transfer then turns out to be gone, and the
/// longest *wait* for its ack has to pass before it is sent anew. That copy is delivered, ingested and acked. An ack that is
/// lost, or a delivery that was altered, costs a wait without a patience and is covered by the same sum. On top come a look
/// around on both sides (an engine that heard no news looks by itself), the longest pause of either after a refusal by its
/// disk, and the work itself.
package struct DrainBound: Hashable, Sendable {
    package var policy: RetryPolicy
    /// What one recording may cost both sides together, on a slow disk: some ten syncs when nothing can be shared.
    package var workPerRecording = Duration.milliseconds(50)
    /// How fast bytes go all the way, at least: the rate that `RetryPolicy` allows for long recordings.
    package var bytesPerSecond: UInt64 = 8 * 1_024 * 1_024
    /// So many tries are more than any wait takes to reach its cap.
    private static let manyAttempts = 64

    package init(_ policy: RetryPolicy) { self.policy = policy }

    /// For `count` recordings of `byteCount` bytes together, the largest of which has `largestByteCount`.
    package func duration(count: Int, byteCount: UInt64, largestByteCount: UInt64) -> Duration {
        let patience = policy.patience(atAttempt: Self.manyAttempts, byteCount: largestByteCount)
        let wait = policy.wait(afterAttempts: Self.manyAttempts, byteCount: largestByteCount)
        let looks = Duration.seconds(2 * EngineTiming.rescanSeconds)
        let pauses = Duration.seconds(2 * EngineTiming.longestRefusedSeconds)
        return patience + wait + looks + pauses + workPerRecording * count
            + .milliseconds(Int64(clamping: byteCount / max(1, bytesPerSecond / 1_000)))
    }
}

/// Since when nothing stands in the way of draining, and by when it has to be done.
///
/// The clock of P6 starts when the world says that faults ended, and anew with every later act of the world that takes away
/// what was on its way (a start, a kill, a wipe, another build). It stands still for nobody: while a side is down the
/// time before counts and the time after does not.
package struct Settling: Sendable {
    package var bound: DrainBound
    /// A fixed bound instead of the computed one.
    package var within: Duration?
    private(set) var since: Moment?
    private var phoneDown: Moment?
    private var watchDown: [UInt8: Moment] = [:]
    private var pendingCount = 0
    private var pendingByteCount: UInt64 = 0
    private var largestByteCount: UInt64 = 0
    /// The most that was pending since the clock started; the bound is for all of that.
    private var peakCount = 0
    private var peakByteCount: UInt64 = 0
    private var current: Duration = .zero

    init(policy: RetryPolicy, within: Duration?) {
        bound = DrainBound(policy)
        self.within = within
        reckon()
    }

    /// By when a recording has to be gone. `nil` while faults are on.
    func deadline(of record: Record) -> Moment? {
        since.map { max($0, record.recordedAt) + current }
    }

    /// How far the time went that counts: until the first side went down for good, or until `moment`.
    func end(at moment: Moment, watch: UInt8) -> Moment {
        min(moment, phoneDown ?? moment, watchDown[watch] ?? moment)
    }

    mutating func recorded(byteCount: UInt64) {
        pendingCount += 1
        pendingByteCount &+= byteCount
        guard pendingCount > peakCount || pendingByteCount > peakByteCount || byteCount > largestByteCount else {
            return
        }
        largestByteCount = max(largestByteCount, byteCount)
        peakCount = max(peakCount, pendingCount)
        peakByteCount = max(peakByteCount, pendingByteCount)
        reckon()
    }

    mutating func deleted(byteCount: UInt64) {
        pendingCount -= 1
        pendingByteCount &-= byteCount
    }

    mutating func take(_ event: WorldEvent, _ entry: HistoryEntry) {
        switch event {
        case .faultsBegan: since = nil
        case .faultsEnded: restart(at: entry.moment)
        case .started(let side, _):
            up(side, entry)
            disturb(at: entry.moment)
        case .killed(let side):
            down(side, entry)
            disturb(at: entry.moment)
        case .stopped(let side): down(side, entry)
        case .powerLost:
            down(.watch, entry)
            down(.phone, entry)
            disturb(at: entry.moment)
        case .wiped, .restored, .phoneReplaced, .watchSwitched, .containerLocked, .containerSignedOut, .containerOpened,
            .containerTouched, .entryPlanted:
            disturb(at: entry.moment)
        case .recordReturned, .copyKept, .removedByHand, .vetoAsked, .vetoAnswered, .deleteAsked, .deleteAnswered,
            .ackPlanted, .historyGap, .census:
            break
        }
    }

    private mutating func up(_ side: Side, _ entry: HistoryEntry) {
        switch side {
        case .watch: watchDown[entry.watchNumber] = nil
        case .phone: phoneDown = nil
        }
    }

    private mutating func down(_ side: Side, _ entry: HistoryEntry) {
        switch side {
        case .watch: if watchDown[entry.watchNumber] == nil { watchDown[entry.watchNumber] = entry.moment }
        case .phone: if phoneDown == nil { phoneDown = entry.moment }
        }
    }

    private mutating func disturb(at moment: Moment) {
        if since != nil { restart(at: moment) }
    }

    private mutating func restart(at moment: Moment) {
        since = moment
        peakCount = pendingCount
        peakByteCount = pendingByteCount
        reckon()
    }

    private mutating func reckon() {
        current =
            within ?? bound.duration(count: peakCount, byteCount: peakByteCount, largestByteCount: largestByteCount)
    }
}
