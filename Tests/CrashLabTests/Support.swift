import CrashLab
import Foundation
import Replay
import Scenarios
import Simulation
import Spooling

enum Canonical {
    /// Read once: a test that cannot find it has nothing to say.
    static let scenario: Scenario = {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Scripts/Scenarios/canonical-crash.json5").path
        do {
            return try ScenarioReader.read(text: String(contentsOfFile: path, encoding: .utf8), file: path)
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    static func sweep(_ makePlant: @escaping @Sendable () -> (any Plant)? = { nil }) -> CrashSweep {
        CrashSweep(scenario, spread: overAllCores, mostRecoveries: 400, makePlant: makePlant)
    }

    @Sendable static func overAllCores(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        DispatchQueue.concurrentPerform(iterations: count, execute: body)
    }
}
