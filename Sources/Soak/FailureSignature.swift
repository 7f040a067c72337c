package import Monitors
package import Replay

// In which way a run failed: what two runs must have in common to have failed in the same way.
//
// A shrinker that only asked "does it still fail?" slips: from a lost recording to a scenario that never starts the phone.
// So a failure is known by its first violation: the promise, and the sentence without its numbers, since a later try or
// another pairing is no other failure. Of the promises that are broken besides, none may be new.

/// How a run failed.
package enum FailureSignature: Hashable, Sendable, CustomStringConvertible {
    /// The first violation, and every promise that was broken.
    case violated(Promise, why: String, all: Set<Promise>)
    /// An expectation of the scenario's was not met.
    case unmet(String)
    /// The world itself could not go on.
    case trouble(String)
    case undecided

    /// `nil` when it held.
    package init?(_ report: RunReport) {
        guard report.outcome != .held else { return nil }
        if case .violated(let violations) = report.verdict, let first = violations.first {
            self = .violated(
                first.promise, why: first.why.withoutNumbers, all: Set(violations.map(\.promise)))
        } else if let trouble = report.troubles.first {
            self = .trouble(trouble.withoutNumbers)
        } else if report.callLimit != nil {
            self = .trouble("cut short, since it took too many calls")
        } else if let unmet = report.unmet.first {
            self = .unmet(unmet.description.withoutNumbers)
        } else {
            self = .undecided
        }
    }

    /// In a line, without what differs from run to run.
    package var description: String {
        switch self {
        case .violated(let promise, let why, _): "\(promise) (\(promise.title)): \(why)"
        case .unmet(let text): "not as expected: \(text)"
        case .trouble(let text): "trouble: \(text)"
        case .undecided: "time ran out before it drained"
        }
    }

    /// Whether a run that failed so failed in the same way as one that failed like `original`.
    package func isSame(as original: FailureSignature) -> Bool {
        switch (self, original) {
        case (.violated(let promise, let why, let all), .violated(let first, let sentence, let known)):
            promise == first && why == sentence && all.isSubset(of: known)
        case (.unmet, .unmet), (.trouble, .trouble), (.undecided, .undecided): self == original
        case (.violated, _), (.unmet, _), (.trouble, _), (.undecided, _): false
        }
    }

    /// The promise that was broken first, if one was.
    package var promise: Promise? {
        switch self {
        case .violated(let promise, _, _): promise
        case .unmet, .trouble, .undecided: nil
        }
    }

    /// Whether it says that something did not drain. Any scenario that is not healed fails so.
    package var isAboutDraining: Bool {
        switch self {
        case .violated(let promise, _, _): promise == .itDrains || promise == .theUnknownWaits
        case .undecided: true
        case .unmet, .trouble: false
        }
    }
}

extension String {
    /// Words with a digit in them left out.
    fileprivate var withoutNumbers: String {
        split(separator: " ").filter { word in !word.utf8.contains { (48...57).contains($0) } }.joined(separator: " ")
    }
}
