package import Replay
import Scenarios
package import Simulation

// Looking for a planted fault as a soak would look for one of ours: drawn scenarios, seed after seed, until one is violated.
// What a fault's own scenario shows says that the monitors see it. This says that the drawing goes where it is.

/// Runs drawn seeds with a fault in the pair until it shows.
package enum Hunt {
    /// Where it showed.
    package struct Find: Sendable {
        package var seed: UInt64
        /// How many seeds were run, this one included.
        package var seedCount: Int
        package var report: RunReport
    }

    package enum Ending: Sendable {
        case found(Find)
        case notFound(seedCount: Int)
        /// That seed is violated without any fault: the pair is wrong, or the bench.
        case violatedWithoutIt(Find)
    }

    /// From `seed` on, as long as `isTimeLeft`. `plant` makes a new one for each run.
    ///
    /// Found means a broken promise, where the same seed without the plant holds. What nobody can decide yet is no find.
    package static func begin(at seed: UInt64, plant: () -> any Plant, isTimeLeft: () -> Bool) -> Ending {
        var seedCount = 0
        while isTimeLeft() {
            let next = seed + UInt64(seedCount)
            seedCount += 1
            let scenario = ScenarioDraw.scenario(seed: next)
            let report = World(bounded: scenario, plant: plant()).run()
            guard FailureSignature(report)?.promise != nil else { continue }
            let without = World(bounded: scenario).run()
            guard without.outcome == .held else {
                return .violatedWithoutIt(Find(seed: next, seedCount: seedCount, report: without))
            }
            return .found(Find(seed: next, seedCount: seedCount, report: report))
        }
        return .notFound(seedCount: seedCount)
    }
}
