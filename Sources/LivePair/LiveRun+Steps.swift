import DaemonRuntime
import LinkFaults
import Monitors
import Replay
import Scenarios
import Spooling
import WireContract

// What each step of a scenario is, live.

extension LiveRun {
    func perform(_ step: Step) throws(LiveError) {
        switch step {
        case .record(let count, let byteCount): try record(count, byteCount: byteCount)
        case .start(let side): try start(side)
        case .stop(let side): stop(side)
        case .kill(let side, let point):
            if let point = point.point {
                try order(side, toDieAt: point)
            } else if isRunning(side) {
                destroy(side)
                tell(.killed(side))
            }
        case .build(let side, let understands, let writes):
            stop(side)
            change(&watchBuild, &phoneBuild, side, understands, writes)
            try start(side)
        case .session(let state): try steer { $0.session = state }
        case .reachable(let isReachable): try steer { $0.reachable = isReachable }
        case .handler(let handler): try steer { $0.handler = handler }
        case .link(let plan):
            try steer { [clock, scale] link in
                link.plan = plan.scaled(by: scale)
                link.originNanoseconds = clock.now().nanoseconds
            }
        case .container(let state): try container(state)
        case .capacity(let side, let change): try capacity(side, change)
        case .rawMetadata(let raw): try plant(raw, .note)
        case .rawUserInfo(let raw): try plant(raw, .ack)
        case .wipe(let part): try wipe(part)
        case .keepCopy(let side): try keepCopy(side)
        case .restoreCopy(let side): try restoreCopy(side)
        case .replacePhone: try replacePhone()
        case .switchWatch(let number): try switchWatch(to: number)
        case .veto(let ordinal): try ask("veto", ordinal, { .vetoAsked($0) }, { .vetoAnswered($0, isDone: $1) })
        case .delete(let ordinal): try ask("delete", ordinal, { .deleteAsked($0) }, { .deleteAnswered($0, isDone: $1) })
        case .cancel(let ordinal): try cancel(ordinal)
        case .clock(let jumpSeconds): clockOffsetSeconds += jumpSeconds
        case .reboot: try reboot()
        }
    }

    private func change(
        _ watch: inout Build, _ phone: inout Build, _ side: Side, _ understands: Int?, _ writes: Int?
    ) {
        switch side {
        case .watch: watch = Build(understands: understands ?? watch.understands, writes: writes ?? watch.writes)
        case .phone: phone = Build(understands: understands ?? phone.understands, writes: writes ?? phone.writes)
        }
    }

    private func steer(_ change: (inout LinkFile) -> Void) throws(LiveError) {
        change(&link)
        try writeLink()
    }

    // MARK: Recording

    private static let mostFilesOfCommand = 256

    private func record(_ count: Int, byteCount: Int) throws(LiveError) {
        var left = count
        while left > 0 {
            let now = min(left, Self.mostFilesOfCommand)
            try recordSome(now, byteCount: byteCount)
            left -= now
        }
    }

    private func recordSome(_ count: Int, byteCount: Int) throws(LiveError) {
        let first = ids.count + 1
        var paths: [String] = []
        var sums: [Checksums] = []
        for ordinal in first..<first + count {
            let audio = ScenarioAudio.bytes(seed: scenario.seed, ordinal: ordinal, byteCount: byteCount)
            let path = "\(folder)/sources/\(ordinal).\(ScenarioAudio.fileExtension)"
            try LiveDisk.write(audio, to: path)
            paths.append(path)
            sums.append(Checksums(of: audio))
        }
        ids += [ULID?](repeating: nil, count: count)
        var arguments = ["record", "--run-seed", "\(scenario.seed)", "--first-ordinal", "\(first)"]
        if clockOffsetSeconds != 0 { arguments += ["--clock-offset=\(clockOffsetSeconds)s"] }
        arguments += ["--payload-version", "\(watchBuild.writes)", "--link", linkPath]
        arguments += ["--duration", "\(ScenarioAudio.durationSeconds)"]
        let result = try command(.watch, arguments + paths)
        let returned = clock.now()
        for line in result.output.split(separator: "\n") {
            guard let id = ULID(String(line)), (first..<first + count).contains(id.ordinal) else {
                trouble("record printed what is no id of this run: \(line)")
                continue
            }
            ids[id.ordinal - 1] = id
            recordedByteCount += UInt64(byteCount)
            largestByteCount = max(largestByteCount, UInt64(byteCount))
            tell(
                .recordReturned(
                    id, byteCount: UInt64(byteCount), checksums: sums[id.ordinal - first], version: watchBuild.writes),
                at: returned)
        }
        // A watch whose disk is full cannot record, and says so.
        if result.ending != .exited(0), result.ending != .exited(74) || watchCapacity == nil {
            trouble("record: \(result.ending.map { "\($0)" } ?? "it did not end"); \(result.lastWords)")
        }
        for path in paths { try LiveDisk.remove(path) }
    }

