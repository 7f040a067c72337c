import Spooling
import WireContract

// Transfers: what lies in `to-phone`, and what the node wants to lie there.

extension WatchEngine {
    /// The kernel said that these entries are gone, which is how a transfer tells that it finished. Nobody asks the disk: a
    /// name in a folder that the phone is emptying costs a wait for the folder's lock, and no name comes twice.
    func takeEntryNews(at now: Moment) {
        for name in entryNews {
            if let entry = EntryName(name), node.phase(of: entry.id)?.entry == entry { gone(entry, at: now) }
        }
        entryNews.removeAll(keepingCapacity: true)
    }

    /// Looks whether entries of ours are gone of which no news came.
    func lookAtEntries(_ spool: SpoolEnd, at now: Moment) {
        do throws(FileSystemError) {
            if wantsEntryListing {
                try meetEntries(spool, at: now)
                wantsEntryListing = false
            }
            if wantsEntryCheck {
                try checkEntries(spool, at: now)
                wantsEntryCheck = false
            }
            troubles.clear(.entries)
        } catch {
            wantsEntryCheck = true
            trouble(.entries, error, at: now)
        }
    }

    /// How many entries beside a recording's own are met at one look.
    private static let mostSecondEntries = 64

    /// One listing tells of all that are there; a call is paid for each that is not. And of those that are there beside a
    /// recording's own entry: a power cut left half of a rename there, which no start could touch, and the other half is gone
    /// since, with the phone's home.
    private func checkEntries(_ spool: SpoolEnd, at now: Moment) throws(FileSystemError) {
        let entries = Array(node.entries)[...]
        guard !entries.isEmpty else { return }
        var isListed = [Bool](repeating: false, count: entries.count)
        var second = SmallestNames<EntryName>(limit: Self.mostSecondEntries)
        try fileSystem.forEachName(in: spool.toPhone) { name in
            guard let entry = EntryName(name) else { return true }
            let position = entries.position(of: entry)
            if position < entries.count, entries[position] == entry {
                isListed[position] = true
            } else if entry.kind == .note, node.phase(of: entry.id)?.entry != nil {
                second.insert(entry)
            }
            return true
        }
        try meet(second.sorted, spool, at: now)
        for (entry, isListed) in zip(entries, isListed) where !isListed { try check(entry, spool, at: now) }
    }

    private func check(_ entry: EntryName, _ spool: SpoolEnd, at now: Moment) throws(FileSystemError) {
        if try !transfers.isThere(entry, in: spool.toPhone) { gone(entry, at: now) }
    }

    private func gone(_ entry: EntryName, at now: Moment) {
        // Without a report it stays outstanding until its patience is over.
        if let outcome = report(of: entry) { finished(entry, outcome, at: now) }
    }

    /// Entries of an earlier start, or of a spool that came back, are transfers that are still outstanding.
    private func meetEntries(_ spool: SpoolEnd, at now: Moment) throws(FileSystemError) {
        try meet(transfers.entries(in: spool.toPhone), spool, at: now)
    }

    private func meet(_ entries: [EntryName], _ spool: SpoolEnd, at now: Moment) throws(FileSystemError) {
        var directives: [WatchDirective] = []
        for entry in entries {
            do {
                if let refusal = try transfers.refusal(of: entry, in: spool.toPhone) {
                    // No transfer of ours: the phone will not take it.
                    refuse(entry.fileName, "\(refusal); \(refusal.remedy)")
                    continue
                }
            } catch  where error.reason == .notFound {
                // Taken since it was listed.
                continue
            }
            if !node.holds(entry.id) {
                do {
                    guard let byteCount = try home.byteCount(ofRecording: entry.id) else { continue }
                    found(entry.id, byteCount: byteCount, at: now)
                } catch {
                    if case .refused = error.reason { continue }
                    throw error
                }
            }
            node.handle(.entryFound(entry), at: now, into: &directives)
        }
        carryOut(directives, spool, at: now)
    }

    private func finished(_ entry: EntryName, _ outcome: TransferOutcome, at now: Moment) {
        let word =
            switch outcome {
            case .delivered: "delivered"
            case .cancelled: "cancelled"
            case .failed(let error): "failed: \(error)"
            }
        record(
            PairEvent(
                .transferFinished, id: entry.id, name: entry.fileName, attempt: node.attempts(of: entry.id),
                detail: word))
        var directives: [WatchDirective] = []
        tell(.transferFinished(entry.id, entry: entry, outcome), at: now, into: &directives)
    }

    // MARK: Directives

    /// Carries directives out in their order. Answers whether every entry that was to be withdrawn was still there, and
    /// there was one.
    @discardableResult
    func carryOut(_ directives: [WatchDirective], _ spool: SpoolEnd, at now: Moment) -> Bool {
        var batch = EnqueueBatch()
        var withdrawn = 0
        var missed = 0
        for directive in directives {
            switch directive {
            case .enqueue(let id, let attempt):
                enqueue(id, attempt, spool, &batch, at: now)
            case .requeue(let id, let entry, let attempt):
                requeue(id, entry, attempt, spool, at: now)
            case .withdraw(_, let entry):
                if withdraw(entry, spool, at: now) { withdrawn += 1 } else { missed += 1 }
            case .delete, .reportStray:
                preconditionFailure("only an ack asks for this, and it is carried out there: \(directive)")
            }
        }
        return withdrawn > 0 && missed == 0
    }

