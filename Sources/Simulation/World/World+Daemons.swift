import LinkFaults
import Monitors
import PhoneSide
import Replay
import Scenarios
import Spooling
import WatchSide

// The daemons of the virtual world: started, stepped when they want to be or when there is news, stopped, killed.

extension World {
    func wake(_ seat: Seat, at moment: Moment) {
        seat.due = moment
        seat.wakeNumber += 1
        queue.add(.wake(seat: seat.side == .phone ? 0 : Int(seat.number), number: seat.wakeNumber), at: moment)
    }

    /// News reaches a process some microseconds later; how many is drawn.
    func wakeSoon(_ seat: Seat) {
        let moment = clock.now + .nanoseconds(Int64(20_000 + random.next() % 400_000))
        if moment < seat.due || seat.due < clock.now { wake(seat, at: moment) }
    }

    func start(_ seat: Seat) {
        guard !seat.isWanted else { return }
        seat.isWanted = true
        seat.openingPause.end()
        tell(.started(seat.side, seat.build), watch: seat.number)
        open(seat)
    }

    func stop(_ seat: Seat) {
        guard seat.isWanted else { return }
        seat.isWanted = false
        seat.engine?.stop()
        seat.letGo()
        tell(.stopped(seat.side), watch: seat.number)
    }

    func kill(_ seat: Seat) {
        guard seat.isWanted else { return }
        seat.isWanted = false
        seat.letGo()
        tell(.killed(seat.side), watch: seat.number)
    }

    func surroundings(_ fileSystem: any FileSystem, _ history: any History, _ holder: String) -> Surroundings {
        Surroundings(
            fileSystem: fileSystem, history: history, random: { [unowned self] in random.next() },
            shouldStop: { false }, holder: holder)
    }

    func open(_ seat: Seat) {
        let view = disk.asProcess(seat.side.rawValue)
        seat.view = view
        var fileSystem: any FileSystem = plant?.fileSystem(view, of: seat.side == .watch ? .watch : .phone) ?? view
        if instrumentsCalls {
            let instrument = InstrumentedFileSystem(fileSystem, onDeath: { view.kill() })
            instrument.keepsTrace = false
            instrument.injections = takeWaitingKills(of: seat)
            seat.instrument = instrument
            fileSystem = instrument
        }
        (seat.history.plant, seat.history.disk) = (plant, fileSystem)
        let surroundings = surroundings(fileSystem, seat.history, seat.side.rawValue)
        do throws(FolderError) {
            seat.engine = try makeEngine(seat, surroundings)
        } catch {
            return refusedToOpen(seat, error)
        }
        seat.openingPause.end()
        seat.engine?.follow(conditions, at: clock.now)
        wake(seat, at: clock.now)
        buryIfDead(seat)
    }

    /// Large enough for one barrier for all of it, and not one for each.
    private static let smallBatchCount = 6

    private func makeEngine(
        _ seat: Seat, _ surroundings: Surroundings
    ) throws(FolderError) -> any Engine & LinkFollowing {
        switch seat.side {
        case .watch:
            return try WatchEngine(
                home: places.watchHome(seat.number), spool: places.spool(seat.number),
                settings: WatchSettings(policy: scenario.settings.policy, understands: seat.build.understands),
                surroundings: surroundings)
        case .phone:
            var settings = PhoneSettings()
            settings.understands = seat.build.understands
            settings.ackVersion = seat.build.writes
            if let cap = scenario.settings.stagingCapByteCount { settings.stagingCapByteCount = cap }
            // Few notes in a scenario make several batches, one behind the other, for half of the seeds.
            if scenario.seed % 2 == 1 { settings.batchCount = Self.smallBatchCount }
            return try PhoneEngine(
                homePath: places.phoneHome, spoolPath: places.spool(servedWatch), settings: settings,
                surroundings: surroundings)
        }
    }

