import LinkFaults
import Monitors
import PhoneSide
import Replay
import Scenarios
import Spooling
import WatchSide
import WireContract

// What each step of a scenario does to the virtual world. Docs/Scenarios.md says what it means.

/// A request that was published, and whose answer the command that made it waits for.
struct AskedRequest {
    let request: Request
    let side: Side
    let number: UInt8
    let id: ULID
}

extension World {
    func perform(_ step: Step) {
        switch step {
        case .record(let count, let byteCount): record(count, byteCount)
        case .start(let side): start(seat(side))
        case .stop(let side): stop(seat(side))
        case .kill(let side, .now): kill(seat(side))
        case .kill(let side, let point): order(point, for: seat(side))
        case .session(let state): change { $0.session = state }
        case .reachable(let flag): change { $0.isReachable = flag }
        case .handler(let handler): change { $0.handler = handler }
        case .rawMetadata(let raw): sendRawMetadata(raw)
        case .rawUserInfo(let raw): sendRawUserInfo(raw)
        case .build(let side, let understands, let writes): rebuild(seat(side), understands, writes)
        case .link(let plan):
            change {
                $0.plan = plan
                $0.origin = clock.now
            }
        case .capacity(let side, let change): setCapacity(side, change)
        case .container(let state): setContainer(state)
        case .wipe(let part): wipe(part)
        case .keepCopy(let side):
            keptCopies[side] = disk.copy(of: home(of: seat(side)))
            tell(.copyKept(side))
        case .restoreCopy(let side): restoreCopy(side)
        case .replacePhone: replacePhone()
        case .switchWatch(let number): switchWatch(to: UInt8(clamping: number))
        case .veto(let ordinal): ask(.veto, ordinal)
        case .delete(let ordinal): ask(.delete, ordinal)
        case .cancel(let ordinal): ask(.cancel, ordinal)
        case .clock(let seconds): clock.wallMillisecondsAtZero += seconds * 1_000
        case .reboot(let reboot): self.reboot(reboot)
        }
        deliverNews()
    }

    func home(of seat: Seat) -> String {
        seat.side == .phone ? places.phoneHome : places.watchHome(seat.number)
    }

    private func change(_ body: (inout LinkConditions) -> Void) {
        body(&conditions)
        for seat in seats {
            guard let engine = seat.engine else { continue }
            engine.follow(conditions, at: clock.now)
            wake(seat, at: clock.now)
        }
    }

    // MARK: Recording

    /// As `watch-sim record` does, in a process of its own.
    private func record(_ count: Int, _ byteCount: Int) {
        let number = servedWatch
        let view = disk.asProcess("record")
        defer { view.kill() }
        let firstOrdinal = ids.count + 1
        let seed = scenario.seed
        // The command may be refused: what it was about to record has its number all the same.
        let path = "/sources/note.pcm"
        var sums: [Checksums] = []
        let sources = (0..<count).lazy.map { [disk] index -> RecordingSource in
            let bytes = ScenarioAudio.bytes(seed: seed, ordinal: firstOrdinal + index, byteCount: byteCount)
            sums.append(Checksums(of: bytes))
            do {
                try disk.plant(path, bytes: bytes)
            } catch {
                preconditionFailure("the sources lie on a disk without limits: \(error)")
            }
            return .file(path: path, durationSeconds: 1)
        }
        defer { while ids.count < firstOrdinal + count - 1 { ids.append(mint(ordinal: ids.count + 1)) } }
        do throws(FolderError) {
            let recorder = try Recorder(
                home: places.watchHome(number),
                settings: RecorderSettings(payloadVersion: watch.build.writes, timeZoneID: "Europe/Berlin"),
                surroundings: surroundings(plant?.fileSystem(view, of: .recorder) ?? view, watch.history, "record"),
                wallMilliseconds: { [clock] in clock.wallMilliseconds },
                mint: { [unowned self] _ in
                    ids.append(mint(ordinal: ids.count + 1))
                    return ids[ids.count - 1]
                })
            recorder.record(sources) { index, outcome in
                if case .recorded(let id, _) = outcome {
                    tell(
                        .recordReturned(
                            id, byteCount: UInt64(byteCount), checksums: sums[index], version: watch.build.writes))
                }
            }
        } catch {
            // The disk is full, or the home is no home: the command said so, and nothing was recorded.
        }
    }

