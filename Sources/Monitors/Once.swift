import Spooling
import WireContract

/// P4. One id is in the container once. What the user deleted does not come back while the ledger knows it, and what was
/// vetoed does not come in.
///
/// A note may come in anew when the world took it: a wiped or exchanged container, a new phone, or after a user's delete a
/// lost ledger. A lost ledger alone is no reason, because what the container holds counts. If a power cut took it, it was not
/// durable, and it is the ack that was not true (P3).
package struct Once: Monitor {
    package static let promise = Promise.once

    package init() {}

    package mutating func observe(_ entry: HistoryEntry, _ chronicle: Chronicle) -> Violation? {
        guard case .pair(let event) = entry.what, event.kind == .ingested, entry.source == .phone,
            chronicle.current != 0
        else { return nil }
        let record = chronicle[chronicle.current]
        switch event.phase {
        case .intends:
            // A veto that comes later than this loses against the ingest, and may.
            guard chronicle.isVetoed(record) else { return nil }
            return Violation(Self.promise, entry, record.id, "the phone ingests it, and it is vetoed")
        case .did:
            if chronicle.isDeleted(record) {
                return Violation(
                    Self.promise, entry, record.id, "it comes back, and the ledger knows that the user deleted it")
            }
            guard event.putsContent, chronicle.isHeld(record), !chronicle.isHeldOverPowerLoss(record),
                !chronicle.isPerhapsDeleted(record)
            else { return nil }
            return Violation(Self.promise, entry, record.id, "the phone ingests it a second time")
        }
    }

    package mutating func finish(_ census: Census, _ chronicle: Chronicle) -> [Violation] {
        var seen: Set<ULID> = []
        var violations: [Violation] = []
        for file in census.container where !seen.insert(file.id).inserted {
            violations.append(Violation(Self.promise, census, file.id, "the container has it more than once"))
        }
        return violations
    }
}

extension PairEvent {
    /// Of an `ingested`: whether content went into the container. Otherwise it was there, and the ledger learned of it.
    var putsContent: Bool { byteCount != nil || checksums != nil }
}
