package import Spooling
import WireContract

// What a user asks of the holder of a phone: veto, delete, and what to do with what was set aside.

extension PhoneEngine {
    static func loadVetoes(
        in directory: borrowing OpenDirectory, of fileSystem: any FileSystem
    ) throws(FileSystemError) -> Set<ULID> {
        var vetoes: Set<ULID> = []
        try fileSystem.forEachName(in: directory) { name in
            if let id = ULID(utf8: name.bytes) { vetoes.insert(id) }
            return true
        }
        return vetoes
    }

    func lookAtRequests() {
        looks.requests = false
        do throws(FileSystemError) {
            let pending = try requests.pending()
            for request in pending {
                let answer = perform(request)
                try requests.answer(request, answer)
            }
            // There may be more than one look takes up.
            if !pending.isEmpty { looks.requests = true }
        } catch {
            reportFailure(error)
        }
    }

    /// Carries a request out. Each can be carried out twice.
    package func perform(_ request: Request) -> Answer {
        do throws(FileSystemError) {
            switch request.verb {
            case .veto: return try ULID(request.subject).map { id throws(FileSystemError) in try veto(id) } ?? .unknown
            case .delete:
                return try ULID(request.subject).map { id throws(FileSystemError) in try delete(id) } ?? .unknown
            case .retry: return try retryQuarantined(request.subject)
            case .drop: return try dropQuarantined(request.subject)
            case .cancel: return .unknown
            }
        } catch {
            reportFailure(error)
            return .failed
        }
    }

    /// The veto's own file is the commit point: once its name is durable, the note is final.
    func veto(_ id: ULID) throws(FileSystemError) -> Answer {
        if vetoes.contains(id) { return .already }
        switch ledger[id]?.outcome {
        case .ingested, .deleted: return .refused
        case .ingesting:
            // The rename is the commit point of an ingest, also when what came after it failed.
            try refreshContainer()
            if let entry = ledger[id], try container.holds(id, fileExtension: entry.content.fileExtension) {
                return .refused
            }
        case nil: break
        }
        if container.unknownExtension(of: id) != nil { return .refused }
        guard let name = FileName(id.description) else { preconditionFailure("an id is a file name: \(id)") }
        do {
            _ = try fileSystem.create(name, in: vetoDirectory)
        } catch  where error.reason == .exists {
            // Made by a holder that died before it could answer; whether it was synced is unknown.
        }
        do throws(FileSystemError) {
            try fileSystem.sync(vetoDirectory)
        } catch {
            _ = try? fileSystem.unlinkIfThere(name, in: vetoDirectory)
            throw error
        }
        vetoes.insert(id)
        report(.init(.vetoed, id: id))
        tell(.vetoed(id))
        return .done
    }

    /// The row is the commit point; the unlink comes after it, so that a note that is gone is known to be deleted.
    private func delete(_ id: ULID) throws(FileSystemError) -> Answer {
        try refreshContainer()
        let content: NoteContent
        if let entry = ledger[id] {
            switch entry.outcome {
            case .deleted: return .already
            case .ingesting: return .refused
            case .ingested: content = entry.content
            }
        } else if let fileExtension = container.unknownExtension(of: id) {
            content = NoteContent(byteCount: 0, checksums: .ofNothing, fileExtension: fileExtension)
        } else {
            return .unknown
        }
        let dictionaryBytes = try ledger.dictionaryBytes(of: id) ?? []
        try ledger.append([Ledger.Row(id: id, outcome: .deleted, content: content, dictionaryBytes: dictionaryBytes)])
        report(.init(.userDeleted, id: id))
        try container.remove(id, fileExtension: content.fileExtension)
        return .done
    }

    private func item(_ number: String) throws(FileSystemError) -> QuarantineItem? {
        try Quarantine.list(in: quarantine.directory, of: fileSystem).first { $0.number == number }
    }

    /// Back into the inbox, from where it is received like any other.
    private func retryQuarantined(_ number: String) throws(FileSystemError) -> Answer {
        guard let item = try item(number) else { return .unknown }
        let cameOver = pairing ?? PairingID(rawValue: 0)
        guard let name = FileName("\(cameOver).\(item.number).note") else {
            preconditionFailure("a number is a file name: \(item.number)")
        }
        guard try quarantine.release(item, to: inbox, as: name) else { return .refused }
        looks.inbox = true
        return .done
    }

    private func dropQuarantined(_ number: String) throws(FileSystemError) -> Answer {
        guard let item = try item(number) else { return .unknown }
        try quarantine.drop(item)
        return .done
    }
}
