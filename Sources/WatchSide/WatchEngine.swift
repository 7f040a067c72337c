package import LinkFaults
package import Spooling
import WireContract

// The watch as an engine: the node decides, the stores carry it out, and this holds them together.
//
// A step looks at what there is news of, in an order that matters:
//
// 1. the spool, whether it is still the one that the path means; and whom it pairs us with
// 2. entries that the kernel said are gone from the spool: transfers that finished
// 3. acks: what was acked while nobody looked is deleted and not sent again
// 4. entries that nobody told of, where that has to be asked
// 5. recordings
// 6. the node's own deadlines: what is due is copied into the spool
//
// At a start, and whenever the spool was opened anew, nothing is sent before one pass over all acks and entries is through.
// Everything is bounded: a step does one batch of each and asks to be called again at once when there is more.

/// One watch. It holds the locks of its home and of its end of the spool as long as it lives.
package final class WatchEngine: Engine, LinkFollowing {
    let settings: WatchSettings
    let surroundings: Surroundings
    let fileSystem: any FileSystem
    let home: WatchHome
    let quarantine: Quarantine
    let transfers: TransferStore
    let acks: AckStore
    private let lock: OpenFile
    private let requests: RequestBox
    private let spoolPath: String
    /// The number of this start.
    package let start: StartNumber

    /// nil while it cannot be opened.
    var spool: SpoolEnd?
    package internal(set) var node: WatchNode
    /// The phone whose acks count.
    var pairing: PairingID?
    package private(set) var placesGeneration = 0

    // What there is to look at.
    private var isSpoolSuspect = true
    private var wantsPairing = true
    private var wantsRequests = true
    /// Whether one pass over all acks is through since the spool was opened.
    var areAcksSettled = false
    var wantsEntryListing = true
    var wantsEntryCheck = true
    var entryNews: [FileName] = []
    var wantsRecordingListing = true
    var recordingNews: [FileName] = []
    /// Recordings that are new here, the last id first.
    var newIDs: [ULID] = []
    private var nextRescan = Moment.zero
    /// The moment of the first step.
    private var began: Moment?
    /// When to try again what failed.
    private var retryAt: Moment?
    private var retryPause = RefusalPause()
    /// Between tries to send what the spool had no room for, or its disk refused.
    var enqueuePause = RefusalPause()
    /// An ack, or the recording that it deletes, could not be touched: none is read before the next try.
    var areAcksTroubled = false

    // The link, and what is in force besides it.
    var conditions = LinkConditions()
    var ackLink: LinkReceiver?
    /// When the link lets the next ack through.
    var ackLinkOpensAt: Moment?

    // What was said already.
    var troubles = Troubles()
    var refusedNames = RefusedNames()
    var isSpoolFull = false

    private static let mostNews = 4_096

    /// Opens the home and takes its lock, and tries to open the spool. A spool that cannot be opened because of the disk
    /// is tried again later; one that somebody else holds, or that is none, is an error here.
    package init(
        home homePath: String, spool spoolPath: String, settings: WatchSettings, surroundings: Surroundings
    ) throws(FolderError) {
        self.settings = settings
        self.surroundings = surroundings
        self.spoolPath = spoolPath
        fileSystem = surroundings.fileSystem
        home = try WatchHome(at: homePath, fileSystem: fileSystem, nonce: surroundings.random())
        lock = try fileSystem.takeLock("lock", in: home.root, holder: surroundings.holder)
        // Before the start number: an end that another process holds costs none.
        let opening = try Self.openSpool(at: spoolPath, surroundings)
        do throws(FileSystemError) {
            start = try home.nextStart()
            _ = try fileSystem.sweepTemporaries(in: home.root)
            _ = try fileSystem.sweepTemporaries(in: home.recordings)
            quarantine = try Quarantine(
                directory: try home.openQuarantineDirectory(), fileSystem: fileSystem, start: start, caps: .standard)
            requests = try home.openRequestBox()
            try requests.sweepAnswers()
            _ = try fileSystem.sweepTemporaries(in: requests.directory)
            pairing = try home.adoptedPairing()
        } catch {
            throw .disk(error)
        }
        node = WatchNode(policy: settings.policy, limits: settings.limits)
        transfers = TransferStore(surroundings, start: start)
        acks = AckStore(fileSystem: fileSystem, understands: settings.understands)
        surroundings.history.record(PairEvent(.started, pairing: pairing, detail: "start \(start.rawValue)"))
        switch opening {
        case .open(let end): take(end)
        case .failed(let error): trouble(.spool, error, at: .zero)
        }
        surroundings.history.commit()
    }

    package func forEachPlace(_ body: (Place, Interest, borrowing OpenDirectory) -> Void) {
        body(.recordings, .both, home.recordings)
        body(.requests, .arrivals, requests.directory)
        guard let spool else { return }
        // What comes here is the watch's own work, and so is what goes there.
        body(.toPhone, .departures, spool.toPhone)
        body(.toWatch, .arrivals, spool.toWatch)
        body(.spool, .both, spool.root)
    }

    package func hear(_ news: News, of place: Place) {
        switch place {
        case .recordings:
            switch news {
            case .names(let names): recordingNews += names
            case .rescan: wantsRecordingListing = true
            }
            if recordingNews.count > Self.mostNews {
                recordingNews = []
                wantsRecordingListing = true
            }
        case .toPhone:
            switch news {
            case .names(let names): entryNews += names
            case .rescan: wantsEntryCheck = true
            }
            if entryNews.count > Self.mostNews {
                entryNews = []
                wantsEntryCheck = true
            }
        case .toWatch:
            switch news {
            case .names(let names): acks.look(at: names)
            case .rescan: acks.look()
            }
        case .requests:
            wantsRequests = true
        case .spool:
            isSpoolSuspect = true
            wantsPairing = true
        }
    }

    package func follow(_ conditions: LinkConditions, at now: Moment) {
        if began == nil { began = now }
        self.conditions = conditions
        if ackLink == nil {
            ackLink = LinkReceiver(
                direction: .toWatch, plan: conditions.plan, origin: conditions.origin, began: began ?? now)
        } else {
            ackLink?.change(to: conditions.plan, origin: conditions.origin)
        }
        ackLinkOpensAt = nil
        acks.goOn()
    }

    package func step(at now: Moment) -> Moment {
        if began == nil { began = now }
        if let moment = ackLinkOpensAt, moment <= now {
            ackLinkOpensAt = nil
            acks.goOn()
        }
        if nextRescan <= now {
            lookAtEverything()
            nextRescan = now + .seconds(EngineTiming.rescanSeconds)
        }
        if let moment = retryAt, moment <= now {
            retryAt = nil
            if areAcksTroubled { acks.look() }
            areAcksTroubled = false
        }
        keepSpool(at: now)
        var hasMore = false
        if let spool {
            if wantsPairing {
                wantsPairing = false
                _ = adoptedPairing(over: spool, at: now)
            }
            takeEntryNews(at: now)
            if readAcks(spool, at: now) { hasMore = true }
            if areAcksSettled { lookAtEntries(spool, at: now) }
        }
        if spool == nil || areAcksSettled, lookAtRecordings(at: now) { hasMore = true }
        if wantsRequests { answerRequests(at: now) }
        if let spool, mayTick {
            var directives: [WatchDirective] = []
            node.handle(.tick, at: now, into: &directives)
            carryOut(directives, spool, at: now)
        }
        if retryAt == nil, !hasMore { retryPause.end() }
        surroundings.history.commit()
        return hasMore ? now : max(now, deadline)
    }

    private var mayTick: Bool { areAcksSettled && !wantsEntryListing }

    private var deadline: Moment { min(nextRescan, deadlineIfNothingChanges ?? nextRescan) }

    package var deadlineIfNothingChanges: Moment? {
        let tick = spool != nil && mayTick ? node.nextDeadline : nil
        return [retryAt, ackLinkOpensAt, tick].compactMap { $0 }.min()
    }

    /// Nothing is left, not even a recording that no news came of yet. A name that was refused is no recording.
    package var isDrained: Bool {
        guard node.isEmpty, newIDs.isEmpty else { return false }
        var found = false
        do throws(FileSystemError) {
            try fileSystem.forEachName(in: home.recordings) { name in
                found = name.recordingID != nil && !refusedNames.contains(name)
                return !found
            }
        } catch {
            return false
        }
        return !found
    }

    package func stop() {
        surroundings.history.record(PairEvent(.stopped))
        surroundings.history.commit()
    }

    private func lookAtEverything() {
        isSpoolSuspect = true
        wantsPairing = true
        wantsRequests = true
        wantsEntryCheck = true
        wantsRecordingListing = true
        acks.look()
    }

    // MARK: The spool

    private enum SpoolOpening {
        case open(SpoolEnd)
        /// The disk did not let it; tried again.
        case failed(FileSystemError)
    }

    private static func openSpool(
        at path: String, _ surroundings: Surroundings
    ) throws(FolderError) -> SpoolOpening {
        let end: SpoolEnd
        do {
            end = try SpoolEnd(
                at: path, side: .watch, fileSystem: surroundings.fileSystem, holder: surroundings.holder,
                nonce: surroundings.random())
        } catch {
            if case .disk(let error) = error { return .failed(error) }
            throw error
        }
        do {
            _ = try surroundings.fileSystem.sweepTemporaries(in: end.toPhone)
        } catch {
            return .failed(error)
        }
        return .open(end)
    }

    /// Looks at all of a spool that was just opened before anything is sent.
    private func take(_ end: SpoolEnd) {
        spool = end
        isSpoolSuspect = false
        wantsPairing = true
        areAcksSettled = false
        areAcksTroubled = false
        acks.startOver()
        wantsEntryListing = true
        wantsEntryCheck = true
        troubles.clear(.spool)
    }

    /// Notices that the path leads to another spool by now, and opens that one.
    private func keepSpool(at now: Moment) {
        if isSpoolSuspect, spool != nil {
            isSpoolSuspect = false
            do throws(FileSystemError) {
                // Let go of before it is opened anew: its lock may lie in a root that is still the same.
                if try spool?.isCurrent() == false { spool = nil }
            } catch {
                trouble(.spool, error, at: now)
            }
            guard spool == nil else { return }
            placesGeneration += 1
        }
        guard spool == nil, retryAt == nil else { return }
        do {
            switch try Self.openSpool(at: spoolPath, surroundings) {
            case .open(let end):
                take(end)
                placesGeneration += 1
                record(PairEvent(.spoolReopened))
            case .failed(let error):
                trouble(.spool, error, at: now)
            }
        } catch {
            // Somebody else's by now, or none: he may go away again.
            if troubles[.spool].isNew("\(error)") { record(PairEvent(.failed, detail: "\(error)")) }
            tryAgain(at: now)
        }
    }

    /// The pairing of the spool, adopted durably before anything is done because of it. nil: none yet, or the disk is in
    /// trouble; acks wait.
    func adoptedPairing(over spool: SpoolEnd, at now: Moment) -> PairingID? {
        do throws(FileSystemError) {
            guard let found = try spool.pairing() else { return nil }
            if found != pairing {
                try home.adopt(found)
                pairing = found
                record(PairEvent(.paired, pairing: found, detail: "pairing \(found)"))
            }
            troubles.clear(.pairing)
            return found
        } catch {
            trouble(.pairing, error, at: now)
            return nil
        }
    }

    // MARK: Requests

    private func answerRequests(at now: Moment) {
        do throws(FileSystemError) {
            for request in try requests.pending() {
                try requests.answer(request, answer(to: request, at: now))
            }
            wantsRequests = false
            troubles.clear(.requests)
        } catch {
            trouble(.requests, error, at: now)
        }
    }

    private func answer(to request: Request, at now: Moment) -> Answer {
        switch request.verb {
        case .cancel:
            guard let spool, let id = ULID(request.subject) else { return .unknown }
            var directives: [WatchDirective] = []
            node.handle(.cancelRequested(id), at: now, into: &directives)
            // Both happened already when the phone took it just before.
            return carryOut(directives, spool, at: now) ? .done : .unknown
        case .veto, .delete, .retry, .drop:
            // The phone's.
            return .unknown
        }
    }

    // MARK: Talk

    func record(_ event: PairEvent) { surroundings.history.record(event) }

    /// Tells the node something that asks for nothing.
    func tell(_ event: WatchEvent, at now: Moment, into directives: inout [WatchDirective]) {
        node.handle(event, at: now, into: &directives)
    }

    /// Reports what failed, once, and has it tried again.
    func trouble(_ concern: Concern, _ error: FileSystemError, id: ULID? = nil, at now: Moment) {
        if error.reason == .notFound { isSpoolSuspect = true }
        if troubles[concern].isNew(error, of: id?.description) {
            record(PairEvent(.failed, id: id, detail: error.description))
        }
        tryAgain(at: now)
    }

    private func tryAgain(at now: Moment) {
        // Another failure before the next try comes along with it.
        if retryAt == nil { retryAt = now + retryPause.next() }
    }

    func refuse(_ name: FileName, _ why: String) {
        if refusedNames.isNew(name) { record(PairEvent(.refused, name: name, detail: why)) }
    }
}
