import Spooling
import WireContract

/// P2. The watch deletes its copy only for an ack of that id, from the phone that it is paired with.
///
/// Each deletion needs an ack of its own since the one before: a recording that came back (a power cut, a restored home) is
/// sent again and acked again. Between the ack and the deletion lie `ackReceived` on the watch and, before it, at least an
/// intended `acked` on the phone, over the same pairing.
package struct OnlyAnAckDeletes: Monitor {
    package static let promise = Promise.onlyAnAckDeletes

    /// By record: an ack was received since the last deletion.
    private var hasAck = FlagArray()

    package init() {}

    package mutating func observe(_ entry: HistoryEntry, _ chronicle: Chronicle) -> Violation? {
        guard case .pair(let event) = entry.what, entry.source == .watch, chronicle.current != 0 else { return nil }
        switch event.kind {
        case .ackReceived: return received(event, entry, chronicle)
        case .deleted:
            let isAllowed = hasAck[chronicle.current]
            // The `did` that belongs to the `intends` is not a second deletion.
            if event.phase == .did { hasAck[chronicle.current] = false }
            if isAllowed || chronicle.hasWatchGap { return nil }
            return Violation(Self.promise, entry, event.id, "the watch deletes it without having received an ack of it")
        case .started, .stopped, .paired, .refused, .setAside, .failed, .spoolReopened, .recorded, .found, .enqueued,
            .requeued, .transferFinished, .strayAck, .cancelled, .spoolFull, .taken, .staged, .duplicate, .waits,
            .ingested, .acked, .vetoed, .userDeleted, .discarded, .containerLost, .lostByLink, .damagedByLink:
            return nil
        }
    }

    private mutating func received(
        _ event: PairEvent, _ entry: HistoryEntry, _ chronicle: Chronicle
    ) -> Violation? {
        let record = chronicle[chronicle.current]
        hasAck[chronicle.current] = true
        if !record.flags.contains(.acked), !chronicle.hasPhoneGap {
            return Violation(Self.promise, entry, event.id, "the watch takes in an ack that no phone has written")
        }
        let understands = chronicle.build(ofWatch: entry.watchNumber).understands
        if Int(record.ackVersion) > understands, !chronicle.hasPhoneGap {
            return Violation(
                Self.promise, entry, event.id,
                "the watch takes in an ack of version \(record.ackVersion), and its build understands \(understands)")
        }
        // A history that does not name pairings is judged without them.
        guard let pairing = event.pairing else { return nil }
        if !chronicle.mayBePaired(entry.watchNumber, pairing) {
            return Violation(
                Self.promise, entry, event.id, "the watch takes in an ack of pairing \(pairing), which is not its own")
        }
        if record.ackPairings != 0, record.ackPairings & chronicle.bit(of: pairing) == 0, !chronicle.hasPhoneGap {
            return Violation(
                Self.promise, entry, event.id, "no phone has written an ack of it over pairing \(pairing)")
        }
        return nil
    }

    package mutating func finish(_ census: Census, _ chronicle: Chronicle) -> [Violation] {
        guard !chronicle.hasWatchGap else { return [] }
        let found = CensusIndex(census.recordings.map(\.id))
        var violations: [Violation] = []
        for index in 1..<chronicle.count {
            let record = chronicle[index]
            // One that was never final is P1's.
            guard record.flags.isSuperset(of: [.recorded, .finalOnce]),
                record.flags.isDisjoint(with: [.excused, .deletionIntended]), found[record.id] == nil
            else { continue }
            violations.append(
                Violation(Self.promise, census, record.id, "it is gone from the watch, which never said why"))
        }
        return violations
    }
}

/// A flag for each record.
struct FlagArray: Sendable {
    private var flags: [Bool] = []

    subscript(index: Int) -> Bool {
        get { index < flags.count && flags[index] }
        set {
            if index >= flags.count {
                guard newValue else { return }
                flags.append(contentsOf: repeatElement(false, count: max(index + 1, 2 * flags.count) - flags.count))
            }
            flags[index] = newValue
        }
    }
}
