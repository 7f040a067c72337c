import LinkFaults
import Replay
import Scenarios
import Spooling
import WireContract

// The load of the virtual benchmark: everything that goes wrong, at once, and a lot of notes.
//
// One run records `notesPerRun` notes of 1 KiB in handfuls, over a link that misbehaves in every way that it knows in both
// directions, while both daemons are killed and restarted, the power goes, the container locks and the session ends. Then the
// link heals and all of it has to drain.

enum FullMix {
    static let notesPerRun = 2_000
    private static let notesPerStep = 20
    private static let secondsPerStep = 5

    /// What the benchmark prints of itself.
    static let words = [
        "link, each way: 10 % dropped, 3 % failed with a code, 2 % forgotten, 5 % delivered up to 3 times, 2 % cut, 2 % altered,",
        "    5 % never reported, 10 % late by 1 to 5 s; bursts of 90 % loss in a twentieth of the time",
        "daemons: each side killed every 2 to 3 minutes of the run, one power cut, one stop and start",
        "phone: the container locks, the disk fills, nobody handles files; watch: the session ends; each for some seconds",
        "notes: 1 KiB each, 20 at a time; all seven monitors, digest over every event",
    ]

    static func scenario(seed: UInt64) -> Scenario {
        var settings = ScenarioSettings()
        settings.policy = RetryPolicy(first: .seconds(10), cap: .seconds(120), patience: .seconds(60))
        settings.link = plan(seed: seed)
        var steps: [TimedStep] = []
        func at(_ second: Int, _ step: Step) { steps.append(TimedStep(at: .seconds(second), step)) }
        let batchCount = notesPerRun / notesPerStep
        for batch in 0..<batchCount {
            at(1 + batch * secondsPerStep, .record(count: notesPerStep, byteCount: 1_024))
        }
        let length = batchCount * secondsPerStep
        for second in stride(from: 47, to: length, by: 131) {
            at(second, .kill(.phone, .now))
            at(second + 2, .start(.phone))
        }
        for second in stride(from: 83, to: length, by: 173) {
            at(second, .kill(.watch, .now))
            at(second + 3, .start(.watch))
        }
        at(length / 3, .reboot(.random))
        at(length / 2, .container(.locked))
        at(length / 2 + 20, .container(.open))
        at(length / 2 + 40, .session(.inactive))
        at(length / 2 + 50, .session(.active))
        at(length / 2 + 60, .handler(.none))
        at(length / 2 + 65, .handler(.normal))
        at(length / 2 + 70, .capacity(.phone, .full))
        at(length / 2 + 90, .capacity(.phone, .unlimited))
        at(length - 30, .stop(.phone))
        at(length - 20, .start(.phone))
        at(length + 60, .link(.clean))
        let order = steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        return Scenario(
            name: "Full mix", shows: "Everything at once.", seed: seed, settings: settings,
            steps: order.map(\.element))
    }

    private static func plan(seed: UInt64) -> LinkPlan {
        func chance(_ value: Double) -> Chance {
            guard let chance = Chance(value) else { preconditionFailure("a chance lies in 0...1: \(value)") }
            return chance
        }
        var direction = DirectionPlan()
        direction.chances = [
            FaultChance(.drop, chance(0.1)), FaultChance(.fail(.deliveryFailed), chance(0.03)),
            FaultChance(.forget, chance(0.02)), FaultChance(.duplicate(extraCopies: 2), chance(0.05)),
            FaultChance(.damage(.truncated(share: 0.8)), chance(0.02)), FaultChance(.damage(.altered), chance(0.02)),
            FaultChance(.silent, chance(0.05)),
            FaultChance(.delay(.seconds(1)), chance(0.1), longestDelay: .seconds(5)),
        ]
        direction.burst = BurstLoss(slot: .seconds(5), enter: chance(0.02), leave: chance(0.4), loss: chance(0.9))
        var plan = LinkPlan(seed: seed)
        plan.toPhone = direction
        plan.toWatch = direction
        return plan
    }
}
