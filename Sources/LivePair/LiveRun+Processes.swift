import DaemonRuntime
import LinkFaults
import Monitors
import Replay
import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// The two daemons as processes: started, ended, frozen for a moment, and met when they ended by themselves.

extension LiveRun {
    /// Far more than an orderly end takes on a busy machine.
    private static let stopLimit = Duration.seconds(30)
    private static let commandLimit = Duration.seconds(120)
    /// Within this a daemon has followed a change of the link's file, also on a busy machine.
    static let followLimit = Duration.milliseconds(200)
    /// A daemon takes an order in before the file is written again.
    private static let dieFileLifetime = followLimit

    var watch: LiveProcess? {
        get { watches[Int(servedWatch) - 1] }
        set { watches[Int(servedWatch) - 1] = newValue }
    }

    func isRunning(_ side: Side) -> Bool { side == .watch ? watch != nil : phone != nil }

    private func process(_ side: Side) -> LiveProcess? { side == .watch ? watch : phone }

    private func forget(_ side: Side) {
        switch side {
        case .watch: watch = nil
        case .phone: phone = nil
        }
        // An order for the one that ran is void now; one for the next start stays.
        pendingOrders.removeAll { $0.side == side && !$0.isFresh }
    }

    // MARK: Starting

    func start(_ side: Side) throws(LiveError) {
        guard !isRunning(side) else { return }
        // An order for this start that another side's has overwritten meanwhile.
        if let order = pendingOrders.first(where: { $0.side == side && $0.isFresh }), link.die != order {
            try write(order)
        }
        // Before the process exists, so that nothing it says is from before its start.
        tell(.started(side, side == .watch ? watchBuild : phoneBuild))
        switch side {
        case .watch:
            watch = try LiveProcess(options.executables.watch, watchArguments, logs: nextLog())
        case .phone:
            phone = try LiveProcess(options.executables.phone, phoneArguments, logs: nextLog())
        }
    }

    private var commonArguments: [String] {
        ["--quiet", "--link", linkPath, "--die-with", "\(getpid())", "--spool", places.spool(servedWatch)]
    }

    private var watchArguments: [String] {
        let policy = scaled.settings.policy
        return ["run", "--home", places.watchHome(servedWatch), "--understands", "\(watchBuild.understands)"] + [
            "--retry-first", policy.first.asArgument, "--retry-cap", policy.cap.asArgument,
            "--patience", policy.patience.asArgument,
        ] + commonArguments
    }

    private var phoneArguments: [String] {
        var arguments = ["run", "--home", places.phoneHome, "--understands", "\(phoneBuild.understands)"]
        arguments += ["--ack-version", "\(phoneBuild.writes)"]
        if let cap = scaled.settings.stagingCapByteCount { arguments += ["--staging-cap", "\(cap)"] }
        return arguments + commonArguments
    }

    /// Until both have said that they started, so that the scenario's time does not pass while they are made.
    func awaitBoth() {
        let journals = [places.watchHome(servedWatch), places.phoneHome].map { $0 + "/journal/journal.jsonl" }
        _ = wait(atMost: .seconds(10)) {
            journals.allSatisfy { LiveDisk.byteCount($0) > 0 } || watch == nil || phone == nil
        }
    }

    // MARK: Ending

    func stop(_ side: Side) {
        guard let process = process(side) else { return }
        end(process, side, watch: servedWatch)
        forget(side)
    }

    /// One that the phone does not serve.
    func stopWatch(_ number: UInt8) {
        guard let process = watches[Int(number) - 1] else { return }
        end(process, .watch, watch: number)
        watches[Int(number) - 1] = nil
    }

    private func end(_ process: LiveProcess, _ side: Side, watch number: UInt8) {
        process.send(SIGTERM)
        let giveUp = clock.now() + Self.stopLimit
        while process.poll() == nil, clock.now() < giveUp { usleep(1_000) }
        switch process.ending {
        // 15: one that was told to stop before it came to take its signals over.
        case .exited(143), .signalled(SIGTERM): tell(.stopped(side), watch: number)
        case .signalled(SIGKILL) where takeObeyedOrder(of: side): tell(.killed(side), watch: number)
        case .some(let ending):
            trouble("\(process.title) ended with \(ending) when it was told to stop; \(process.lastWords)")
            tell(.killed(side), watch: number)
        case nil:
            process.destroy()
            trouble("\(process.title) did not end within \(Self.stopLimit); \(process.lastWords)")
            tell(.killed(side), watch: number)
        }
        complainOfCrashes(process)
    }

