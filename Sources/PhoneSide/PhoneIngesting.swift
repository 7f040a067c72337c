import Spooling
import WireContract

// Ingest: a batch of verified deliveries becomes final.
//
// | after this call | in staging | in the container | ledger row | who goes on after a crash |
// |---|---|---|---|---|
// | – | envelope | – | – | start: verifies it anew |
// | write row `ingesting` | envelope | – | ingesting, not durable | start: verifies it anew |
// | truncate | body, not durable | – | ingesting, not durable | start: throws it away; the watch sends again |
// | barrier: ledger and contents | body | – | ingesting | the same |
// | publish | – | name, not durable | ingesting | start: finds it in the container, or cut in staging |
// | sync month and staging | – | body | ingesting | start: finds it in the container |
// | write and sync row `ingested` | – | body | ingested | the watch sends again; acked as a duplicate |
//
// The commit point is the rename: from there on a start finishes the note and never undoes it. The row comes before the
// cut because the dictionary lies in what is cut off; both become durable by one barrier, because a cut that survives
// alone costs a resend and nothing else. The ack comes after the last row. A failed sync is never repeated on the same
// file: the bytes are thrown away, and come again from the watch. A start cannot know whether the process before it saw
// such a failure, and a kernel would hide it; so what a start finds cut and not published is never ingested.

extension PhoneEngine {
    /// One note of a batch on its way.
    private struct Note {
        let order: IngestOrder
        let id: ULID
        let file: StagedFile
        let box: FileBox
        var month: DirectoryBox
        let name: FileName
    }

    func ingest(_ orders: [IngestOrder]) {
        do throws(FileSystemError) {
            try refreshContainer()
        } catch {
            reportFailure(error)
            for order in orders { tell(.ingestFailed(order.key)) }
            return
        }
        var notes: [Note] = []
        for order in orders {
            if order.adopting {
                adopt(order.key)
            } else if !order.replacing, let id = order.key.id, container.unknownExtension(of: id) != nil {
                // It came with a container that was put in the place of ours after this delivery was judged.
                tell(.obstructed(order.key))
            } else if let note = prepare(order) {
                notes.append(note)
            }
        }
        notes = writeRows(notes)
        notes = publish(notes)
        settle(syncDirectories(notes))
    }

    /// Opens what is needed, and clears the note's name in the container where that is wanted.
    private func prepare(_ order: IngestOrder) -> Note? {
        guard let file = staged[order.key], let id = order.key.id else { return nil }
        do throws(FileSystemError) {
            if file.mayBeUnwritable, try !writeAnew(order.key, file) { return nil }
            let box = try file.file(in: staging, of: fileSystem)
            if order.replacing {
                try container.setAside(
                    id, fileExtension: heldExtension(of: id, otherwise: file.content.fileExtension), into: quarantine)
                report(.init(.setAside, id: id, detail: QuarantineReason.containerAltered.description))
            }
            return Note(
                order: order, id: id, file: file, box: box, month: try container.month(of: id),
                name: Container.fileName(of: id, file.content.fileExtension))
        } catch {
            refused(order.key, error)
            return nil
        }
    }

    /// Copies a staged file into a new one, whose bytes a sync will write; `false` when it is gone over that. A crash between
    /// the unlink and the publish costs a resend: the watch has it.
    private func writeAnew(_ key: DeliveryKey, _ file: StagedFile) throws(FileSystemError) -> Bool {
        let name = file.name.fileName
        let source = try file.file(in: staging, of: fileSystem)
        let byteCount = try fileSystem.status(of: source.file).byteCount
        let copy = FileBox(try fileSystem.createTemporary(for: name, in: staging))
        do throws(FileSystemError) {
            _ = try carrier.copyPlainly(source.file, to: copy.file, byteCount: byteCount)
        } catch {
            _ = try? fileSystem.unlinkIfThere(name.partial, in: staging)
            throw error
        }
        do throws(FileSystemError) {
            try fileSystem.unlinkIfThere(name, in: staging)
            try fileSystem.publish(name.partial, in: staging, as: name, in: staging)
        } catch {
            _ = try? fileSystem.unlinkIfThere(name.partial, in: staging)
            // One of the two names may be left.
            isStagingUntidy = true
            staged[key] = nil
            reportFailure(error, id: key.id)
            tell(.lost(key))
            return false
        }
        file.isNow(copy)
        return true
    }

    /// Rows `ingesting`, the cut, and the barrier for both.
    private func writeRows(_ notes: [Note]) -> [Note] {
        let fresh = notes.filter { !$0.file.isCut }
        guard !fresh.isEmpty else { return notes }
        let pending: Ledger.Pending
        do throws(FileSystemError) {
            pending = try ledger.write(fresh.map { row($0, .ingesting) })
        } catch {
            for note in notes { refused(note.order.key, error) }
            return []
        }
        var cut: [Note] = []
        let answers = fileSystem.truncateEach(fresh.map { FileCut($0.box, to: $0.file.content.byteCount) })
        for (note, failure) in zip(fresh, answers) {
            if let failure { throwAway(note, failure) } else { cut.append(note) }
        }
        let failures = fileSystem.syncContents(of: [ledger.openFile] + cut.map(\.box), on: staging) {
            lookAhead(until: $0)
        }
        if failures.contains(where: { $0 != nil }) { distrustUnsynced() }
        if let error = settle(pending, failures[0]) {
            for note in cut { throwAway(note, error) }
            return notes.filter { note in !fresh.contains { $0.id == note.id } }
        }
        var durable = notes.filter { note in !fresh.contains { $0.id == note.id } }
        for (note, failure) in zip(cut, failures.dropFirst()) {
            if let failure {
                throwAway(note, failure)
            } else {
                note.file.isCut = true
                // Its own sync succeeded, whatever became of its neighbour's; a copy of it no barrier would cover any more.
                note.file.mayBeUnwritable = false
                durable.append(note)
            }
        }
        return durable
    }

