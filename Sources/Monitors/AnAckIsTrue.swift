import Spooling
import WireContract

/// P3. The phone acks only what is final there, and what it acked is there.
///
/// *Final*: it said that it ingested or vetoed the note, or a death left open whether it did. *There*: the container was not
/// wiped, replaced or signed out since, or the user deleted the note and the ledger still knows it, or it is vetoed. One
/// exception is a matter of time: an ack that is owed, and then the container is wiped before it could be written, may still
/// go out. It was earned.
package struct AnAckIsTrue: Monitor {
    package static let promise = Promise.anAckIsTrue

    /// By record: it was found to be final since it was acked last.
    private var isOwed = FlagArray()
    /// By record: after it was acked a power cut came, and it was ingested once more.
    private var wasIngestedAnew = FlagArray()

    package init() {}

    package mutating func observe(_ entry: HistoryEntry, _ chronicle: Chronicle) -> Violation? {
        guard case .pair(let event) = entry.what, entry.source == .phone, chronicle.current != 0 else { return nil }
        switch event.kind {
        case .acked:
            let isEarned = isOwed[chronicle.current]
            if event.phase == .did { isOwed[chronicle.current] = false }
            guard !chronicle.hasPhoneGap else { return nil }
            return fault(entry, chronicle[chronicle.current], chronicle, isEarned: isEarned)
        case .ingested:
            if isIngestedAnew(event, chronicle) { wasIngestedAnew[chronicle.current] = true }
            if event.phase == .did { isOwed[chronicle.current] = true }
        case .vetoed:
            isOwed[chronicle.current] = true
        case .duplicate:
            // With a name it is a copy of what waits in staging, which says nothing about the note.
            let record = chronicle[chronicle.current]
            if event.name == nil, chronicle.isPerhapsHeld(record) || chronicle.isPerhapsDeleted(record) {
                isOwed[chronicle.current] = true
            }
        case .containerLost:
            let record = chronicle[chronicle.current]
            guard chronicle.isHeld(record), record.flags.contains(.acked) else { return nil }
            return Violation(
                Self.promise, entry, record.id,
                "the container does not hold what was acked, and nobody touched it: the ack was not durable")
        case .started, .stopped, .paired, .refused, .setAside, .failed, .spoolReopened, .recorded, .found, .enqueued,
            .requeued, .transferFinished, .ackReceived, .strayAck, .deleted, .cancelled, .spoolFull, .taken, .staged,
            .waits, .userDeleted, .discarded, .lostByLink, .damagedByLink:
            break
        }
        return nil
    }

    /// The phone said that it has the note, acked it, and puts it into the container anew after a power cut: either the cut
    /// took it, and the ack was not durable, or it is in there twice. A look at the disks tells.
    private func isIngestedAnew(_ event: PairEvent, _ chronicle: Chronicle) -> Bool {
        let record = chronicle[chronicle.current]
        return event.putsContent && record.flags.contains(.acked) && chronicle.isHeldOverPowerLoss(record)
            && !chronicle.isPerhapsDeleted(record) && !chronicle.hasPhoneGap
    }

    private func fault(
        _ entry: HistoryEntry, _ record: Record, _ chronicle: Chronicle, isEarned: Bool
    ) -> Violation? {
        guard chronicle.isPerhapsFinal(record) else {
            return Violation(Self.promise, entry, record.id, "the phone acks it, and it is not final there")
        }
        if isEarned || chronicle.isPerhapsVetoed(record) || chronicle.isPerhapsDeleted(record)
            || chronicle.isPerhapsHeld(record)
        {
            return nil
        }
        return Violation(
            Self.promise, entry, record.id,
            "the phone acks it again, and neither does the container hold it nor does the ledger know that the user"
                + " deleted it")
    }

    package mutating func finish(_ census: Census, _ chronicle: Chronicle) -> [Violation] {
        let held = CensusIndex(census.container.map(\.id))
        let rows = CensusIndex(census.ledger.map(\.id))
        let vetoes = CensusIndex(census.vetoes)
        var violations: [Violation] = []
        for index in 1..<chronicle.count {
            let record = chronicle[index]
            // What is in there twice was accused of that (P4) before this.
            if wasIngestedAnew[index] {
                violations.append(
                    Violation(
                        Self.promise, census, record.id,
                        "it was acked, and ingested anew after a power cut: the ack was not durable"))
                continue
            }
            guard record.flags.contains(.acked), record.flags.contains(.finalOnce) else { continue }
            if chronicle.isVetoed(record), vetoes[record.id] == nil {
                violations.append(
                    Violation(Self.promise, census, record.id, "it was acked as vetoed, and no veto of it is there"))
            }
            guard chronicle.isHeld(record), !chronicle.isPerhapsDeleted(record) else { continue }
            let row = rows[record.id].map { census.ledger[$0].outcome }
            if let position = held[record.id] {
                if !census.container[position].isDurable {
                    violations.append(
                        Violation(
                            Self.promise, census, record.id,
                            "it was acked, and a power cut would take it from the phone"))
                } else if record.ledgerEpoch == chronicle.ledgerEpoch, row == nil || row == .ingesting {
                    violations.append(
                        Violation(Self.promise, census, record.id, "it was acked, and the ledger does not know it"))
                }
            } else {
                violations.append(
                    Violation(
                        Self.promise, census, record.id, "it was acked, and the container does not hold it"))
            }
        }
        return violations
    }
}
