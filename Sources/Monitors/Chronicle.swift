package import Spooling
package import WireContract

// What all monitors read: the history boiled down to what is known, of each id and of the pair.
//
// A daemon can be killed between an effect and its word about it, so three answers are kept apart: it is so, it is not so,
// and it may be. "May be" comes from an `intends` that a death left unmatched, or from a request that was sent and never
// answered. Monitors accuse only where neither reading of a "may be" is innocent; where both are, the census decides.
//
// What the world does to the container comes in epochs: each act begins a new one. A note that was ingested in the current
// epoch is held for certain; one from before the last certain loss is gone for certain; between them it may be either.

/// The history so far.
package struct Chronicle: Sendable {
    private(set) var table = RecordTable()
    /// The number of the record that the entry under way is about; 0 when it is about none.
    package private(set) var current = 0

    package private(set) var watchStarts: UInt32 = 1
    package private(set) var phoneStarts: UInt32 = 1
    package private(set) var containerEpoch: UInt32 = 1
    package private(set) var certainLossEpoch: UInt32 = 1
    private var lossEpochBeforeSignOut: UInt32?
    package private(set) var ledgerEpoch: UInt32 = 1
    /// The last wipe of the ledger after which nobody can have known its rows any more. Under a running phone they are known
    /// in its memory, and it writes them again; so what the user deleted may be known still.
    package private(set) var certainLedgerLossEpoch: UInt32 = 1
    private var isPhoneUp = false
    /// Grows when the phone's home as a whole becomes another one: vetoes and staging go with it.
    package private(set) var homeEpoch: UInt32 = 1
    private var certainHomeLossEpoch: UInt32 = 1
    /// The epochs of the last certain losses when the phone's home was copied. A copy that is put back knows again what it
    /// knew then; whether something came before or after it, the epochs do not tell.
    private var copyOfPhone: (container: UInt32, ledger: UInt32, home: UInt32)?
    package private(set) var spoolEpoch: UInt32 = 1
    package private(set) var powerEpoch: UInt32 = 1

    private var watchBuilds: [UInt8: Build] = [:]
    package private(set) var phoneBuild = Build()
    package private(set) var servedWatch: UInt8 = 1
    package private(set) var hasWatchGap = false
    package private(set) var hasPhoneGap = false
    package private(set) var isContainerTouched = false

    package private(set) var settling: Settling

    private var pairings: [PairingID] = []
    private var adopted: [UInt8: PairingID] = [:]
    private var countAtWatchCopy: Int?

    package init(policy: RetryPolicy, drainWithin: Duration? = nil) {
        settling = Settling(policy: policy, within: drainWithin)
    }

    // MARK: Questions

    package var count: Int { table.count }

    package subscript(index: Int) -> Record {
        _read { yield table.records[index] }
    }

    package func index(of id: ULID) -> Int? { table.index(of: id) }

    /// Of the watch that is served.
    package var watchBuild: Build { build(ofWatch: servedWatch) }

    /// A watch of which nobody said that it was started is one of the first build.
    package func build(ofWatch number: UInt8) -> Build { watchBuilds[number] ?? Build() }

    /// Whether the watch `number` may be paired with `pairing`: it is, or nobody said what it adopted.
    package func mayBePaired(_ number: UInt8, _ pairing: PairingID) -> Bool {
        adopted[number].map { $0 == pairing } ?? true
    }

    package func bit(of pairing: PairingID) -> UInt32 {
        pairings.firstIndex(of: pairing).map { 1 << UInt32(min($0, 31)) } ?? 0
    }

    /// An ingest that a death left unmatched, in a container that is still there.
    package func mayHold(_ record: Record) -> Bool {
        record.intentStart != 0 && record.intentStart < phoneStarts && record.intentEpoch >= certainLossEpoch
    }

    package func isHeld(_ record: Record) -> Bool { record.heldEpoch == containerEpoch }

    /// Held, and the power went since: what was durable is still there.
    package func isHeldOverPowerLoss(_ record: Record) -> Bool {
        isHeld(record) && record.heldPowerEpoch != powerEpoch
    }

    /// It was there, and nothing is known to have taken it.
    package func isPerhapsHeld(_ record: Record) -> Bool { record.heldEpoch >= certainLossEpoch || mayHold(record) }

    package func isVetoed(_ record: Record) -> Bool { record.vetoEpoch == homeEpoch }
    package func isPerhapsVetoed(_ record: Record) -> Bool {
        record.vetoEpoch >= certainHomeLossEpoch || record.vetoAskedEpoch >= certainHomeLossEpoch
    }
    package func isDeleted(_ record: Record) -> Bool { record.deleteEpoch == ledgerEpoch }
    package func isPerhapsDeleted(_ record: Record) -> Bool {
        record.deleteEpoch >= certainLedgerLossEpoch || record.deleteAskedEpoch >= certainLedgerLossEpoch
    }

    /// Final once, or it may have been.
    package func isPerhapsFinal(_ record: Record) -> Bool {
        record.flags.contains(.finalOnce) || record.intentStart != 0 && record.intentStart < phoneStarts
            || record.vetoAskedEpoch != 0 || hasPhoneGap
    }

    /// Whether P6 speaks of it: both sides understand what the other writes, and nobody else used its id.
    package func mustDrain(_ record: Record) -> Bool {
        record.watchNumber == servedWatch && !record.flags.contains(.planted)
            && !(record.flags.contains(.idReused) && isContainerTouched)
            && Int(record.version ?? 1) <= phoneBuild.understands && phoneBuild.writes <= watchBuild.understands
    }

    // MARK: The next entry

    /// Finds what the next entry is about.
    mutating func begin(_ entry: HistoryEntry) {
        current = entry.id.map { table.indexAdding($0) } ?? 0
    }

    var currentTrail: UInt64 {
        get { table[current].trail }
        set { table[current].trail = newValue }
    }

    /// Takes an entry in, after the monitors have seen it.
    mutating func take(_ entry: HistoryEntry) {
        switch entry.what {
        case .pair(let event):
            switch entry.source {
            case .watch: takeWatch(event, entry)
            case .phone: takePhone(event)
            case .world: preconditionFailure("a daemon's event told by the world: \(entry)")
            }
        case .world(let event):
            take(event, entry)
        }
    }

    private mutating func takeWatch(_ event: PairEvent, _ entry: HistoryEntry) {
        switch event.kind {
        case .recorded:
            recorded(entry, byteCount: 0)
            if let checksums = event.checksums { table[current].checksums = checksums }
        case .started:
            watchStarts += 1
            if let pairing = event.pairing { adopted[entry.watchNumber] = pairing }
        case .paired: adopted[entry.watchNumber] = event.pairing
        case .ackReceived: table[current].flags.insert(.acknowledgedByWatch)
        case .deleted:
            table[current].flags.insert(.deletionIntended)
            guard event.phase == .did, !table[current].flags.contains(.deletedOnce) else { return }
            table[current].flags.insert(.deletedOnce)
            if table[current].flags.contains(.recorded) { settling.deleted(byteCount: table[current].byteCount) }
        case .stopped, .refused, .setAside, .failed, .spoolReopened, .found, .enqueued, .requeued, .transferFinished,
            .strayAck, .cancelled, .spoolFull, .taken, .staged, .duplicate, .waits, .ingested, .acked, .vetoed,
            .userDeleted, .discarded, .containerLost, .lostByLink, .damagedByLink:
            break
        }
    }

    /// `byteCount` is 0 where only the size of the sealed file is known: the audio's comes with `recordReturned`.
    private mutating func recorded(_ entry: HistoryEntry, byteCount: UInt64) {
        if !table[current].flags.contains(.deletedOnce) {
            if table[current].flags.contains(.recorded) { settling.deleted(byteCount: table[current].byteCount) }
            settling.recorded(byteCount: byteCount)
        }
        table[current].byteCount = byteCount
        guard !table[current].flags.contains(.recorded) else { return }
        table[current].flags.insert(.recorded)
        table[current].recordedAt = entry.moment
        table[current].watchNumber = entry.watchNumber
    }

    private mutating func takePhone(_ event: PairEvent) {
        switch event.kind {
        case .started: phoneStarts += 1
        case .paired:
            if let pairing = event.pairing { note(pairing) }
        case .ingested:
            switch event.phase {
            case .intends:
                table[current].intentStart = phoneStarts
                table[current].intentEpoch = containerEpoch
            case .did:
                table[current].intentStart = 0
                table[current].heldEpoch = containerEpoch
                table[current].heldPowerEpoch = powerEpoch
                table[current].ledgerEpoch = ledgerEpoch
                table[current].flags.insert(.finalOnce)
            }
        case .acked:
            if let pairing = event.pairing {
                note(pairing)
                table[current].ackPairings |= bit(of: pairing)
            }
            table[current].noteAck(version: phoneBuild.writes)
            table[current].flags.insert(.acked)
        case .vetoed:
            table[current].vetoEpoch = homeEpoch
            table[current].flags.insert(.finalOnce)
        case .userDeleted:
            // Only what came in can be deleted there: a death had left open whether it did, and it had.
            if table[current].intentStart != 0, table[current].intentStart < phoneStarts {
                table[current].flags.insert(.finalOnce)
            }
            table[current].deleteEpoch = ledgerEpoch
            table[current].heldEpoch = 0
            table[current].intentStart = 0
        case .containerLost:
            table[current].heldEpoch = 0
            table[current].intentStart = 0
        case .setAside:
            if event.id != nil, event.detail == QuarantineReason.idReused.description {
                table[current].flags.insert(.idReused)
            }
        case .stopped, .refused, .failed, .spoolReopened, .recorded, .found, .enqueued, .requeued, .transferFinished,
            .ackReceived, .strayAck, .deleted, .cancelled, .spoolFull, .taken, .staged, .duplicate, .waits, .discarded,
            .lostByLink, .damagedByLink:
            break
        }
    }

    private mutating func note(_ pairing: PairingID) {
        if !pairings.contains(pairing) { pairings.append(pairing) }
    }

    // MARK: The world

    private mutating func take(_ event: WorldEvent, _ entry: HistoryEntry) {
        settling.take(event, entry)
        takePhoneUp(event)
        switch event {
        case .recordReturned(_, let byteCount, let checksums, let version):
            recorded(entry, byteCount: byteCount)
            table[current].checksums = checksums
            table[current].version = Int32(clamping: version)
            table[current].flags.insert(.hasContent)
        case .started(.watch, let build): watchBuilds[entry.watchNumber] = build
        case .started(.phone, let build): phoneBuild = build
        case .killed(.watch): watchStarts += 1
        case .killed(.phone): phoneStarts += 1
        case .powerLost:
            powerEpoch += 1
            watchStarts += 1
            phoneStarts += 1
        case .wiped(let part): wiped(part)
        case .copyKept(.watch): countAtWatchCopy = count
        case .restored(.watch):
            // What was recorded after the copy was kept is gone by the user's act.
            excuse(from: countAtWatchCopy ?? 1)
            adopted[entry.watchNumber] = nil
        case .restored(.phone): restoredPhone()
        case .phoneReplaced:
            newContainerEpoch(isLoss: true)
            newPhoneHome()
        case .watchSwitched(let number): servedWatch = number
        case .containerSignedOut:
            if lossEpochBeforeSignOut == nil { lossEpochBeforeSignOut = certainLossEpoch }
            newContainerEpoch(isLoss: true)
        case .containerOpened:
            guard let epoch = lossEpochBeforeSignOut else { return }
            // What was there before is there again; what came while it was away may be or not.
            lossEpochBeforeSignOut = nil
            newContainerEpoch(isLoss: false)
            certainLossEpoch = epoch
        case .containerTouched:
            isContainerTouched = true
            newContainerEpoch(isLoss: false)
        case .removedByHand: table[current].flags.insert(.excused)
        case .vetoAsked: table[current].vetoAskedEpoch = homeEpoch
        case .deleteAsked: table[current].deleteAskedEpoch = ledgerEpoch
        case .entryPlanted(let id, _, let version):
            guard id != nil else { return }
            // Several may come under one id. P7 holds back what the build does not understand, so the one that it understands
            // soonest says from when on something of this id may be ingested.
            let earlier = table[current].flags.contains(.planted) ? table[current].version : nil
            table[current].flags.insert(.planted)
            if !table[current].flags.contains(.recorded) {
                table[current].version = min(earlier ?? .max, Int32(clamping: version ?? .max))
            }
        case .ackPlanted(_, let pairing):
            note(pairing)
            table[current].ackPairings |= bit(of: pairing)
            // Whatever its version is: it may be one that every build understands.
            table[current].noteAck(version: 1)
            table[current].flags.insert(.acked)
        case .historyGap(.watch): hasWatchGap = true
        case .historyGap(.phone): hasPhoneGap = true
        case .copyKept(.phone): copyOfPhone = phoneLossEpochs
        case .stopped, .containerLocked, .vetoAnswered, .deleteAnswered, .faultsBegan, .faultsEnded,
            .census:
            break
        }
    }

    private mutating func wiped(_ part: WipedPart) {
        switch part {
        case .container: newContainerEpoch(isLoss: true)
        case .ledger:
            ledgerEpoch += 1
            if !isPhoneUp { certainLedgerLossEpoch = ledgerEpoch }
        case .spool: spoolEpoch += 1
        case .home(.watch): excuse(from: 1)
        case .home(.phone):
            newContainerEpoch(isLoss: true)
            newPhoneHome()
        }
    }

    private mutating func newContainerEpoch(isLoss: Bool) {
        containerEpoch += 1
        if isLoss { certainLossEpoch = containerEpoch }
    }

    private mutating func newPhoneHome() {
        ledgerEpoch += 1
        certainLedgerLossEpoch = ledgerEpoch
        homeEpoch += 1
        certainHomeLossEpoch = homeEpoch
    }

    private var phoneLossEpochs: (container: UInt32, ledger: UInt32, home: UInt32) {
        (lossEpochBeforeSignOut ?? certainLossEpoch, certainLedgerLossEpoch, certainHomeLossEpoch)
    }

    private mutating func restoredPhone() {
        let now = phoneLossEpochs
        let copy = copyOfPhone ?? now
        newContainerEpoch(isLoss: false)
        newPhoneHome()
        certainLossEpoch = min(certainLossEpoch, copy.container)
        certainLedgerLossEpoch = min(now.ledger, copy.ledger)
        certainHomeLossEpoch = min(now.home, copy.home)
    }

    private mutating func takePhoneUp(_ event: WorldEvent) {
        switch event {
        case .started(.phone, _): isPhoneUp = true
        case .stopped(.phone), .killed(.phone), .powerLost: isPhoneUp = false
        case .started(.watch, _), .stopped(.watch), .killed(.watch), .recordReturned, .wiped, .copyKept, .restored,
            .phoneReplaced, .watchSwitched, .containerLocked, .containerSignedOut, .containerOpened, .containerTouched,
            .removedByHand, .vetoAsked, .vetoAnswered, .deleteAsked, .deleteAnswered, .entryPlanted, .ackPlanted,
            .faultsBegan, .faultsEnded, .historyGap, .census:
            break
        }
    }

    private mutating func excuse(from index: Int) {
        for index in index..<max(index, count) { table[index].flags.insert(.excused) }
    }
}
