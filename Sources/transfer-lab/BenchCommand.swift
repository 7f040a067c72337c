import DaemonRuntime
import LivePair
import Simulation
import Spooling

/// `transfer-lab bench`: what the machine allows, and how near the pair comes.
enum BenchCommand {
    static func run(_ command: ParsedCommand) -> ExitCode {
        if command.flag("--show") {
            standardOutput(FullMix.scenario(seed: command.seed("--seed") ?? 1).text)
            return .held
        }
        guard let parts = parts(command) else { return .usage }
        let parent = command.text("--dir") ?? Environment.temporaryFolder
        do {
            let place = try BenchPlace(below: parent)
            var run = BenchRun(
                place, parts: parts, isQuick: command.flag("--quick"),
                ramParent: command.text("--ram-dir") ?? "/dev/shm")
            standardError(place.machineLine)
            let repetitions = Int(clamping: command.integer("--repeat") ?? (command.flag("--quick") ? 3 : 9))
            try run.measure(repetitions)
            if parts.contains(.virtual) {
                let rate = try VirtualRate.measure(
                    wanted: Int(clamping: command.integer("--transfers") ?? 0), firstSeed: command.seed("--seed") ?? 1)
                run.figures.add(
                    rate, .virtual, "virtual.rate", "verified transfers, full mix of faults, one core", "transfers/s",
                    .atLeast(10_000))
            }
            if let warning = place.warning { run.figures.skip(warning) }
            present(run.figures, place, isJSON: command.flag("--json"))
            for law in run.figures.brokenLaws { standardError("\(LabTool.name) bench: against the law: \(law)") }
            return run.figures.brokenLaws.isEmpty ? .held : .violated
        } catch {
            standardError("\(LabTool.name) bench: \(error)")
            return .inputOutput
        }
    }

    private static func parts(_ command: ParsedCommand) -> Set<BenchPart>? {
        guard let only = command.text("--only") else {
            // Asked for the virtual rate as before.
            if command.isGiven("--transfers") || command.isGiven("--seed") { return [.virtual] }
            return Set(BenchPart.allCases)
        }
        var parts: Set<BenchPart> = []
        for word in only.split(separator: ",") {
            guard let part = BenchPart(rawValue: String(word)) else {
                let known = BenchPart.allCases.map(\.rawValue).joined(separator: ", ")
                standardError("\(LabTool.name) bench: no part is called \(word); there are \(known)")
                return nil
            }
            parts.insert(part)
        }
        return parts
    }

    private static func present(_ figures: Figures, _ place: BenchPlace, isJSON: Bool) {
        if isJSON {
            standardOutput(figures.json(machine: place.machine).line)
        } else {
            standardOutput(place.machineLine)
            standardOutput("")
            for line in figures.lines { standardOutput(line) }
        }
    }
}

/// The rate of the virtual world.
enum VirtualRate {
    /// Verified transfers a second on one core. A run counts whole.
    static func measure(wanted: Int, firstSeed: UInt64) throws -> Double {
        for line in FullMix.words { standardError(line) }
        let clock = MonotonicClock()
        let began = clock.now()
        var verified = 0
        var eventCount: UInt64 = 0
        var seed = firstSeed
        var digest: UInt64 = 0
        while verified < wanted {
            let report = World(FullMix.scenario(seed: seed), trailCount: 8_192).run()
            guard report.outcome == .held else {
                throw BenchError(
                    "seed \(seed): \(report.outcome.rawValue): " + report.complaints.joined(separator: "; "))
            }
            verified += report.verifiedCount
            eventCount += report.entryCount
            digest = (digest &* 0x100_0000_01B3) ^ report.digest.value
            seed += 1
        }
        let seconds = clock.now().since(began).inSeconds
        standardError(
            "\(verified) transfers verified in \(seconds) s, \(eventCount) events; seeds \(firstSeed)..<\(seed), "
                + "digest \(digest.hex(digits: 16))")
        return Double(verified) / seconds
    }
}
