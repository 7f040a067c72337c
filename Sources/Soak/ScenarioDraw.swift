import LinkFaults
package import Scenarios
import Spooling
import WireContract

// A seed draws a whole scenario: what is recorded, which kinds of faults there are, when each strikes, and then the healing.
//
// First faults, then healing, then the demand of P6: the last steps of a drawn scenario take away whatever could keep a
// recording from draining, so that the monitors may ask for everything within the bound. Nothing else is expected: what a
// drawn mix leads to on its way is not known, only that the promise holds. (Some end with notes of a version to come: those
// are owed, and kept.)
//
// Virtual time is free, but every try of a recording costs the same whether the wait before it was a second or an hour. So
// the length of a scenario is drawn in waits of its policy: months with long waits and few notes, minutes with short ones.

/// Draws scenarios. A function of the seed alone.
package enum ScenarioDraw {
    /// The scenario of a seed. Reads back from its text to an equal one.
    package static func scenario(seed: UInt64) -> Scenario {
        draw(seed: seed, .small).scenario
    }

    /// The scenario of a seed, of that size, and what is in it. A small one is the same as `scenario(seed:)`.
    package static func draw(seed: UInt64, _ size: DrawSize) -> Drawn {
        var drawing = Drawing(seed: seed, isLarge: size.isLarge(seed: seed))
        let scenario = drawing.draw()
        return Drawn(scenario: scenario, kinds: FaultKind.allCases.filter { drawing.has($0) }, isLarge: drawing.isLarge)
    }
}

/// One scenario under way.
struct Drawing {
    let seed: UInt64
    /// Thousands of notes instead of tens; see `DrawSize`.
    let isLarge: Bool
    var dice: Dice
    var settings = ScenarioSettings()
    /// In the order in which they were drawn; sorted by their moments at the end.
    var steps: [TimedStep] = []
    private var kinds: Set<FaultKind> = []
    /// Faults strike from zero to here.
    var span = Duration.zero
    /// When each note is recorded, by ordinal from 1 at index 0.
    var recordedAt: [Duration] = []
    var recordedByteCount = 0
    /// Which watch the phone serves from when on; steps about the watch mean that one.
    var switches: [(at: Duration, number: Int)] = []
    /// The last notes are of a version that the phone does not understand by then: they wait, and everything else drains.
    private var owes = false

    init(seed: UInt64, isLarge: Bool = false) {
        self.seed = seed
        self.isLarge = isLarge
        dice = Dice(seed: seed ^ 0xD3A3_5CE7_A110_0001)
    }

    /// Whether the scenario has faults of that kind. Only membership: the order of the set never shows.
    func has(_ kind: FaultKind) -> Bool { kinds.contains(kind) }

    mutating func add(_ step: Step, at: Duration) { steps.append(TimedStep(at: at, step)) }

    mutating func anyMoment() -> Duration { dice.moment(in: .zero...span) }

    /// How often a kind that is on strikes: once mostly, a handful at times.
    mutating func strikes(_ most: Int) -> Int { dice.scaled(1...most) }

    mutating func draw() -> Scenario {
        for kind in FaultKind.allCases where dice.happens(kind.chance) { kinds.insert(kind) }
        settings.policy = drawPolicy()
        if isLarge { drawManyRecordings() } else { drawRecordings() }
        drawBuilds()
        drawLink()
        drawDeaths()
        drawDisks()
        drawPhone()
        drawPeople()
        drawStrangers()
        drawRareMeetings()
        heal()
        let order = steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        return Scenario(
            name: "Drawn from seed \(seed)", shows: "A drawn mix of faults drains once they stop.", seed: seed,
            settings: settings, steps: order.map(\.element),
            expectations: owes ? [TimedExpectation(at: nil, .owes)] : [])
    }

    // MARK: How long and how much

    private mutating func drawPolicy() -> RetryPolicy {
        let first = dice.scaled(.seconds(1)...(.seconds(3_600)))
        let cap = dice.happens(0.2) ? first : max(first, dice.scaled(.seconds(5)...(.seconds(6 * 3_600))))
        return RetryPolicy(first: first, cap: cap, patience: dice.scaled(.seconds(1)...(.seconds(3_600))))
    }

    /// Tries of all notes together in the time of faults, about.
    private static let mostTries = 1_000
    static let longestSpan = Duration.seconds(120 * 86_400)

