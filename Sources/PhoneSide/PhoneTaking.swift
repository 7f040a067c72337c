import LinkFaults
import Spooling
import WireContract

// Look, take, receive.
//
// A transfer is looked at where it lies in the spool (seal and dictionary only), taken into the inbox by one rename, and
// received: moved out of the inbox into staging, under the name of its key. What lies in the spool may be anything; what is
// not a plain file of ours is reported and left, what is one and cannot be used goes to the quarantine, and neither holds
// up what is behind it.

extension PhoneEngine {
    /// The most names of the queue that are kept at a time, and the most strange ones that are set aside at one look.
    private static let mostQueued = 4_096
    private static let mostReported = 4_096
    private static let mostSkipped = 8_192

    /// While the disk makes a batch durable: takes and verifies what comes behind it, a little at a time. Nothing of it is
    /// covered by that barrier; it is where it would be if the phone had been that quick before.
    func lookAhead(until isDone: () -> Bool) {
        var byteCount: UInt64 = 0
        while staged.count - node.waitingCount < settings.mostAheadCount, byteCount < Self.batchByteCount {
            let count = staged.count
            // The watch goes on sending, and a barrier takes as long as it does for all that is in the queue.
            surroundings.listen()
            byteCount += takeBatch(aheadCount, byteCount: Self.verifyByteCount)
            carryOutWaiting()
            if staged.count == count || isDone() || surroundings.shouldStop() { return }
        }
    }

    /// Then it is asked whether the disk is done.
    private var aheadCount: Int { max(2, settings.batchCount / 4) }

    /// Takes what is next in the queue, as much as makes one batch. Answers how many bytes that were.
    @discardableResult
    func takeBatch(
        _ mostCount: Int, byteCount mostByteCount: UInt64 = PhoneEngine.batchByteCount
    ) -> UInt64 {
        guard let spool else {
            // There is none, or it cannot be opened; `lookAtSpool` asks for a look when it is back.
            looks.queue = false
            return 0
        }
        if linkHolds {
            guard looks.queue else { return 0 }
            // What is known waits, and what is not known may come before it.
            forgetQueue()
        }
        if queue.isEmpty, looks.queue || lastLooked != nil { lookAtQueue(of: spool) }
        var count = 0
        var byteCount: UInt64 = 0
        while count < mostCount, byteCount < mostByteCount, let name = queue.popLast() {
            guard let decision = admit(name, spool) else { return byteCount }
            byteCount += decision == .clean ? take(name, from: spool) : take(name, decision, from: spool)
            count += 1
            if surroundings.shouldStop() { break }
        }
        return byteCount
    }

    /// News of one name, which may be gone by now: whoever looks at it finds out. With it nobody lists the directory once
    /// for each note of a backlog.
    ///
    /// When there are more than anybody wants to remember, a full look finds them, once those that are known went before
    /// them; until it began nothing new is remembered, or it would overtake what was not.
    func hearOf(_ name: FileName) {
        if isOwnTaking(name) { return }
        guard spool != nil, !looks.queue, !name.isPartial, !refused.contains(name), !postponed.contains(name) else {
            return
        }
        // For a head that waits for something behind it.
        linkHolds = false
        // The look that is under way comes past it.
        if let lastLooked, lastLooked < name { return }
        if queue.count < Self.mostQueued { queue.insertFalling(name) } else { looks.queue = true }
    }

    /// Whether this is news of a name that went because we took it. It comes in the order of taking.
    private func isOwnTaking(_ name: FileName) -> Bool {
        guard let index = departed.prefix(8).firstIndex(of: name) else { return false }
        departed.removeSubrange(...index)
        return true
    }

    /// A full look brings back what is still there.
    func forgetQueue() {
        queue = []
        departed = []
        lastLooked = nil
        linkHolds = false
    }

