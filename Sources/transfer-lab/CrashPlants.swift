import CrashLab
import DaemonRuntime
import Monitors
import PlantedFaults

/// `transfer-lab crash --plant`: faults that the sweep must find.
enum CrashPlants {
    enum Choice {
        case done(ExitCode)
        case refused(String)
        /// Each in a scenario of its own.
        case sweeps([CrashCase])
        /// In the scenarios that are named.
        case planted(PlantedFault)
    }

    static func chosen(_ name: String, hasFiles: Bool) -> Choice {
        if name == "list" {
            for each in CrashCase.all {
                standardOutput("\(each.fault): \(each.fault.says) (\(each.part.name): \(each.breaks))")
            }
            standardOutput("With FILE also, whether a crash shows them or not:")
            for fault in PlantedFault.allCases where fault.crashCase == nil {
                standardOutput("\(fault): \(fault.says)")
            }
            return .done(.held)
        }
        if name == "all", !hasFiles { return .sweeps(CrashCase.all) }
        guard let fault = PlantedFault(rawValue: name) else {
            return .refused("--plant wants a name that `--plant list` shows, not \(name)")
        }
        if hasFiles { return .planted(fault) }
        guard let own = fault.crashCase else {
            return .refused("\(name) shows without a crash: name a scenario to see it in")
        }
        return .sweeps([own])
    }

    /// Ends with 0 when each is found as it shall be, and the same sweep without it holds.
    static func look(for cases: [CrashCase], _ command: ParsedCommand) -> ExitCode {
        var ending = ExitCode.held
        let spread = CrashCommand.spread(CrashCommand.jobs(command))
        let clock = MonotonicClock()
        for each in cases {
            let began = clock.now()
            let (section, lines) = troubles(of: each, spread, command)
            let seconds = (clock.now().since(began).inSeconds * 100).rounded() / 100
            if lines.isEmpty {
                let first = section.failures.first
                standardOutput(
                    "\(each.fault): found in \(seconds) s by \(first.map { "\($0.attempt)" } ?? ""), "
                        + (first?.lines.first ?? ""))
            } else {
                ending = .violated
                standardOutput("\(each.fault): not found as it shall be")
            }
            for line in lines { standardOutput("    \(line)") }
        }
        return ending
    }

    /// What the sweep came to, and what is wrong with that.
    private static func troubles(
        of each: CrashCase, _ spread: @escaping CrashSweep.Spread, _ command: ParsedCommand
    ) -> (CrashSection, [String]) {
        let (stride, most) = (CrashCommand.stride(command), CrashCommand.mostRecoveries(command))
        let planted = each.sweep(spread, mostRecoveries: most)
        var lines: [String] = []
        if planted.reference().outcome != .held {
            lines += ["without a crash:"] + planted.reference().complaints
        }
        let section = planted.section(each.part, stride: stride)
        if let failure = section.failures.first, let first = failure.lines.first {
            if !first.hasPrefix("\(each.breaks) ") {
                lines.append("\(each.breaks) shall be broken, but by \(failure.attempt): \(first)")
            }
        } else {
            lines.append("\(section.name): nothing found at \(section.reachedCount) places")
        }
        let healthy = each.sweep(spread, isPlanted: false, mostRecoveries: most).section(each.part, stride: stride)
        if !healthy.held {
            lines +=
                ["without the fault:"] + healthy.failures.flatMap { ["\($0.attempt)"] + $0.lines } + healthy.unreached
        }
        return (section, lines)
    }
}