    /// Why rows that a barrier was to cover do not count, if they do not.
    private func settle(_ pending: Ledger.Pending, _ failure: FileSystemError?) -> FileSystemError? {
        if let failure {
            ledger.giveUp(pending)
            return failure
        }
        do throws(FileSystemError) {
            try ledger.settle(pending)
            return nil
        } catch {
            return error
        }
    }

    private func row(_ note: Note, _ outcome: Outcome) -> Ledger.Row {
        Ledger.Row(
            id: note.id, outcome: outcome, content: note.file.content, dictionaryBytes: note.file.dictionaryBytes)
    }

    private func publish(_ notes: [Note]) -> [Note] {
        for note in notes {
            let content = note.file.content
            report(
                .init(
                    .ingested, phase: .intends, id: note.id, byteCount: content.byteCount, checksums: content.checksums)
            )
        }
        if !notes.isEmpty { surroundings.history.commit() }
        var published: [Note] = []
        for note in notes {
            do throws(FileSystemError) {
                try fileSystem.publish(
                    note.file.name.fileName, in: staging, as: note.name, in: note.month.directory)
                published.append(note)
            } catch {
                if error.reason == .exists {
                    container.noteUnknown(note.id, fileExtension: note.file.content.fileExtension)
                    tell(.obstructed(note.order.key))
                } else if error.mayHaveHappened || error.reason == .notFound {
                    // It may be in the container, or nowhere; to try again would fail for ever. A resend finds out.
                    forget(note, error)
                } else {
                    refused(note.order.key, error)
                }
            }
        }
        return published
    }

    /// The months and staging. Until all of it is durable nobody is told, so their order does not matter: when the power
    /// takes the new name and leaves no old one, the watch sends again. The last month and staging wait together.
    private func syncDirectories(_ notes: [Note]) -> [Note] {
        var months: [DirectoryBox] = []
        for note in notes where !months.contains(where: { $0 === note.month }) { months.append(note.month) }
        guard let last = months.popLast() else { return [] }
        var failed: [(month: DirectoryBox, failure: FileSystemError)] = []
        for month in months {
            do throws(FileSystemError) {
                try fileSystem.sync(month.directory)
            } catch {
                failed.append((month, error))
            }
        }
        let (lastFailure, stagingFailure) = fileSystem.syncEach(last.directory, staging)
        if let lastFailure { failed.append((last, lastFailure)) }
        var durable: [Note] = []
        for note in notes {
            if let failure = failed.first(where: { $0.month === note.month })?.failure {
                // Whether the name is on disk is unknown and stays so. Start over from the watch's copy.
                _ = try? fileSystem.unlinkIfThere(note.name, in: note.month.directory)
                forget(note, failure)
            } else if let stagingFailure {
                // Content and name are durable in the container; only the old name may come back. A resend finishes it.
                forget(note, stagingFailure)
            } else {
                durable.append(note)
            }
        }
        return durable
    }

    /// Rows `ingested`, and the acks that they allow.
    private func settle(_ notes: [Note]) {
        guard !notes.isEmpty else { return }
        do throws(FileSystemError) {
            try ledger.append(notes.map { row($0, .ingested) })
        } catch {
            // The container has it, the ledger says `ingesting`: a resend, or the next start, finishes it.
            for note in notes { forget(note, error) }
            return
        }
        for note in notes {
            staged[note.order.key] = nil
            container.forgetUnknown(note.id)
            let content = note.file.content
            report(
                .init(
                    .ingested, id: note.id, byteCount: content.byteCount, checksums: content.checksums,
                    detail: note.name.description))
            tell(.ingested(note.order.key))
        }
    }

    /// The container has these bytes under this id. The ledger must know it durably, and so must the disk, before the ack.
    private func adopt(_ key: DeliveryKey) {
        guard let file = staged[key], let id = key.id else { return }
        do throws(FileSystemError) {
            if ledger[id]?.outcome != .ingested {
                let held = heldExtension(of: id, otherwise: file.content.fileExtension)
                try container.sync(id, fileExtension: held)
                var content = file.content
                content.fileExtension = held
                try ledger.append([
                    Ledger.Row(id: id, outcome: .ingested, content: content, dictionaryBytes: file.dictionaryBytes)
                ])
                container.forgetUnknown(id)
                report(.init(.ingested, id: id, detail: "the container had it"))
            }
            discard(key, because: .duplicate)
            tell(.ingested(key))
        } catch {
            refused(key, error)
        }
    }

    /// The disk said no, and nothing was changed that is not known: tried again by itself.
    private func refused(_ key: DeliveryKey, _ error: FileSystemError) {
        guard error.reason != .stopped else { return }
        // A full disk may keep thousands waiting.
        staged[key]?.close()
        reportFailure(error, id: key.id)
        tell(.ingestFailed(key))
    }

    /// What the staged file holds now is unknown. The watch has the recording.
    private func throwAway(_ note: Note, _ error: FileSystemError) {
        do throws(FileSystemError) {
            try fileSystem.unlinkIfThere(note.file.name.fileName, in: staging)
        } catch {
            isStagingUntidy = true
        }
        forget(note, error)
    }

    private func forget(_ note: Note, _ error: FileSystemError) {
        staged[note.order.key] = nil
        reportFailure(error, id: note.id)
        tell(.lost(note.order.key))
    }
}
