package import Spooling
package import WireContract

// What the watch decides, and nothing else: no clock, no file, no randomness.
//
// A recording is sent, and sent again, until an ack says that it is final on the phone; then it is deleted. That an entry
// is gone from the spool says only that the *transfer* finished. So a recording goes round between "waits", "due" and
// "outstanding" for as long as it takes, with waits that grow to a cap and tries that have none; the ack takes it out of
// any of these states, whenever it comes.
//
// | phase | it means | leaves by |
// |---|---|---|
// | waiting | not in the spool; its wait for the ack, or after a failure, runs | its moment → due |
// | due | to be sent as soon as the window has room, the smallest id first | tick → `enqueue` → sending |
// | sending | `enqueue` was given, its answer is not there yet | enqueued → outstanding; postponed → due; failed → waiting |
// | outstanding | its entry lies in the spool | entry gone → waiting; patience over → `requeue` → requeueing |
// | requeueing | `requeue` was given, its answer is not there yet | requeued → outstanding; entry gone → waiting |
// | deleting | acked; `delete` was given | deleted → forgotten; failed → as before |
//
// In every phase: an ack → `delete`, once; somebody removed the file → forgotten. An ack for an id that is not here is a
// stray: reported, no more. An entry that is found for an id that has one already is taken back: at most one entry each.
//
// Nothing here survives a restart. A start finds recordings and entries on the disk and knows no past: what has no entry is
// due at once, because a duplicate is harmless and a recording that nobody sends is not.
//
// The window keeps the spool from filling the disk: so many entries, so many bytes, and one recording alone whatever its
// size. Recordings are due in the order of their ids, which is the order of recording, and none overtakes one that does
// not fit.

/// What the node is told.
package enum WatchEvent: Hashable, Sendable {
    case recordingFound(ULID, byteCount: UInt64)
    /// Somebody removed it by hand.
    case recordingGone(ULID)
    /// An entry of ours that lay in the spool when it was opened.
    case entryFound(EntryName)
    case enqueued(ULID, EntryName)
    /// The spool takes nothing at present, or the daemon stops: it stays due, and nothing is sent before `until`, or before
    /// an entry has left the spool or an ack has deleted a recording.
    case enqueuePostponed(ULID, until: Moment)
    /// The recording does not match its own checksums. It is kept, and tried again after the longest wait.
    case recordingAltered(ULID)
    /// `didFinish`. `entry` is nil for a transfer that failed before it had one.
    case transferFinished(ULID, entry: EntryName?, TransferOutcome)
    case requeued(ULID, from: EntryName, to: EntryName)
    case requeueFailed(ULID, EntryName)
    case ackArrived(ULID)
    case deleted(ULID)
    case deleteFailed(ULID)
    case cancelRequested(ULID)
    case tick
}

/// How a transfer ended. None of these says anything about the recording.
package enum TransferOutcome: Hashable, Sendable {
    case delivered, cancelled
    case failed(TransferError)
}

/// What the node wants done.
package enum WatchDirective: Hashable, Sendable {
    /// Copy the recording into the spool, as its `attempt`-th transfer since the start.
    case enqueue(ULID, attempt: Int)
    /// Give its entry a new, last name.
    case requeue(ULID, EntryName, attempt: Int)
    /// Delete the recording, then its entry. Only ever because of an ack.
    case delete(ULID, entry: EntryName?)
    /// Take an entry back; the recording stays.
    case withdraw(ULID, EntryName)
    case reportStray(ULID)
}