    /// One full look goes through the directory in the order of names, so many at a time, and comes past each name once:
    /// what is left lying (links, foreign files) may be more than anybody wants to remember. What must be looked for
    /// begins a full look anew when this one has ended.
    private func lookAtQueue(of spool: SpoolEnd) {
        let after = lastLooked
        if after == nil { looks.queue = false }
        let (refused, postponed) = (refused, postponed)
        do throws(FileSystemError) {
            let names = try fileSystem.smallestNames(in: spool.toPhone, limit: Self.mostQueued) { name in
                !name.isPartial && !refused.contains(name) && !postponed.contains(name)
                    && after.map { $0 < name } ?? true
            }
            queue = names.reversed()
            lastLooked = names.count < Self.mostQueued ? nil : names.last
        } catch {
            lastLooked = nil
            lookFailed = true
            reportFailure(error)
        }
    }

    /// Looks at one name and takes it, if it can be taken. Answers how many bytes came.
    func take(_ name: FileName, from spool: SpoolEnd) -> UInt64 {
        do throws(FileSystemError) {
            let own = try fileSystem.openOurs(name, in: spool.toPhone)
            guard let entry = EntryName(name), entry.kind == .note else {
                try quarantine.take(name, from: spool.toPhone, reason: .strangeName, subject: nil)
                report(.init(.setAside, name: name, detail: QuarantineReason.strangeName.description))
                return 0
            }
            let byteCount = own.byteCount
            let box = FileBox(own.intoFile())
            switch try fileSystem.inspect(box.file, byteCount: byteCount, expecting: .note) {
            case .faulty(let fault):
                try quarantine.take(name, from: spool.toPhone, reason: QuarantineReason(fault), subject: nil)
                report(.init(.setAside, name: name, byteCount: byteCount, detail: "\(fault)"))
            case .envelope(let envelope):
                let gate = gate(envelope)
                if try setAsideIfOther(gate.id, entry, name, in: spool.toPhone) { return 0 }
                if isOverStagingCap(envelope, gate, byteCount: byteCount, name: name) { return 0 }
                let inboxName = inboxName(of: name)
                let taken = try moveIntoInbox(name, as: inboxName, from: spool, source: box, byteCount: byteCount)
                report(.init(.taken, id: entry.id, name: name, byteCount: byteCount, attempt: entry.attempt))
                receive(
                    inboxName, envelope, gate, box: taken, byteCount: byteCount, attempt: entry.attempt,
                    // A copy, from another disk, was written just now.
                    isSuspect: taken === box && isSuspect(name))
            }
            return byteCount
        } catch {
            refuse(name, error)
            return 0
        }
    }

    /// What a look at a name came to when it came to nothing.
    func refuse(_ name: FileName, _ error: FileSystemError) {
        switch error.reason {
        case .notFound:
            // Taken back by the watch between our look at the directory and this one.
            return
        case .refused, .isLink, .isDirectory:
            if refused.count < Self.mostSkipped { refused.insert(name) }
            guard reported.count < Self.mostReported, reported.insert(name).inserted else { return }
            report(.init(.refused, name: name, detail: error.description))
        case .exists, .noSpace, .inputOutput, .notPermitted, .notDirectory, .crossDevice, .interrupted, .readOnly,
            .tooManyOpenFiles, .fileTooLarge, .nameTooLong, .notSupported, .stopped, .other:
            postpone(name)
            reportFailure(error, name: name)
        }
    }

    private func postpone(_ name: FileName) {
        if postponed.count < Self.mostSkipped { postponed.insert(name) }
    }

    /// Whether the payload has an id and it is not its name's; then it was set aside.
    ///
    /// No build of ours sends that. A cut of the power makes it of a recording of an envelope: the phone's cut of the
    /// staged file survives and its renames do not, and there lies, under the entry's name, what the recording was of.
    private func setAsideIfOther(
        _ id: ULID?, _ entry: EntryName, _ name: FileName, in directory: borrowing OpenDirectory
    ) throws(FileSystemError) -> Bool {
        guard let id, id != entry.id else { return false }
        try quarantine.take(name, from: directory, reason: .strangeName, subject: nil)
        report(.init(.setAside, name: name, detail: QuarantineReason.strangeName.description))
        return true
    }

