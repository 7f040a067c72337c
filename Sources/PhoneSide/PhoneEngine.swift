import LinkFaults
package import Spooling
import WireContract

/// How a phone is set up.
package struct PhoneSettings: Hashable, Sendable {
    /// The highest payload version that this build knows.
    package var understands = AudioNotePayload.currentVersion
    /// The version of the acks that it writes.
    package var ackVersion = IngestAck.currentVersion
    /// Deliveries that wait for a later build may take so many bytes of staging, and at least one may wait.
    package var stagingCapByteCount: UInt64 = 4 * 1_024 * 1_024 * 1_024
    package var quarantineCaps = QuarantineCaps.standard
    /// So many notes share barriers at most. Fewer show with few notes what many do.
    package var batchCount = 256

    /// So many notes are on their way at most, and have a file open: a batch, and what comes behind it.
    package var mostAheadCount: Int { 3 * batchCount }

    package init() {}
}

/// The phone: its node, and the stores that carry the node's directives out.
///
/// A note's way here is *look, take, receive, verify, ingest, ack*; each is in a file of its own beside this one. Up to
/// `batchCount` notes go the way together and share the barriers, and while a barrier lasts the next ones set out.
package final class PhoneEngine: Engine, LinkFollowing {
    static let batchByteCount: UInt64 = 64 * 1_024 * 1_024
    /// Read together, and a stop is answered behind it: some ten milliseconds' work.
    static let verifyByteCount: UInt64 = 16 * 1_024 * 1_024

    let surroundings: Surroundings
    let settings: PhoneSettings
    private let homeBox: DirectoryBox
    private let lock: OpenFile
    let inbox: OpenDirectory
    let staging: OpenDirectory
    let vetoDirectory: OpenDirectory
    let pairingDirectory: OpenDirectory
    let requests: RequestBox
    let container: Container
    let ledger: Ledger
    let quarantine: Quarantine
    let carrier: SliceCarrier
    /// `nil` for a command that needs the home only.
    let spoolPath: String?
    var spool: SpoolEnd?
    var pairing: PairingID?
    var vetoes: Set<ULID>
    var ackNamer: EntryNamer
    let ackForm: AckForm

    var node: PhoneNode
    /// What is in staging or on its way there, with what is open of it. Looked up only.
    var staged: [DeliveryKey: StagedFile] = [:]
    var directives = DirectiveQueue()
    /// Acks that were written and whose transfer failed: still owed, and not written again unseen. Looked up only.
    var failedAcks: Set<ULID> = []
    var suspects = Suspects.none
    /// Names of the spool's queue that were seen or heard of and not looked at yet, in order; the last is the next.
    var queue: [FileName] = []
    /// Names that this phone took, of whose going the kernel will tell. Bounded; what is in here too long costs nothing but
    /// that a name that comes back is met at the next full look.
    var departed: [FileName] = []
    /// How far the present full look at the spool's queue has come; `nil` when none is under way.
    var lastLooked: FileName?
    /// Names that are not looked at again before the next full look, because they are not plain files of ours. Bounded.
    var refused: Set<FileName> = []
    /// Likewise, because the disk did not let us or staging is full: these are still owed.
    var postponed: Set<FileName> = []
    /// Names whose refusal was reported. Bounded.
    var reported: Set<FileName> = []
    private var troubles = ToldTroubles()
    /// When a call failed last.
    private var lastFailure = Moment.zero
    /// Twice the longest pause between two tries.
    private static let quietSeconds = 60
    /// When to try again to open the spool, while it is not open.
    private var spoolRetryAt = Moment.zero
    private var spoolPause = RefusalPause()
    var looks = Looks()
    /// A place could not be listed; what lies there is not known before the next full look.
    var lookFailed = false
    /// Something lies in staging that nobody cares for: its unlink failed.
    var isStagingUntidy = false
    // The link, and what is in force besides it.
    var conditions = LinkConditions()
    var link: LinkReceiver?
    /// The head of the queue does not come through yet, and nothing behind it: when it does, if a moment can be told.
    var linkHolds = false
    var linkOpensAt: Moment?
    /// The moment of the first step.
    var began: Moment?
    private var nextRescan: Moment = .zero
    package private(set) var placesGeneration = 0
    var now: Moment = .zero

    /// Places that wait to be looked at.
    struct Looks {
        var queue = true
        var inbox = true
        var requests = true
        var spool = true

        var isAny: Bool { queue || inbox || requests || spool }
    }

    /// Opens the phone at `homePath`, as its only holder, and recovers what a crash left. With a `spoolPath`, opens that
    /// end of the spool too.
    package init(
        homePath: String, spoolPath: String?, settings: PhoneSettings, surroundings: Surroundings
    ) throws(FolderError) {
        self.surroundings = surroundings
        self.settings = settings
        self.spoolPath = spoolPath
        let fileSystem = surroundings.fileSystem
        let home = DirectoryBox(
            try fileSystem.openFolder(.phone, at: homePath, create: true, nonce: surroundings.random()))
        homeBox = home
        lock = try fileSystem.takeLock("lock", in: home.directory, holder: surroundings.holder)
        carrier = SliceCarrier(fileSystem: fileSystem, shouldStop: surroundings.shouldStop)
        node = PhoneNode(firstRetryWait: .seconds(EngineTiming.refusedSeconds))
        ackForm = AckForm(version: settings.ackVersion)
        // Before the start number, which is a durable write: a spool that another process holds, or that cannot be opened,
        // costs none, however often it is tried.
        let end = try Self.openEnd(at: spoolPath, surroundings)
        do throws(FileSystemError) {
            inbox = try fileSystem.openOurDirectory("inbox", in: home.directory, create: true)
            staging = try fileSystem.openOurDirectory("staging", in: home.directory, create: true)
            vetoDirectory = try fileSystem.openOurDirectory("vetoes", in: home.directory, create: true)
            pairingDirectory = try fileSystem.openOurDirectory("pairing", in: home.directory, create: true)
            _ = try fileSystem.openOurDirectory("ledger", in: home.directory, create: true)
            let quarantineDirectory = try fileSystem.openOurDirectory("quarantine", in: home.directory, create: true)
            let starts = try fileSystem.openOurDirectory("starts", in: home.directory, create: true)
            let requestDirectory = try fileSystem.openOurDirectory("requests", in: home.directory, create: true)
            _ = try fileSystem.openOurDirectory("container", in: home.directory, create: true)
            try fileSystem.sync(home.directory)
            _ = try fileSystem.sweepTemporaries(in: home.directory)
            _ = try fileSystem.sweepTemporaries(in: inbox)
            _ = try fileSystem.sweepTemporaries(in: staging)
            try fileSystem.dropSecondNames(in: inbox)
            try fileSystem.dropSecondNames(in: staging)
            let register = try NameRegister.set("", in: starts, of: fileSystem)
            guard let start = StartNumber(rawValue: register.number) else {
                preconditionFailure("a register's number has ten digits: \(register.number)")
            }
            requests = RequestBox(directory: requestDirectory, fileSystem: fileSystem)
            try requests.sweepAnswers()
            quarantine = try Quarantine(
                directory: quarantineDirectory, fileSystem: fileSystem, start: start, caps: settings.quarantineCaps)
            let ledger = try Ledger(home: home, fileSystem: fileSystem)
            self.ledger = ledger
            container = try Container(home: home.directory, fileSystem: fileSystem) { ledger[$0] != nil }
            // The one who made a veto may have been killed before it synced this, and its word is about to count.
            try fileSystem.sync(vetoDirectory)
            vetoes = try Self.loadVetoes(in: vetoDirectory, of: fileSystem)
            ackNamer = EntryNamer(kind: .ack, start: start)
        } catch {
            throw .disk(error)
        }
        if let end { try pair(over: end) }
        do throws(FileSystemError) {
            try recover()
        } catch {
            throw .disk(error)
        }
        report(
            .init(
                .started, pairing: pairing,
                detail: ledger.unreadableByteCount > 0
                    ? "the ledger had \(ledger.unreadableByteCount) unreadable bytes" : nil))
    }

    private static func openEnd(
        at path: String?, _ surroundings: Surroundings
    ) throws(FolderError) -> SpoolEnd? {
        guard let path else { return nil }
        return try SpoolEnd(
            at: path, side: .phone, fileSystem: surroundings.fileSystem, holder: surroundings.holder,
            nonce: surroundings.random())
    }

    /// Takes this end of a spool, and makes sure that its pairing is one of this phone's.
    private func pair(over end: SpoolEnd) throws(FolderError) {
        do throws(FileSystemError) {
            _ = try fileSystem.sweepTemporaries(in: end.root)
            _ = try fileSystem.sweepTemporaries(in: end.toWatch)
            let known = try NameRegister(in: pairingDirectory, of: fileSystem).flatMap {
                PairingID(utf8: $0.value.utf8)
            }
            if let found = try end.pairing(), found == known {
                pairing = found
            } else {
                // A new phone, a new spool, or another watch: a pairing of its own, first in our home, then in the
                // spool. A crash in between leaves two that differ, and the next start makes a third.
                let fresh = PairingID(rawValue: surroundings.random())
                _ = try NameRegister.set(fresh.description, in: pairingDirectory, of: fileSystem)
                try end.setPairing(fresh)
                pairing = fresh
                report(.init(.paired, pairing: fresh, detail: fresh.description))
            }
        } catch {
            throw .disk(error)
        }
        spool = end
        placesGeneration += 1
        suspects = .none
        distrustQueue()
    }

    var fileSystem: any FileSystem { surroundings.fileSystem }

    var home: OpenDirectory {
        _read { yield homeBox.directory }
    }

    func report(_ event: PairEvent) { surroundings.history.record(event) }

    /// A call failed and will be tried again. Told once, until none has failed for `quietSeconds`.
    func reportFailure(_ error: FileSystemError, id: ULID? = nil, name: FileName? = nil) {
        lastFailure = now
        guard troubles.isNew(error, of: id?.description ?? name?.description) else { return }
        report(.init(.failed, id: id, name: name, detail: error.description))
    }

    package func forEachPlace(_ body: (Place, Interest, borrowing OpenDirectory) -> Void) {
        body(.requests, .arrivals, requests.directory)
        if let spool {
            // A head that the link holds back may be taken back.
            body(.toPhone, .both, spool.toPhone)
            body(.spool, .both, spool.root)
        }
    }

    package func hear(_ news: News, of place: Place) {
        switch place {
        case .toPhone:
            switch news {
            case .names(let names): for name in names { hearOf(name) }
            case .rescan: looks.queue = true
            }
        case .requests: looks.requests = true
        case .spool: looks.spool = true
        case .recordings, .toWatch: preconditionFailure("the phone asks for no news of \(place)")
        }
    }

    package func step(at now: Moment) -> Moment {
        self.now = now
        if began == nil { began = now }
        openLink()
        if now >= nextRescan {
            nextRescan = now + .seconds(EngineTiming.rescanSeconds)
            // Longer than any wait for another try: whatever was told has gone well since.
            if lastFailure + .seconds(Self.quietSeconds) <= now { troubles.clear() }
            looks = Looks()
            lookFailed = false
            tidyStaging()
            reassureLedger()
            if suspects == .all { distrustQueue() }
            refused.removeAll(keepingCapacity: true)
            postponed.removeAll(keepingCapacity: true)
        }
        if spool == nil { looks.spool = spoolPath != nil && spoolRetryAt <= now }
        if looks.spool { lookAtSpool() }
        if looks.requests { lookAtRequests() }
        if looks.inbox { lookAtInbox() }
        if directives.ingests.count < settings.batchCount { takeBatch(settings.batchCount) }
        tell(.tick)
        carryOut()
        surroundings.history.commit()
        if surroundings.shouldStop() || isLooking || !directives.isEmpty { return now }
        return min(nextRescan, deadlineIfNothingChanges ?? nextRescan)
    }

    package var deadlineIfNothingChanges: Moment? {
        let waitsForLook = lookFailed || isStagingUntidy || !postponed.isEmpty || !refused.isEmpty
        let opening = spool == nil && spoolPath != nil ? spoolRetryAt : nil
        return [waitsForLook ? nextRescan : nil, node.nextDeadline, linkOpensAt, opening].compactMap { $0 }.min()
    }

    /// Not asked for the node's deadline: a timer of what is done already may still run.
    package var isDrained: Bool {
        node.isIdle && !linkHolds && !isLooking && !lookFailed && !isStagingUntidy && postponed.isEmpty
            && directives.isEmpty && (spool != nil || spoolPath == nil)
    }

    /// A full look is under way, or due at once.
    private var isLooking: Bool { looks.isAny || !linkHolds && (!queue.isEmpty || lastLooked != nil) }

    package func stop() {
        report(.init(.stopped))
        surroundings.history.commit()
    }

    /// Whether the path still leads to the spool that is open here; otherwise opens what is there now.
    private func lookAtSpool() {
        looks.spool = false
        guard spoolPath != nil else { return }
        do {
            if let spool, try spool.isCurrent() {
                // Somebody emptied `pairing/`: without it the watch acts on no ack.
                if let pairing, try spool.pairing() != pairing { try spool.setPairing(pairing) }
                return
            }
            spool = nil
            forgetQueue()
            if let end = try Self.openEnd(at: spoolPath, surroundings) { try pair(over: end) }
            spoolPause.end()
            looks.queue = true
            report(.init(.spoolReopened))
        } catch let error as FolderError {
            spoolRetryAt = now + spoolPause.next()
            if case .disk(let inner) = error { return reportFailure(inner) }
            lastFailure = now
            if troubles.isNew(error.description) { report(.init(.failed, detail: error.description)) }
        } catch let error as FileSystemError {
            reportFailure(error)
        } catch {
            preconditionFailure("only two kinds of errors are thrown above: \(error)")
        }
    }

    /// Whether what the ledger knows is on the disk, also when somebody removed it there. Otherwise nobody is acked.
    @discardableResult
    func reassureLedger() -> Bool {
        do throws(FileSystemError) {
            try ledger.reassure()
            return true
        } catch {
            reportFailure(error)
            return false
        }
    }
}