    private func id(_ ordinal: Int) -> ULID? {
        let id = ids.indices.contains(ordinal - 1) ? ids[ordinal - 1] : nil
        if id == nil { trouble("note \(ordinal) was not recorded") }
        return id
    }

    // MARK: What people do

    private func ask(
        _ verb: String, _ ordinal: Int, _ asked: (ULID) -> WorldEvent, _ answered: (ULID, Bool) -> WorldEvent
    ) throws(LiveError) {
        guard let id = id(ordinal) else { return }
        tell(asked(id))
        let result = try command(.phone, [verb, id.description])
        // 75: the holder died before it answered, which is what a scenario may be about. Then it may be done or not.
        if result.ending == .exited(75) { return }
        tell(answered(id, result.ending == .exited(0)))
        // 74: the phone's disk was full, or was until a moment ago.
        if result.ending == .exited(74), limitsThePhonesDisk { return }
        if result.ending != .exited(0), result.ending != .exited(1) {
            let ending = result.ending.map { "\($0)" } ?? "it did not end"
            trouble("\(verb): \(ending); \(result.output)\(result.lastWords)")
        }
    }

    private var limitsThePhonesDisk: Bool {
        scenario.settings.phoneCapacityByteCount != nil
            || scenario.steps.contains { if case .capacity(.phone, _) = $0.step { true } else { false } }
    }

    private func cancel(_ ordinal: Int) throws(LiveError) {
        guard let id = id(ordinal) else { return }
        let result = try command(.watch, ["cancel", id.description])
        if result.ending != .exited(0), result.ending != .exited(1), result.ending != .exited(75) {
            trouble("cancel: \(result.ending.map { "\($0)" } ?? "it did not end"); \(result.lastWords)")
        }
    }

    // MARK: Conditions

    private func container(_ state: ContainerState) throws(LiveError) {
        let before = link.container ?? .open
        try steer { $0.container = state }
        // What the phone has in hand when the file changes it ends as it began: closed is told when it must have followed,
        // open at once.
        if state != .open { wait(until: clock.now() + Self.followLimit) }
        switch state {
        case .open: if before != .open { tell(.containerOpened) }
        case .locked: tell(.containerLocked)
        case .signedOut: tell(.containerSignedOut)
        }
    }

    private func capacity(_ side: Side, _ change: Step.CapacityChange) throws(LiveError) {
        let limit: UInt64?
        switch change {
        case .byteCount(let byteCount): limit = byteCount
        case .full: limit = 0
        case .unlimited: limit = nil
        }
        switch side {
        case .watch: watchCapacity = limit
        case .phone: phoneCapacity = limit
        }
        try writeLink()
    }

    // MARK: Bytes of somebody else

