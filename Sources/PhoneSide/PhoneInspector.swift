package import Spooling
package import WireContract

// What a phone looks like from outside, without its lock and without changing anything: for `list`, `status` and
// `quarantine list`. A daemon may be at work meanwhile, so what is listed is what was found, name by name.

/// One note as a person sees it.
package struct ListedNote: Equatable, Sendable {
    package enum State: Hashable, Sendable {
        case ingested
        /// The ledger says that it was ingested, and the container does not hold it.
        case missingInContainer
        case ingesting
        /// In staging, and not looked at yet.
        case staged
        /// In staging, and not understood.
        case waits(reason: String)
        case deletedByUser
        case vetoed
        /// The container holds it and the ledger does not know it.
        case unknownToLedger

        package var word: String {
            switch self {
            case .ingested: "ingested"
            case .missingInContainer: "missing"
            case .ingesting: "ingesting"
            case .staged: "staged"
            case .waits: "waits"
            case .deletedByUser: "deleted"
            case .vetoed: "vetoed"
            case .unknownToLedger: "unknown"
            }
        }
    }

    /// The id, or what stands for it where the dictionary names none.
    package var subject: String
    package var state: State
    package var content: NoteContent?
    package var payload: AudioNotePayload?
    /// Where its bytes are, below the home.
    package var path: String?
}

/// A phone's folders, counted.
package struct PhoneStatus: Hashable, Sendable {
    /// Who runs it; `nil` when nobody does.
    package var holder: String?
    package var pairing: String?
    package var startCount: UInt64
    package var ingestedCount = 0
    package var ingestedByteCount: UInt64 = 0
    package var deletedCount = 0
    package var vetoedCount: Int
    package var waitingCount = 0
    package var stagedCount = 0
    package var inboxCount: Int
    package var quarantinedCount: Int
    package var queueCount: Int?
    package var unreadAckCount: Int?
    package var space: FreeSpace
}

