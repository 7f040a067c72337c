package import Replay
package import Scenarios
import Simulation

// From a scenario that fails to a small one that fails in the same way.
//
// Delta debugging (Zeller, Hildebrandt: "Simplifying and Isolating Failure-Inducing Input", 2002) over the steps: halves,
// quarters, single ones are left out as long as it still fails. Then what is left is made simpler, one edit at a time: fewer
// and shorter notes, faults of the link dropped or made certain, times shortened, settings put back to their defaults. All
// passes are repeated until none finds anything, or the runs are used up.
//
// Each candidate is run, and kept only when it fails in the same way. What failed because it did not drain is only kept while
// it is healed at its end: without that, not to drain is right.

/// Makes failing scenarios smaller. A function of the scenario, of what counts as the same, and of the code that is run.
package struct Shrinker {
    /// How many runs it may make.
    package struct Budget: Hashable, Sendable {
        package var runCount: Int
        package init(runCount: Int = 2_000) { self.runCount = runCount }
    }

    private let isSame: (RunReport) -> Bool
    private let run: (Scenario) -> RunReport
    private let budget: Budget
    private let mustBeHealed: Bool
    package private(set) var runCount = 0

    /// `run` is how a candidate is run: in the virtual world, with whatever is planted there.
    package init(
        _ isSame: @escaping (RunReport) -> Bool, budget: Budget = Budget(), mustBeHealed: Bool = false,
        run: @escaping (Scenario) -> RunReport = { World($0).run() }
    ) {
        self.isSame = isSame
        self.budget = budget
        self.mustBeHealed = mustBeHealed
        self.run = run
    }

    /// Keeps what fails as `report` did. `nil` for one that held.
    package init?(
        sameAs report: RunReport, budget: Budget = Budget(),
        run: @escaping (Scenario) -> RunReport = { World($0).run() }
    ) {
        guard let original = FailureSignature(report) else { return nil }
        self.init(
            { FailureSignature($0)?.isSame(as: original) ?? false }, budget: budget,
            mustBeHealed: original.isAboutDraining && report.scenario.isHealed, run: run)
    }

    /// The smallest that it found; the scenario itself when nothing smaller fails in the same way.
    package mutating func shrink(_ scenario: Scenario) -> Scenario {
        var best = scenario
        var before: Scenario
        repeat {
            before = best
            leaveOutSteps(&best)
            simplify(&best) { $0.settingsEdits }
            simplify(&best) { $0.linkEdits }
            simplify(&best) { $0.stepEdits }
            simplify(&best) { $0.timeEdits }
        } while best != before && runCount < budget.runCount
        return best
    }

    /// Runs a candidate, and takes it when it fails in the same way.
    private mutating func takes(_ candidate: Scenario, _ best: inout Scenario) -> Bool {
        guard candidate != best, runCount < budget.runCount, !mustBeHealed || candidate.isHealed else { return false }
        runCount += 1
        guard isSame(run(candidate)) else { return false }
        best = candidate
        return true
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

    /// Tries every edit that there is for the best so far; one that worked is tried again, since it may halve something.
    private mutating func simplify(_ best: inout Scenario, _ edits: (Scenario) -> [Edit]) {
        var index = 0
        var list = edits(best)
        while index < list.count, runCount < budget.runCount {
            if takes(list[index](best), &best) { list = edits(best) } else { index += 1 }
        }
    }
}
