package import LinkFaults
package import Spooling
import WireContract

// The link as the phone meets it: it is the receiver of files, and the sender of acks, whose `didFinish` it hears. And what
// the phone's app does with a file, where a run wants another app than this one.

extension PhoneEngine {
    package func follow(_ conditions: LinkConditions, at now: Moment) {
        if began == nil { began = now }
        self.conditions = conditions
        if link == nil {
            link = LinkReceiver(
                direction: .toPhone, plan: conditions.plan, origin: conditions.origin, began: began ?? now)
        } else {
            link?.change(to: conditions.plan, origin: conditions.origin)
        }
        linkHolds = false
        linkOpensAt = nil
    }

    /// The head may come through by now.
    func openLink() {
        guard let moment = linkOpensAt, moment <= now else { return }
        linkHolds = false
        linkOpensAt = nil
    }

    /// What the link does with the head of the queue; `nil` while it does not come through. What is no entry of ours does
    /// not travel over the link.
    func admit(_ name: FileName, _ spool: SpoolEnd) -> LinkDecision? {
        guard var link, !link.isClean, let entry = EntryName(name), entry.kind == .note else { return .clean }
        let byteCount: UInt64
        do throws(FileSystemError) {
            byteCount = try fileSystem.status(of: name, in: spool.toPhone).byteCount
        } catch {
            // Gone, or in trouble: whoever looks at it next says so.
            return .clean
        }
        defer { self.link = link }
        switch link.admit(entry, byteCount: byteCount, isLast: queue.isEmpty && lastLooked == nil, at: now) {
        case .arrives(let decision):
            linkHolds = false
            return decision
        case .notBefore(let moment): linkOpensAt = moment
        case .waitsForNews: linkOpensAt = nil
        }
        // It stays the head, and those behind it wait as well.
        linkHolds = true
        queue.append(name)
        return nil
    }

    /// A transfer of which the link does not simply deliver one whole copy.
    func take(_ name: FileName, _ decision: LinkDecision, from spool: SpoolEnd) -> UInt64 {
        let entry = EntryName(name)
        let (id, attempt) = (entry?.id, entry?.attempt)
        do throws(FileSystemError) {
            guard decision.deliveryCount > 0 else {
                try fileSystem.unlinkIfThere(name, in: spool.toPhone)
                report(.init(.lostByLink, id: id, name: name, attempt: attempt))
                return 0
            }
            let own = try fileSystem.openOurs(name, in: spool.toPhone)
            let byteCount = own.byteCount
            let box = FileBox(own.intoFile())
            var arrived: [FileName] = []
            for number in 1..<max(1, decision.deliveryCount) {
                arrived.append(try copyIntoInbox(box, byteCount, name, number))
            }
            let first = inboxName(of: name)
            _ = try moveIntoInbox(name, as: first, from: spool, source: box, byteCount: byteCount)
            let delivered = [first] + arrived
            for (copy, inboxName) in delivered.enumerated() {
                guard let damage = decision.damage(ofCopy: copy) else { continue }
                let file = try fileSystem.open(inboxName, in: inbox)
                try fileSystem.damage(file, byteCount: byteCount, damage, draw: decision.damageDraw)
                report(.init(.damagedByLink, id: id, name: name, attempt: attempt))
            }
            for inboxName in delivered {
                report(.init(.taken, id: id, name: name, byteCount: byteCount, attempt: attempt))
                receiveFromInbox(inboxName, isSuspect: isSuspect(name))
            }
            return byteCount
        } catch {
            refuse(name, error)
            return 0
        }
    }

    /// One more delivery of the same transfer.
    private func copyIntoInbox(
        _ source: FileBox, _ byteCount: UInt64, _ entry: FileName, _ number: Int
    ) throws(FileSystemError) -> FileName {
        guard let name = FileName("\(pairing ?? PairingID(rawValue: 0)).\(number).\(entry)") else {
            preconditionFailure("an entry's name is short: \(entry)")
        }
        let copy = try fileSystem.createTemporary(for: name, in: inbox)
        do throws(FileSystemError) {
            _ = try carrier.copy(source.file, to: copy, byteCount: byteCount)
            try fileSystem.publish(name.partial, in: inbox, as: name, in: inbox)
        } catch {
            _ = try? fileSystem.unlinkIfThere(name.partial, in: inbox)
            throw error
        }
        return name
    }

    /// What `didFinish` says of an ack, if it is an error.
    func reportedFailure(of ack: EntryName) -> TransferError? {
        guard !conditions.plan.toWatch.isClean else { return nil }
        switch conditions.plan.decision(about: LinkTransfer(ack, byteCount: 0)).report {
        case .finished, .never: return nil
        case .failed(let error): return error
        case .failedWithoutDetails: return .genericError
        }
    }

    // MARK: The app

    /// Whether the app takes the file. If not it is gone: that is what the system does when the receiving call returns.
    func isHandled(_ name: FileName, id: ULID?, _ envelope: Envelope) -> Bool {
        let why: String
        switch conditions.handler {
        case .normal, .vetoes: return true
        case .echoes:
            echo(envelope)
            return true
        case .none: why = "nobody listens for files"
        case .takesNothing: why = "the receiver did not take it"
        }
        do throws(FileSystemError) {
            try fileSystem.unlinkIfThere(name, in: inbox)
            report(.init(.discarded, id: id, name: name, detail: why))
        } catch {
            reportFailure(error, id: id, name: name)
        }
        return false
    }

    /// Sends the note's own dictionary back, as userInfo.
    private func echo(_ envelope: Envelope) {
        guard let spool, let pairing, let id = gate(envelope).id else { return }
        let seal = Seal(
            kind: .ack, bodyByteCount: 0, bodyChecksums: .ofNothing, dictionary: envelope.dictionaryBytes,
            pairing: pairing, fileExtension: .none)
        let name = ackNamer.next(id: id, attempt: 1, nonce: UInt32(truncatingIfNeeded: surroundings.random()))
        do throws(FileSystemError) {
            try publishAck(envelope.dictionaryBytes + seal.bytes, as: name.fileName, in: spool)
        } catch {
            reportFailure(error, id: id)
        }
    }

    /// An app whose policy is to take no note vetoes each, for good, before it is judged.
    func vetoIfWanted(_ id: ULID, _ view: DeliveryFacts.LedgerView) throws(FileSystemError) {
        guard conditions.handler == .vetoes, view == .unknown, !vetoes.contains(id) else { return }
        _ = try veto(id)
    }

    /// The container, if it lets us.
    func refreshContainer() throws(FileSystemError) {
        switch conditions.container {
        case .open: try container.refresh(home: home)
        case .locked, .signedOut:
            throw FileSystemError(.openDirectory, home.displayPath(of: "container"), .notPermitted)
        }
    }
}
