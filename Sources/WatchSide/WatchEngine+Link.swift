import LinkFaults
import Spooling
import WireContract

// The link as the watch meets it: it is the receiver of acks, and the sender of files, whose `didFinish` it hears.

extension WatchEngine {
    /// Of a batch of acks, what arrives now, in order, each as often as the link delivers it. What does not arrive yet goes
    /// back, and holds up what is behind it.
    func admitted(_ batch: [EntryName], _ spool: SpoolEnd, at now: Moment) throws(FileSystemError) -> [EntryName] {
        guard var link = ackLink, !link.isClean else { return batch }
        defer { ackLink = link }
        var arrived: [EntryName] = []
        for (index, name) in batch.enumerated() {
            let byteCount: UInt64
            do throws(FileSystemError) {
                byteCount = try fileSystem.status(of: name.fileName, in: spool.toWatch).byteCount
            } catch {
                if error.reason == .notFound { continue }
                throw error
            }
            let isLast = index == batch.count - 1 && !acks.hasQueue
            switch link.admit(name, byteCount: byteCount, isLast: isLast, at: now) {
            case .arrives(let decision):
                try carryOut(decision, name, byteCount, spool, into: &arrived)
            case .notBefore(let moment):
                ackLinkOpensAt = moment
                acks.putBack()
                return arrived
            case .waitsForNews:
                // The next enqueue is news of this directory; a restart needs none.
                acks.putBack()
                return arrived
            }
        }
        return arrived
    }

    private func carryOut(
        _ decision: LinkDecision, _ name: EntryName, _ byteCount: UInt64, _ spool: SpoolEnd,
        into arrived: inout [EntryName]
    ) throws(FileSystemError) {
        guard decision.deliveryCount > 0 else {
            try fileSystem.unlinkIfThere(name.fileName, in: spool.toWatch)
            record(PairEvent(.lostByLink, id: name.id, name: name.fileName, attempt: name.attempt))
            return
        }
        if let damage = decision.damage {
            let file = try fileSystem.open(name.fileName, in: spool.toWatch)
            try fileSystem.damage(file, byteCount: byteCount, damage, draw: decision.damageDraw)
            record(PairEvent(.damagedByLink, id: name.id, name: name.fileName, attempt: name.attempt))
        }
        arrived += [EntryName](repeating: name, count: decision.deliveryCount)
    }

    /// What `didFinish` says of an entry that is gone from the spool; `nil` when it never comes.
    func report(of entry: EntryName) -> TransferOutcome? {
        let plan = conditions.plan
        guard !plan.toPhone.isClean else { return .delivered }
        let byteCount = node.byteCount(of: entry.id) ?? 0
        switch plan.decision(about: LinkTransfer(entry, byteCount: byteCount)).report {
        case .finished: return .delivered
        case .failed(let error): return .failed(error)
        case .failedWithoutDetails: return .failed(.genericError)
        case .never: return nil
        }
    }

    /// Why the session takes no transfer, if it does not.
    var sessionFailure: TransferError? {
        switch conditions.session {
        case .active: nil
        case .inactive: .sessionInactive
        case .notPaired: .deviceNotPaired
        }
    }
}
