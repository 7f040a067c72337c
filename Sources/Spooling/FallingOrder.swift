/// A queue of names is kept so: the next one is the last element, from where it is taken without moving the others.
///
/// Inlinable for the same reason as `DueQueue`.
extension Array where Element: Comparable {
    /// Puts an element into an array that falls from the first to the last, in its place, unless it is there already. What
    /// comes in the order of names comes to the front.
    @inlinable package mutating func insertFalling(_ element: Element) {
        // The first index whose element is not larger.
        var low = 0
        var high = count
        if let first, first < element { high = 0 }
        while low < high {
            let middle = (low + high) / 2
            if element < self[middle] { low = middle + 1 } else { high = middle }
        }
        if low < count, self[low] == element { return }
        insert(element, at: low)
    }
}
