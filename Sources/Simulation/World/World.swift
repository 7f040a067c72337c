import LinkFaults
import Monitors
import PairInspection
import PhoneSide
package import Replay
package import Scenarios
import Spooling
import WatchSide
import WireContract

// The virtual world: a scenario, both engines, one simulated machine, and time that jumps.
//
// What is the real thing here: the nodes, the stores, the envelope, the link's decisions. What is simulated: the disk (see
// `SimulatedFileSystem`), time, and who runs when. Nothing happens between two events of the queue, so a year without
// traffic costs nothing: the engines' own looks around are left out while nothing changes (`wakeAgain`).
//
// The machine has the phone's disk at `/pair`, which holds the phone's home and the spools, and a disk of its own for each
// watch at `/pair/watch…`. A daemon is a process of that machine: it can be killed between any two calls.
//
// News of a directory reaches a daemon a little later than it happened, by a time that is drawn from the seed: which of the
// two sides comes first is what a scheduler decides on a real machine. With another seed it is decided otherwise.

/// Runs one scenario.
package final class World {
    enum Happening {
        /// The scenario's step with that index.
        case step(Int)
        /// The scenario's expectations of that moment are due.
        case expectation(Duration)
        case wake(seat: Int, number: UInt64)
        /// A daemon that was killed is started again.
        case restart(seat: Int)
        case faultsEnd
        case giveUp
    }

    let scenario: Scenario
    package let history: RunHistory
    package let disk: SimulatedFileSystem
    let clock = WorldClock()
    let places = PairPlaces(root: "/pair")
    @exclusivity(unchecked) var queue = EventQueue<Happening>()
    @exclusivity(unchecked) var random: SplitMix64
    /// The phone first, then the watches by number.
    var seats: [Seat] = []
    /// Which watch the phone serves, and `record` means.
    var servedWatch: UInt8 = 1
    var conditions = LinkConditions()
    /// By ordinal, from 1 at index 0.
    var ids: [ULID] = []
    var sourceCount = 0
    var rawCount = 0
    var keptCopies: [Side: FolderCopy] = [:]
    var asked: [AskedRequest] = []
    let instrumentsCalls: Bool
    /// Whoever a plant kills is started again so much later.
    package var restartsAfter: Duration?
    /// Called when the scenario is over and everything is healed; without it nothing is healed that the scenario leaves broken.
    package var healing: (() -> Void)?
    /// It is over not before this, also where everything has drained by then.
    package var faultsLast = Duration.zero
    /// It is cut short once its daemons have made so many calls; `nil` for never.
    package var callLimit: UInt64?
    /// In a recovery that waits for builds that understand more: which version they will understand.
    var upgradesTo: Int?
    /// What lay there when they came, and how much had been told until then.
    var lookBeforeUpgrade: (entryCount: Int, census: Census)?
    var isSettled = false
    private var isOver = false
    private var stepsAtOnce = 0

    /// More steps than this at one moment are a loop that never waits.
    private static let mostStepsAtOnce = 200_000

    let plant: (any Plant)?

    /// `plant` is a fault that is to be found. `trailCount` is how many events are kept for explanations.
    package convenience init(
        _ scenario: Scenario, keepsEntries: Bool = false, plant: (any Plant)? = nil, model: DiskModel = .posix,
        trailCount: Int = 65_536
    ) {
        let history = RunHistory(
            scenario, policy: scenario.settings.policy, drainWithin: scenario.settings.drainWithin,
            keepsEntries: keepsEntries, trailCount: trailCount)
        self.init(scenario, history, SimulatedFileSystem(model: model), plant)
        makeDisks()
    }

    /// On a disk that is there, and tells a history that is.
    init(_ scenario: Scenario, _ history: RunHistory, _ disk: SimulatedFileSystem, _ plant: (any Plant)?) {
        self.scenario = scenario
        self.plant = plant
        self.disk = disk
        self.history = history
        random = SplitMix64(seed: scenario.seed ^ 0x5EED_0FA_3031D)
        instrumentsCalls = scenario.steps.contains {
            if case .kill(_, let point) = $0.step { point != .now } else { false }
        }
        conditions.plan = scenario.settings.link
        let settings = scenario.settings
        seats = [
            makeSeat(.phone, 1, Build(understands: settings.phoneUnderstands, writes: settings.ackVersion)),
            makeSeat(.watch, 1, Build(understands: settings.watchUnderstands, writes: settings.payloadVersion)),
        ]
    }

    func makeSeat(_ side: Side, _ number: UInt8, _ build: Build) -> Seat {
        Seat(side, number, build, SeatHistory(side, number, history, clock))
    }

    private func makeDisks() {
        do {
            try disk.makeDirectory("/pair")
            try disk.mount("/sources")
            try disk.mount(places.watchHome(1), capacityByteCount: scenario.settings.watchCapacityByteCount)
            try disk.setCapacity(of: "/pair", byteCount: scenario.settings.phoneCapacityByteCount)
        } catch {
            preconditionFailure("an empty disk takes folders: \(error)")
        }
    }

    var phone: Seat { seats[0] }
    var watch: Seat { seats[Int(servedWatch)] }
    func seat(_ side: Side) -> Seat { side == .phone ? phone : watch }

    /// The watch with that number; the first time that it is spoken of, it gets a disk of its own.
    func watch(_ number: UInt8) -> Seat {
        while seats.count <= Int(number) {
            let next = UInt8(seats.count)
            seats.append(makeSeat(.watch, next, seats[1].build))
            do {
                try disk.mount(places.watchHome(next))
            } catch {
                preconditionFailure("the disk takes one more watch: \(error)")
            }
        }
        return seats[Int(number)]
    }

    func tell(_ event: WorldEvent, watch number: UInt8? = nil) {
        history.tell(.world(event), from: .world, watch: number ?? servedWatch, at: clock.now)
    }

    func trouble(_ text: String) {
        if history.troubles.count < 20 { history.troubles.append(text) }
    }

    // MARK: The run

    /// Plays the scenario to its end.
    package func run() -> RunReport {
        tell(.faultsBegan)
        if scenario.settings.startsBoth {
            start(phone)
            start(watch)
        }
        for index in scenario.steps.indices { queue.add(.step(index), at: .zero + scenario.steps[index].at) }
        for moment in scenario.expectedMoments { queue.add(.expectation(moment), at: .zero + moment) }
        let last = scenario.steps.last?.at ?? .zero
        let end = scenario.settledAt ?? last
        queue.add(.faultsEnd, at: .zero + max(faultsLast, end, last, scenario.expectedMoments.last ?? .zero))
        runEvents()
        return finish()
    }

    /// Until nothing is owed, or time is up.
    func runEvents() {
        while !isOver, !isCutShort, let (moment, happening) = queue.popFirst() {
            if moment > clock.now {
                stepsAtOnce = 0
                if isSettled, isDrained() {
                    isOver = true
                    break
                }
                if let upgradesTo, onlyTheUnknownIsLeft() {
                    lookBeforeUpgrade = (history.entries.count, census())
                    upgrade(to: upgradesTo)
                }
                clock.now = moment
            }
            carryOut(happening)
        }
    }

    private var isCutShort: Bool { callLimit.map { disk.callCount > $0 } ?? false }

    private func carryOut(_ happening: Happening) {
        switch happening {
        case .step(let index): perform(scenario.steps[index].step)
        case .expectation(let moment): history.meetExpectations(of: moment, census())
        case .faultsEnd:
            isSettled = true
            if let healing {
                healing()
                heal()
            }
            if scenario.settledAt != nil || healing != nil { tell(.faultsEnded) }
            queue.add(.giveUp, at: clock.now + patience)
        case .giveUp:
            if let upgradesTo {
                // Something else than what waits for them keeps it from draining; with them it has its time once more.
                // (Nobody looks: of a recording whose `record` was killed, no judge knows that it waits.)
                upgrade(to: upgradesTo)
                queue.add(.giveUp, at: clock.now + patience)
            } else {
                isOver = true
            }
        case .restart(let index): start(seats[index])
        case .wake(let index, let number):
            let seat = seats[index]
            guard seat.wakeNumber == number, seat.isWanted else { return }
            stepsAtOnce += 1
            guard stepsAtOnce < Self.mostStepsAtOnce else {
                trouble("the \(seat.side.rawValue) never waits: a busy loop at \(quantityText(clock.now.since(.zero)))")
                isOver = true
                return
            }
            if seat.engine == nil { open(seat) } else { step(seat) }
        }
    }

    /// How long after the last fault it may take to drain, and a look around more.
    var patience: Duration {
        if let within = scenario.settings.drainWithin { return within + .seconds(1) }
        let bytes = scenario.recordedByteCounts
        let bound = DrainBound(scenario.settings.policy).duration(
            count: scenario.recordingCount, byteCount: bytes.total, largestByteCount: bytes.largest)
        return scenario.settledAt == nil && healing == nil ? bound * 8 : bound + .seconds(1)
    }

    /// Nothing is owed by anybody. Asked only when the history says so too, since it looks at a directory.
    private func isDrained() -> Bool {
        guard !scenario.expectsToOwe, history.pendingCount <= 0 || hasLostTrack else { return false }
        for seat in seats where seat.isWanted && isServed(seat) {
            guard let engine = seat.engine, engine.isDrained else { return false }
        }
        return seats[0].isWanted && watch.isWanted
    }

    /// Something took recordings away, or brought some back: the count of them says nothing any more.
    var hasLostTrack = false

    private func isServed(_ seat: Seat) -> Bool { seat.side == .phone || seat.number == servedWatch }

    private func finish() -> RunReport {
        // A moment of rest: acks that are strays, files that nobody needs.
        if history.troubles.isEmpty, !scenario.expectsToOwe, !isCutShort { rest() }
        var report = history.finish(census(), world: .virtual, length: clock.now.since(.zero))
        (report.callCount, report.callLimit) = (disk.callCount, isCutShort ? callLimit : nil)
        return report
    }

    func rest() {
        let until = clock.now + .seconds(EngineTiming.rescanSeconds + 1)
        while let next = queue.nextMoment, next <= until, let (moment, happening) = queue.popFirst() {
            if moment > clock.now { stepsAtOnce = 0 }
            clock.now = max(clock.now, moment)
            switch happening {
            case .wake, .restart: carryOut(happening)
            case .step, .expectation, .faultsEnd, .giveUp: break
            }
        }
    }

    // MARK: Looking

    func census() -> Census {
        do {
            return try CensusTaker(places, disk).census(
                at: clock.now, watchCount: UInt8(seats.count - 1), isDurable: { [disk] path in disk.isDurable(path) })
        } catch {
            preconditionFailure("the simulated disk can be read by whoever owns it: \(error)")
        }
    }
}

/// What an engine could notice.
struct WorldState: Hashable {
    var changeCount: UInt64
    var entryCount: UInt64
}

extension Scenario {
    /// Of all that it records: all together, and the largest.
    var recordedByteCounts: (total: UInt64, largest: UInt64) {
        var total: UInt64 = 0
        var largest: UInt64 = 0
        for timed in steps {
            guard case .record(let count, let byteCount) = timed.step else { continue }
            total += UInt64(count) * UInt64(byteCount)
            largest = max(largest, UInt64(byteCount))
        }
        return (total, largest)
    }
}