    /// As `DaemonLoop` does: a full or failing disk is tried again, everything else ends the daemon.
    private func refusedToOpen(_ seat: Seat, _ error: FolderError) {
        let wasKilled = !seat.isAlive
        seat.letGo()
        if wasKilled { return died(seat) }
        if case .disk = error {
            return wake(seat, at: clock.now + seat.openingPause.next())
        }
        seat.isWanted = false
        trouble("the \(seat.side.rawValue) cannot be started: \(error)")
    }

    func step(_ seat: Seat) {
        guard let engine = seat.engine, let view = seat.view else { return }
        if seat.hasRescan {
            seat.hasRescan = false
            engine.forEachPlace { place, _, _ in engine.hear(.rescan, of: place) }
        }
        let seen = worldState
        let next = engine.step(at: clock.now)
        guard seat.isAlive else { return buryIfDead(seat) }
        if engine.placesGeneration != seat.watchedGeneration {
            watchPlaces(of: seat, engine, view)
            wake(seat, at: clock.now)
        } else {
            wakeAgain(seat, engine, next: max(next, clock.now), seen: seen)
        }
        deliverNews()
        readAnswers(of: seat)
    }

    /// Everything that an engine could notice by a look.
    private var worldState: WorldState {
        WorldState(changeCount: disk.changeCount, entryCount: history.entryCount)
    }

    /// An engine that looked twice at the same world, and found nothing to do, need not look a third time before something
    /// changes. So years without traffic cost nothing.
    private func wakeAgain(_ seat: Seat, _ engine: any Engine, next: Moment, seen: WorldState) {
        let isIdle = seat.lastSeen == seen && worldState == seen && next > clock.now
        seat.lastSeen = worldState
        guard isIdle else { return wake(seat, at: next) }
        if let deadline = engine.deadlineIfNothingChanges { wake(seat, at: max(deadline, next)) } else { sleep(seat) }
    }

    /// Until somebody wakes it.
    private func sleep(_ seat: Seat) {
        seat.due = Moment(nanoseconds: .max)
        seat.wakeNumber += 1
    }

    /// Asks for news of the engine's places. What happened until now may have gone unheard.
    private func watchPlaces(of seat: Seat, _ engine: any Engine, _ view: ProcessView) {
        seat.watchedGeneration = engine.placesGeneration
        view.forgetWatches()
        let base = (seat.side == .phone ? 0 : Int(seat.number)) * 16
        engine.forEachPlace { place, interest, directory in
            view.watch(directory, for: interest, token: base + place.rawValue)
        }
        engine.forEachPlace { place, _, _ in engine.hear(.rescan, of: place) }
    }

    /// Hands what changed to those who asked, and wakes them. Names of one place come together, as a kernel's news does.
    func deliverNews() {
        let news = disk.takeNews()
        var byToken: [(token: Int, names: [FileName])] = []
        for item in news {
            if let index = byToken.firstIndex(where: { $0.token == item.token }) {
                byToken[index].names.append(item.name)
            } else {
                byToken.append((item.token, [item.name]))
            }
        }
        for (token, names) in byToken {
            let seat = seats[token / 16]
            guard let place = Place(rawValue: token % 16), let engine = seat.engine else { continue }
            engine.hear(.names(names), of: place)
            wakeSoon(seat)
        }
    }

    private func buryIfDead(_ seat: Seat) {
        guard !seat.isAlive, seat.engine != nil else { return }
        seat.letGo()
        died(seat)
    }

    private func died(_ seat: Seat) {
        seat.isWanted = false
        tell(.killed(seat.side), watch: seat.number)
        deliverNews()
        if let restartsAfter {
            queue.add(.restart(seat: seat.side == .phone ? 0 : Int(seat.number)), at: clock.now + restartsAfter)
        }
    }

    /// Somebody changed the disk behind the daemons' backs: the kernel tells those who watch.
    func everybodyLooks() {
        _ = disk.takeNews()
        for seat in seats where seat.engine != nil {
            seat.hasRescan = true
            wakeSoon(seat)
        }
    }
}
