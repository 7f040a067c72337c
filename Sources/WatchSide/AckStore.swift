import Spooling
import WireContract

// Reads what lies in `to-watch`: acks, and whatever else anybody put there.
//
// Nothing in here is believed before it was checked, and nothing that cannot be used stops what is behind it. Plain files
// of ours that are no acks go to the quarantine with their reason; what is not a plain file of ours is reported once and left alone.

/// What one name in `to-watch` turned out to be.
enum AckReading {
    /// In the order in which they were written; at least one.
    case acks([ULID])
    case setAside(QuarantineReason, ULID?)
    case refused(Refusal)
    case gone
    /// Another pairing than the one that was asked for; whether it is a new one is for the engine to find out.
    case foreign(PairingID)
    case trouble(FileSystemError)
}

final class AckStore {
    private let fileSystem: any FileSystem
    private let understands: Int
    /// Names still to be looked at, the last one first: it is taken from the end.
    private var queue: [EntryName] = []
    private var strange: [FileName] = []
    private var wantsPass = true
    /// Until what the link does not let the head of the queue through, nor what is behind it.
    private var hold: Hold?
    /// A pass was wanted while the head waits for its moment: until then nobody could act on what it would find, and with a
    /// long queue each pass is dear.
    private var owesPass = false
    /// In a pass that takes more than one page: the last name of the page before. What cannot be used stays in the
    /// directory, and without this it would be all that later pages see.
    private var cursor: EntryName?
    /// The same for strange names, of which a look takes a few, over the passes.
    private var strangeCursor: FileName?

    /// Enough that a directory with 100,000 acks is listed 25 times, and no more memory than half a MiB.
    private static let pageCount = 4_096
    private static let strangeCount = 64

    enum Hold {
        /// `goOn` tells when.
        case moment
        /// Somebody enqueues behind it.
        case news
    }

    init(fileSystem: any FileSystem, understands: Int) {
        self.fileSystem = fileSystem
        self.understands = understands
    }

    /// Whether there is anything to look at.
    var hasWork: Bool { wantsPass || !strange.isEmpty || hold == nil && hasQueue }

    /// Whether the last pass left strange names for later.
    var hasMoreStrange: Bool { strangeCursor != nil }

    /// Wants a pass over everything, after the one that is under way, or when the head's moment has come.
    func look() {
        if hold == .moment { owesPass = true } else { wantsPass = true }
    }

    /// What is known is of another directory.
    func startOver() {
        (queue, strange, cursor, strangeCursor, hold) = ([], [], nil, nil, nil)
        (wantsPass, owesPass) = (true, false)
    }

    /// Takes up the names that the kernel told of, so that nobody lists the directory once for each ack of a backlog.
    func look(at names: [FileName]) {
        for name in names {
            if let entry = EntryName(name), entry.kind == .ack {
                take(up: entry)
            } else if !name.isPartial {
                if strange.count < Self.strangeCount { strange.append(name) } else { look() }
            }
        }
    }

    /// A pass that is wanted, or under way, comes past it: before that it might overtake another.
    private func take(up entry: EntryName) {
        // For a head that waits for something behind it; or it is the head from now on.
        if hold == .news || queue.last.map({ entry < $0 }) ?? true { goOn() }
        if wantsPass { return }
        if let cursor, cursor < entry { return }
        if queue.count < Self.pageCount { queue.insertFalling(entry) } else { look() }
    }

    /// The next names to look at, in their order, listing the directory when it is time for that.
    func nextBatch(_ count: Int, in toWatch: borrowing OpenDirectory) throws(FileSystemError) -> [EntryName] {
        if hold != nil, wantsPass { forgetQueue() }
        hold = nil
        if queue.isEmpty, cursor != nil || wantsPass { try list(toWatch) }
        let batch = Array(queue.suffix(count).reversed())
        queue.removeLast(batch.count)
        return batch
    }

    /// Whether more names come after the batch.
    var hasQueue: Bool { !queue.isEmpty || cursor != nil }

    /// The rest of a batch, of which the link does not let the first one through yet. It is met again after `goOn`, after
    /// news of another ack, or in a pass.
    func putBack(_ rest: ArraySlice<EntryName>, until hold: Hold) {
        queue += rest.reversed()
        self.hold = hold
        guard hold == .moment, wantsPass else { return }
        (wantsPass, owesPass) = (false, true)
    }

    /// The link may let the head through by now.
    func goOn() {
        hold = nil
        guard owesPass else { return }
        (wantsPass, owesPass) = (true, false)
        forgetQueue()
    }

    /// What is known waited, and what is not known may come before it.
    private func forgetQueue() {
        queue = []
        cursor = nil
    }

    /// Names of no ack, a few at a time.
    func takeStrange() -> [FileName] {
        defer { strange = [] }
        return strange
    }

    private func list(_ toWatch: borrowing OpenDirectory) throws(FileSystemError) {
        var page = SmallestNames<EntryName>(limit: Self.pageCount)
        var strangePage = SmallestNames<FileName>(limit: Self.strangeCount)
        try fileSystem.forEachName(in: toWatch) { name in
            if let entry = EntryName(name), entry.kind == .ack {
                if cursor.map({ $0 < entry }) ?? true { page.insert(entry) }
            } else if cursor == nil, !name.isPartial, strangeCursor.map({ $0 < name }) ?? true {
                strangePage.insert(name)
            }
            return true
        }
        if cursor == nil {
            wantsPass = false
            strange = strangePage.sorted
            strangeCursor = strangePage.isCut ? strange.last : nil
        }
        let names = page.sorted
        queue = names.reversed()
        cursor = page.isCut ? names.last : nil
    }

    /// Looks at one name. Nothing is changed.
    func read(_ name: FileName, in toWatch: borrowing OpenDirectory, pairing: PairingID) -> AckReading {
        do throws(FileSystemError) {
            let own = try fileSystem.openOurs(name, in: toWatch)
            switch try fileSystem.inspectAcks(own.file, byteCount: own.byteCount) {
            case .faulty(let fault): return .setAside(QuarantineReason(fault), nil)
            case .acks(let envelopes): return judge(envelopes, pairing)
            }
        } catch {
            switch error.reason {
            case .notFound: return .gone
            case .refused(let refusal): return .refused(refusal)
            case .isLink: return .refused(.notAPlainFile(.symbolicLink))
            case .exists, .noSpace, .inputOutput, .notPermitted, .isDirectory, .notDirectory, .crossDevice,
                .interrupted, .readOnly, .tooManyOpenFiles, .fileTooLarge, .nameTooLong, .notSupported, .stopped,
                .other:
                return .trouble(error)
            }
        }
    }

    /// A file is taken whole or not at all: one phone wrote it, over one pairing and in one version.
    private func judge(_ envelopes: [Envelope], _ pairing: PairingID) -> AckReading {
        var ids: [ULID] = []
        ids.reserveCapacity(envelopes.count)
        for envelope in envelopes {
            guard envelope.seal.pairing == pairing else { return .foreign(envelope.seal.pairing) }
            switch IngestAck.read(envelope.dictionary, understands: understands) {
            case .understood(_, let id, _): ids.append(id)
            case .waits(_, let id): return .setAside(.unknownAck, id)
            }
        }
        return .acks(ids)
    }
}