    private func mint(ordinal: Int) -> ULID {
        ULID(millisecondsSince1970: clock.wallMilliseconds, ordinal: ordinal, seed: scenario.seed)
    }

    // MARK: Death

    /// Of a side that does not run: it is meant for its next start.
    private func order(_ point: Step.KillPoint, for seat: Seat) {
        guard let instrument = seat.instrument else {
            seat.waitingKills.append(point)
            return
        }
        if let injection = injection(point, callsSoFar: instrument.callCount) {
            instrument.injections.append(injection)
        }
    }

    func takeWaitingKills(of seat: Seat) -> [Injection] {
        defer { seat.waitingKills = [] }
        return seat.waitingKills.compactMap { injection($0, callsSoFar: 0) }
    }

    private func injection(_ point: Step.KillPoint, callsSoFar: Int) -> Injection? {
        switch point {
        case .now: nil
        case .beforeCall(let number): Injection(.call(callsSoFar + number), .dieBefore)
        case .afterCall(let number): Injection(.call(callsSoFar + number), .dieAfter)
        case .before(let operation, let words): Injection(.first(matches(operation, words)), .dieBefore)
        case .after(let operation, let words): Injection(.first(matches(operation, words)), .dieAfter)
        }
    }

    private func matches(
        _ operation: FileSystemError.Operation, _ words: String
    ) -> (FileSystemError.Operation, [String]) -> Bool {
        { found, paths in found == operation && (words.isEmpty || paths.last?.contains(words) == true) }
    }

    private func reboot(_ reboot: Step.Reboot) {
        let running = seats.filter(\.isWanted)
        let loss: PowerLoss =
            switch reboot {
            case .durableOnly: .durableOnly
            case .everything: .everything
            case .random: .random(seed: random.next())
            }
        disk.losePower(loss)
        for seat in running {
            seat.isWanted = false
            seat.letGo()
        }
        asked = []
        tell(.powerLost)
        for seat in running { start(seat) }
    }

    private func rebuild(_ seat: Seat, _ understands: Int?, _ writes: Int?) {
        stop(seat)
        seat.build = Build(understands: understands ?? seat.build.understands, writes: writes ?? seat.build.writes)
        start(seat)
    }

    // MARK: Disks and homes

    private func setCapacity(_ side: Side, _ change: Step.CapacityChange) {
        let byteCount: UInt64? =
            switch change {
            case .byteCount(let count): count
            case .full: 0
            case .unlimited: nil
            }
        actOnDisk { () throws(FileSystemError) in
            try disk.setCapacity(of: side == .watch ? places.watchHome(servedWatch) : "/pair", byteCount: byteCount)
        }
    }

    private func setContainer(_ state: ContainerState) {
        change { $0.container = state }
        switch state {
        case .open: tell(.containerOpened)
        case .locked: tell(.containerLocked)
        case .signedOut: tell(.containerSignedOut)
        }
    }

    private func wipe(_ part: Scenarios.WipedPart) {
        switch part {
        case .container:
            remove(places.phoneHome + "/container")
            tell(.wiped(.container))
        case .ledger:
            remove(places.phoneHome + "/ledger")
            tell(.wiped(.ledger))
        case .spool:
            remove(places.spool(servedWatch))
            tell(.wiped(.spool))
        }
        everybodyLooks()
    }

    /// Durably: monitors take a wipe for what it is, and the power does not bring back what a user removed.
    private func remove(_ path: String) {
        guard disk.status(path) != nil, let slash = path.lastIndex(of: "/") else { return }
        let view = disk.asProcess("somebody")
        defer { view.kill() }
        actOnDisk { () throws(FileSystemError) in
            try disk.remove(path)
            try view.sync(try view.openRoot(String(path[..<slash]), create: false))
        }
    }