    /// Payloads of the future may fill staging only so far; then their transfers stay in the spool (7015), and what is
    /// understood goes past them.
    private func isOverStagingCap(_ envelope: Envelope, _ gate: Gate, byteCount: UInt64, name: FileName) -> Bool {
        // A resend of one that waits already takes no room.
        guard gate.waits != nil, node.waitingCount > 0, !node.knows(DeliveryKey(id: gate.id, seal: envelope.seal)),
            node.waitingByteCount + byteCount > settings.stagingCapByteCount
        else { return false }
        postpone(name)
        if reported.count < Self.mostReported, reported.insert(name).inserted {
            report(
                .init(
                    .failed, name: name,
                    detail: "\(TransferError.insufficientSpace): staging is full of payloads that wait"))
        }
        return true
    }

    /// One rename; from a spool on another file system, one copy more. The copy is not synced: until it is ingested the
    /// watch still has the recording.
    ///
    /// Answers the file that is in the inbox now, open. That is another file than `source` after a copy, and it is this one
    /// that is verified, cut and synced from here on.
    func moveIntoInbox(
        _ name: FileName, as inboxName: FileName, from spool: SpoolEnd, source: FileBox, byteCount: UInt64
    ) throws(FileSystemError) -> FileBox {
        do {
            try fileSystem.publish(name, in: spool.toPhone, as: inboxName, in: inbox)
            if departed.count < Self.mostQueued { departed.append(name) }
            return source
        } catch  where error.reason == .crossDevice {
            let copy = FileBox(try fileSystem.createTemporary(for: inboxName, in: inbox))
            do throws(FileSystemError) {
                _ = try carrier.copyPlainly(source.file, to: copy.file, byteCount: byteCount)
                try fileSystem.publish(inboxName.partial, in: inbox, as: inboxName, in: inbox)
            } catch {
                _ = try? fileSystem.unlinkIfThere(inboxName.partial, in: inbox)
                throw error
            }
            // A crash before this leaves both: the entry is taken once more and meets its own copy.
            try fileSystem.unlinkIfThere(name, in: spool.toPhone)
            return copy
        }
    }

    /// The inbox keeps, in front of the entry's name, which pairing it came over: the phone may be switched to another
    /// watch before it is received.
    func inboxName(of entry: FileName) -> FileName {
        let pairing = pairing ?? PairingID(rawValue: 0)
        guard let name = FileName("\(pairing).\(entry)") else {
            preconditionFailure("an entry's name is short: \(entry)")
        }
        return name
    }

    /// Hands over what lies in the inbox: left there by a crash, by a failed move, or put there by `quarantine retry`.
    func lookAtInbox() {
        looks.inbox = false
        do throws(FileSystemError) {
            let names = try fileSystem.smallestNames(in: inbox, limit: Self.mostQueued) { !$0.isPartial }
            for name in names {
                receiveFromInbox(name)
                if surroundings.shouldStop() { return }
            }
        } catch {
            lookFailed = true
            reportFailure(error)
        }
    }

