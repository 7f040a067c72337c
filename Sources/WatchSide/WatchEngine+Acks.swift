import Spooling
import WireContract

// Acks: the only thing that deletes a recording.
//
// On disk the order is: the recording, its entry in the spool, then the ack. A crash in between leaves the ack, which the
// next start finds to be a stray and takes away. No sync: a recording that comes back after a power cut is sent again, and
// acked again.

extension WatchEngine {
    private static let batchCount = 256

    /// One batch; whether there is more to do at once.
    func readAcks(_ spool: SpoolEnd, at now: Moment) -> Bool {
        guard acks.hasWork, !areAcksTroubled, adoptedPairing(over: spool, at: now) != nil else {
            // Without a pairing acks wait, or until a disk is asked again, and nothing waits for them.
            areAcksSettled = true
            return false
        }
        do throws(FileSystemError) {
            let batch = try acks.nextBatch(Self.batchCount, in: spool.toWatch)
            setStrangeAside(spool, at: now)
            areAcksTroubled = try act(on: batch, spool, at: now)
        } catch {
            trouble(.acks, error, at: now)
            areAcksTroubled = true
        }
        guard !areAcksTroubled, acks.hasWork else {
            areAcksSettled = true
            if !areAcksTroubled {
                troubles.clear(.acks)
                troubles.clear(.delete)
            }
            return false
        }
        return true
    }

    /// A file of acks that count, and the pairing that they came over.
    private struct Arrival {
        let name: FileName
        let ids: [ULID]
        let pairing: PairingID
    }

    /// Acks that are acted on together.
    private struct AckBatch {
        var arrivals: [Arrival] = []
        var ackCount = 0
        var directives: [WatchDirective] = []
        // Looked up only: over which pairing an ack came, and whose ack did not do its work, so that its file stays.
        var pairings: [ULID: PairingID] = [:]
        var kept: Set<ULID> = []
    }

    /// Whether anything has to be tried again.
    private func act(
        on names: [EntryName], _ spool: SpoolEnd, at now: Moment
    ) throws(FileSystemError) -> Bool {
        var isTroubled = false
        var batch = AckBatch()
        for name in try admitted(names, spool, at: now) {
            guard let arrival = judge(name, spool, at: now, &isTroubled) else { continue }
            receive(arrival, into: &batch, at: now)
            guard batch.ackCount >= Self.batchCount else { continue }
            if try delete(&batch, spool, at: now) { isTroubled = true }
            batch = AckBatch()
            // The next start meets what is left.
            if surroundings.shouldStop() { return isTroubled }
        }
        return try delete(&batch, spool, at: now) || isTroubled
    }

    private func receive(_ arrival: Arrival, into batch: inout AckBatch, at now: Moment) {
        let entry = EntryName(arrival.name)
        for id in arrival.ids {
            do throws(FileSystemError) {
                try meet(id, at: now)
            } catch {
                // Whether the recording is there is not known, so nothing is done because of this ack yet.
                trouble(.acks, error, id: id, at: now)
                batch.kept.insert(id)
                continue
            }
            let name = entry?.carrying(id).fileName ?? arrival.name
            record(PairEvent(.ackReceived, id: id, name: name, pairing: arrival.pairing))
            batch.pairings[id] = arrival.pairing
            node.handle(.ackArrived(id), at: now, into: &batch.directives)
        }
        batch.arrivals.append(arrival)
        batch.ackCount += arrival.ids.count
    }

    /// The recordings, then the files of their acks. Whether anything has to be tried again.
    private func delete(_ batch: inout AckBatch, _ spool: SpoolEnd, at now: Moment) throws(FileSystemError) -> Bool {
        guard !batch.arrivals.isEmpty else { return false }
        batch.kept.formUnion(delete(batch.directives, over: batch.pairings, spool, at: now))
        let done = batch.arrivals.filter { batch.kept.isDisjoint(with: $0.ids) }.map(\.name)
        for case let failure? in fileSystem.unlinkEach(done, in: spool.toWatch) where failure.reason != .notFound {
            throw failure
        }
        return !batch.kept.isEmpty
    }

