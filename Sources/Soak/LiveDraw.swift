import LinkFaults
package import Scenarios
import Spooling
import WireContract

// What the live soak plays: storms, one after the other, and one standing pair beside them, all with the real daemons and in
// real seconds.
//
// A storm has a random SIGKILL every moment, so none of its daemons grows old; the standing pair's are never killed, so
// whatever grows in a daemon grows there. Both lose 30 % each way. Faults first, then healing, then the demand of P6, as in
// virtual time.
//
// Where a step needs an answer of the pair (a veto, a deletion) the recording that it names must exist; on a watch whose disk
// is full `record` makes none. So a storm has either people or a full watch, never both.

/// Draws what is played live. A function of its arguments alone.
package enum LiveDraw {
    /// Faults for `length`, with kills.
    package static func storm(seed: UInt64, length: Duration) -> Scenario {
        var drawing = LiveDrawing(seed: seed, length: length)
        drawing.drawStorm()
        return drawing.scenario(
            "Storm of seed \(seed)", "Kills, loss and full disks at random moments lose nothing.")
    }

    /// Notes at a steady pace for `length`, nobody is killed.
    package static func standing(seed: UInt64, length: Duration) -> Scenario {
        var drawing = LiveDrawing(seed: seed, length: length)
        drawing.drawStanding()
        return drawing.scenario(
            "Standing pair of seed \(seed)", "A pair that nobody kills holds no more at the end than at the beginning.")
    }
}

private struct LiveDrawing {
    let seed: UInt64
    let length: Duration
    var dice: Dice
    var settings = ScenarioSettings()
    var steps: [TimedStep] = []
    var recordedAt: [Duration] = []

    private static let loss = 0.3
    /// Most steps of a scenario are the file's bound; the last ones heal.
    private static let mostDrawnSteps = Scenario.mostSteps - 100

    init(seed: UInt64, length: Duration) {
        self.seed = seed
        self.length = length
        dice = Dice(seed: seed ^ 0x11FE_50AC_0000_0001)
        settings.policy = RetryPolicy(
            first: dice.scaled(.milliseconds(150)...(.seconds(1))), cap: dice.scaled(.seconds(1)...(.seconds(3))),
            patience: dice.scaled(.seconds(1)...(.seconds(4))))
    }

    mutating func add(_ step: Step, at: Duration) {
        if steps.count < Self.mostDrawnSteps { steps.append(TimedStep(at: min(at, length), step)) }
    }

    /// Calls `body` with moments that are `gaps` apart, to the end.
    private mutating func every(
        _ gaps: ClosedRange<Duration>, _ body: (inout LiveDrawing, Duration) -> Void
    ) {
        var at = dice.scaled(gaps)
        while at < length {
            body(&self, at)
            at += dice.scaled(gaps)
        }
    }

    // MARK: Storm

    mutating func drawStorm() {
        settings.link = lossyLink()
        let hasFullWatch = dice.happens(0.5)
        let mostNotes = dice.number(2...80)
        every(.milliseconds(20)...(.milliseconds(800))) { drawing, at in
            drawing.record(drawing.dice.scaled(1...mostNotes), at: at)
        }
        let kills = dice.scaled(.milliseconds(20)...(.milliseconds(500)))...dice.scaled(.seconds(1)...(.seconds(4)))
        every(kills) { drawing, at in drawing.kill(at: at) }
        every(.seconds(2)...(.seconds(12))) { drawing, at in drawing.fill(.phone, at: at) }
        if hasFullWatch { every(.seconds(2)...(.seconds(12))) { drawing, at in drawing.fill(.watch, at: at) } }
        if dice.happens(0.3) {
            every(.seconds(3)...(.seconds(10))) { drawing, at in
                drawing.add(.container(drawing.dice.one(of: [.locked, .signedOut])), at: at)
                drawing.add(.container(.open), at: at + drawing.dice.scaled(.milliseconds(50)...(.seconds(2))))
            }
        }
        if dice.happens(0.3) {
            every(.seconds(2)...(.seconds(8))) { drawing, at in drawing.add(.link(drawing.lossyLink()), at: at) }
        }
        if !hasFullWatch { drawPeople() }
        heal()
    }

