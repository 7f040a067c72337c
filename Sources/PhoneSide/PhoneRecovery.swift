import Spooling
import WireContract

// Recovery: from what is on disk to a state. Every step can be done twice and may be cut short anywhere.

extension PhoneEngine {
    func recover() throws(FileSystemError) {
        try finishDeletions()
        try finishIngests()
        try recoverStaging()
    }

    /// The row is the commit point of a user's delete; the unlink behind it may not have happened.
    private func finishDeletions() throws(FileSystemError) {
        for id in ledger.ids(with: .deleted) {
            guard let fileExtension = ledger[id]?.content.fileExtension else { continue }
            if try container.holds(id, fileExtension: fileExtension) {
                try container.remove(id, fileExtension: fileExtension)
            }
        }
    }

    /// The rename is the commit point of an ingest; the row behind it may not have been written.
    private func finishIngests() throws(FileSystemError) {
        for id in ledger.ids(with: .ingesting) {
            guard let entry = ledger[id] else { continue }
            let fileExtension = entry.content.fileExtension
            switch try container.probe(id, fileExtension: fileExtension, content: entry.content, carrier: carrier) {
            case .missing: continue
            case .same:
                try container.sync(id, fileExtension: fileExtension)
                try ledger.append([
                    Ledger.Row(
                        id: id, outcome: .ingested, content: entry.content,
                        dictionaryBytes: try ledger.dictionaryBytes(of: id) ?? [])
                ])
                container.forgetUnknown(id)
                report(.init(.ingested, id: id, detail: "found in the container"))
            case .other:
                // Not what was about to be ingested: nobody's word was given for it. Out of the note's way.
                try container.setAside(id, fileExtension: fileExtension, into: quarantine)
                report(.init(.setAside, id: id, detail: QuarantineReason.containerAltered.description))
            }
        }
    }

    /// Something could not be taken out of staging; what lies there and nobody knows is judged as at a start.
    func tidyStaging() {
        guard isStagingUntidy else { return }
        isStagingUntidy = false
        do throws(FileSystemError) {
            try recoverStaging()
        } catch {
            isStagingUntidy = true
            reportFailure(error)
        }
    }

    private func recoverStaging() throws(FileSystemError) {
        for name in try fileSystem.sortedNames(in: staging) where !name.isPartial {
            do {
                if let key = StagedName(name)?.key, node.knows(key) {
                    if staged[key]?.name.fileName != name { try dropSecondCopy(name, of: key) }
                } else {
                    try recoverStaged(name)
                }
            } catch {
                switch error.reason {
                case .refused, .isLink, .isDirectory:
                    report(.init(.refused, name: name, detail: error.description))
                case .stopped: return
                case .notFound, .exists, .noSpace, .inputOutput, .notPermitted, .notDirectory, .crossDevice,
                    .interrupted, .readOnly, .tooManyOpenFiles, .fileTooLarge, .nameTooLong, .notSupported, .other:
                    throw error
                }
            }
        }
    }

    /// The same delivery came over two pairings: it is kept once (P7).
    private func dropSecondCopy(_ name: FileName, of key: DeliveryKey) throws(FileSystemError) {
        try fileSystem.unlinkIfThere(name, in: staging)
        report(.init(.duplicate, id: key.id, name: name, detail: "the same delivery is in staging"))
    }

    private func recoverStaged(_ name: FileName) throws(FileSystemError) {
        let own = try fileSystem.openOurs(name, in: staging)
        guard let stagedName = StagedName(name) else {
            try quarantine.take(name, from: staging, reason: .strangeName, subject: nil)
            report(.init(.setAside, name: name, detail: QuarantineReason.strangeName.description))
            return
        }
        let byteCount = own.byteCount
        let file = own.intoFile()
        // A cut file is its body and nothing else; its row says what that is. Whether its sync failed in the process
        // before, nobody knows. This comes before the look for a seal, because the body may itself end in one (a recording
        // of an envelope).
        if let id = stagedName.key.id, let entry = ledger[id], entry.content.byteCount == byteCount,
            entry.content.checksums.crc32 == stagedName.key.bodyCRC32
        {
            try fileSystem.unlinkIfThere(name, in: staging)
            report(.init(.discarded, id: id, name: name, detail: "cut and not published"))
            return
        }
        switch try fileSystem.inspect(file, byteCount: byteCount, expecting: .note) {
        case .envelope(let envelope):
            try recoverEnvelope(stagedName, envelope, byteCount: byteCount)
        case .faulty(let fault):
            // Without seal and without row nobody can tell what it is. The watch still has it.
            try fileSystem.unlinkIfThere(name, in: staging)
            report(.init(.discarded, id: stagedName.key.id, name: name, detail: fault.word))
        }
    }

    private func recoverEnvelope(
        _ name: StagedName, _ envelope: Envelope, byteCount: UInt64
    ) throws(FileSystemError) {
        let (id, waits) = gate(envelope)
        guard DeliveryKey(id: id, seal: envelope.seal) == name.key else {
            // Not what its name says: no build of ours put it there.
            try quarantine.take(name.fileName, from: staging, reason: .strangeName, subject: nil)
            report(.init(.setAside, name: name.fileName, detail: QuarantineReason.strangeName.description))
            return
        }
        let file = StagedFile(
            name: name, place: .staging, content: NoteContent(envelope.seal),
            dictionaryBytes: waits == nil ? envelope.dictionaryBytes : [], isCut: false, box: nil)
        file.mayBeUnwritable = true
        arrivedAgain(file, byteCount: byteCount, waits: waits)
    }

    private func arrivedAgain(_ file: StagedFile, byteCount: UInt64, waits: GateReason?) {
        let key = file.name.key
        // The same delivery over two pairings: one of them is enough.
        guard !node.knows(key) else { return }
        staged[key] = file
        tell(.arrived(key, pairing: file.name.pairing, byteCount: byteCount, attempt: 1, waits: waits))
    }
}

extension FileSystem {
    /// Unlinks, in a folder of the middle, every name of a file that has another name.
    ///
    /// We never make a second name. A cut of the power does, in a rename between two directories of which one was synced
    /// (POSIX lets either half survive): then the spool and the inbox, the inbox and staging, or staging and the container
    /// have one file. The other name stays, and with it the bytes; while there are two, law 9 keeps us from either.
    func dropSecondNames(in directory: borrowing OpenDirectory) throws(FileSystemError) {
        for name in try sortedNames(in: directory) {
            let status = try status(of: name, in: directory)
            if status.kind == .regular, status.isOurs, status.linkCount > 1 {
                try unlinkIfThere(name, in: directory)
            }
        }
    }
}