/// The decisions of the watch.
package struct WatchNode: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        case waiting(until: Moment)
        case due
        case sending
        case outstanding(EntryName, patienceUntil: Moment)
        case requeueing(EntryName)
        case deleting(EntryName?)

        /// Its entry in the spool.
        package var entry: EntryName? {
            switch self {
            case .waiting, .due, .sending: nil
            case .outstanding(let entry, _), .requeueing(let entry): entry
            case .deleting(let entry): entry
            }
        }

        /// Whether it counts in the window.
        fileprivate var isInWindow: Bool {
            switch self {
            case .waiting, .due: false
            case .sending, .outstanding, .requeueing: true
            case .deleting(let entry): entry != nil
            }
        }

        /// When it leaves this phase by itself.
        fileprivate var deadline: Moment? {
            switch self {
            case .waiting(let until): until
            case .outstanding(_, let patienceUntil): patienceUntil
            case .due, .sending, .requeueing, .deleting: nil
            }
        }
    }

    struct Recording: Hashable, Sendable {
        let byteCount: UInt64
        /// Transfers so far since this start.
        var attempts = 0
        var phase: Phase
    }

    struct Timer: Hashable, Comparable, Sendable {
        let moment: Moment
        let id: ULID

        static func < (left: Timer, right: Timer) -> Bool {
            left.moment != right.moment ? left.moment < right.moment : left.id < right.id
        }
    }

    /// The most timers that one tick looks at, so that a tick is bounded when 100,000 waits end together.
    private static let mostTimersAtOnce = 1_024

    package let policy: RetryPolicy
    package let limits: WatchLimits
    /// For lookup only; nothing iterates over it but `sortedIDs`, which sorts.
    private var recordings: [ULID: Recording] = [:]
    /// Every deadline of a phase, and stale ones of phases that were left; those are dropped when they come up.
    private var timers = DueQueue<Timer>()
    /// Every id whose phase is `due`, and stale ones.
    private var due = DueQueue<ULID>()
    /// The entries in the spool, in their order. At most as many as the window has. A slice, because it is mostly the first
    /// that goes, and the others need not move for it.
    package private(set) var entries: ArraySlice<EntryName> = []
    private var windowCount = 0
    private var windowByteCount: UInt64 = 0
    private var closedUntil = Moment.zero

    package init(policy: RetryPolicy, limits: WatchLimits) {
        self.policy = policy
        self.limits = limits
    }

    // MARK: Questions

    package var isEmpty: Bool { recordings.isEmpty }
    package var count: Int { recordings.count }

    package func holds(_ id: ULID) -> Bool { recordings[id] != nil }
    package func phase(of id: ULID) -> Phase? { recordings[id]?.phase }
    package func byteCount(of id: ULID) -> UInt64? { recordings[id]?.byteCount }
    package func attempts(of id: ULID) -> Int { recordings[id]?.attempts ?? 0 }

    /// Every recording, in the order of recording. O(n log n), for the rare look that needs all.
    package var sortedIDs: [ULID] { recordings.keys.sorted() }

    /// When `tick` has something to do; `nil` when only an event can change anything. May lie in the past.
    package var nextDeadline: Moment? {
        let timer = timers.first?.moment
        guard let first = due.first, let recording = recordings[first], fits(recording.byteCount) else { return timer }
        return min(timer ?? closedUntil, closedUntil)
    }

    private func fits(_ byteCount: UInt64) -> Bool {
        if windowCount == 0 { return true }
        let (sum, overflow) = windowByteCount.addingReportingOverflow(byteCount)
        return windowCount < limits.windowCount && !overflow && sum <= limits.windowByteCount
    }

    // MARK: Events

    /// Takes one event in and appends what is to be done, in order.
    package mutating func handle(_ event: WatchEvent, at now: Moment, into directives: inout [WatchDirective]) {
        switch event {
        case .recordingFound(let id, let byteCount): found(id, byteCount: byteCount)
        case .recordingGone(let id): forget(id)
        case .entryFound(let entry): found(entry, at: now, into: &directives)
        case .enqueued(let id, let entry): enqueued(id, entry, at: now, into: &directives)
        case .enqueuePostponed(let id, let until):
            closedUntil = max(closedUntil, until)
            if recordings[id]?.phase == .sending { enter(.due, id) }
        case .recordingAltered(let id):
            guard recordings[id]?.phase == .sending else { break }
            recordings[id]?.attempts += 1
            enter(.waiting(until: now + max(policy.cap, policy.first)), id)
        case .transferFinished(let id, let entry, let outcome): finished(id, entry, outcome, at: now)
        case .requeued(let id, let from, let to): requeued(id, from: from, to: to, at: now, into: &directives)
        case .requeueFailed(let id, let entry):
            if recordings[id]?.phase == .requeueing(entry) { enterOutstanding(entry, id, at: now) }
        case .ackArrived(let id): acked(id, into: &directives)
        case .deleted(let id):
            // Not in `deleting`: somebody removed it in between, and perhaps put it back. That one was not acked.
            if case .deleting = recordings[id]?.phase { forget(id) }
            // There is room where there was none.
            closedUntil = .zero
        case .deleteFailed(let id): deleteFailed(id, at: now)
        case .cancelRequested(let id):
            if case .outstanding(let entry, _) = recordings[id]?.phase { directives.append(.withdraw(id, entry)) }
        case .tick: tick(at: now, into: &directives)
        }
        dropStale()
    }

    private mutating func found(_ id: ULID, byteCount: UInt64) {
        // Told twice: by the kernel's news and by a rescan.
        guard recordings[id] == nil else { return }
        recordings[id] = Recording(byteCount: byteCount, phase: .due)
        due.insert(id)
    }

    private mutating func found(_ entry: EntryName, at now: Moment, into directives: inout [WatchDirective]) {
        // Without its recording it is a leftover: the phone takes it and acks, and that ack is a stray.
        guard let recording = recordings[entry.id] else { return }
        switch recording.phase {
        case .waiting, .due:
            recordings[entry.id]?.attempts = max(1, recording.attempts)
            enterOutstanding(entry, entry.id, at: now)
        case .outstanding(let other, _), .requeueing(let other):
            if other != entry { directives.append(.withdraw(entry.id, entry)) }
        case .sending:
            // Its own copy is on its way and will be the one entry.
            directives.append(.withdraw(entry.id, entry))
        case .deleting(let other):
            if other != entry { directives.append(.withdraw(entry.id, entry)) }
        }
    }

    private mutating func enqueued(
        _ id: ULID, _ entry: EntryName, at now: Moment, into directives: inout [WatchDirective]
    ) {
        guard recordings[id]?.phase == .sending else {
            // Acked, or removed by hand, while the copy was made.
            directives.append(.withdraw(id, entry))
            return
        }
        recordings[id]?.attempts += 1
        enterOutstanding(entry, id, at: now)
    }

    private mutating func finished(_ id: ULID, _ entry: EntryName?, _ outcome: TransferOutcome, at now: Moment) {
        guard let recording = recordings[id] else { return }
        switch recording.phase {
        case .outstanding(let current, _), .requeueing(let current):
            // A report about an earlier entry comes late; this one's is still to come.
            guard current == entry else { return }
            closedUntil = .zero
        case .sending:
            guard entry == nil else { return }
            recordings[id]?.attempts += 1
        case .deleting(let current?):
            if current == entry { enter(.deleting(nil), id) }
            return
        case .waiting, .due, .deleting(nil):
            return
        }
        switch outcome {
        case .delivered, .cancelled, .failed:
            // Alike on purpose: whatever became of the transfer, only an ack ends it, and only waiting paces it.
            enter(.waiting(until: now + wait(for: id)), id)
        }
    }

    private mutating func requeued(
        _ id: ULID, from: EntryName, to: EntryName, at now: Moment, into directives: inout [WatchDirective]
    ) {
        guard recordings[id]?.phase == .requeueing(from) else {
            directives.append(.withdraw(id, to))
            return
        }
        recordings[id]?.attempts += 1
        enterOutstanding(to, id, at: now)
    }

    private mutating func acked(_ id: ULID, into directives: inout [WatchDirective]) {
        guard let recording = recordings[id] else {
            directives.append(.reportStray(id))
            return
        }
        switch recording.phase {
        case .waiting, .due, .sending, .outstanding, .requeueing:
            let entry = recording.phase.entry
            enter(.deleting(entry), id)
            directives.append(.delete(id, entry: entry))
        case .deleting:
            // A doubled ack. Deleting is under way.
            break
        }
    }

    private mutating func deleteFailed(_ id: ULID, at now: Moment) {
        guard case .deleting(let entry) = recordings[id]?.phase else { return }
        // The ack stays where it is and is read again; until that succeeds the recording goes on as before.
        if let entry {
            enterOutstanding(entry, id, at: now)
        } else {
            enter(.waiting(until: now + wait(for: id)), id)
        }
    }

    private mutating func tick(at now: Moment, into directives: inout [WatchDirective]) {
        var room = limits.batchCount
        for _ in 0..<Self.mostTimersAtOnce where room > 0 {
            guard let timer = timers.first, timer.moment <= now else { break }
            _ = timers.popFirst()
            guard isLive(timer) else { continue }
            switch recordings[timer.id]?.phase {
            case .waiting: enter(.due, timer.id)
            case .outstanding(let entry, _):
                enter(.requeueing(entry), timer.id)
                directives.append(.requeue(timer.id, entry, attempt: attempts(of: timer.id) + 1))
                room -= 1
            case .due, .sending, .requeueing, .deleting, nil:
                preconditionFailure("a live timer of a phase without one: \(timer) \(recordings[timer.id] as Any)")
            }
        }
        guard closedUntil <= now else { return }
        var copied: UInt64 = 0
        while room > 0, let id = due.first {
            guard let recording = recordings[id], recording.phase == .due else {
                _ = due.popFirst()
                continue
            }
            guard fits(recording.byteCount) else { return }
            let (sum, overflow) = copied.addingReportingOverflow(recording.byteCount)
            guard copied == 0 || !overflow && sum <= limits.batchByteCount else { return }
            copied = sum
            room -= 1
            _ = due.popFirst()
            enter(.sending, id)
            directives.append(.enqueue(id, attempt: recording.attempts + 1))
        }
    }

    // MARK: Phases

    private func wait(for id: ULID) -> Duration {
        guard let recording = recordings[id] else { return policy.first }
        return policy.wait(afterAttempts: max(1, recording.attempts), byteCount: recording.byteCount)
    }

    private mutating func enterOutstanding(_ entry: EntryName, _ id: ULID, at now: Moment) {
        guard let recording = recordings[id] else { return }
        let patience = policy.patience(atAttempt: max(1, recording.attempts), byteCount: recording.byteCount)
        enter(.outstanding(entry, patienceUntil: now + patience), id)
    }

    /// The one place where a phase changes, so that window, entries and queues follow it.
    private mutating func enter(_ phase: Phase, _ id: ULID) {
        guard let place = recordings.index(forKey: id) else { preconditionFailure("no recording \(id) for \(phase)") }
        let recording = recordings.values[place]
        count(recording, leaving: recording.phase, entering: phase)
        recordings.values[place].phase = phase
        if let deadline = phase.deadline { timers.insert(Timer(moment: deadline, id: id)) }
        if phase == .due { due.insert(id) }
    }

    private mutating func forget(_ id: ULID) {
        guard let recording = recordings.removeValue(forKey: id) else { return }
        count(recording, leaving: recording.phase, entering: nil)
    }

    private mutating func count(_ recording: Recording, leaving old: Phase, entering new: Phase?) {
        if old.isInWindow {
            windowCount -= 1
            windowByteCount &-= recording.byteCount
        }
        if let new, new.isInWindow {
            windowCount += 1
            windowByteCount &+= recording.byteCount
        }
        guard old.entry != new?.entry else { return }
        if let entry = old.entry {
            let position = entries.position(of: entry)
            if position == entries.startIndex, entries.first == entry {
                entries.removeFirst()
            } else if position < entries.endIndex, entries[position] == entry {
                entries.remove(at: position)
            }
        }
        if let entry = new?.entry { entries.insert(entry, at: entries.position(of: entry)) }
    }

    // MARK: Lazy deletion

    private func isLive(_ timer: Timer) -> Bool {
        recordings[timer.id]?.phase.deadline == timer.moment
    }

    /// Drops what is stale at the heads, so that `nextDeadline` is true, and everything that is stale when it becomes most of the queue.
    private mutating func dropStale() {
        while let timer = timers.first, !isLive(timer) { _ = timers.popFirst() }
        while let id = due.first, recordings[id]?.phase != .due { _ = due.popFirst() }
        if timers.count > 2 * recordings.count + 1_024 {
            var live = DueQueue<Timer>()
            while let timer = timers.popFirst() {
                if isLive(timer) { live.insert(timer) }
            }
            timers = live
        }
    }
}

extension ArraySlice<EntryName> {
    /// Where `entry` stands in this sorted slice, or would. Mostly at one of the ends.
    func position(of entry: EntryName) -> Int {
        if let last, last < entry { return endIndex }
        if first == entry { return startIndex }
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < entry { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