    /// `isSuspect`: who wrote it may have died of a barrier that failed.
    func receiveFromInbox(_ name: FileName, isSuspect: Bool = true) {
        do throws(FileSystemError) {
            let own = try fileSystem.openOurs(name, in: inbox)
            let byteCount = own.byteCount
            let box = FileBox(own.intoFile())
            switch try fileSystem.inspect(box.file, byteCount: byteCount, expecting: .note) {
            case .faulty(let fault):
                try quarantine.take(name, from: inbox, reason: QuarantineReason(fault), subject: nil)
                report(.init(.setAside, name: name, byteCount: byteCount, detail: "\(fault)"))
            case .envelope(let envelope):
                // None for what `quarantine retry` put there.
                let entry = FileName(bytes: name.bytes.dropFirst(17)).flatMap(EntryName.init)
                let gate = gate(envelope)
                if let entry, try setAsideIfOther(gate.id, entry, name, in: inbox) { return }
                receive(
                    name, envelope, gate, box: box, byteCount: byteCount, attempt: entry?.attempt ?? 1,
                    isSuspect: isSuspect)
            }
        } catch {
            refuse(name, error)
        }
    }

    /// What the gate says of a dictionary: the id, if it names one, and why it waits, if it does.
    typealias Gate = (id: ULID?, waits: GateReason?)

    func gate(_ envelope: Envelope) -> Gate {
        AudioNotePayload.gate(envelope.dictionary, understands: settings.understands)
    }

    /// The receiving call.
    private func receive(
        _ name: FileName, _ envelope: Envelope, _ gate: Gate, box: FileBox, byteCount: UInt64, attempt: Int,
        isSuspect: Bool
    ) {
        let (id, waits) = gate
        guard isHandled(name, id: id, envelope) else { return }
        let key = DeliveryKey(id: id, seal: envelope.seal)
        let cameOver = PairingID(utf8: name.bytes.prefix(16)) ?? PairingID(rawValue: 0)
        // Whether a copy that came before is of any use is known only when it was verified.
        if node.knows(key) {
            carryOutWaiting()
            if directives.hasWaiting || !directives.verifies.isEmpty {
                // Not yet: a batch is full, or a stop was asked for. It lies in the inbox and is looked at again.
                looks.inbox = true
                return
            }
        }
        if node.isUnreadable(key) {
            staged[key] = nil
            tell(.lost(key))
        }
        if node.knows(key) {
            // Not through the node's directives: those are about the copy that is in staging.
            dropCopy(name, id: id)
            return
        }
        let file = StagedFile(
            name: StagedName(key: key, pairing: cameOver), place: .inbox(name), content: NoteContent(envelope.seal),
            dictionaryBytes: envelope.dictionaryBytes, isCut: false, box: box)
        file.mayBeUnwritable = isSuspect
        staged[key] = file
        tell(.arrived(key, pairing: cameOver, byteCount: byteCount, attempt: attempt, waits: waits))
    }

    /// A resend that meets its own first copy in staging.
    private func dropCopy(_ name: FileName, id: ULID?) {
        do throws(FileSystemError) {
            try fileSystem.unlinkIfThere(name, in: inbox)
            report(.init(.duplicate, id: id, name: name, detail: "the same delivery is in staging"))
        } catch {
            // Still there at the next full look.
            postpone(name)
            reportFailure(error, id: id, name: name)
        }
    }

    /// Out of the inbox, under the name of its key.
    func stage(_ key: DeliveryKey) {
        guard let file = staged[key], case .inbox(let name) = file.place else { return }
        do throws(FileSystemError) {
            try moveIntoStaging(name, as: file.name.fileName)
            file.place = .staging
            report(.init(.staged, id: key.id, name: file.name.fileName))
        } catch {
            // It stays in the inbox, which is looked at again at the next full look.
            postpone(name)
            reportFailure(error, id: key.id, name: name)
            staged[key] = nil
            tell(.lost(key))
        }
    }

    private func moveIntoStaging(_ name: FileName, as stagedName: FileName) throws(FileSystemError) {
        do {
            try fileSystem.publish(name, in: inbox, as: stagedName, in: staging)
        } catch  where error.reason == .exists {
            // The node does not know it, so it is a leftover of a discard whose unlink failed: nobody's.
            try fileSystem.unlinkIfThere(stagedName, in: staging)
            try fileSystem.publish(name, in: inbox, as: stagedName, in: staging)
        }
    }
}
