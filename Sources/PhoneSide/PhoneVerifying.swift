import Spooling
import WireContract

// Verify, probe, and the two ends that are not an ingest: discarding and setting aside.

extension PhoneEngine {
    /// Reads all of each staged delivery and compares it with what its seal, or its row, says; then tells the node what speaks
    /// for and against it.
    func verify(_ keys: [DeliveryKey]) {
        var looked: [(key: DeliveryKey, file: StagedFile)] = []
        var bodies: [FileBody] = []
        for key in keys {
            guard let file = staged[key] else { continue }
            do throws(FileSystemError) {
                bodies.append(
                    FileBody(try file.file(in: staging, of: fileSystem), byteCount: file.content.byteCount))
                looked.append((key, file))
            } catch {
                giveUpLooking(key, file, error)
            }
        }
        for ((key, file), answer) in zip(looked, fileSystem.checksumsEach(bodies, by: carrier)) {
            do throws(FileSystemError) {
                guard try answer.get() == file.content.checksums else {
                    tell(.unverifiable(key, .bodyAltered))
                    continue
                }
                let facts = try facts(about: key, file.content)
                // A start may find thousands: they do not stay open until their batch comes.
                if staged.count - node.waitingCount > settings.mostAheadCount { file.close() }
                tell(.verified(key, facts))
            } catch {
                giveUpLooking(key, file, error)
            }
        }
    }

    private func giveUpLooking(_ key: DeliveryKey, _ file: StagedFile, _ error: FileSystemError) {
        switch error.reason {
        case .stopped: return
        case .notFound:
            // Somebody removed it from our staging. The watch has the recording.
            staged[key] = nil
            tell(.lost(key))
            reportFailure(error, id: key.id)
        case .exists, .noSpace, .inputOutput, .notPermitted, .isLink, .isDirectory, .notDirectory, .crossDevice,
            .interrupted, .readOnly, .tooManyOpenFiles, .fileTooLarge, .nameTooLong, .notSupported, .refused, .other:
            file.close()
            tell(.unreadable(key))
            reportFailure(error, id: key.id)
        }
    }

    private func facts(about key: DeliveryKey, _ content: NoteContent) throws(FileSystemError) -> DeliveryFacts {
        guard let id = key.id else {
            return DeliveryFacts(isVetoed: false, ledger: .unknown, containerHoldsUnknown: false)
        }
        let view: DeliveryFacts.LedgerView
        var holdsUnknown = container.unknownExtension(of: id) != nil
        if let entry = ledger[id] {
            switch entry.outcome {
            case .ingesting:
                view = .unfinished
                // An ingest that failed between its rename and its row left a file under the note's name.
                let fileExtension = entry.content.fileExtension
                try refreshContainer()
                if !holdsUnknown, try container.holds(id, fileExtension: fileExtension) {
                    container.noteUnknown(id, fileExtension: fileExtension)
                    holdsUnknown = true
                }
            case .ingested: view = .ingested(sameBytes: entry.content.hasSameBytes(as: content))
            case .deleted: view = .deletedByUser
            }
        } else {
            view = .unknown
        }
        try vetoIfWanted(id, view)
        return DeliveryFacts(isVetoed: vetoes.contains(id), ledger: view, containerHoldsUnknown: holdsUnknown)
    }

    /// The extension under which the container has, or should have, an id that was final or unfinished before.
    func heldExtension(of id: ULID, otherwise fileExtension: FileExtension) -> FileExtension {
        container.unknownExtension(of: id) ?? ledger[id]?.content.fileExtension ?? fileExtension
    }

    /// P3: whether what was ingested is still there, to the byte.
    func probe(_ key: DeliveryKey) {
        guard let file = staged[key], let id = key.id else { return }
        do throws(FileSystemError) {
            try refreshContainer()
            let holding = try container.probe(
                id, fileExtension: heldExtension(of: id, otherwise: file.content.fileExtension), content: file.content,
                carrier: carrier)
            if case .ingested = ledger[id]?.outcome, holding != .same {
                report(.init(.containerLost, id: id, detail: "\(holding)"))
            }
            if holding == .missing { container.forgetUnknown(id) }
            tell(.containerProbed(key, holding))
        } catch {
            giveUpLooking(key, file, error)
        }
    }

    /// Its note is final already: its bytes are not needed. If the unlink fails, staging is looked through again, and it
    /// comes to the same end.
    func discard(_ key: DeliveryKey, because reason: DiscardReason) {
        guard let file = staged.removeValue(forKey: key) else { return }
        do throws(FileSystemError) {
            try fileSystem.unlinkIfThere(file.name.fileName, in: staging)
        } catch {
            isStagingUntidy = true
            reportFailure(error, id: key.id)
        }
        switch reason {
        case .duplicate: report(.init(.duplicate, id: key.id))
        case .vetoed: report(.init(.vetoed, id: key.id, detail: "not ingested"))
        case .deletedByUser: report(.init(.duplicate, id: key.id, detail: "the user deleted it"))
        }
    }

    func setAside(_ key: DeliveryKey, _ reason: QuarantineReason) {
        guard let file = staged.removeValue(forKey: key) else { return }
        do throws(FileSystemError) {
            try quarantine.take(file.name.fileName, from: staging, reason: reason, subject: key.id)
            report(.init(.setAside, id: key.id, name: file.name.fileName, detail: reason.description))
        } catch {
            // It stays in staging, and is judged again at the next look through it.
            isStagingUntidy = true
            reportFailure(error, id: key.id)
        }
    }
}
