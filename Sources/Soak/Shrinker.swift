package import Replay
package import Scenarios
import Simulation
import Spooling

// From a scenario that fails to a small one that fails in the same way.
//
// Delta debugging (Zeller, Hildebrandt: "Simplifying and Isolating Failure-Inducing Input", 2002), with what is known of
// scenarios put before it. First what came after the failure goes, then all but one of the recordings, then whole families of
// steps: what breaks something and what heals it again belong to one family, since neither goes without the other where the
// end has to be healed. Then halves, quarters, single steps and pairs of a family are left out as long as it still fails. What
// is left is made simpler, one edit at a time: fewer and shorter notes, faults of the link dropped or made certain, times
// shortened, settings put back to their defaults. All passes are repeated until none finds anything, or the runs or the time
// are used up.
//
// Each candidate is run once, and kept only when it fails in the same way. What failed because it did not drain is only kept
// while it is healed at its end: without that, not to drain is right.

/// Makes failing scenarios smaller. A function of the scenario, of what counts as the same, and of the code that is run.
package struct Shrinker {
    /// How many runs it may make, and whether there is still time for the next one.
    package struct Budget {
        package var runCount: Int
        package var isTimeLeft: () -> Bool
        package init(runCount: Int = 2_000, isTimeLeft: @escaping () -> Bool = { true }) {
            self.runCount = runCount
            self.isTimeLeft = isTimeLeft
        }
    }

    private let isSame: (RunReport) -> Bool
    private let run: (Scenario) -> RunReport
    private let budget: Budget
    private let mustBeHealed: Bool
    /// When it first showed; `nil` when only the end showed it.
    private let failedAt: Duration?
    /// What was run before. None of it is run again.
    private var tried: Set<Scenario> = []
    package private(set) var runCount = 0

    /// `run` is how a candidate is run: in the virtual world, with whatever is planted there.
    package init(
        _ isSame: @escaping (RunReport) -> Bool, budget: Budget = Budget(), mustBeHealed: Bool = false,
        failedAt: Duration? = nil, run: @escaping (Scenario) -> RunReport = { World($0).run() }
    ) {
        self.isSame = isSame
        self.budget = budget
        self.mustBeHealed = mustBeHealed
        self.failedAt = failedAt
        self.run = run
    }

    /// Keeps what fails as `report` did. `nil` for one that held.
    ///
    /// With a fault planted in `run`, `runWithout` is the same without it: what fails in both is not the plant's, and is not
    /// kept either.
    package init?(
        sameAs report: RunReport, budget: Budget = Budget(),
        run: @escaping (Scenario) -> RunReport = { World($0).run() }, runWithout: ((Scenario) -> RunReport)? = nil
    ) {
        guard let original = FailureSignature(report) else { return nil }
        self.init(
            { candidate in
                guard FailureSignature(candidate)?.isSame(as: original) == true else { return false }
                return runWithout.map { FailureSignature($0(candidate.scenario)) == nil } ?? true
            }, budget: budget, mustBeHealed: original.isAboutDraining && report.scenario.isHealed,
            failedAt: report.firstViolationAt, run: run)
    }

    /// The smallest that it found; the scenario itself when nothing smaller fails in the same way.
    package mutating func shrink(_ scenario: Scenario) -> Scenario {
        var best = scenario
        tried.insert(scenario)
        leaveOutWhatCameAfter(&best)
        simplify(&best) { $0.onlyOneRecording }
        var before: Scenario
        repeat {
            before = best
            leaveOutFamilies(&best)
            simplify(&best) { $0.settingsEdits }
            leaveOutSteps(&best)
            leaveOutPairs(&best)
            simplify(&best) { $0.linkEdits }
            simplify(&best) { $0.stepEdits }
            simplify(&best) { $0.timeEdits }
            if best == before, best.steps.count > Self.fewSteps { leaveOutStepsWithOtherSeeds(&best) }
        } while best != before && hasBudget
        return best
    }

    private var hasBudget: Bool { runCount < budget.runCount && budget.isTimeLeft() }

    /// Runs a candidate, and takes it when it fails in the same way.
    private mutating func takes(_ candidate: Scenario, _ best: inout Scenario) -> Bool {
        guard hasBudget, !mustBeHealed || candidate.isHealed, tried.insert(candidate).inserted else { return false }
        runCount += 1
        guard isSame(run(candidate)) else { return false }
        best = candidate
        return true
    }

    // MARK: Steps

    private mutating func leaveOutWhatCameAfter(_ best: inout Scenario) {
        guard let failedAt, let end = best.steps.firstIndex(where: { $0.at > failedAt }) else { return }
        _ = takes(best.withoutSteps(end..<best.steps.count), &best)
    }

    private mutating func leaveOutFamilies(_ best: inout Scenario) {
        var families: [StepFamily] = []
        for timed in best.steps {
            if let family = timed.step.family, !families.contains(family) { families.append(family) }
        }
        for family in families {
            _ = takes(best.edited { $1.step.family == family ? nil : $1 }, &best)
        }
    }

    /// From the end: what came after the failure goes first.
    private mutating func leaveOutSteps(_ best: inout Scenario) {
        var size = max(1, best.steps.count / 2)
        while true {
            var end = best.steps.count
            while end > 0 {
                let start = max(0, end - size)
                _ = takes(best.withoutSteps(start..<min(end, best.steps.count)), &best)
                end = min(start, best.steps.count)
            }
            if size == 1 { return }
            size /= 2
        }
    }

    /// What the power leaves and who comes first is drawn from the seed, and every step that is left out shifts that. So where
    /// many steps stay, perhaps none of them matters, and only the luck was lost.
    private mutating func leaveOutStepsWithOtherSeeds(_ best: inout Scenario) {
        var index = best.steps.count - 1
        while index >= 0 {
            for seed in Self.otherSeeds where index < best.steps.count {
                if takes(best.withoutSteps(index..<index + 1).reseeded(seed), &best) { break }
            }
            index = min(index, best.steps.count) - 1
        }
    }

    private static let fewSteps = 6
    private static let otherSeeds = UInt64(1)...8

    /// Two steps of one family, such as a kill and the start after it.
    private mutating func leaveOutPairs(_ best: inout Scenario) {
        var first = 0
        while first < best.steps.count {
            var second = first + 1
            while second < best.steps.count {
                let pair = (first, second)
                let isOneFamily =
                    best.steps[first].step.family != nil
                    && best.steps[first].step.family == best.steps[second].step.family
                let isLeftOut =
                    isOneFamily && takes(best.edited { $0 == pair.0 || $0 == pair.1 ? nil : $1 }, &best)
                // Another step stands at `first` then.
                second = isLeftOut ? first + 1 : second + 1
            }
            first += 1
        }
    }

    /// Tries every edit that there is for the best so far; one that worked is tried again, since it may halve something.
    private mutating func simplify(_ best: inout Scenario, _ edits: (Scenario) -> [Edit]) {
        var index = 0
        var list = edits(best)
        while index < list.count, hasBudget {
            if takes(list[index](best), &best) { list = edits(best) } else { index += 1 }
        }
    }
}

extension RunReport {
    /// From the beginning of the scenario; `nil` for what no violation showed.
    fileprivate var firstViolationAt: Duration? {
        guard case .violated(let violations) = verdict, let first = violations.first else { return nil }
        return first.moment.since(.zero)
    }
}
