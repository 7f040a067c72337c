package import Scenarios
package import Simulation

extension World {
    /// So many calls are ten to thirty seconds of one core. A drawn scenario costs a thousandth of that, a large one a
    /// hundredth; one that costs more has met something that the pair does again and again, and that wants looking at.
    package static let mostCalls: UInt64 = 30_000_000

    /// A world for a scenario that was drawn, or that became of one: cut short when it costs too much. How much is counted in
    /// calls and not in seconds, so that a seed ends in the same way on every machine.
    package convenience init(bounded scenario: Scenario, plant: (any Plant)? = nil, trailCount: Int = 65_536) {
        self.init(scenario, plant: plant, trailCount: trailCount)
        callLimit = Self.mostCalls
    }
}
