package import Monitors
package import Scenarios
import Spooling

/// What a run of a scenario came to.
package struct RunReport: Sendable {
    package enum World: String, Sendable { case virtual, live }

    /// In one word, as the exit code says it.
    package enum Outcome: String, Sendable, CaseIterable { case held, undecided, violated }

    package var scenario: Scenario
    package var world: World
    package var verdict: Verdict
    package var unmet: [Unmet]
    package var troubles: [String]
    package var digest: HistoryDigest
    package var entryCount: UInt64
    package var recordedCount: Int
    package var verifiedCount: Int
    package var census: Census
    /// Calls of the daemons to a simulated disk, each name that was listed counted as one; 0 live.
    package var callCount: UInt64 = 0
    /// It was ended before it was over, because it made more calls than this.
    package var callLimit: UInt64?
    /// From the first moment to the last, in the scenario's own time.
    package var length: Duration
    /// How many of the scenario's seconds one second of the run was.
    package var timeScale = 1.0
    /// Empty unless the run was asked to keep them.
    package var entries: [HistoryEntry]

    /// A broken promise, an expectation that was not met and a trouble of the world's are all violations: whoever has it in
    /// a CI wants to look. What owes, and shall, has held. Of a run that was cut short nobody knows what it would have come to.
    package var outcome: Outcome {
        if !troubles.isEmpty { return .violated }
        if case .violated = verdict { return .violated }
        if callLimit != nil { return .undecided }
        if !unmet.isEmpty { return .violated }
        switch verdict {
        case .violated: return .violated
        case .undecided: return scenario.expectsToOwe ? .held : .undecided
        case .held: return scenario.expectsToOwe && census.isNothingOwed ? .violated : .held
        }
    }

    /// What is wrong, a line each; empty when it held.
    package var complaints: [String] {
        var lines = troubles
        lines += callLimit.map { ["cut short: it took more than \($0) calls"] } ?? unmet.map(\.description)
        switch verdict {
        case .held:
            if scenario.expectsToOwe, census.isNothingOwed {
                lines.append("it drained, and was expected to owe something")
            }
        case .undecided(let undrained):
            guard !scenario.expectsToOwe else { break }
            lines += undrained.prefix(10).map {
                "\($0.id) is still on the watch, and nobody can say yet whether it drains"
            }
        case .violated(let violations):
            for violation in violations.prefix(10) {
                let subject = violation.id.map { " \($0)" } ?? ""
                lines.append("\(violation.promise) (\(violation.promise.title)):\(subject) \(violation.why)")
                lines += violation.explanation.map { "    \($0)" }
            }
            if violations.count > 10 { lines.append("and \(violations.count - 10) more violations") }
        }
        return lines
    }
}

extension Census {
    /// Nothing waits anywhere for anybody.
    package var isNothingOwed: Bool {
        recordings.isEmpty && staging.isEmpty && inbox.isEmpty && entries.isEmpty && acks.isEmpty
    }
}