    /// What the enqueues of one batch share.
    private struct EnqueueBatch {
        var space: FreeSpace?
        /// Set once one did not fit: none behind it may overtake it.
        var closedUntil: Moment?
    }

    private func enqueue(
        _ id: ULID, _ attempt: Int, _ spool: SpoolEnd, _ batch: inout EnqueueBatch, at now: Moment
    ) {
        var directives: [WatchDirective] = []
        defer { if !directives.isEmpty { carryOut(directives, spool, at: now) } }
        if let closedUntil = batch.closedUntil {
            return tell(.enqueuePostponed(id, until: closedUntil), at: now, into: &directives)
        }
        if let failure = sessionFailure {
            record(PairEvent(.transferFinished, id: id, attempt: attempt, detail: "failed: \(failure)"))
            return tell(.transferFinished(id, entry: nil, .failed(failure)), at: now, into: &directives)
        }
        switch copy(id, attempt, spool, &batch) {
        case .sent(let entry):
            isSpoolFull = false
            enqueuePause.end()
            troubles.clear(.enqueue)
            record(PairEvent(.enqueued, id: id, name: entry.fileName, attempt: attempt))
            tell(.enqueued(id, entry), at: now, into: &directives)
        case .failed(let error, let detail):
            record(PairEvent(.transferFinished, id: id, attempt: attempt, detail: "failed: \(error); \(detail)"))
            tell(.transferFinished(id, entry: nil, .failed(error)), at: now, into: &directives)
        case .altered(let detail):
            record(PairEvent(.failed, id: id, attempt: attempt, detail: "this recording is not sent: \(detail)"))
            tell(.recordingAltered(id), at: now, into: &directives)
        case .gone:
            gone(id, at: now)
        case .full:
            let until = now + enqueuePause.next()
            batch.closedUntil = until
            if !isSpoolFull { record(PairEvent(.spoolFull, id: id, detail: "make room; it goes on by itself")) }
            isSpoolFull = true
            tell(.enqueuePostponed(id, until: until), at: now, into: &directives)
        case .stopped:
            batch.closedUntil = now
            tell(.enqueuePostponed(id, until: now), at: now, into: &directives)
        case .trouble(let error):
            let until = now + enqueuePause.next()
            batch.closedUntil = until
            trouble(.enqueue, error, id: id, at: now)
            tell(.enqueuePostponed(id, until: until), at: now, into: &directives)
        }
    }

    private func copy(_ id: ULID, _ attempt: Int, _ spool: SpoolEnd, _ batch: inout EnqueueBatch) -> EnqueueResult {
        var space: FreeSpace
        do throws(FileSystemError) {
            space = if let known = batch.space { known } else { try fileSystem.space(of: spool.root) }
        } catch {
            return .trouble(error)
        }
        defer { batch.space = space }
        return transfers.enqueue(
            id, attempt: attempt, from: home.recordings, to: spool.toPhone, alone: node.entries.isEmpty, space: &space)
    }

    private func requeue(_ id: ULID, _ entry: EntryName, _ attempt: Int, _ spool: SpoolEnd, at now: Moment) {
        var directives: [WatchDirective] = []
        switch transfers.requeue(entry, attempt: attempt, in: spool.toPhone) {
        case .renamed(let renamed):
            record(PairEvent(.requeued, id: id, name: renamed.fileName, attempt: attempt))
            tell(.requeued(id, from: entry, to: renamed), at: now, into: &directives)
        case .taken:
            finished(entry, .delivered, at: now)
        case .refused(let refusal):
            // Left alone, as the phone leaves it; the recording is sent anew.
            refuse(entry.fileName, "\(refusal); \(refusal.remedy)")
            finished(entry, .failed(.fileAccessDenied), at: now)
        case .trouble(let error):
            trouble(.entries, error, id: id, at: now)
            tell(.requeueFailed(id, entry), at: now, into: &directives)
        }
        if !directives.isEmpty { carryOut(directives, spool, at: now) }
    }

    /// Whether the entry was still there.
    private func withdraw(_ entry: EntryName, _ spool: SpoolEnd, at now: Moment) -> Bool {
        do throws(FileSystemError) {
            let wasThere = try transfers.withdraw(entry, in: spool.toPhone)
            if wasThere { record(PairEvent(.cancelled, id: entry.id, name: entry.fileName)) }
            if node.phase(of: entry.id)?.entry == entry {
                finished(entry, wasThere ? .cancelled : .delivered, at: now)
            }
            return wasThere
        } catch {
            // It stays outstanding. A second entry is harmless: the phone acks a duplicate again.
            trouble(.entries, error, id: entry.id, at: now)
            return false
        }
    }
}
