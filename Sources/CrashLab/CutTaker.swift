import Monitors
import Simulation
import Spooling

/// The world at one moment at which it could crash: what lies on the disk, and what had happened until then.
struct Cut: Sendable {
    /// The disk; in a recovery only where no earlier cut of it saw the same.
    var image: DiskImage?
    /// What a daemon would see that started there.
    var digest: UInt64 = 0
    /// What had been told, and the judge who heard it; in a recovery he comes later.
    var entryCount: Int
    var judge: Judge?
    var past: Past
    var moment: Moment
    var crew: Crew
    var isContainerOpen: Bool
    /// Everywhere between two calls where all of this was the same, in order.
    var places: [CrashPlace]
}

/// What was told in a run, for who has to explain something.
final class Past: @unchecked Sendable {
    // Written while the cuts are taken, and only read behind that.
    fileprivate(set) var entries: [HistoryEntry] = []
}

/// Two cuts come to the same when these are equal: a recovery is a function of the disk and of who starts on it.
struct RecoveryKey: Hashable, Sendable {
    var digest: UInt64
    var crew: Crew
}

/// Watches one run, and keeps every moment at which it could crash. The disk is kept by sharing it, so that costs
/// little.
final class CutTaker: Plant, TapListener {
    private(set) var cuts: [Cut] = []
    /// By actor.
    private(set) var operations: [[FileSystemError.Operation]] = Array(repeating: [], count: CrashActor.allCases.count)
    private let inner: (any Plant)?
    private var judge: Judge?
    private let past = Past()
    private var fed = 0
    private var seenDigests: Set<UInt64> = []
    private var lastState: (changeCount: UInt64, unsyncedCount: Int, entryCount: Int)?
    private weak var world: World?

    /// `judge` hears what happens, and is kept with every cut; without one only what a start could tell apart is kept.
    init(_ inner: (any Plant)?, judge: Judge?) {
        self.inner = inner
        self.judge = judge
    }

    func watch(_ world: World) { self.world = world }

    /// What comes now is no part of it.
    func stop() {
        guard let world else { return }
        past.entries = world.history.entries
        self.world = nil
    }

    func fileSystem(_ fileSystem: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let tap = Tap(fileSystem, CrashActor(process), self)
        return inner?.fileSystem(tap, of: process) ?? tap
    }

    func tells(_ event: PairEvent, by process: PlantedProcess, disk: any FileSystem) -> [PairEvent] {
        inner?.tells(event, by: process, disk: disk) ?? [event]
    }

    func willCall(_ actor: CrashActor, _ operation: FileSystemError.Operation, _ path: DisplayPath) -> CallFate {
        guard world != nil else { return .carriedOut }
        operations[actor.index].append(operation)
        take(CrashPlace(actor: actor, call: operations[actor.index].count, edge: .before))
        return .carriedOut
    }

    func didCall(_ actor: CrashActor) {
        take(CrashPlace(actor: actor, call: operations[actor.index].count, edge: .after))
    }

    private func take(_ place: CrashPlace) {
        guard let world else { return }
        let disk = world.disk.crashState
        let state = (disk.changeCount, disk.unsyncedCount, world.history.entries.count)
        if let lastState, lastState == state {
            cuts[cuts.count - 1].places.append(place)
            return
        }
        lastState = state
        while judge != nil, fed < world.history.entries.count {
            judge?.observe(world.history.entries[fed])
            fed += 1
        }
        var cut = Cut(
            image: world.disk.snapshot(), entryCount: state.2, judge: judge, past: past, moment: world.now,
            crew: world.crew,
            isContainerOpen: world.isContainerOpen, places: [place])
        if judge == nil, let image = cut.image {
            cut.digest = image.crashDigest()
            if !seenDigests.insert(cut.digest).inserted { cut.image = nil }
        }
        cuts.append(cut)
    }
}

/// Lets one thing go wrong in one run.
final class Injector: Plant, TapListener {
    enum What {
        case kill(CrashPlace)
        case error(CrashActor, call: Int, InjectedError, lasting: Bool)
    }

    private let what: What
    private let inner: (any Plant)?
    private var counts = Array(repeating: 0, count: CrashActor.allCases.count)
    /// Whether it came to that.
    private(set) var hasHappened = false
    private var failedCount = 0
    private var isHealed = false
    private weak var world: World?
    /// A fault that lasts for days would be tried for days, and say nothing new.
    private static let mostFailures = 1_000

    init(_ what: What, _ inner: (any Plant)?) {
        self.what = what
        self.inner = inner
    }

    func watch(_ world: World) { self.world = world }

    /// Nothing goes wrong any more.
    func heal() { isHealed = true }

    func fileSystem(_ fileSystem: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        let tap = Tap(fileSystem, CrashActor(process), self)
        return inner?.fileSystem(tap, of: process) ?? tap
    }

    func tells(_ event: PairEvent, by process: PlantedProcess, disk: any FileSystem) -> [PairEvent] {
        inner?.tells(event, by: process, disk: disk) ?? [event]
    }

    func willCall(_ actor: CrashActor, _ operation: FileSystemError.Operation, _ path: DisplayPath) -> CallFate {
        counts[actor.index] += 1
        guard !isHealed else { return .carriedOut }
        switch what {
        case .kill(let place):
            guard place.actor == actor, place.call == counts[actor.index] else { return .carriedOut }
            hasHappened = true
            world?.restartsAfter = .seconds(1)
            return place.edge == .before ? .dieBefore : .dieAfter
        case .error(let wanted, let call, let error, let lasting):
            guard wanted == actor, failedCount < Self.mostFailures,
                lasting ? counts[actor.index] >= call : counts[actor.index] == call,
                error.fits(operation)
            else { return .carriedOut }
            hasHappened = true
            failedCount += 1
            return error.fate
        }
    }

    func didCall(_ actor: CrashActor) {}
}
