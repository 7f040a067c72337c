import DaemonRuntime
import Monitors
import PlantedFaults
import Replay
import Scenarios
import Simulation
import Soak
import Spooling

// `transfer-lab soak --planted`: how soon the soak finds what is wrong, for faults of which we know.
//
// A hunt is one fault and one starting seed: drawn scenarios from that seed on, with the fault in the pair, until one is
// violated that holds without the fault. Every hunt has the same budget. The starting seeds are fixed, so how many seeds a
// hunt takes is the same on every machine; only the seconds differ.

enum PlantedCommand {
    /// Starting seeds lie so far apart: no hunt runs a seed of another start.
    private static let startDistance: UInt64 = 1_000_000

    static func run(_ command: ParsedCommand) -> ExitCode {
        let faults: [PlantedFault]
        do throws(RunsError) {
            faults = try read(command.text("--planted") ?? "")
        } catch {
            return ReplayCommand.refuse(error, "soak")
        }
        let startCount = Int(clamping: command.integer("--starts") ?? 20)
        let campaign = HuntCampaign(
            faults, startCount: startCount, seconds: Double(command.integer("--budget") ?? 120),
            shrinkCount: min(startCount, Int(clamping: command.integer("--shrink") ?? 0)),
            folder: command.text("--failures") ?? "./soak-failures",
            shrinkSeconds: Double(command.integer("--shrink-seconds") ?? 60))
        let jobs = Int(clamping: command.integer("--jobs") ?? Int64(Workers.processorCount))
        Workers.each(0..<faults.count * startCount, jobs: jobs) { index in
            campaign.hunt(
                index / startCount, start: index % startCount, seed: UInt64(index % startCount) * startDistance)
        }
        return HuntPresenter.show(campaign, isJSON: command.flag("--json"))
    }

    private static func read(_ text: String) throws(RunsError) -> [PlantedFault] {
        guard text != "all" else { return PlantedFault.allCases }
        var faults: [PlantedFault] = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            if let fault = try PlantedFault.named(String(name)), !faults.contains(fault) { faults.append(fault) }
        }
        return faults
    }
}

/// What the hunts for one fault came to.
struct HuntResult: Sendable {
    var fault: PlantedFault
    /// Of those that found it.
    var seedCounts: [Int] = []
    var seconds: [Double] = []
    /// What was violated first.
    var promises: [Promise] = []
    /// Starting seeds from which it was not found, with how many seeds were run.
    var missed: [(seed: UInt64, seedCount: Int)] = []
    var shrunk: [ShrunkFailure] = []
    /// What went wrong with the lab, or with the pair without any fault.
    var troubles: [String] = []
    var missingCount: Int
}

/// All hunts. Several threads make them.
final class HuntCampaign: @unchecked Sendable {
    let startCount: Int
    let budgetSeconds: Double
    let shrinkCount: Int
    private let folder: String
    private let shrinkSeconds: Double
    private let clock = MonotonicClock()
    private let lock = Mutex()
    private var found: [HuntResult]

    init(
        _ faults: [PlantedFault], startCount: Int, seconds: Double, shrinkCount: Int, folder: String,
        shrinkSeconds: Double
    ) {
        self.startCount = startCount
        budgetSeconds = seconds
        self.shrinkCount = shrinkCount
        self.folder = folder
        self.shrinkSeconds = shrinkSeconds
        found = faults.map { HuntResult(fault: $0, missingCount: startCount) }
    }

    /// Once all hunts are over.
    var results: [HuntResult] { lock.whileHeld { found } }

    func hunt(_ index: Int, start: Int, seed: UInt64) {
        let fault = lock.whileHeld { found[index].fault }
        let began = clock.now()
        let end = began + .seconds(budgetSeconds)
        let ending = Hunt.begin(at: seed, plant: fault.make) { [clock] in clock.now() < end }
        let seconds = clock.now().since(began).inSeconds
        var shrunk: ShrunkFailure?
        var trouble: String?
        if case .found(let find) = ending, start < shrinkCount {
            do throws(ShrinkingError) {
                shrunk = try FailureShrinker(plant: fault, seconds: shrinkSeconds).shrink(
                    find.report, from: "seed \(find.seed) with \(fault.rawValue)",
                    to: "\(folder)/\(fault.rawValue)-seed-\(find.seed).json5")
                if let contradiction = shrunk?.contradiction { trouble = "seed \(find.seed): \(contradiction)" }
            } catch {
                trouble = "seed \(find.seed): \(error)"
            }
        }
        lock.whileHeld {
            found[index].missingCount -= 1
            if let shrunk { found[index].shrunk.append(shrunk) }
            if let trouble { found[index].troubles.append(trouble) }
            switch ending {
            case .found(let find):
                found[index].seedCounts.append(find.seedCount)
                found[index].seconds.append(seconds)
                found[index].promises += FailureSignature(find.report)?.promise.map { [$0] } ?? []
            case .notFound(let seedCount): found[index].missed.append((seed, seedCount))
            case .violatedWithoutIt(let find):
                let again = "\(LabTool.name) soak --seeds '\(find.seed)..<\(find.seed + 1)'"
                found[index].troubles.append("seed \(find.seed) is violated WITHOUT any fault: \(again)")
            }
            if found[index].missingCount == 0 {
                let result = found[index]
                standardError(
                    "\(result.fault.rawValue): found in \(result.seedCounts.count) of \(startCount), median "
                        + "\(HuntPresenter.number(result.seedCounts.map(Double.init).median)) seeds")
            }
        }
    }
}

