import LinkFaults
package import Spooling

/// How a daemon is run.
package struct DaemonOptions {
    package var toolName: String
    package var side: Side
    package var homePath: String
    /// End with 0 as soon as nothing is owed.
    package var untilDrained = false
    /// With `untilDrained`: end with 2 when it takes longer.
    package var timeout: Duration?
    package var isQuiet = false
    /// What lies between the two, if it is not simply the spool.
    package var link: LinkFollower?
    /// End when this process is not the parent any more.
    package var parent: Int64?
    /// Where to die, for a bench that tries each place.
    package var death: CallDeath?

    /// What both daemons' `run` takes beside the options of their sides.
    package static let options: [Option] =
        [
            Option(
                "--die-with", .integer(1...Int64(Int32.max)), "PID", section: "Replaying",
                help:
                    "End as by SIGHUP when process PID is not the parent any more, so that a bench leaves nothing behind."
            )
        ] + CallDeath.options

    package init(toolName: String, side: Side, homePath: String) {
        self.toolName = toolName
        self.side = side
        self.homePath = homePath
    }
}

/// Drives an engine in real time until a signal, or until it has drained: step, then wait for news, a signal or the
/// engine's deadline, whichever comes first.
package final class DaemonLoop {
    private let options: DaemonOptions
    private let loop: EventLoop
    private let clock = MonotonicClock()
    private let history: DaemonHistory
    private let started: Moment
    private let fileSystem: any FileSystem
    /// The part of it that follows the link's file, if there is one.
    private let steered: SteeredFileSystem?
    private var watchedGeneration = -1
    private weak var stepping: (any Engine)?
    /// What the engine has not been told yet, and when it came.
    private var untold: (conditions: LinkConditions, moment: Moment)?

    /// A command that changes a home holds it for some milliseconds; a daemon that starts in them waits that long.
    private static let heldPatience = Duration.seconds(1)
    private static let heldRetry = Duration.milliseconds(50)

    /// Twice what the notes on their way, the folders and what else a daemon has open come to.
    private static let descriptorCount: UInt64 = 2_048

    /// Make this first thing in `main`: it takes over the signals.
    package init(_ options: DaemonOptions) throws(EventLoopError) {
        self.options = options
        PlatformCalls.allowDescriptors(Self.descriptorCount)
        loop = try EventLoop()
        if let parent = options.parent { loop.stop(without: parent) }
        history = DaemonHistory(side: options.side, isQuiet: options.isQuiet)
        started = clock.now()
        let disk = options.link?.disk(of: options.side) ?? DiskFileSystem()
        steered = disk as? SteeredFileSystem
        fileSystem = options.death?.disk(over: disk, of: options.side) ?? disk
        options.link?.watch(on: loop)
    }

    /// Opens the engine with `open`, runs it, and answers how the process ends.
    package func run(_ open: (Surroundings) throws(FolderError) -> any Engine) -> ExitCode {
        defer {
            history.commit()
            options.death?.tell(fileSystem, toolName: options.toolName)
        }
        let engine: any Engine
        switch openPatiently(open) {
        case .engine(let opened): engine = opened
        case .ended(let code): return code
        }
        history.attachJournal(home: options.homePath)
        while true {
            followLink()
            tell(engine)
            stepping = engine
            let next = engine.step(at: clock.now())
            stepping = nil
            if watch(engine) { continue }
            if options.untilDrained, engine.isDrained {
                engine.stop()
                return .held
            }
            let wakeups = loop.wait(until: min(next, giveUpAt ?? next, options.link?.deadline ?? next))
            hear(wakeups, engine)
            if let signal = wakeups.stop {
                engine.stop()
                return signal.exitCode
            }
            if let giveUpAt, clock.now() >= giveUpAt {
                engine.stop()
                standardError("\(options.toolName): not drained within \(options.timeout?.inSeconds ?? 0) s")
                return .undecided
            }
        }
    }

    private func hear(_ wakeups: Wakeups, _ engine: any Engine) {
        for change in wakeups.changes where !isOfLink(change) {
            guard let place = Place(rawValue: change.token) else {
                preconditionFailure("news of a place that was never watched: \(change.token)")
            }
            engine.hear(change.news.forEngine, of: place)
        }
    }

    /// In the middle of a step. A stop sticks, and is met behind the step.
    private func listen() {
        guard let stepping else { return }
        hear(loop.wait(until: clock.now()), stepping)
    }

    private var giveUpAt: Moment? {
        guard options.untilDrained, let timeout = options.timeout else { return nil }
        return started + timeout
    }

    /// Takes in what the link's file says by now: the disk follows at once, the engine when it is told.
    private func followLink() {
        guard let link = options.link else { return }
        do throws(ScenarioError) {
            let now = clock.now()
            guard let steering = try link.changed(at: now) else { return }
            steered?.follow(steering)
            untold = (steering.conditions, now)
        } catch {
            history.record(.init(.failed, detail: "\(error); what was in force stays"))
        }
    }

    private func tell(_ engine: any Engine) {
        guard let untold else { return }
        guard let engine = engine as? any LinkFollowing else {
            preconditionFailure("both daemons' engines live behind a link: \(engine)")
        }
        engine.follow(untold.conditions, at: untold.moment)
        self.untold = nil
    }

    /// Whether it is news of the link's file, which is taken in here.
    private func isOfLink(_ change: DirectoryChange) -> Bool {
        guard change.token == LinkFollower.token else { return false }
        options.link?.hear(change.news)
        return true
    }

    /// Asks the kernel for news of the engine's places, if they are others than before. What happened until now may have
    /// gone unheard, so the engine is told to look again.
    private func watch(_ engine: any Engine) -> Bool {
        guard engine.placesGeneration != watchedGeneration else { return false }
        watchedGeneration = engine.placesGeneration
        for place in Place.allCases { loop.unwatch(place.rawValue) }
        var problem: EventLoopError?
        var watched: [Place] = []
        engine.forEachPlace { place, interest, directory in
            do throws(EventLoopError) {
                try loop.watch(directory, as: place.rawValue, for: interest)
            } catch {
                problem = error
            }
            watched.append(place)
        }
        if let problem {
            // Without news the engine still looks by itself every few seconds.
            history.record(.init(.failed, detail: "\(problem.description); it looks for itself"))
        }
        for place in watched { engine.hear(.rescan, of: place) }
        return true
    }

    private enum Opening {
        case engine(any Engine)
        case ended(ExitCode)
    }

    /// Tries again what passes by itself: a lock held for a moment, a full disk.
    private func openPatiently(_ open: (Surroundings) throws(FolderError) -> any Engine) -> Opening {
        var told = ToldTroubles()
        var pause = RefusalPause()
        while true {
            followLink()
            let problem: FolderError
            do throws(FolderError) {
                return .engine(try open(surroundings()))
            } catch {
                problem = error
            }
            history.commit()
            let wait: Duration
            switch Self.remedy(for: problem) {
            case .end(let code):
                standardError("\(options.toolName): \(problem)")
                return .ended(code)
            case .waitForHolder:
                guard clock.now().since(started) < Self.heldPatience else {
                    standardError("\(options.toolName): \(problem)")
                    return .ended(.tryAgain)
                }
                wait = Self.heldRetry
            case .waitForDisk:
                if case .disk(let error) = problem, told.isNew(error) {
                    standardError("\(options.toolName): \(problem)")
                }
                wait = pause.next()
            }
            let until = clock.now() + wait
            let wakeups = loop.wait(until: min(until, giveUpAt ?? until, options.link?.deadline ?? until))
            // Nothing else is watched yet, and a disk may have become larger.
            for change in wakeups.changes { _ = isOfLink(change) }
            if let signal = wakeups.stop { return .ended(signal.exitCode) }
            if let giveUpAt, clock.now() >= giveUpAt { return .ended(.undecided) }
        }
    }

    private enum Remedy {
        case end(ExitCode)
        case waitForHolder, waitForDisk
    }

    private static func remedy(for problem: FolderError) -> Remedy {
        switch problem {
        case .held: .waitForHolder
        case .newerFormat, .notThatFolder: .end(ExitCode(problem))
        case .disk(let error):
            switch error.reason {
            case .noSpace, .interrupted, .inputOutput, .tooManyOpenFiles: .waitForDisk
            case .notFound, .exists, .notPermitted, .isLink, .isDirectory, .notDirectory, .crossDevice, .readOnly,
                .fileTooLarge, .nameTooLong, .notSupported, .refused, .stopped, .other:
                .end(ExitCode(error))
            }
        }
    }

    private func surroundings() -> Surroundings {
        let entropy = Entropy()
        let loop = loop
        return Surroundings(
            fileSystem: fileSystem, history: history, random: { entropy.next() },
            shouldStop: { loop.stopRequested() != nil }, holder: ProcessDescription.current(options.toolName),
            listen: { [weak self] in self?.listen() })
    }
}

extension DirectoryChange.News {
    fileprivate var forEngine: Spooling.News {
        switch self {
        case .names(let names): .names(names)
        case .rescan: .rescan
        }
    }
}
