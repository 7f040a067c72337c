package import Monitors
import PhoneSide
package import Replay
package import Spooling
import WireContract

// A look at the disks of a run, through the seam: the same code reads the simulated disk and the real one, so that a census
// means the same in both worlds. It asks no daemon, takes no lock and changes nothing. What is not there is empty: a phone
// that was never started holds nothing.

/// Takes the census of all folders of one run.
package struct CensusTaker {
    private let fileSystem: any FileSystem
    private let places: PairPlaces
    private let carrier: SliceCarrier

    package init(_ places: PairPlaces, _ fileSystem: any FileSystem) {
        self.places = places
        self.fileSystem = fileSystem
        carrier = SliceCarrier(fileSystem: fileSystem, shouldStop: { false })
    }

    /// What lies there now, of watches 1 to `watchCount`. `isDurable` tells of a path whether a power cut would leave its
    /// file as it is; a world that cannot tell says `true`.
    ///
    /// A file that goes between the look at its directory and the look at it is not there.
    package func census(
        at moment: Moment, watchCount: UInt8, isDurable: (String) -> Bool = { _ in true }
    ) throws(FileSystemError) -> Census {
        var census = Census(moment: moment)
        for number in 1...max(1, watchCount) {
            try takeWatch(number, isDurable, into: &census)
            try takeSpool(number, into: &census)
        }
        try takePhone(isDurable, into: &census)
        census.recordings.sort { $0.id < $1.id }
        census.container.sort {
            $0.id != $1.id ? $0.id < $1.id : $0.fileExtension.packed < $1.fileExtension.packed
        }
        census.ledger.sort { $0.id < $1.id }
        census.vetoes.sort()
        census.staging.sort()
        census.inbox.sort()
        census.entries.sort()
        census.acks.sort { ($0.id, $0.pairing.rawValue) < ($1.id, $1.pairing.rawValue) }
        return census
    }

    // MARK: The watch and its spool

    private func takeWatch(
        _ number: UInt8, _ isDurable: (String) -> Bool, into census: inout Census
    ) throws(FileSystemError) {
        let home = places.watchHome(number)
        for (name, path, directory) in try names(in: home, "recordings") {
            guard let id = name.recordingID, let sums = try bodyChecksums(of: name, in: directory) else { continue }
            census.recordings.append(
                .init(id: id, checksums: sums, isDurable: isDurable(path), watchNumber: number))
        }
        census.watchQuarantineCount += try names(in: home, "quarantine").count { QuarantineItem($0.name) != nil }
    }

    private func takeSpool(_ number: UInt8, into census: inout Census) throws(FileSystemError) {
        let spool = places.spool(number)
        for (name, _, directory) in try names(in: spool, "to-phone") {
            guard let entry = EntryName(name), entry.kind == .note, try isPlain(name, in: directory) else { continue }
            census.entries.append(entry.id)
        }
        for (name, _, directory) in try names(in: spool, "to-watch") {
            guard let entry = EntryName(name), entry.kind == .ack else { continue }
            guard let own = try opened(name, in: directory) else { continue }
            guard case .acks(let acks) = try fileSystem.inspectAcks(own.file, byteCount: own.byteCount)
            else { continue }
            for (index, ack) in acks.enumerated() {
                // The first is who the name says that it is, whatever this build makes of the dictionary.
                guard let id = index == 0 ? entry.id : Self.ackID(ack) else { continue }
                census.acks.append(.init(id: id, pairing: ack.seal.pairing))
            }
        }
    }

    private static func ackID(_ ack: Envelope) -> ULID? {
        switch IngestAck.read(ack.dictionary, understands: .max) {
        case .understood(_, let id, _): id
        case .waits(_, let id): id
        }
    }

    /// Of the audio in a sealed recording, as it lies there; of the whole file where no seal says how long the audio is.
    private func bodyChecksums(
        of name: FileName, in directory: DirectoryBox
    ) throws(FileSystemError) -> Checksums? {
        guard let own = try opened(name, in: directory) else { return nil }
        let tailByteCount = min(own.byteCount, UInt64(Seal.byteCount))
        let tail = try fileSystem.readAll(
            own.file, at: own.byteCount - tailByteCount, byteCount: Int(tailByteCount))
        let bodyByteCount = (try? Seal(tail[...], fileByteCount: own.byteCount))?.bodyByteCount ?? own.byteCount
        return try carrier.checksums(of: own.file, from: 0, byteCount: bodyByteCount) ?? .ofNothing
    }

    // MARK: The phone

    private func takePhone(_ isDurable: (String) -> Bool, into census: inout Census) throws(FileSystemError) {
        let home = places.phoneHome
        for (month, path, container) in try names(in: home, "container") {
            guard try isDirectory(month, in: container) else { continue }
            let directory = DirectoryBox(try fileSystem.openDirectory(month, in: container.directory, create: false))
            for name in try fileSystem.sortedNames(in: directory.directory) {
                try takeNote(name, "\(path)/\(name)", in: directory, isDurable, into: &census)
            }
        }
        census.vetoes = try names(in: home, "vetoes").compactMap { ULID(utf8: $0.name.bytes) }
        census.staging = try names(in: home, "staging").compactMap { StagedName($0.name)?.key }
        census.inbox = try names(in: home, "inbox").compactMap {
            FileName(bytes: $0.name.bytes.dropFirst(17)).flatMap { EntryName($0)?.id }
        }
        census.phoneQuarantineCount = try names(in: home, "quarantine").count { QuarantineItem($0.name) != nil }
        census.ledger = try PhoneInspector.outcomes(homePath: home, fileSystem: fileSystem).map {
            Census.LedgerRow(id: $0.id, outcome: $0.outcome.inCensus)
        }
    }

    private func takeNote(
        _ name: FileName, _ path: String, in month: DirectoryBox, _ isDurable: (String) -> Bool,
        into census: inout Census
    ) throws(FileSystemError) {
        // Also one with a second name: a cut of the power in a rename from the spool can leave that, and it is held.
        guard let held = Container.note(named: name),
            try fileSystem.status(of: name, in: month.directory).kind == .regular
        else { return }
        let file = try fileSystem.open(name, in: month.directory)
        let byteCount = try fileSystem.status(of: file).byteCount
        let sums = try carrier.checksums(of: file, from: 0, byteCount: byteCount) ?? .ofNothing
        census.container.append(
            .init(id: held.id, fileExtension: held.fileExtension, checksums: sums, isDurable: isDurable(path)))
    }

    // MARK: Pieces

    /// The names in a folder of a home or spool, in order, each with its path and its directory. Temporaries are none.
    private func names(
        in rootPath: String, _ folder: FileName
    ) throws(FileSystemError) -> [(name: FileName, path: String, directory: DirectoryBox)] {
        do {
            let root = try fileSystem.openRoot(rootPath, create: false)
            let directory = DirectoryBox(try fileSystem.openDirectory(folder, in: root, create: false))
            return try fileSystem.sortedNames(in: directory.directory).filter { !$0.isPartial }.map {
                ($0, "\(rootPath)/\(folder)/\($0)", directory)
            }
        } catch  where error.reason == .notFound {
            return []
        }
    }

    /// A plain file of ours; `nil` when it is none, or is gone.
    private func opened(_ name: FileName, in directory: DirectoryBox) throws(FileSystemError) -> OwnFile? {
        do {
            return try fileSystem.openOurs(name, in: directory.directory)
        } catch {
            switch error.reason {
            case .notFound, .isLink, .isDirectory, .refused: return nil
            case .exists, .noSpace, .inputOutput, .notPermitted, .notDirectory, .crossDevice, .interrupted, .readOnly,
                .tooManyOpenFiles, .fileTooLarge, .nameTooLong, .notSupported, .stopped, .other:
                throw error
            }
        }
    }

    /// Whether it is a plain file of ours. What is none lies there and is no entry: law 9 has both sides refuse it, report it
    /// and leave it alone. A cut of the power in a rename from one last name to the next makes such files, two names of
    /// one; the recording is sent anew beside them.
    private func isPlain(_ name: FileName, in directory: DirectoryBox) throws(FileSystemError) -> Bool {
        do {
            return Refusal(ofFile: try fileSystem.status(of: name, in: directory.directory)) == nil
        } catch  where error.reason == .notFound {
            return false
        }
    }

    private func isDirectory(_ name: FileName, in directory: DirectoryBox) throws(FileSystemError) -> Bool {
        do {
            return try fileSystem.status(of: name, in: directory.directory).kind == .directory
        } catch  where error.reason == .notFound {
            return false
        }
    }
}

extension Outcome {
    fileprivate var inCensus: Census.LedgerOutcome {
        switch self {
        case .ingesting: .ingesting
        case .ingested: .ingested
        case .deleted: .deleted
        }
    }
}