    private mutating func record(_ count: Int, at: Duration) {
        guard recordedAt.count + count <= Scenario.mostRecordings else { return }
        // Large ones are rare: they are copied and summed again at every try.
        let byteCount = dice.happens(0.02) ? dice.scaled(65_536...(1 << 20)) : dice.scaled(1...16_384)
        recordedAt += repeatElement(at, count: count)
        add(.record(count: count, byteCount: byteCount), at: at)
    }

    private mutating func kill(at: Duration) {
        guard !dice.happens(0.15) else { return add(.reboot(.everything), at: at) }
        let side = dice.one(of: Side.both)
        add(.kill(side, .now), at: at)
        // Mostly at once, as a system does that restarts what died.
        add(.start(side), at: dice.happens(0.7) ? at : at + dice.scaled(.milliseconds(1)...(.milliseconds(800))))
    }

    private mutating func fill(_ side: Side, at: Duration) {
        add(.capacity(side, .full), at: at)
        add(.capacity(side, .unlimited), at: at + dice.scaled(.milliseconds(50)...(.seconds(2))))
    }

    private mutating func drawPeople() {
        guard !recordedAt.isEmpty else { return }
        every(.milliseconds(200)...(.seconds(4))) { drawing, at in
            let sofar = drawing.recordedAt.prefix { $0 < at }.count
            guard sofar > 0 else { return }
            let ordinal = drawing.dice.number(max(1, sofar - 30)...sofar)
            drawing.add(drawing.dice.happens(0.5) ? .veto(ordinal: ordinal) : .delete(ordinal: ordinal), at: at)
        }
    }

    // MARK: Standing

    mutating func drawStanding() {
        settings.link = LinkPlan(seed: seed, loss: Chance(Self.loss) ?? .always)
        // Ten minutes or a weekend: as many steps as a scenario may have, at most one in half a second.
        let gap = Duration.milliseconds(max(500, length.wholeMilliseconds / (Self.mostDrawnSteps / 2)))
        var at = Duration.zero
        while at < length {
            record(1, at: at)
            at += gap
        }
        every(.seconds(20)...(.milliseconds(max(60_000, length.wholeMilliseconds / 100)))) { drawing, at in
            drawing.fill(.phone, at: at)
        }
        heal()
    }

    // MARK: Link and healing

    private mutating func lossyLink() -> LinkPlan {
        var plan = LinkPlan(seed: seed, loss: Chance(Self.loss) ?? .always)
        let more: [LinkFault] = [
            .duplicate(extraCopies: dice.scaled(1...4)), .damage(.altered),
            .damage(.truncated(share: Double(dice.number(0...100)) / 100)), .silent, .forget, .failWithoutDetails,
            .fail(dice.one(of: TransferError.allCases)), .delay(dice.scaled(.milliseconds(1)...(.milliseconds(700)))),
        ]
        for direction in LinkDirection.allCases {
            for fault in more where dice.happens(0.3) {
                let chance = Double(dice.scaled(1...20)) / 100
                plan[direction].chances.append(FaultChance(fault, Chance(chance) ?? .always))
            }
        }
        return plan
    }

    private mutating func heal() {
        let healing: [Step] = [
            .link(LinkPlan(seed: seed)), .capacity(.phone, .unlimited), .capacity(.watch, .unlimited),
            .container(.open), .start(.watch), .start(.phone),
        ]
        steps += healing.map { TimedStep(at: length, $0) }
    }

    func scenario(_ name: String, _ shows: String) -> Scenario {
        let order = steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        return Scenario(name: name, shows: shows, seed: seed, settings: settings, steps: order.map(\.element))
    }
}
