import LinkFaults
package import Monitors
package import Scenarios
import Spooling
import WireContract

// A run that happened, turned into a scenario again: what a soak or a person met by chance is kept, and run again as often
// as anybody wants, in both worlds.
//
// Kept: every act of the world at its moment, to the millisecond; every recording with its length; the builds; and the link
// as it was. What the link did to a transfer becomes a rule of `only` for that note and that try, so nothing is left to
// chance: chances and bursts are gone from the plan. Tries count from the watch's start, so each start of the watch brings
// a plan of its own into force, with what happened from there on. With the original scenario at hand its plan says
// what the history does not (which byte was hit, a delay, a report that never came), outages, stuck heads and bandwidth stay
// as they were, and the steps that leave no trace of their own come from it at its moments: session, reachable, handler,
// capacity, clock, raw bytes, cancel. What implies a start (a reboot, a restored home, a new phone, another watch) takes
// the start that followed with it.
//
// Lost: at which call a daemon was killed (it is killed at that moment); what the power took of what was not synced, unless
// the original says how; entries and acks that somebody planted, what somebody changed in the container or removed by hand,
// a wiped home; and which of two acks of one try was hit, for rules know only the try: both are. An entry that outlived its
// watch's start is met by the rules of the next one. Without the original: how much of a cut transfer arrived unless it was
// set aside for it, session, clock and disks. What was left out is counted in `shows`.
//
// A file has bounds (1 MiB, 10,000 steps). A longer run is cut, in halves until it fits; then it holds no expectations,
// because the end that they would tell of is not its end.

package enum Capture {
    /// The scenario that `entries`, in the order of their history, are a run of. It always reads back from its text.
    ///
    /// `original` is what was run, if that is known: it gives the settings, and what a history does not tell. `timeScale`
    /// is how many of the scenario's seconds one of the history's is: the `liveScale` of a live run, 1 in virtual time.
    package static func scenario(
        from entries: [HistoryEntry], of original: Scenario?, name: String, timeScale: Double = 1
    ) -> Scenario {
        precondition(timeScale > 0 && timeScale.isFinite, "time goes forward: \(timeScale)")
        var count = entries.count
        while true {
            var steps = CaptureSteps(original: original, timeScale: timeScale)
            steps.observe(entries.prefix(count), isWhole: count == entries.count)
            var scenario = Scenario(
                name: name.cut(to: 100), report: original?.report?.cut(to: 200), shows: "", seed: original?.seed ?? 1,
                settings: steps.settings, steps: steps.timedSteps)
            if count == entries.count {
                scenario.expectations = steps.expectations(inOrder: original?.isInOrder == true)
            }
            scenario.shows = shows(steps, of: original, kept: count, all: entries.count)
            if count == 0 || scenario.fitsAFile { return scenario }
            count /= 2
        }
    }

    private static func shows(_ steps: CaptureSteps, of original: Scenario?, kept: Int, all: Int) -> String {
        var text = "Captured from a run"
        if let original { text += " of \"\(original.name)\"" }
        text += "."
        if kept < all { text += " Only the first \(kept) of \(all) entries." }
        if !steps.leftOut.isEmpty {
            text += " Left out: " + steps.leftOut.map { "\($0.words) (\($0.count))" }.joined(separator: ", ") + "."
        }
        return text.cut(to: 500)
    }
}

extension String {
    /// At most so many scalars, as the format counts.
    fileprivate func cut(to count: Int) -> String {
        guard unicodeScalars.count > count else { return self }
        var text = String()
        text.unicodeScalars.append(contentsOf: unicodeScalars.prefix(count - 1))
        return text + "…"
    }
}

extension Scenario {
    fileprivate var isInOrder: Bool { expectations.contains { $0.expectation == .inOrder } }

    fileprivate var fitsAFile: Bool {
        let mostRules = 10_000
        let plans = [settings.link] + steps.compactMap { if case .link(let plan) = $0.step { plan } else { nil } }
        return steps.count <= Scenario.mostSteps && expectations.count <= Scenario.mostSteps
            && recordingCount <= Scenario.mostRecordings
            && plans.allSatisfy { $0.toPhone.rules.count <= mostRules && $0.toWatch.rules.count <= mostRules }
            && text.utf8.count <= JSONTree.mostByteCount
    }
}
