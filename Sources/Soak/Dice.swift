import Simulation
import Spooling

/// What a seed draws with: a stream of numbers, and the few shapes of chance that a drawn scenario needs.
struct Dice {
    private var numbers: SplitMix64

    init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

    mutating func word() -> UInt64 { numbers.next() }

    /// A stream of its own: what is drawn from it later does not shift what is drawn here.
    mutating func split() -> Dice { Dice(seed: numbers.next()) }

    /// In 0..<1.
    mutating func unit() -> Double { Double(numbers.next() >> 11) * 0x1p-53 }

    mutating func happens(_ chance: Double) -> Bool { unit() < chance }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(numbers.next() % UInt64(range.upperBound - range.lowerBound + 1))
    }

    mutating func one<Element>(of elements: [Element]) -> Element {
        elements[number(0...elements.count - 1)]
    }

    /// As likely to lie between 1 and 10 as between 100 and 1,000: by halves from the upper end, so that it is exact on every
    /// machine. Small numbers are common and large ones occur.
    mutating func scaled(_ range: ClosedRange<Int>) -> Int {
        let least = max(1, range.lowerBound)
        var halvings = 0
        while range.upperBound >> (halvings + 1) >= least { halvings += 1 }
        return number(range.lowerBound...max(range.lowerBound, range.upperBound >> number(0...halvings)))
    }

    /// Whole milliseconds below ten seconds, whole seconds above.
    mutating func scaled(_ range: ClosedRange<Duration>) -> Duration {
        let milliseconds = scaled(range.lowerBound.wholeMilliseconds...range.upperBound.wholeMilliseconds)
        return .milliseconds(milliseconds < 10_000 ? milliseconds : milliseconds / 1_000 * 1_000)
    }

    /// Anywhere in it, to the millisecond.
    mutating func moment(in range: ClosedRange<Duration>) -> Duration {
        .milliseconds(number(range.lowerBound.wholeMilliseconds...range.upperBound.wholeMilliseconds))
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: word()) } }
}

extension Duration {
    var wholeMilliseconds: Int {
        Int(components.seconds) * 1_000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}

extension Side {
    static var both: [Side] { [.watch, .phone] }
}
