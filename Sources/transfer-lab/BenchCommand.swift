import DaemonRuntime
import Monitors
import Replay
import Scenarios
import Simulation
import Spooling

/// `transfer-lab bench`: so far the rate of the virtual world.
enum BenchCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        let wanted = Int(clamping: command.integer("--transfers") ?? 0)
        let firstSeed = command.seed("--seed") ?? 1
        if command.flag("--show") {
            standardOutput(FullMix.scenario(seed: firstSeed).text)
            return .held
        }
        for line in FullMix.words { standardOutput(line) }
        let clock = MonotonicClock()
        let began = clock.now()
        var verified = 0
        var eventCount: UInt64 = 0
        var seed = firstSeed
        var digest: UInt64 = 0
        while verified < wanted {
            let report = World(FullMix.scenario(seed: seed), trailCount: 8_192).run()
            guard report.outcome == .held else {
                standardOutput("seed \(seed): \(report.outcome.rawValue)")
                for line in report.complaints { standardOutput("    " + line) }
                return report.outcome == .violated ? .violated : .undecided
            }
            verified += report.verifiedCount
            eventCount += report.entryCount
            digest = (digest &* 0x100_0000_01B3) ^ report.digest.value
            seed += 1
        }
        let seconds = clock.now().since(began).inSeconds
        standardOutput(
            "\(verified) transfers verified in \(seconds) s, one core: \(Int(Double(verified) / seconds)) a second;"
                + " \(eventCount) events, \(Int(Double(eventCount) / seconds)) a second")
        standardOutput("seeds \(firstSeed)..<\(seed), digest \(digest.hex(digits: 16))")
        return .held
    }
}