package struct PhoneInspector: ~Copyable {
    private let fileSystem: any FileSystem
    private let home: OpenDirectory
    private let settings: PhoneSettings

    package init(homePath: String, fileSystem: any FileSystem, settings: PhoneSettings) throws(FolderError) {
        self.fileSystem = fileSystem
        self.settings = settings
        home = try fileSystem.openFolder(.phone, at: homePath, create: false, nonce: 0)
    }

    /// Every note that this phone knows of, by id.
    package func notes() throws(FileSystemError) -> [ListedNote] {
        var byID: [ULID: ListedNote] = [:]
        var others: [ListedNote] = []
        try forEachRow { row in
            byID[row.id] = ListedNote(
                subject: row.id.description, state: row.outcome.listedState, content: row.content,
                payload: Self.payload(row.dictionaryBytes), path: nil)
        }
        try addContainer(to: &byID)
        for id in try ids(in: "vetoes") where byID[id] == nil {
            byID[id] = ListedNote(subject: id.description, state: .vetoed)
        }
        try addStaging(to: &byID, &others)
        var notes: [ListedNote] = []
        for (_, note) in byID { notes.append(note) }
        return (notes + others).sorted { $0.subject < $1.subject }
    }

    private func addContainer(to notes: inout [ULID: ListedNote]) throws(FileSystemError) {
        let root = DirectoryBox(try fileSystem.openDirectory("container", in: home, create: false))
        try fileSystem.forEachHeld(in: root) { id, fileExtension in
            let path = "container/\(id.monthBucket)/\(fileExtension.appended(to: id.description))"
            if notes[id] == nil { notes[id] = ListedNote(subject: id.description, state: .unknownToLedger) }
            notes[id]?.path = path
        }
        for (id, note) in notes where note.state == .ingested && note.path == nil {
            notes[id]?.state = .missingInContainer
        }
    }

    private func addStaging(
        to notes: inout [ULID: ListedNote], _ others: inout [ListedNote]
    ) throws(FileSystemError) {
        let staging = try fileSystem.openDirectory("staging", in: home, create: false)
        for name in try fileSystem.sortedNames(in: staging) {
            guard let staged = StagedName(name), let note = try listed(staged, in: staging) else { continue }
            if let id = staged.key.id {
                if notes[id] == nil { notes[id] = note }
            } else {
                others.append(note)
            }
        }
    }

    /// `nil` when it went in the meantime, or is on its way into the container without its seal.
    private func listed(
        _ staged: StagedName, in staging: borrowing OpenDirectory
    ) throws(FileSystemError) -> ListedNote? {
        do {
            let own = try fileSystem.openOurs(staged.fileName, in: staging)
            guard
                case .envelope(let envelope) = try fileSystem.inspect(
                    own.file, byteCount: own.byteCount, expecting: .note)
            else { return nil }
            let waits = AudioNotePayload.gate(envelope.dictionary, understands: settings.understands).waits
            return ListedNote(
                subject: staged.key.id?.description ?? staged.key.description,
                state: waits.map { .waits(reason: $0.description) } ?? .staged, content: NoteContent(envelope.seal),
                payload: Self.payload(envelope.dictionaryBytes), path: "staging/\(staged.fileName)")
        } catch  where error.reason == .notFound {
            return nil
        }
    }

    package func status(spoolPath: String) throws(FileSystemError) -> PhoneStatus {
        var status = PhoneStatus(
            holder: try fileSystem.lockHolder("lock", in: home),
            pairing: try register("pairing")?.value, startCount: try register("starts")?.number ?? 0,
            vetoedCount: try ids(in: "vetoes").count, inboxCount: try names(in: "inbox").count,
            quarantinedCount: try names(in: "quarantine").count, space: try fileSystem.space(of: home))
        for note in try notes() {
            switch note.state {
            case .ingested:
                status.ingestedCount += 1
                status.ingestedByteCount += note.content?.byteCount ?? 0
            case .unknownToLedger, .missingInContainer: status.ingestedCount += 1
            case .deletedByUser: status.deletedCount += 1
            case .waits: status.waitingCount += 1
            case .staged, .ingesting: status.stagedCount += 1
            case .vetoed: continue
            }
        }
        (status.queueCount, status.unreadAckCount) = try spoolCounts(spoolPath)
        return status
    }

    /// What was set aside, oldest first, with the bytes that are still there.
    package func quarantine() throws(FileSystemError) -> [(item: QuarantineItem, byteCount: UInt64)] {
        let directory = try fileSystem.openDirectory("quarantine", in: home, create: false)
        var found: [(item: QuarantineItem, byteCount: UInt64)] = []
        for item in try Quarantine.list(in: directory, of: fileSystem) {
            do {
                found.append((item, try fileSystem.status(of: item.fileName, in: directory).byteCount))
            } catch  where error.reason == .notFound {
                continue
            }
        }
        return found
    }

    /// What the ledger of a phone says of each note, by its last row; nothing where there is no phone yet.
    package static func outcomes(
        homePath: String, fileSystem: any FileSystem
    ) throws(FileSystemError) -> [(id: ULID, outcome: Outcome)] {
        do {
            let home = try fileSystem.openRoot(homePath, create: false)
            var outcomes: [ULID: Outcome] = [:]
            try forEachRow(of: home, fileSystem) { outcomes[$0.id] = $0.outcome }
            var found: [(id: ULID, outcome: Outcome)] = []
            for (id, outcome) in outcomes { found.append((id, outcome)) }
            return found.sorted { $0.id < $1.id }
        } catch  where error.reason == .notFound {
            return []
        }
    }

    // MARK: Pieces

    private func forEachRow(_ body: (Ledger.Row) -> Void) throws(FileSystemError) {
        try Self.forEachRow(of: home, fileSystem, body)
    }

    private static func forEachRow(
        of home: borrowing OpenDirectory, _ fileSystem: any FileSystem, _ body: (Ledger.Row) -> Void
    ) throws(FileSystemError) {
        let directory = try fileSystem.openDirectory("ledger", in: home, create: false)
        // The holder may begin a new generation between our look and our open: then look again.
        for _ in 0..<8 {
            guard let name = try Ledger.lastGeneration(in: directory, of: fileSystem) else { return }
            do {
                let own = try fileSystem.openOurs(name, in: directory)
                let byteCount = own.byteCount
                _ = try Ledger.forEachRow(in: FileBox(own.intoFile()), byteCount: byteCount, of: fileSystem) {
                    row, _, _ in
                    body(row)
                }
                return
            } catch  where error.reason == .notFound {
                continue
            }
        }
    }

    private func names(in directoryName: FileName) throws(FileSystemError) -> [FileName] {
        let directory = try fileSystem.openDirectory(directoryName, in: home, create: false)
        return try fileSystem.sortedNames(in: directory).filter { !$0.isPartial }
    }

    private func ids(in directoryName: FileName) throws(FileSystemError) -> [ULID] {
        try names(in: directoryName).compactMap { ULID(utf8: $0.bytes) }
    }

    private func register(_ name: FileName) throws(FileSystemError) -> NameRegister? {
        let directory = try fileSystem.openDirectory(name, in: home, create: false)
        return try NameRegister(in: directory, of: fileSystem)
    }

    /// What lies in the spool, both ways; nothing when there is no spool.
    private func spoolCounts(_ path: String) throws(FileSystemError) -> (queue: Int?, acks: Int?) {
        do {
            let spool = try fileSystem.openRoot(path, create: false)
            var counts = [0, 0]
            for (index, name) in (["to-phone", "to-watch"] as [FileName]).enumerated() {
                let directory = try fileSystem.openDirectory(name, in: spool, create: false)
                try fileSystem.forEachName(in: directory) { name in
                    if EntryName(name) != nil { counts[index] += 1 }
                    return true
                }
            }
            return (counts[0], counts[1])
        } catch  where error.reason == .notFound {
            return (nil, nil)
        }
    }

    /// For showing only: whatever the version, as far as it can be read.
    private static func payload(_ dictionaryBytes: [UInt8]) -> AudioNotePayload? {
        guard case .dictionary(let dictionary)? = try? BinaryPropertyList.decode(dictionaryBytes),
            case .understood(payload: let payload, id: _, version: _) = AudioNotePayload.read(
                dictionary, understands: .max)
        else { return nil }
        return payload
    }
}

extension Outcome {
    fileprivate var listedState: ListedNote.State {
        switch self {
        case .ingesting: .ingesting
        case .ingested: .ingested
        case .deleted: .deletedByUser
        }
    }
}
