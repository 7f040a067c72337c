import Monitors
package import Replay
package import Scenarios
package import Simulation
import Spooling

// The crash lab: a scenario is played once, every moment at which it could crash is kept, and from each of them the
// pair must recover to a state in which P1 to P7 hold.
//
// Why it need not be played again for each place: a crash takes all that a process knows, so what follows is a function
// of the disk, and of who starts on it. Calls that change nothing (looks, reads, locks) leave the same disk behind
// them, and many ways lead to equal disks; a recovery is played once for each disk that differs for a reader, and
// judged for every way to it. That holds where both daemons die, as at a power cut. Where one lives on (`alone`), or a
// call fails, the run is played from its beginning: what the living one knows is in no snapshot.

package final class CrashSweep: @unchecked Sendable {
    /// Does something `count` times, with the index, on as many threads as it likes; returns when all is done.
    package typealias Spread = (_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> Void

    let scenario: Scenario
    let spread: Spread
    let makePlant: @Sendable () -> (any Plant)?
    let stopsAtFirst: Bool
    let mostRecoveries: Int
    // Filled by one thread, before the others begin.
    private var known: [(model: DiskModel, cuts: [Cut])] = []
    /// How long the scenario takes with nothing that goes wrong. So long it is played, and faults last.
    private var length = Duration.zero
    private(set) var operations: [[FileSystemError.Operation]] = []

    /// `makePlant` makes the fault that is to be found, anew for each run; `nil` for the pair as it is. With `stopsAtFirst`
    /// a part begins nothing new once something did not hold. Of more than `mostRecoveries` disks that a cut of the power
    /// can leave, so many are recovered from, and the share is told.
    package init(
        _ scenario: Scenario, spread: @escaping Spread, stopsAtFirst: Bool = false, mostRecoveries: Int = .max,
        makePlant: @escaping @Sendable () -> (any Plant)? = { nil }
    ) {
        self.scenario = scenario
        self.spread = spread
        self.makePlant = makePlant
        self.stopsAtFirst = stopsAtFirst
        self.mostRecoveries = mostRecoveries
    }

    /// `stride`: only every so many-th of what it tries.
    package func section(_ part: CrashPart, stride: Int = 1) -> CrashSection {
        switch part {
        case .kills: kills(stride: stride)
        case .killsAlone: killsAlone(stride: stride)
        case .pairs: pairs(stride: stride)
        case .power(let model): power(model, stride: stride)
        case .errors: errors(stride: stride)
        }
    }

    /// `spread`, in rounds where the sweep stops at its first failure: so it stops at the same one on however many threads.
    func spread(_ count: Int, untilFailed: (Int) -> Bool, _ body: @escaping @Sendable (Int) -> Void) {
        guard stopsAtFirst else { return spread(count, body) }
        var start = 0
        while start < count {
            let (first, end) = (start, min(start + Self.roundCount, count))
            spread(end - first) { body(first + $0) }
            if (first..<end).contains(where: untilFailed) { return }
            start = end
        }
    }

    private static let roundCount = 64

    /// The scenario as it is, with nothing that goes wrong.
    package func reference() -> RunReport { World(scenario, keepsEntries: true, plant: makePlant()).run() }

    /// How many calls each process makes in it, in the order of `CrashActor`.
    package func callCounts() -> [Int] {
        _ = cuts(.posix)
        return operations.map(\.count)
    }

    /// Every moment at which the run could crash, on a disk of that model. Call it first from one thread.
    func cuts(_ model: DiskModel) -> [Cut] {
        if let found = known.first(where: { $0.model == model }) { return found.cuts }
        if known.isEmpty { length = reference().length }
        // He is copied for each verdict, so he keeps nothing to explain it with.
        let judge = Judge(policy: scenario.settings.policy, drainWithin: nil, trailCount: 1)
        let taker = CutTaker(makePlant(), judge: judge)
        let world = World(unjudged, keepsEntries: true, plant: taker, model: model)
        taker.watch(world)
        // As in the runs in which something goes wrong, so that calls have the same numbers.
        world.healing = { taker.stop() }
        world.faultsLast = length
        _ = world.run()
        taker.stop()
        if operations.isEmpty { operations = taker.operations }
        known.append((model, taker.cuts))
        return taker.cuts
    }

    /// Without its expectations, and with the bound that the policy gives: under a fault the others need not hold.
    var unjudged: Scenario {
        var copy = scenario
        copy.expectations = []
        copy.settings.drainWithin = nil
        return copy
    }

    /// The same, with what lay on the disk before and after.
    func recoverAndList(_ image: DiskImage, _ crew: Crew) -> (recovery: Recovery, listing: [String]) {
        let world = World(after: image, of: scenario, crew, plant: makePlant())
        let before = world.listing
        let recovery = world.recover()
        return (recovery, ["what the crash left:"] + before + ["what the recovery left:"] + world.listing)
    }

    /// Plays a recovery on a disk.
    func recover(_ image: DiskImage, _ crew: Crew, _ taker: CutTaker? = nil) -> Recovery {
        let world = World(after: image, of: scenario, crew, plant: taker ?? makePlant())
        taker?.watch(world)
        return world.recover()
    }

    /// What does not hold of a crash at `cut`; `hear` is told the judge who knows what was before, and finishes.
    func verdict(_ cut: Cut, _ crash: Crash, _ hear: (inout CrashCourt) -> [String]) -> [String] {
        guard let judge = cut.judge else { preconditionFailure("a cut of the scenario has a judge: \(cut.places[0])") }
        func lines(_ judge: Judge) -> [String] {
            var court = CrashCourt(judge, at: cut.moment)
            court.crash(crash, cut.crew, isContainerOpen: cut.isContainerOpen)
            return hear(&court)
        }
        guard !lines(judge).isEmpty else { return [] }
        // Once more, by one who keeps what he hears.
        var explaining = Judge(policy: scenario.settings.policy, drainWithin: nil)
        for entry in cut.past.entries.prefix(cut.entryCount) { explaining.observe(entry) }
        return lines(explaining)
    }

    /// What recoveries that come to the same share: all cuts by disk and crew, in the order of their first.
    func groups(_ cuts: [Cut], _ digests: [UInt64]) -> [[Int]] {
        var groups: [[Int]] = []
        var places: [RecoveryKey: Int] = [:]
        for (index, cut) in cuts.enumerated() {
            let key = RecoveryKey(digest: digests[index], crew: cut.crew)
            if let place = places[key] {
                groups[place].append(index)
            } else {
                places[key] = groups.count
                groups.append([index])
            }
        }
        return groups
    }

    // MARK: Kills

    /// Both daemons die, before and after every call of each process.
    package func kills(stride: Int = 1) -> CrashSection {
        var section = CrashSection(.kills)
        let cuts = cuts(.posix).strided(stride)
        let groups = killGroups(cuts)
        section.pointCount = cuts.reduce(0) { $0 + $1.places.count }
        section.rawImageCount = section.pointCount
        section.distinctImageCount = groups.count
        let found = Slots<[CrashFailure]>(groups.count)
        let isFailed: (Int) -> Bool = { found[$0]?.isEmpty == false }
        spread(groups.count, untilFailed: isFailed) { [self] index in
            guard let image = cuts[groups[index][0]].image else { return }
            let recovery = recover(image, cuts[groups[index][0]].crew)
            found[index] = groups[index].compactMap { cut in
                let lines = verdict(cuts[cut], .kill) { $0.finish(recovery) }
                return lines.isEmpty ? nil : CrashFailure(attempt: .kill(cuts[cut].places[0]), lines: lines)
            }
        }
        for index in groups.indices {
            for cut in groups[index] {
                if found[index] == nil {
                    section.unreached += cuts[cut].places.map(\.description)
                } else {
                    section.reachedCount += cuts[cut].places.count
                }
            }
            section.recoveryCount += 1
            section.verdictCount += groups[index].count
            for failure in found[index] ?? [] { section.fail(failure) }
        }
        return finished(section)
    }

    /// What a sweep did not come to because it stopped is not missing.
    func finished(_ section: CrashSection) -> CrashSection {
        var section = section
        if stopsAtFirst, section.failureCount > 0 { section.stop() }
        return section
    }

    func killGroups(_ cuts: [Cut]) -> [[Int]] {
        let digests = Slots<UInt64>(cuts.count)
        spread(cuts.count) { digests[$0] = cuts[$0].image?.crashDigest() }
        return groups(cuts, cuts.indices.map { digests[$0] ?? 0 })
    }

    /// Only the process that makes the call dies; the other lives on, the scenario goes on, and a daemon is started
    /// again.
    package func killsAlone(stride: Int = 1) -> CrashSection {
        var section = CrashSection(.killsAlone)
        // Between two places of one actor at which nothing changed it makes no difference where it dies.
        var places: [(CrashPlace, count: Int)] = []
        for cut in cuts(.posix) {
            for actor in CrashActor.allCases {
                let own = cut.places.filter { $0.actor == actor }
                if let first = own.first { places.append((first, own.count)) }
            }
        }
        let all = places.strided(stride)
        section.pointCount = all.reduce(0) { $0 + $1.count }
        let found = Slots<(Bool, [String])>(all.count)
        let isFailed: (Int) -> Bool = { found[$0]?.1.isEmpty == false }
        spread(all.count, untilFailed: isFailed) { [self] index in
            found[index] = play(.kill(all[index].0))
        }
        for (index, place) in all.enumerated() {
            section.recoveryCount += 1
            section.verdictCount += 1
            guard let (happened, lines) = found[index], happened else {
                section.unreached.append("\(place.0)")
                continue
            }
            section.reachedCount += place.count
            if !lines.isEmpty { section.fail(CrashFailure(attempt: .killAlone(place.0), lines: lines)) }
        }
        return finished(section)
    }

    /// One run with one thing that goes wrong: whether it came to that, and what did not hold.
    func play(_ what: Injector.What) -> (Bool, [String]) {
        let injector = Injector(what, makePlant())
        let world = World(unjudged, plant: injector)
        injector.watch(world)
        world.healing = { injector.heal() }
        world.faultsLast = length
        let report = world.run()
        // A step may need what the fault kept from being there.
        let troubles = report.troubles.filter { !$0.hasPrefix("the scenario cannot be carried out") }
        return (injector.hasHappened, troubles + complaints(report.verdict))
    }
}

extension Array {
    /// Every so many-th.
    func strided(_ stride: Int) -> [Element] {
        enumerated().filter { $0.offset % stride == 0 }.map(\.element)
    }
}
