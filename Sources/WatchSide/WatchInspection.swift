package import Foundation
package import Spooling
package import WireContract

// What lies on the disk, read and not changed, for `list` and `status`. It takes no lock that anybody waits for, so what it
// says may be over by the time that it is read.

/// One name in `recordings/`, as `list` shows it.
package struct ListedRecording: Equatable, Sendable {
    package enum State: Equatable, Sendable {
        /// Not in the spool: waits to be sent, or for its ack.
        case recorded
        case outstanding(EntryName)
        /// It cannot be sent; the reason is one clause.
        case unusable(String)
    }

    package var name: FileName
    package var id: ULID?
    package var recordedAt: Date?
    package var durationSeconds: Double?
    package var timeZoneID: String?
    package var fileExtension: FileExtension?
    /// Of the sealed file.
    package var byteCount: UInt64?
    package var state: State
}

/// What `status` shows.
package struct WatchStatus: Equatable, Sendable {
    /// Who holds the home; nil when nobody does.
    package var holder: String?
    package var startNumber: UInt64?
    package var pairing: PairingID?
    package var recordingCount: Int
    package var recordingByteCount: UInt64
    package var quarantineCount: Int
    package var homeSpace: FreeSpace
    /// nil when there is no spool.
    package var spool: SpoolStatus?

    package struct SpoolStatus: Equatable, Sendable {
        package var pairing: PairingID?
        package var toPhoneCount: Int
        package var toPhoneByteCount: UInt64
        package var toWatchCount: Int
        package var space: FreeSpace
    }
}