    private mutating func drawRecordings() {
        let stepCount = dice.scaled(1...12)
        var counts = (0..<stepCount).map { _ in dice.scaled(1...15) }
        while counts.reduce(0, +) > 60 { counts.removeLast() }
        let count = counts.reduce(0, +)
        let cap = max(settings.policy.cap, settings.policy.first)
        let longest = min(Self.longestSpan, cap * Self.mostTries / count)
        span = dice.scaled(.seconds(10)...max(.seconds(20), longest))
        var moments = counts.map { _ in dice.happens(0.3) ? .zero : anyMoment() }
        moments.sort()
        for (at, count) in zip(moments, counts) {
            let byteCount = drawByteCount()
            recordedByteCount += count * byteCount
            recordedAt += repeatElement(at, count: count)
            add(.record(count: count, byteCount: byteCount), at: at)
        }
    }

    private mutating func drawByteCount() -> Int {
        if has(.emptyNotes), dice.happens(0.5) { return 0 }
        // Every try of a large one is copied and summed: few of them, or a soak does nothing else.
        if has(.largeNotes), recordedByteCount < 4 << 20, dice.happens(0.3) { return dice.scaled(65_536...(4 << 20)) }
        return dice.scaled(1...65_536)
    }

    // MARK: Builds

    /// What either side may write or understand, at most. The builds of the healing understand all of it.
    static let newestVersion = 4

    private mutating func drawBuilds() {
        if has(.payloadVersions) {
            settings.payloadVersion = dice.number(1...Self.newestVersion)
            settings.phoneUnderstands = dice.number(1...Self.newestVersion)
        }
        if has(.ackVersions) {
            settings.ackVersion = dice.number(1...Self.newestVersion)
            settings.watchUnderstands = dice.number(1...Self.newestVersion)
        }
        if has(.payloadVersions) || has(.ackVersions) {
            for _ in 0..<strikes(4) {
                let at = anyMoment()
                add(drawBuild(dice.one(of: Side.both)), at: at)
            }
        }
        if has(.lateStart) {
            settings.startsBoth = false
            // Perhaps neither starts before the healing.
            for side in Side.both where dice.happens(0.7) {
                let at = anyMoment()
                add(.start(side), at: at)
            }
        }
    }

    private mutating func drawBuild(_ side: Side) -> Step {
        let (reads, writes) =
            switch side {
            case .watch: (has(.ackVersions), has(.payloadVersions))
            case .phone: (has(.payloadVersions), has(.ackVersions))
            }
        let understands = dice.number(1...Self.newestVersion)
        let written = dice.number(1...Self.newestVersion)
        return .build(side, understands: reads ? understands : nil, writes: writes ? written : nil)
    }

    // MARK: Healing

    /// Takes away what could keep a recording from draining, in an order that is drawn as far as it may be.
    ///
    /// The builds come last: another build is a new process, so whatever was ordered to die at a call that never came is
    /// forgotten, and both sides run. An order that came while a side could not be opened (its disk was full) is meant for the
    /// first process that can: so there is one before. Where nothing asks for other builds the processes mostly go on: a new one
    /// has forgotten how often it tried, and would heal what only a daemon that has run for long suffers from.
    private mutating func heal() {
        let begin = (steps.map(\.at).max() ?? .zero) + dice.scaled(.milliseconds(1)...(.seconds(60)))
        if let last = switches.last, last.number != 1 { add(.switchWatch(to: 1), at: begin) }
        var healing: [Step] = [.link(cleanLink), .start(.watch), .start(.phone)]
        healing += [.capacity(.watch, .unlimited), .capacity(.phone, .unlimited)]
        healing += [.session(.active), .handler(.normal), .container(.open)]
        var at = begin
        while !healing.isEmpty {
            at += drawHealingPause()
            add(healing.remove(at: dice.number(0...healing.count - 1)), at: at)
        }
        if has(.killAtCall) {
            for side in Side.both {
                add(.stop(side), at: at)
                add(.start(side), at: at)
            }
        }
        let needsBuilds = has(.killAtCall) || has(.payloadVersions) || has(.ackVersions) || has(.futureAtTheEnd)
        if needsBuilds || dice.happens(0.3) {
            for side in dice.happens(0.5) ? [Side.watch, .phone] : [.phone, .watch] {
                at += drawHealingPause()
                add(.build(side, understands: Self.newestVersion, writes: nil), at: at)
            }
        }
        if dice.happens(0.2) { recordAtTheEnd(&at) }
        if has(.futureAtTheEnd) {
            add(.build(.watch, understands: nil, writes: Self.newestVersion + 1), at: at)
            recordAtTheEnd(&at)
            owes = true
        }
    }

    private mutating func drawHealingPause() -> Duration {
        dice.happens(0.5) ? dice.scaled(.milliseconds(1)...(.seconds(30))) : .zero
    }

    private mutating func recordAtTheEnd(_ at: inout Duration) {
        at += dice.scaled(.milliseconds(1)...(.seconds(30)))
        let count = dice.number(1...3)
        add(.record(count: count, byteCount: dice.scaled(1...65_536)), at: at)
    }

    var cleanLink: LinkPlan { LinkPlan(seed: seed) }
}
