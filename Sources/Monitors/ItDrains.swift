import Spooling
import WireContract

/// P6. Once faults stop, every recording that both sides can speak about is acked and deleted within the bound, and a
/// recording has at most one entry in the spool.
///
/// Not spoken about: what the phone's build does not understand, everything while the watch does not understand the phone's
/// acks, ids that somebody else used, and the recordings of a watch that the phone does not serve at the time.
package struct ItDrains: Monitor {
    package static let promise = Promise.itDrains

    /// By record: the start and spool in which the watch put an entry of it there; 0 for none, or not known.
    private var entrySince: [UInt32] = []

    package init() {}

    package mutating func observe(_ entry: HistoryEntry, _ chronicle: Chronicle) -> Violation? {
        guard case .pair(let event) = entry.what, entry.source == .watch, chronicle.current != 0 else { return nil }
        let epoch = chronicle.watchStarts &+ chronicle.spoolEpoch
        switch event.kind {
        case .enqueued:
            let isSecond = exchange(chronicle.current, epoch) == epoch
            guard isSecond, !chronicle.hasWatchGap else { return nil }
            return Violation(
                Self.promise, entry, event.id, "the watch sends it while an entry of it lies in the spool already")
        case .requeued:
            _ = exchange(chronicle.current, epoch)
        case .transferFinished, .cancelled, .found:
            _ = exchange(chronicle.current, 0)
        case .deleted:
            guard event.phase == .did else { return nil }
            _ = exchange(chronicle.current, 0)
            return lateness(entry, chronicle[chronicle.current], chronicle)
        case .started, .stopped, .paired, .refused, .setAside, .failed, .spoolReopened, .recorded, .ackReceived,
            .strayAck, .spoolFull, .taken, .staged, .duplicate, .waits, .ingested, .acked, .vetoed, .userDeleted,
            .discarded, .containerLost, .lostByLink, .damagedByLink:
            break
        }
        return nil
    }

    private mutating func exchange(_ index: Int, _ epoch: UInt32) -> UInt32 {
        if index >= entrySince.count {
            if epoch == 0 { return 0 }
            entrySince.append(
                contentsOf: repeatElement(0, count: max(index + 1, 2 * entrySince.count) - entrySince.count))
        }
        let old = entrySince[index]
        entrySince[index] = epoch
        return old
    }

    private func lateness(_ entry: HistoryEntry, _ record: Record, _ chronicle: Chronicle) -> Violation? {
        guard let deadline = chronicle.settling.deadline(of: record), entry.moment > deadline,
            record.flags.contains(.recorded), chronicle.mustDrain(record)
        else { return nil }
        return Violation(
            Self.promise, entry, record.id, "it was deleted \(entry.moment.since(deadline)) later than it had to be")
    }

    package mutating func finish(_ census: Census, _ chronicle: Chronicle) -> [Violation] {
        var violations: [Violation] = []
        var seen: Set<ULID> = []
        let onWatch = Set(census.recordings.map(\.id))
        // Of a recording that was deleted any number may lie there: a cut of the power brings back what the phone had taken.
        for id in census.entries where onWatch.contains(id) && !seen.insert(id).inserted {
            if let index = chronicle.index(of: id), chronicle[index].flags.contains(.planted) { continue }
            violations.append(Violation(Self.promise, census, id, "it has more than one entry in the spool"))
        }
        for (record, isOver) in Self.left(census, chronicle) where isOver {
            violations.append(
                Violation(Self.promise, census, record.id, "it is still on the watch, and the time to drain is over"))
        }
        return violations
    }

    /// What still has to drain, and has time left for it.
    func undrained(_ census: Census, _ chronicle: Chronicle) -> [Undrained] {
        Self.left(census, chronicle).compactMap { record, isOver in
            isOver ? nil : Undrained(id: record.id, deadline: chronicle.settling.deadline(of: record))
        }
    }

    private static func left(_ census: Census, _ chronicle: Chronicle) -> [(record: Record, isOver: Bool)] {
        let end = chronicle.settling.end(at: census.moment, watch: chronicle.servedWatch)
        return census.recordings.compactMap { recording in
            var record = chronicle.index(of: recording.id).map { chronicle[$0] } ?? Record(id: recording.id)
            // One that nobody recorded to its end, and that is there: `record` was killed before it could return. No history
            // says whose it is.
            if !record.flags.contains(.recorded) { record.watchNumber = recording.watchNumber }
            guard chronicle.mustDrain(record) else { return nil }
            return (record, chronicle.settling.deadline(of: record).map { end >= $0 } ?? false)
        }
    }
}
