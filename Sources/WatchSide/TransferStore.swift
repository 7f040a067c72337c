import Spooling
import WireContract

// Carries the node's directives about transfers out: a recording is copied into the spool as an entry, an entry gets a new
// last name, an entry is taken back.
//
// The first try of a recording is a plain copy: the phone verifies every byte of it. A try that comes after one that was not
// acked checks the copy against the recording's own seal while it is made: the seal covers the watch's copy too, and a
// recording that rotted must be noticed here, where somebody can still look at the disk, and not be sent round for ever.

/// What came of copying a recording into the spool.
enum EnqueueResult {
    case sent(EntryName)
    /// The transfer failed as WatchConnectivity's would, in `didFinish`.
    case failed(TransferError, detail: String)
    /// The recording does not match its own checksums.
    case altered(detail: String)
    /// Somebody removed the recording.
    case gone
    /// The reserve would be touched, or the disk said so itself.
    case full
    case stopped
    /// The spool's disk is in trouble.
    case trouble(FileSystemError)
}

enum RequeueResult {
    case renamed(EntryName)
    /// The phone took it in that moment.
    case taken
    /// It is no plain file of ours any more: a power cut or somebody's backup left a second name of it. The phone will never
    /// take it, under whatever name.
    case refused(Refusal)
    case trouble(FileSystemError)
}

final class TransferStore {
    private let fileSystem: any FileSystem
    private let carrier: SliceCarrier
    private let random: () -> UInt64
    private var namer: EntryNamer
    /// Names that exist are passed over; only an enemy makes this many.
    private static let mostTakenNames = 64

    init(_ surroundings: Surroundings, start: StartNumber) {
        fileSystem = surroundings.fileSystem
        carrier = SliceCarrier(fileSystem: surroundings.fileSystem, shouldStop: surroundings.shouldStop)
        random = surroundings.random
        namer = EntryNamer(kind: .note, start: start)
    }

    private func nextName(_ id: ULID, attempt: Int) -> EntryName {
        namer.next(id: id, attempt: attempt, nonce: UInt32(truncatingIfNeeded: random()))
    }

    // MARK: Enqueue

    /// Copies a recording into `toPhone`. `space` is what is free there; what is written is taken from it. `alone`: nothing
    /// of ours lies in the spool.
    func enqueue(
        _ id: ULID, attempt: Int, from recordings: borrowing OpenDirectory, to toPhone: borrowing OpenDirectory,
        alone: Bool, space: inout FreeSpace
    ) -> EnqueueResult {
        do throws(FileSystemError) {
            let source = try fileSystem.openOurs(.recording(id), in: recordings)
            switch try fileSystem.inspect(source.file, byteCount: source.byteCount, expecting: .note) {
            case .faulty(let fault):
                return Self.result(of: fault)
            case .envelope(let envelope):
                guard Self.names(envelope.dictionary, id) else {
                    return .altered(detail: "its dictionary does not name this id")
                }
                guard space.hasRoom(for: source.byteCount, alone: alone) else { return .full }
                space.take(source.byteCount)
                return copy(
                    source, verifying: attempt > 1 ? envelope.seal : nil, as: nextName(id, attempt: attempt),
                    to: toPhone)
            }
        } catch {
            if error.reason == .notFound { return .gone }
            if error.reason == .tooManyOpenFiles { return .trouble(error) }
            return .failed(.fileAccessDenied, detail: "\(error)")
        }
    }

    /// Whether the payload is that of `id`, as far as any build can tell. An ack names the payload's id, and one for
    /// another id would never let go of this file.
    private static func names(_ dictionary: PropertyListDictionary, _ id: ULID) -> Bool {
        AudioNotePayload.gate(dictionary, understands: .max).id == id
    }

    private static func result(of fault: EnvelopeFault) -> EnqueueResult {
        switch fault {
        case .dictionaryTooLarge: .failed(.payloadTooLarge, detail: "its dictionary is over 65,536 bytes")
        case .malformedDictionary(let why):
            .failed(.payloadUnsupportedTypes, detail: "its dictionary is no property list: \(why)")
        case .empty, .noSeal, .sealAltered, .unknownFormat, .unknownKind, .badExtension, .wrongLength,
            .dictionaryAltered, .bodyAltered, .wrongKind:
            .altered(detail: "it does not match its own seal (\(fault.word))")
        }
    }