    private func restoreCopy(_ side: Side) {
        guard let copy = keptCopies[side] else { return }
        let seat = seat(side)
        let wasRunning = seat.isWanted
        stop(seat)
        actOnDisk { () throws(FileSystemError) in try disk.put(copy, at: home(of: seat)) }
        hasLostTrack = true
        tell(.restored(side), watch: seat.number)
        if wasRunning { start(seat) }
    }

    private func replacePhone() {
        let wasRunning = phone.isWanted
        stop(phone)
        remove(places.phoneHome)
        tell(.phoneReplaced)
        if wasRunning { start(phone) }
    }

    private func switchWatch(to number: UInt8) {
        let wasRunning = phone.isWanted
        stop(phone)
        servedWatch = number
        let watch = watch(number)
        tell(.watchSwitched(to: number))
        start(watch)
        if wasRunning { start(phone) }
    }

    func actOnDisk(_ body: () throws(FileSystemError) -> Void) {
        do throws(FileSystemError) {
            try body()
        } catch {
            trouble("the scenario cannot be carried out: \(error)")
        }
    }

    // MARK: What people ask for

    /// As the command does: asks the holder, or does it itself where nobody holds the home.
    private func ask(_ verb: Request.Verb, _ ordinal: Int) {
        guard ordinal <= ids.count else { return }
        let id = ids[ordinal - 1]
        let seat = verb == .cancel ? watch : phone
        guard let request = Request(nonce: random.next(), verb: verb, subject: id.description) else {
            preconditionFailure("an id can be asked for: \(id)")
        }
        switch verb {
        case .veto: tell(.vetoAsked(id))
        case .delete: tell(.deleteAsked(id))
        case .cancel, .retry, .drop: break
        }
        if seat.engine == nil { return becomeHolder(seat, request, id) }
        let view = disk.asProcess("command")
        defer { view.kill() }
        actOnDisk { () throws(FileSystemError) in
            let root = try view.openRoot(home(of: seat), create: false)
            let box = RequestBox(
                directory: try view.openDirectory("requests", in: root, create: false), fileSystem: view)
            try box.ask(request)
        }
        asked.append(AskedRequest(request: request, side: seat.side, number: seat.number, id: id))
    }

    private func becomeHolder(_ seat: Seat, _ request: Request, _ id: ULID) {
        let view = disk.asProcess("command")
        defer { view.kill() }
        let surroundings = surroundings(view, seat.history, "command")
        do throws(FolderError) {
            switch seat.side {
            case .watch:
                _ = try WatchCancel.carryOut(
                    id, home: places.watchHome(seat.number), spool: places.spool(seat.number),
                    surroundings: surroundings)
            case .phone:
                let engine = try PhoneEngine(
                    homePath: places.phoneHome, spoolPath: nil, settings: PhoneSettings(), surroundings: surroundings)
                answered(request.verb, id, engine.perform(request))
                engine.stop()
            }
        } catch {
            // The command said why; nothing was done.
        }
    }

    /// Whether the holder has answered meanwhile.
    func readAnswers(of seat: Seat) {
        guard asked.contains(where: { $0.side == seat.side && $0.number == seat.number }) else { return }
        let view = disk.asProcess("command")
        defer { view.kill() }
        var left: [AskedRequest] = []
        for item in asked {
            guard item.side == seat.side, item.number == seat.number else {
                left.append(item)
                continue
            }
            var answer: Answer?
            do throws(FileSystemError) {
                let root = try view.openRoot(home(of: seat), create: false)
                let box = RequestBox(
                    directory: try view.openDirectory("requests", in: root, create: false), fileSystem: view)
                answer = try box.answer(to: item.request)
            } catch {
                // The home is gone; the command would give up.
                continue
            }
            if let answer { answered(item.request.verb, item.id, answer) } else { left.append(item) }
        }
        asked = left
    }

    private func answered(_ verb: Request.Verb, _ id: ULID, _ answer: Answer) {
        let isDone = answer == .done || answer == .already
        switch verb {
        case .veto: tell(.vetoAnswered(id, isDone: isDone))
        case .delete: tell(.deleteAnswered(id, isDone: isDone))
        case .cancel, .retry, .drop: break
        }
    }
}
