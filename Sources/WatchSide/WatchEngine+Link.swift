import LinkFaults
import Spooling
import WireContract

// The link as the watch meets it: it is the receiver of acks, and the sender of files, whose `didFinish` it hears.

extension WatchEngine {
    /// Of a batch of acks, what arrives now, in order, each as often as the link delivers it: the names to read. What does
    /// not arrive yet goes back, and holds up what is behind it. A file of several acks, from before the plan came into force,
    /// is one transfer: that of its first.
    func admitted(_ batch: [EntryName], _ spool: SpoolEnd, at now: Moment) throws(FileSystemError) -> [FileName] {
        guard var link = ackLink, !link.isClean else { return batch.map(\.fileName) }
        defer { ackLink = link }
        var arrived: [FileName] = []
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
                acks.putBack(batch[index...], until: .moment)
                return arrived
            case .waitsForNews:
                // The next enqueue is news of this directory; a restart needs none.
                ackLinkOpensAt = nil
                acks.putBack(batch[index...], until: .news)
                return arrived
            }
        }
        return arrived
    }

    private func carryOut(
        _ decision: LinkDecision, _ name: EntryName, _ byteCount: UInt64, _ spool: SpoolEnd,
        into arrived: inout [FileName]
    ) throws(FileSystemError) {
        guard decision.deliveryCount > 0 else {
            try fileSystem.unlinkIfThere(name.fileName, in: spool.toWatch)
            record(PairEvent(.lostByLink, id: name.id, name: name.fileName, attempt: name.attempt))
            return
        }
        var deliveries = [FileName](repeating: name.fileName, count: decision.deliveryCount)
        for copy in deliveries.indices {
            guard let damage = decision.damage(ofCopy: copy), byteCount <= AckFile.largestByteCount else { continue }
            do throws(FileSystemError) {
                let own = try fileSystem.openOurs(name.fileName, in: spool.toWatch)
                if deliveries.count == 1 {
                    try fileSystem.damage(own.file, byteCount: own.byteCount, damage, draw: decision.damageDraw)
                } else {
                    deliveries[copy] = try damagedCopy(copy, of: name, own, damage, decision.damageDraw, spool)
                }
            } catch {
                // What is no plain file of ours is refused by whoever reads it, whole.
                if case .refused = error.reason { continue }
                throw error
            }
            record(PairEvent(.damagedByLink, id: name.id, name: name.fileName, attempt: name.attempt))
        }
        arrived += deliveries
    }

    /// Of an ack that is delivered several times, the one that is damaged gets a file of its own, since the others are
    /// whole. If it is left behind, its name is a strange one and it is set aside.
    private func damagedCopy(
        _ number: Int, of name: EntryName, _ own: borrowing OwnFile, _ damage: Damage, _ draw: UInt64, _ spool: SpoolEnd
    ) throws(FileSystemError) -> FileName {
        guard let copyName = FileName("\(number).\(name)") else {
            preconditionFailure("an entry's name is short: \(name)")
        }
        let bytes = try fileSystem.readAll(
            own.file, at: 0, byteCount: Int(min(own.byteCount, AckFile.largestByteCount)))
        try fileSystem.unlinkIfThere(copyName, in: spool.toWatch)
        let copy = try fileSystem.createTemporary(for: copyName, in: spool.toWatch)
        do throws(FileSystemError) {
            try fileSystem.writeAll(copy, at: 0, bytes)
            try fileSystem.damage(copy, byteCount: UInt64(bytes.count), damage, draw: draw)
            try fileSystem.publish(copyName.partial, in: spool.toWatch, as: copyName, in: spool.toWatch)
        } catch {
            _ = try? fileSystem.unlinkIfThere(copyName.partial, in: spool.toWatch)
            throw error
        }
        return copyName
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
