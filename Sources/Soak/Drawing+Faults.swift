import LinkFaults
import Scenarios
import Spooling

// What strikes the two sides: deaths, disks, the phone's container and homes, and what people do.

extension Drawing {
    // MARK: Deaths

    mutating func drawDeaths() {
        if has(.killNow) {
            for _ in 0..<strikes(8) { drawDeath(.now, at: anyMoment()) }
        }
        if has(.killAtCall) {
            for _ in 0..<strikes(10) {
                let at = momentNearARecording()
                drawDeath(drawKillPoint(), at: at)
            }
        }
        if has(.stop) {
            for _ in 0..<strikes(4) {
                let side = dice.one(of: Side.both)
                let at = anyMoment()
                add(.stop(side), at: at)
                if dice.happens(0.9) { add(.start(side), at: at + drawPause()) }
            }
        }
        if has(.reboot) {
            for _ in 0..<strikes(5) { add(.reboot(dice.one(of: Step.Reboot.allCases)), at: momentNearARecording()) }
        }
    }

    private mutating func drawDeath(_ point: Step.KillPoint, at: Duration) {
        let side = dice.one(of: Side.both)
        add(.kill(side, point), at: at)
        // A kill at a call comes at some time; several starts find it down, or do nothing.
        for _ in 0..<dice.scaled(1...3) where dice.happens(0.9) { add(.start(side), at: at + drawPause()) }
    }

    /// Where there is something to break: within seconds of a recording, half of the time.
    mutating func momentNearARecording() -> Duration {
        guard dice.happens(0.5) else { return anyMoment() }
        return dice.one(of: recordedAt) + dice.scaled(.zero...(.seconds(20)))
    }

    mutating func drawPause() -> Duration { dice.scaled(.milliseconds(1)...max(.seconds(1), span / 4)) }

    private mutating func drawKillPoint() -> Step.KillPoint {
        let isBefore = dice.happens(0.5)
        if dice.happens(0.5) {
            let number = dice.scaled(1...400)
            return isBefore ? .beforeCall(number) : .afterCall(number)
        }
        let operation = dice.one(of: Self.killedOperations)
        let path = dice.one(of: Self.killedPaths)
        return isBefore
            ? .before(operation, pathContaining: path) : .after(operation, pathContaining: path)
    }

    /// Those that change something, or make it durable.
    private static let killedOperations: [FileSystemError.Operation] = [
        .makeDirectory, .create, .write, .truncate, .sync, .syncDirectory, .syncAll, .publish, .unlink, .read, .list,
    ]
    private static let killedPaths = [
        "", "container/", "staging/", "inbox/", "ledger/", "vetoes/", "quarantine/", "recordings/", "to-phone/",
        "to-watch/", "requests/", "pairing",
    ]

    // MARK: Disks

    mutating func drawDisks() {
        if has(.watchCapacity) { drawCapacity(.watch) }
        if has(.phoneCapacity) { drawCapacity(.phone) }
        if has(.stagingCap) { settings.stagingCapByteCount = UInt64(dice.scaled(1...max(65_536, recordedByteCount))) }
    }

    private mutating func drawCapacity(_ side: Side) {
        if dice.happens(0.3) {
            let byteCount = drawDiskByteCount()
            switch side {
            case .watch: settings.watchCapacityByteCount = byteCount
            case .phone: settings.phoneCapacityByteCount = byteCount
            }
        }
        for _ in 0..<strikes(4) {
            let at = momentNearARecording()
            add(.capacity(side, dice.happens(0.5) ? .full : .byteCount(drawDiskByteCount())), at: at)
            if dice.happens(0.8) { add(.capacity(side, .unlimited), at: at + drawPassing()) }
        }
    }

    /// From far too small to enough for everything twice.
    private mutating func drawDiskByteCount() -> UInt64 {
        UInt64(dice.scaled(4_096...(2 * recordedByteCount + (4 << 20))))
    }

    /// How long something lasts that the phone asks about every half minute: mostly not months.
    private mutating func drawPassing() -> Duration {
        dice.scaled(.milliseconds(1)...max(.seconds(1), min(span, .seconds(86_400))))
    }

    // MARK: The phone

    mutating func drawPhone() {
        if has(.locked) { drawContainer(.locked) }
        if has(.signedOut) { drawContainer(.signedOut) }
        let wipes: [(kind: FaultKind, part: WipedPart)] = [
            (.wipeContainer, .container), (.wipeLedger, .ledger), (.wipeSpool, .spool),
        ]
        for (kind, part) in wipes where has(kind) {
            for _ in 0..<strikes(2) { add(.wipe(part), at: momentNearARecording()) }
        }
        if has(.replacePhone) { add(.replacePhone, at: anyMoment()) }
        if has(.switchWatch) { drawSwitches() }
        if has(.copyOfPhone) { drawCopy(.phone) }
        // The copy of one watch's home put into another watch would give two watches the same recordings; people restore
        // what they have onto what it was.
        if has(.copyOfWatch), switches.isEmpty { drawCopy(.watch) }
        if has(.session) {
            for _ in 0..<strikes(3) {
                let at = anyMoment()
                add(.session(dice.one(of: [.inactive, .notPaired])), at: at)
                if dice.happens(0.8) { add(.session(.active), at: at + drawPassing()) }
            }
        }
        if has(.handler) {
            for _ in 0..<strikes(3) {
                let at = anyMoment()
                add(.handler(dice.one(of: PhoneHandler.allCases)), at: at)
                if dice.happens(0.8) { add(.handler(.normal), at: at + drawPassing()) }
            }
        }
        if has(.reachable) {
            for index in 0..<strikes(6) { add(.reachable(index % 2 == 1), at: anyMoment()) }
        }
    }

    private mutating func drawContainer(_ state: ContainerState) {
        for _ in 0..<strikes(2) {
            let at = momentNearARecording()
            add(.container(state), at: at)
            if dice.happens(0.9) { add(.container(.open), at: at + drawPassing()) }
        }
    }

    private mutating func drawSwitches() {
        var at = Duration.zero
        for _ in 0..<strikes(3) {
            at = dice.moment(in: at...span)
            let number = dice.number(1...3)
            switches.append((at, number))
            add(.switchWatch(to: number), at: at)
        }
    }

    private mutating func drawCopy(_ side: Side) {
        let kept = anyMoment()
        add(.keepCopy(side), at: kept)
        for _ in 0..<strikes(2) { add(.restoreCopy(side), at: dice.moment(in: kept...span)) }
    }

    // MARK: People

    mutating func drawPeople() {
        for (kind, make) in [
            (FaultKind.veto, { Step.veto(ordinal: $0) }), (.delete, { .delete(ordinal: $0) }),
            (.cancel, { .cancel(ordinal: $0) }),
        ] where has(kind) {
            for _ in 0..<strikes(8) {
                let ordinal = dice.number(1...recordedAt.count)
                let at = recordedAt[ordinal - 1] + dice.scaled(.zero...max(.seconds(10), span / 2))
                add(make(ordinal), at: at)
            }
        }
        if has(.clock) {
            for _ in 0..<strikes(3) {
                let seconds = dice.scaled(1...(2 * 365 * 86_400))
                add(.clock(jumpSeconds: Int64(dice.happens(0.5) ? seconds : 0 - seconds)), at: anyMoment())
            }
        }
    }
}
