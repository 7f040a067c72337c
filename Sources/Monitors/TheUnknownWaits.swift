import Spooling
import WireContract

/// P7. What the phone's build does not understand keeps its bytes and its dictionary in staging, once; it is not ingested and
/// not acked; a later build that understands it ingests it from there.
///
/// What waits may be gone only for the world's reasons: another home, a power cut (staging is not synced; the watch sends it
/// again), or because it became final under a build that understood it. Over the staging cap it stays in the spool, which
/// counts as kept.
package struct TheUnknownWaits: Monitor {
    package static let promise = Promise.theUnknownWaits

    private struct Waiting: Sendable {
        /// Of the build that had it wait; 0 for none.
        var understands: Int32 = 0
        var homeEpoch: UInt32 = 0
        var powerEpoch: UInt32 = 0
    }

    private struct Unnamed: Sendable {
        var checksums: Checksums
        var waiting: Waiting
    }

    /// By record.
    private var waiting: [Waiting] = []
    /// What names no id. Bounded by what staging holds, since each is in it once.
    private var unnamed: [Unnamed] = []

    package init() {}

    package mutating func observe(_ entry: HistoryEntry, _ chronicle: Chronicle) -> Violation? {
        guard case .pair(let event) = entry.what, entry.source == .phone else { return nil }
        switch event.kind {
        case .waits: waits(event, chronicle)
        case .ingested:
            guard event.phase == .intends || event.putsContent, isUnknown(chronicle.current, chronicle) else { break }
            return Violation(
                Self.promise, entry, event.id, "the phone ingests it, and its build does not understand its payload")
        case .acked:
            guard chronicle.current != 0, isUnknown(chronicle.current, chronicle),
                !chronicle.isPerhapsFinal(chronicle[chronicle.current])
            else { break }
            return Violation(
                Self.promise, entry, event.id, "the phone acks it, and its build does not understand its payload")
        case .started, .stopped, .paired, .refused, .setAside, .failed, .spoolReopened, .recorded, .found, .enqueued,
            .requeued, .transferFinished, .ackReceived, .strayAck, .deleted, .cancelled, .spoolFull, .taken, .staged,
            .duplicate, .vetoed, .userDeleted, .discarded, .containerLost, .lostByLink, .damagedByLink:
            break
        }
        return nil
    }

    private mutating func waits(_ event: PairEvent, _ chronicle: Chronicle) {
        let new = Waiting(
            understands: Int32(clamping: chronicle.phoneBuild.understands), homeEpoch: chronicle.homeEpoch,
            powerEpoch: chronicle.powerEpoch)
        if chronicle.current == 0 {
            guard let checksums = event.checksums else { return }
            unnamed.removeAll { $0.checksums == checksums }
            unnamed.append(Unnamed(checksums: checksums, waiting: new))
            return
        }
        if chronicle.current >= waiting.count {
            let count = max(chronicle.current + 1, 2 * waiting.count)
            waiting.append(contentsOf: repeatElement(Waiting(), count: count - waiting.count))
        }
        waiting[chronicle.current] = new
    }

    private func state(of index: Int) -> Waiting { index < waiting.count ? waiting[index] : Waiting() }

    /// Whether the phone's present build cannot understand what was recorded under an id.
    private func isUnknown(_ index: Int, _ chronicle: Chronicle) -> Bool {
        let record = chronicle[index]
        guard index != 0, !record.flags.contains(.planted) || !record.flags.contains(.recorded) else { return false }
        let understands = Int32(clamping: chronicle.phoneBuild.understands)
        if let version = record.version { return version > understands }
        let state = state(of: index)
        return state.understands >= understands && state.homeEpoch == chronicle.homeEpoch
    }

    package mutating func finish(_ census: Census, _ chronicle: Chronicle) -> [Violation] {
        var violations: [Violation] = []
        let staged = CensusIndex(census.staging.compactMap(\.id))
        let elsewhere = CensusIndex(census.inbox + census.entries)
        let left = CensusIndex(census.recordings.map(\.id))
        let end = chronicle.settling.end(at: census.moment, watch: chronicle.servedWatch)
        for index in 1..<chronicle.count {
            let record = chronicle[index]
            guard record.flags.isDisjoint(with: [.finalOnce, .idReused]), !chronicle.isPerhapsVetoed(record) else {
                continue
            }
            let isOver = chronicle.settling.deadline(of: record).map { end >= $0 } ?? false
            let isKept = staged[record.id] != nil || elsewhere[record.id] != nil
            if isStillWaiting(state(of: index), chronicle) {
                if !isKept {
                    violations.append(
                        Violation(Self.promise, census, record.id, "it waited in staging, and it is not kept any more"))
                }
            } else if isOver, record.watchNumber == chronicle.servedWatch, !record.flags.contains(.planted) {
                if isUnknown(index, chronicle) {
                    guard left[record.id] != nil, !isKept else { continue }
                    violations.append(
                        Violation(
                            Self.promise, census, record.id, "the phone does not understand it and does not keep it"))
                } else if staged[record.id] != nil, state(of: index).understands != 0 {
                    violations.append(
                        Violation(
                            Self.promise, census, record.id,
                            "it waits in staging, and the phone's build understands it"))
                }
            }
        }
        return violations + unnamedFaults(census, chronicle) + doubles(census, chronicle)
    }

    private func isStillWaiting(_ state: Waiting, _ chronicle: Chronicle) -> Bool {
        state.understands != 0 && Int(state.understands) >= chronicle.phoneBuild.understands
            && state.homeEpoch == chronicle.homeEpoch && state.powerEpoch == chronicle.powerEpoch
    }

    private func unnamedFaults(_ census: Census, _ chronicle: Chronicle) -> [Violation] {
        var kept: Set<Checksums> = []
        for key in census.staging {
            if case .checksums(let checksums) = key.identity { kept.insert(checksums) }
        }
        return unnamed.compactMap { item in
            guard isStillWaiting(item.waiting, chronicle), !kept.contains(item.checksums) else { return nil }
            let sums = item.checksums.crc32.hex(digits: 8) + item.checksums.adler32.hex(digits: 8)
            return Violation(
                Self.promise, census, nil, "a payload without an id (\(sums)) waited in staging, and it is not kept")
        }
    }

    /// Once. A power cut may leave a delivery under two names.
    private func doubles(_ census: Census, _ chronicle: Chronicle) -> [Violation] {
        guard chronicle.powerEpoch == 1 else { return [] }
        var seen: Set<DeliveryKey> = []
        return census.staging.compactMap { key in
            if seen.insert(key).inserted { return nil }
            return Violation(Self.promise, census, key.id, "it is in staging more than once")
        }
    }
}
