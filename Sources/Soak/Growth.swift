import Spooling

// Whether something grows without end: descriptors, memory, of the daemons or of the lab.
//
// Values go up and down while work goes on, so a single high one says nothing, and an average hides a slow leak. What leaks
// never comes back: then even the least value of the last quarter lies above everything of the second. The first quarter is
// left out, in which caches and buffers find their size.

/// A value that was looked at again and again.
package struct Growth: Sendable {
    private var values: [(at: Duration, value: UInt64)] = []

    package init() {}

    package mutating func add(_ value: UInt64, at: Duration) { values.append((at, value)) }

    package var count: Int { values.count }
    package var most: UInt64? { values.map(\.value).max() }

    /// Too few values say nothing.
    package static let leastCount = 12

    /// How much more the least of the last quarter of the time is than the most of the second; 0 when it is not. `nil` when
    /// there are too few values.
    package var increase: UInt64? {
        guard values.count >= Self.leastCount, let end = values.map(\.at).max() else { return nil }
        let second = values.filter { $0.at > end / 4 && $0.at <= end / 2 }.map(\.value)
        let last = values.filter { $0.at > end / 4 * 3 }.map(\.value)
        guard let most = second.max(), let least = last.min() else { return nil }
        return least > most ? least - most : 0
    }
}