/// A table for a person, or an object a fault for a program.
enum HuntPresenter {
    static func show(_ campaign: HuntCampaign, isJSON: Bool) -> ExitCode {
        let results = campaign.results
        if isJSON {
            for result in results { standardOutput(object(result).line) }
        } else {
            for line in table(results, campaign).lines { standardOutput(line) }
        }
        var isComplete = true
        for result in results {
            for missed in result.missed {
                isComplete = false
                standardOutput(
                    "\(result.fault.rawValue) was not found from seed \(missed.seed) in \(campaign.budgetSeconds) s "
                        + "(\(missed.seedCount) seeds)")
            }
            for trouble in result.troubles {
                isComplete = false
                standardOutput("\(result.fault.rawValue): \(trouble)")
            }
        }
        if !isJSON { standardOutput(sum(results, campaign)) }
        return isComplete ? .held : .violated
    }

    private static func table(_ results: [HuntResult], _ campaign: HuntCampaign) -> TextTable {
        var columns = [
            TextTable.Column("fault"), .init("family"), .init("found", .right), .init("seeds", .right),
            .init("seconds", .right), .init("slowest", .right), .init("promise"),
        ]
        if campaign.shrinkCount > 0 { columns += [.init("steps left", .right), .init("shrunk in s", .right)] }
        var table = TextTable(columns)
        for result in results {
            var cells = [
                result.fault.rawValue, result.fault.family.rawValue,
                "\(result.seedCounts.count)/\(campaign.startCount)",
                number(result.seedCounts.map(Double.init).median), number(result.seconds.median),
                number(result.seconds.max()), words(result.promises),
            ]
            if campaign.shrinkCount > 0 {
                cells += [
                    number(result.shrunk.map { Double($0.stepsLeft) }.median),
                    number(result.shrunk.map(\.seconds).median),
                ]
            }
            table.add(cells)
        }
        return table
    }

    private static func sum(_ results: [HuntResult], _ campaign: HuntCampaign) -> String {
        let complete = results.count { $0.seedCounts.count == campaign.startCount }
        var text =
            "\(complete) of \(results.count) faults found from each of \(campaign.startCount) starts; over all hunts, median "
            + "\(number(results.flatMap { $0.seedCounts.map(Double.init) }.median)) seeds and "
            + "\(number(results.flatMap(\.seconds).median)) s, slowest \(number(results.flatMap(\.seconds).max())) s"
        let shrunk = results.flatMap(\.shrunk)
        if !shrunk.isEmpty {
            text +=
                "; \(shrunk.count) shrunk, median \(number(shrunk.map { Double($0.stepsLeft) }.median)) steps left in "
                + "\(number(shrunk.map(\.seconds).median)) s, most \(shrunk.map(\.stepsLeft).max() ?? 0) steps and "
                + "\(number(shrunk.map(\.seconds).max())) s"
        }
        return text
    }

    private static func words(_ promises: [Promise]) -> String {
        Promise.allCases.compactMap { promise in
            let count = promises.count { $0 == promise }
            return count == 0 ? nil : "\(promise)×\(count)"
        }.joined(separator: " ")
    }

    private static func object(_ result: HuntResult) -> JSONObject {
        [
            "fault": .string(result.fault.rawValue), "family": .string(result.fault.family.rawValue),
            "found": JSONValue(result.seedCounts.count),
            "medianSeeds": result.seedCounts.map(Double.init).median.map { .number($0) } ?? .null,
            "medianSeconds": result.seconds.median.map { .number($0) } ?? .null,
            "slowestSeconds": result.seconds.max().map { .number($0) } ?? .null,
            "promises": .string(words(result.promises)),
            "notFoundFrom": .array(result.missed.map { JSONValue($0.seed) }),
            "shrunk": .array(result.shrunk.map { .object($0.members) }),
            "troubles": .array(result.troubles.map { .string($0) }),
        ]
    }

    /// Two digits behind the point where they say something.
    static func number(_ value: Double?) -> String {
        guard let value else { return "–" }
        let rounded = value < 10 ? (value * 100).rounded() / 100 : (value * 10).rounded() / 10
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }
}

extension [Double] {
    /// `nil` for none.
    fileprivate var median: Double? {
        guard !isEmpty else { return nil }
        let ordered = sorted()
        return (ordered[(count - 1) / 2] + ordered[count / 2]) / 2
    }
}