    private func copy(
        _ source: borrowing OwnFile, verifying seal: Seal?, as first: EntryName, to toPhone: borrowing OpenDirectory
    ) -> EnqueueResult {
        let temporary = first.fileName
        var madeTemporary = false
        do throws(FileSystemError) {
            let target = try fileSystem.createTemporary(for: temporary, in: toPhone)
            madeTemporary = true
            guard try carry(source, to: target, verifying: seal) else {
                try fileSystem.unlinkIfThere(temporary.partial, in: toPhone)
                return .altered(detail: "it does not match its own checksums")
            }
            return .sent(try publish(temporary.partial, as: first, in: toPhone))
        } catch {
            // If even this fails, the next start sweeps it.
            if madeTemporary { _ = try? fileSystem.unlinkIfThere(temporary.partial, in: toPhone) }
            switch error.reason {
            case .stopped: return .stopped
            case .noSpace: return .full
            case .fileTooLarge: return .failed(.insufficientSpace, detail: "\(error)")
            case .notFound, .exists, .inputOutput, .notPermitted, .isLink, .isDirectory, .notDirectory, .crossDevice,
                .interrupted, .readOnly, .tooManyOpenFiles, .nameTooLong, .notSupported, .refused, .other:
                // Only the recording is read here: what is written is written once.
                return error.operation == .read
                    ? .failed(.fileAccessDenied, detail: "\(error)") : .trouble(error)
            }
        }
    }

    /// Whether the copy is what the recording says that it is; without a seal, whether it has its length.
    private func carry(
        _ source: borrowing OwnFile, to target: borrowing OpenFile, verifying seal: Seal?
    ) throws(FileSystemError) -> Bool {
        guard let seal else {
            return try carrier.copyPlainly(source.file, to: target, byteCount: source.byteCount)
        }
        let body = try carrier.copy(source.file, to: target, byteCount: source.byteCount, summing: seal.bodyByteCount)
        return body == seal.bodyChecksums
    }

    /// Renames to `first`, or to the next name when that one is taken.
    private func publish(
        _ name: FileName, as first: EntryName, in toPhone: borrowing OpenDirectory
    ) throws(FileSystemError) -> EntryName {
        var entry = first
        for _ in 0..<Self.mostTakenNames {
            do {
                try fileSystem.publish(name, in: toPhone, as: entry.fileName, in: toPhone)
                return entry
            } catch {
                if error.reason == .exists {
                    entry = nextName(entry.id, attempt: entry.attempt)
                } else if error.mayHaveHappened, try isRenamed(name, to: entry, in: toPhone) {
                    // It failed and had its effect. Taken for a failure, it would become a second entry.
                    return entry
                } else {
                    throw error
                }
            }
        }
        throw FileSystemError(.publish, toPhone.displayPath(of: entry.fileName), .exists)
    }

    private func isRenamed(
        _ name: FileName, to entry: EntryName, in toPhone: borrowing OpenDirectory
    ) throws(FileSystemError) -> Bool {
        guard try !fileSystem.exists(name, in: toPhone) else { return false }
        return try isThere(entry, in: toPhone)
    }

    // MARK: What lies there already

    func requeue(_ entry: EntryName, attempt: Int, in toPhone: borrowing OpenDirectory) -> RequeueResult {
        do throws(FileSystemError) {
            if let refusal = try refusal(of: entry, in: toPhone) { return .refused(refusal) }
            return .renamed(
                try publish(entry.fileName, as: nextName(entry.id, attempt: attempt), in: toPhone))
        } catch {
            return error.reason == .notFound ? .taken : .trouble(error)
        }
    }

    /// Why the phone will never take this entry; `nil` when it can.
    func refusal(of entry: EntryName, in toPhone: borrowing OpenDirectory) throws(FileSystemError) -> Refusal? {
        Refusal(ofFile: try fileSystem.status(of: entry.fileName, in: toPhone))
    }

    /// Takes an entry back, and says whether it was still there.
    func withdraw(_ entry: EntryName, in toPhone: borrowing OpenDirectory) throws(FileSystemError) -> Bool {
        try fileSystem.unlinkIfThere(entry.fileName, in: toPhone)
    }

    func isThere(_ entry: EntryName, in toPhone: borrowing OpenDirectory) throws(FileSystemError) -> Bool {
        try fileSystem.exists(entry.fileName, in: toPhone)
    }

    /// The entries that lie in `toPhone`, in their order; at most 4,096, the smallest names, so that a directory that
    /// somebody filled costs time only.
    func entries(in toPhone: borrowing OpenDirectory) throws(FileSystemError) -> [EntryName] {
        var selection = SmallestNames<EntryName>(limit: 4_096)
        try fileSystem.forEachName(in: toPhone) { name in
            if let entry = EntryName(name), entry.kind == .note { selection.insert(entry) }
            return true
        }
        return selection.sorted
    }
}