    private func complainOfCrashes(_ process: LiveProcess) {
        if process.saysThatItIsBroken { trouble("\(process.title) is broken: \(process.lastWords)") }
    }

    /// SIGKILL, now. The caller tells of it.
    func destroy(_ side: Side) {
        process(side)?.destroy()
        forget(side)
    }

    /// The ends that nobody here asked for.
    func lookAfterProcesses() {
        if let phone, phone.poll() != nil {
            ended(phone, .phone, watch: servedWatch)
            self.phone = nil
        }
        for index in watches.indices {
            guard let process = watches[index], process.poll() != nil else { continue }
            ended(process, .watch, watch: UInt8(index + 1))
            watches[index] = nil
        }
    }

    private func ended(_ process: LiveProcess, _ side: Side, watch number: UInt8) {
        if process.ending == .signalled(SIGKILL), takeObeyedOrder(of: side) {
            say("the \(side.rawValue) died where it was told to")
        } else if let ending = process.ending {
            trouble("\(process.title) ended by itself with \(ending); \(process.lastWords)")
        }
        tell(.killed(side), watch: number)
        complainOfCrashes(process)
    }

    // MARK: Orders to die

    /// A process of that side died by SIGKILL, and had an order to.
    private func takeObeyedOrder(of side: Side) -> Bool {
        guard pendingOrders.contains(where: { $0.side == side }) else { return false }
        pendingOrders.removeAll { $0.side == side }
        if link.die?.side == side {
            // The next start must not obey it again.
            link.die = nil
            do throws(LiveError) {
                try writeLink()
            } catch {
                trouble(error.description)
            }
        }
        return true
    }

    func order(_ side: Side, toDieAt point: DiePoint) throws(LiveError) {
        dieOrderCount += 1
        let order = DieOrder(side: side, number: dieOrderCount, isFresh: !isRunning(side), point: point)
        pendingOrders.removeAll { $0.side == side }
        pendingOrders.append(order)
        try write(order)
    }

    private func write(_ order: DieOrder) throws(LiveError) {
        if let dieWrittenAt { wait(until: dieWrittenAt + Self.dieFileLifetime) }
        link.die = order
        try writeLink()
        dieWrittenAt = clock.now()
    }

    /// In one step: whoever reads it reads all of it.
    func writeLink() throws(LiveError) {
        link.disks = disks
        try LiveDisk.write(Array(link.text.utf8), to: linkPath + ".new")
        try LiveDisk.rename(linkPath + ".new", to: linkPath)
    }

    private var disks: [DiskLimit] {
        var disks: [DiskLimit] = []
        let numbers = 1...UInt8(watches.count)
        if let watchCapacity {
            disks.append(DiskLimit(paths: numbers.map { places.watchHome($0) }, byteCount: watchCapacity))
        }
        if let phoneCapacity {
            let paths = [places.phoneHome] + numbers.map { places.spool($0) }
            disks.append(DiskLimit(paths: paths, byteCount: phoneCapacity))
        }
        return disks
    }

    // MARK: Standing still

    /// Does something to the disk while no daemon moves, so that the moment at which it is told is the moment at which it
    /// happened: an act of the world is told by the body.
    func whileFrozen(_ sides: [Side], _ body: () throws(LiveError) -> Void) throws(LiveError) {
        for side in sides { process(side)?.freeze() }
        defer { for side in sides { process(side)?.thaw() } }
        try body()
    }

    // MARK: Commands

    struct CommandResult {
        var ending: Ending?
        var output: String
        var lastWords: String
    }

    /// Runs a command of one of the tools to its end, while the daemons are looked after.
    func command(_ side: Side, _ arguments: [String]) throws(LiveError) -> CommandResult {
        let executable = side == .watch ? options.executables.watch : options.executables.phone
        let home = side == .watch ? places.watchHome(servedWatch) : places.phoneHome
        let child = try LiveProcess(
            executable, arguments + ["--home", home, "--spool", places.spool(servedWatch)], logs: nextLog())
        defer { child.destroy() }
        let giveUp = clock.now() + Self.commandLimit
        while child.poll() == nil, clock.now() < giveUp {
            lookAfterProcesses()
            usleep(500)
        }
        complainOfCrashes(child)
        return CommandResult(ending: child.poll(), output: child.output, lastWords: child.lastWords)
    }
}

extension Duration {
    /// As a time on a command line, in milliseconds, at least one.
    var asArgument: String { "\(max(1, wholeNanoseconds / 1_000_000))ms" }
}