package struct WatchInspection {
    private let homePath: String
    private let spoolPath: String
    private let fileSystem: any FileSystem

    package init(home: String, spool: String, fileSystem: any FileSystem) {
        homePath = home
        spoolPath = spool
        self.fileSystem = fileSystem
    }

    // MARK: list

    /// Every name in `recordings/`, in the order of recording; temporaries are none.
    package func list() throws(FolderError) -> [ListedRecording] {
        let root = try fileSystem.openFolder(.watch, at: homePath, create: false, nonce: 0)
        do throws(FileSystemError) {
            let recordings = try fileSystem.openOurDirectory("recordings", in: root, create: false)
            let entries = try outstandingEntries()
            return try fileSystem.sortedNames(in: recordings).filter { !$0.isPartial }
                .map { listed($0, in: recordings, entries) }
        } catch {
            throw .disk(error)
        }
    }

    private func listed(
        _ name: FileName, in recordings: borrowing OpenDirectory, _ entries: [ULID: EntryName]
    ) -> ListedRecording {
        var listed = ListedRecording(name: name, id: name.recordingID, state: .recorded)
        guard let id = listed.id else {
            listed.state = .unusable("no recording has such a name")
            return listed
        }
        do throws(FileSystemError) {
            let own = try fileSystem.openOurs(name, in: recordings)
            listed.byteCount = own.byteCount
            switch try fileSystem.inspect(own.file, byteCount: own.byteCount, expecting: .note) {
            case .faulty(let fault):
                listed.state = .unusable("does not match its seal (\(fault.word))")
            case .envelope(let envelope):
                listed.fileExtension = envelope.seal.fileExtension
                fill(&listed, from: envelope.dictionary)
                if let entry = entries[id] { listed.state = .outstanding(entry) }
            }
        } catch {
            listed.state = .unusable("\(error.reason)")
        }
        return listed
    }

    private func fill(_ listed: inout ListedRecording, from dictionary: PropertyListDictionary) {
        switch AudioNotePayload.read(dictionary, understands: .max) {
        case .understood(let payload, _, _):
            listed.recordedAt = payload.recordedAt
            listed.durationSeconds = payload.duration
            listed.timeZoneID = payload.timeZoneID
        case .waits(let reason, _):
            listed.state = .unusable("\(reason)")
        }
    }

    /// By id; of several for one id the first in order. Without a spool there are none.
    private func outstandingEntries() throws(FileSystemError) -> [ULID: EntryName] {
        var entries: [ULID: EntryName] = [:]
        try inSpool("to-phone") { name, _ in
            guard let entry = EntryName(name), entry.kind == .note else { return }
            if entries[entry.id].map({ entry < $0 }) ?? true { entries[entry.id] = entry }
        }
        return entries
    }

    /// Calls `body` for each name of a directory of the spool. No such directory: for none.
    private func inSpool(
        _ directoryName: FileName, _ body: (FileName, borrowing OpenDirectory) -> Void
    ) throws(FileSystemError) {
        do throws(FileSystemError) {
            let root = try fileSystem.openOurRoot(spoolPath, create: false)
            let directory = try fileSystem.openOurDirectory(directoryName, in: root, create: false)
            try fileSystem.forEachName(in: directory) { name in
                body(name, directory)
                return true
            }
        } catch {
            if error.reason != .notFound { throw error }
        }
    }

    // MARK: status

    package func status() throws(FolderError) -> WatchStatus {
        let root = try fileSystem.openFolder(.watch, at: homePath, create: false, nonce: 0)
        do throws(FileSystemError) {
            var status = WatchStatus(
                recordingCount: 0, recordingByteCount: 0, quarantineCount: 0, homeSpace: try fileSystem.space(of: root))
            status.holder = try holder(of: root)
            status.startNumber = try register("starts", in: root)?.number
            status.pairing = try register("pairing", in: root).flatMap { PairingID(utf8: $0.value.utf8) }
            try count(in: root, "recordings") { name, directory in
                guard name.recordingID != nil else { return }
                status.recordingCount += 1
                status.recordingByteCount += byteCount(of: name, in: directory)
            }
            try count(in: root, "quarantine") { name, _ in
                if QuarantineItem(name) != nil { status.quarantineCount += 1 }
            }
            status.spool = try spoolStatus()
            return status
        } catch {
            throw .disk(error)
        }
    }

    /// Asks for the lock and lets go of it at once. A daemon that starts in that moment tries again.
    private func holder(of root: borrowing OpenDirectory) throws(FileSystemError) -> String? {
        do throws(FileSystemError) {
            let own = try fileSystem.openOurs("lock", in: root)
            if try fileSystem.lock(own.file) { return nil }
            let bytes = try fileSystem.readAll(own.file, at: 0, byteCount: 200)
            return FileName(bytes: bytes.prefix { $0 != UInt8(ascii: "\n") })?.description ?? "unknown"
        } catch {
            if error.reason == .notFound { return nil }
            throw error
        }
    }

    private func register(
        _ name: FileName, in root: borrowing OpenDirectory
    ) throws(FileSystemError) -> NameRegister? {
        do throws(FileSystemError) {
            let directory = try fileSystem.openOurDirectory(name, in: root, create: false)
            return try NameRegister(in: directory, of: fileSystem)
        } catch {
            if error.reason == .notFound { return nil }
            throw error
        }
    }

    private func count(
        in root: borrowing OpenDirectory, _ directoryName: FileName,
        _ body: (FileName, borrowing OpenDirectory) -> Void
    ) throws(FileSystemError) {
        do throws(FileSystemError) {
            let directory = try fileSystem.openOurDirectory(directoryName, in: root, create: false)
            try fileSystem.forEachName(in: directory) { name in
                body(name, directory)
                return true
            }
        } catch {
            if error.reason != .notFound { throw error }
        }
    }

    /// 0 for a name that is gone by now.
    private func byteCount(of name: FileName, in directory: borrowing OpenDirectory) -> UInt64 {
        (try? fileSystem.status(of: name, in: directory).byteCount) ?? 0
    }

    private func spoolStatus() throws(FileSystemError) -> WatchStatus.SpoolStatus? {
        do throws(FileSystemError) {
            let root = try fileSystem.openOurRoot(spoolPath, create: false)
            var spool = WatchStatus.SpoolStatus(
                pairing: try register("pairing", in: root).flatMap { PairingID(utf8: $0.value.utf8) },
                toPhoneCount: 0, toPhoneByteCount: 0, toWatchCount: 0, space: try fileSystem.space(of: root))
            try inSpool("to-phone") { name, directory in
                guard let entry = EntryName(name), entry.kind == .note else { return }
                spool.toPhoneCount += 1
                spool.toPhoneByteCount += byteCount(of: name, in: directory)
            }
            try inSpool("to-watch") { name, _ in
                if let entry = EntryName(name), entry.kind == .ack { spool.toWatchCount += 1 }
            }
            return spool
        } catch {
            if error.reason == .notFound { return nil }
            throw error
        }
    }
}
