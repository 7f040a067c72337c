/// A set of seeds, as ranges in ascending order that do not touch.
package struct SeedSet: Hashable, Sendable, CustomStringConvertible {
    package private(set) var ranges: [Range<UInt64>] = []

    package init() {}

    package init(_ range: Range<UInt64>) {
        if !range.isEmpty { ranges = [range] }
    }

    package var isEmpty: Bool { ranges.isEmpty }

    package var count: UInt64 { ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

    /// `0..<500, 700..<900`.
    package var description: String {
        ranges.isEmpty ? "none" : ranges.map { "\($0.lowerBound)..<\($0.upperBound)" }.joined(separator: ", ")
    }

    package mutating func insert(_ seed: UInt64) {
        precondition(seed < .max, "the last seed of all has none behind it")
        insert(seed..<seed + 1)
    }

    package mutating func insert(_ range: Range<UInt64>) {
        guard !range.isEmpty else { return }
        // Mostly it continues the last one.
        let start =
            ranges.last.map { $0.upperBound < range.lowerBound } == true
            ? ranges.count : ranges.firstIndex { $0.upperBound >= range.lowerBound } ?? ranges.count
        var end = start
        var joined = range
        while end < ranges.count, ranges[end].lowerBound <= range.upperBound {
            joined = min(joined.lowerBound, ranges[end].lowerBound)..<max(joined.upperBound, ranges[end].upperBound)
            end += 1
        }
        ranges.replaceSubrange(start..<end, with: [joined])
    }

    package mutating func formUnion(_ other: SeedSet) {
        for range in other.ranges { insert(range) }
    }

    /// The first seeds that both have.
    package func firstOverlap(with other: SeedSet) -> Range<UInt64>? {
        for range in ranges {
            for theirs in other.ranges where range.overlaps(theirs) { return range.clamped(to: theirs) }
        }
        return nil
    }

    /// What of `whole` is missing.
    package func missing(from whole: Range<UInt64>) -> SeedSet {
        var left = SeedSet()
        var next = whole.lowerBound
        for range in ranges where range.upperBound > whole.lowerBound && range.lowerBound < whole.upperBound {
            if range.lowerBound > next { left.insert(next..<range.lowerBound) }
            next = max(next, range.upperBound)
        }
        if next < whole.upperBound { left.insert(next..<whole.upperBound) }
        return left
    }

    /// The `number`-th of `count` parts of a range, from 1: contiguous, without overlap, as equal as they can be.
    package static func shard(_ number: Int, of count: Int, _ range: Range<UInt64>) -> Range<UInt64> {
        precondition(number >= 1 && number <= count, "the shards of \(count) are 1 to \(count), not \(number)")
        func bound(_ index: Int) -> UInt64 {
            let (product, divisor) = (
                (range.upperBound - range.lowerBound).multipliedFullWidth(by: UInt64(index)), UInt64(count)
            )
            return range.lowerBound + divisor.dividingFullWidth(product).quotient
        }
        return bound(number - 1)..<bound(number)
    }
}