    private func plant(_ raw: RawBytes, _ kind: EnvelopeKind) throws(LiveError) {
        plantedCount += 1
        let spool = places.spool(servedWatch)
        var pairing: PairingID?
        // Only a daemon makes the spool, and only the phone a pairing.
        _ = wait(atMost: .seconds(5)) {
            pairing = spoolPairing(spool)
            return pairing != nil || kind == .note && LiveDisk.isThere(spool + "/to-phone")
        }
        let entry = rawEnvelope(
            raw, kind: kind, pairing: pairing ?? PairingID(rawValue: 0), seed: scenario.seed, index: plantedCount)
        let target: String
        switch kind {
        case .note where !entry.isCarriable:
            target = "\(places.watchHome(servedWatch))/recordings/\(FileName.recording(entry.nameID))"
            tell(.entryPlanted(entry.nameID, checksums: entry.checksums, version: nil))
        case .note:
            target = "\(spool)/to-phone/\(entry.entryName)"
            tell(.entryPlanted(entry.id, checksums: entry.checksums, version: entry.version))
        case .ack:
            target = "\(spool)/to-watch/\(entry.entryName)"
            if let id = entry.id, let pairing { tell(.ackPlanted(id, pairing)) }
        }
        let temporary = nextTrash()
        try LiveDisk.write(entry.bytes, to: temporary)
        try LiveDisk.rename(temporary, to: target)
    }

    private func spoolPairing(_ spool: String) -> PairingID? {
        let disk = DiskFileSystem()
        guard let root = try? disk.openRoot(spool, create: false),
            let directory = try? disk.openDirectory("pairing", in: root, create: false),
            let register = try? NameRegister(in: directory, of: disk)
        else { return nil }
        return PairingID(utf8: register.value.utf8)
    }

    // MARK: Disks and homes

    private func wipe(_ part: Scenarios.WipedPart) throws(LiveError) {
        let (path, told): (String, Monitors.WipedPart) =
            switch part {
            case .container: (places.phoneHome + "/container", .container)
            case .ledger: (places.phoneHome + "/ledger", .ledger)
            case .spool: (places.spool(servedWatch), .spool)
            }
        guard LiveDisk.isThere(path) else { return tell(.wiped(told)) }
        let trash = nextTrash()
        try whileFrozen([.watch, .phone]) { () throws(LiveError) in
            try LiveDisk.rename(path, to: trash)
            tell(.wiped(told))
        }
        try LiveDisk.remove(trash)
    }

    private func home(_ side: Side) -> String {
        side == .watch ? places.watchHome(servedWatch) : places.phoneHome
    }

    private func copyPath(_ side: Side) -> String {
        side == .watch ? "\(folder)/copies/watch-\(servedWatch)" : "\(folder)/copies/phone"
    }

    private func keepCopy(_ side: Side) throws(LiveError) {
        try LiveDisk.remove(copyPath(side))
        try whileFrozen([side]) { () throws(LiveError) in
            try LiveDisk.copy(home(side), to: copyPath(side))
            tell(.copyKept(side))
        }
    }

    private func restoreCopy(_ side: Side) throws(LiveError) {
        stop(side)
        try takeAway(side)
        try LiveDisk.copy(copyPath(side), to: home(side))
        tell(.restored(side))
        try start(side)
    }

    /// A home goes; what its journal says is read first.
    private func takeAway(_ side: Side) throws(LiveError) {
        gather(side, watch: servedWatch)
        guard LiveDisk.isThere(home(side)) else { return }
        let trash = nextTrash()
        try LiveDisk.rename(home(side), to: trash)
        try LiveDisk.remove(trash)
    }

    private func replacePhone() throws(LiveError) {
        stop(.phone)
        try takeAway(.phone)
        tell(.phoneReplaced)
        try start(.phone)
    }

    private func switchWatch(to number: Int) throws(LiveError) {
        stop(.phone)
        let number = UInt8(clamping: number)
        let isNew = Int(number) > watches.count
        while watches.count < Int(number) { watches.append(nil) }
        servedWatch = number
        tell(.watchSwitched(to: number))
        // The disks have more folders now.
        try writeLink()
        if isNew { try start(.watch) }
        try start(.phone)
    }

    // MARK: Power

    private func reboot() throws(LiveError) {
        // At once: neither sees the other die.
        try whileFrozen([.watch, .phone]) { () throws(LiveError) in
            destroy(.watch)
            destroy(.phone)
            tell(.powerLost)
        }
        try start(.watch)
        try start(.phone)
    }
}
