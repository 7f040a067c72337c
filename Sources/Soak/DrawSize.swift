package import Scenarios

// How large drawn scenarios are.
//
// Most of a small run is its set-up: two daemons, three disks, a judge. Tens of notes are what finds faults (a mix of few
// notes is the easiest to shrink, and swarms of seeds meet more mixes), thousands are what makes a campaign of millions of
// transfers affordable, and what reaches bounds: a full window, a full quarantine, long queues. So a soak draws both, under
// the same mix of faults: one seed in so many is a large one, and which ones is a function of the seed.

/// Which sizes a soak draws.
package enum DrawSize: String, CaseIterable, Sendable {
    /// Small ones, and one seed in sixteen a large one.
    case mixed
    /// Up to some sixty notes.
    case small
    /// Some hundreds to some thousands of notes.
    case large

    func isLarge(seed: UInt64) -> Bool {
        switch self {
        case .mixed:
            var dice = Dice(seed: seed ^ 0x517E_0F7E_ED00_0001)
            return dice.happens(1 / 16)
        case .small: return false
        case .large: return true
        }
    }
}

/// What a seed draws.
package struct Drawn: Sendable {
    package let scenario: Scenario
    /// The kinds of faults that are on, in the order of their cases.
    package let kinds: [FaultKind]
    package let isLarge: Bool
}

extension Drawing {
    /// Tries of each note in the time of faults, about: every one costs the same, and there are thousands of notes.
    private static let mostTriesOfEach = 4
    private static let mostNotes = 4_000
    /// A day's worth of a link that is down is no more expensive than a second.
    private static let leastSpan = Duration.seconds(20)

    mutating func drawManyRecordings() {
        let count = dice.number(500...Self.mostNotes)
        let cap = max(settings.policy.cap, settings.policy.first)
        let longest = min(Self.longestSpan, max(Self.leastSpan, cap * Self.mostTriesOfEach))
        span = dice.scaled(.seconds(10)...longest)
        var counts: [Int] = []
        var left = count
        while left > 0 {
            // All at once now and then, so that the window is full.
            let next = dice.happens(0.05) ? left : min(left, dice.scaled(1...200))
            counts.append(next)
            left -= next
        }
        var moments = counts.map { _ in dice.happens(0.1) ? .zero : anyMoment() }
        moments.sort()
        let isEmpty = has(.emptyNotes)
        for (at, count) in zip(moments, counts) {
            let byteCount = isEmpty && dice.happens(0.3) ? 0 : dice.scaled(1...4_096)
            recordedByteCount += count * byteCount
            recordedAt += repeatElement(at, count: count)
            add(.record(count: count, byteCount: byteCount), at: at)
        }
    }
}