    /// Reads one name and sets aside what is no ack. Answers acks that count: over the pairing that is in force when they
    /// are read, since another may have been adopted for one before them.
    private func judge(
        _ name: FileName, _ spool: SpoolEnd, at now: Moment, _ isTroubled: inout Bool
    ) -> Arrival? {
        guard let pairing else { preconditionFailure("acks are read once a pairing was adopted: \(name)") }
        switch acks.read(name, in: spool.toWatch, pairing: pairing) {
        case .acks(let ids):
            return Arrival(name: name, ids: ids, pairing: pairing)
        case .foreign(let other):
            // Perhaps the phone was exchanged since the pairing was read.
            if adoptedPairing(over: spool, at: now) == other,
                case .acks(let ids) = acks.read(name, in: spool.toWatch, pairing: other)
            {
                return Arrival(name: name, ids: ids, pairing: other)
            }
            setAside(name, .otherPairing, nil, detail: "pairing \(other)", spool, at: now)
        case .setAside(let reason, let id):
            setAside(name, reason, id, detail: nil, spool, at: now)
        case .refused(let refusal):
            refuse(name, "\(refusal); \(refusal.remedy)")
        case .gone:
            break
        case .trouble(let error):
            trouble(.acks, error, at: now)
            isTroubled = true
        }
        return nil
    }

    /// Makes the node know a recording that lies on the disk and that no look has come to yet.
    private func meet(_ id: ULID, at now: Moment) throws(FileSystemError) {
        guard !node.holds(id) else { return }
        do {
            if let byteCount = try home.byteCount(ofRecording: id) { found(id, byteCount: byteCount, at: now) }
        } catch {
            // What is not a plain file of ours is left alone, ack or no ack.
            if case .refused = error.reason { return }
            throw error
        }
    }

    /// Deletes what was acked, and answers the ids of which that failed.
    private func delete(
        _ directives: [WatchDirective], over pairings: [ULID: PairingID], _ spool: SpoolEnd, at now: Moment
    ) -> Set<ULID> {
        for case .delete(let id, let entry) in directives {
            record(PairEvent(.deleted, phase: .intends, id: id, name: entry?.fileName, pairing: pairings[id]))
        }
        surroundings.history.commit()
        var kept: Set<ULID> = []
        var rest: [WatchDirective] = []
        let doomed = directives.compactMap { if case .delete(let id, _) = $0 { FileName.recording(id) } else { nil } }
        var failures = fileSystem.unlinkEach(doomed, in: home.recordings)[...]
        for directive in directives {
            switch directive {
            case .delete(let id, let entry):
                let failure = failures.removeFirst()
                if !deleted(id, failure, entry, over: pairings[id], spool, at: now) { kept.insert(id) }
            case .reportStray(let id):
                record(PairEvent(.strayAck, id: id, pairing: pairings[id]))
            case .enqueue, .requeue, .withdraw:
                rest.append(directive)
            }
        }
        carryOut(rest, spool, at: now)
        return kept
    }

    /// The unlink of a recording came back, with or without a `failure`: takes its entry away too. Whether it is deleted.
    private func deleted(
        _ id: ULID, _ failure: FileSystemError?, _ entry: EntryName?, over pairing: PairingID?, _ spool: SpoolEnd,
        at now: Moment
    ) -> Bool {
        var directives: [WatchDirective] = []
        if let failure, failure.reason != .notFound {
            trouble(.delete, failure, id: id, at: now)
            tell(.deleteFailed(id), at: now, into: &directives)
            return false
        }
        do throws(FileSystemError) {
            if let entry { _ = try transfers.withdraw(entry, in: spool.toPhone) }
        } catch {
            // The phone takes the leftover and acks once more; that ack is a stray.
            trouble(.delete, error, id: id, at: now)
        }
        record(PairEvent(.deleted, id: id, pairing: pairing))
        tell(.deleted(id), at: now, into: &directives)
        return true
    }

    // MARK: What is no ack

    private func setAside(
        _ name: FileName, _ reason: QuarantineReason, _ id: ULID?, detail: String?, _ spool: SpoolEnd,
        at now: Moment
    ) {
        do throws(FileSystemError) {
            try quarantine.take(name, from: spool.toWatch, reason: reason, subject: id)
            record(PairEvent(.setAside, id: id, name: name, detail: detail.map { "\(reason), \($0)" } ?? "\(reason)"))
            troubles.clear(.quarantine)
        } catch {
            // It stays where it is and is met again at the next look; nothing behind it waits.
            if error.reason != .notFound { trouble(.quarantine, error, at: now) }
        }
    }

    /// Names that no build of ours gives, a few at a time.
    private func setStrangeAside(_ spool: SpoolEnd, at now: Moment) {
        for name in acks.takeStrange() {
            do throws(FileSystemError) {
                if let refusal = Refusal(ofFile: try fileSystem.status(of: name, in: spool.toWatch)) {
                    refuse(name, "\(refusal); \(refusal.remedy)")
                } else {
                    setAside(name, .strangeName, nil, detail: nil, spool, at: now)
                    if acks.hasMoreStrange { acks.look() }
                }
            } catch {
                // Gone since it was listed: nothing to do.
                if error.reason != .notFound { trouble(.acks, error, at: now) }
            }
        }
    }
}
