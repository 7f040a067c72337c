/// A queue by key: the smallest comes out first. A binary heap, because the toolchain ships none.
///
/// Inlinable, because each side keeps keys of its own: without it every comparison would go through witness tables. The
/// type must be usable from inline code too, or the compiler takes the members' code along and never specialises it.
///
/// Equal keys come out in an order that depends on history; give every element a key of its own.
@usableFromInline package struct DueQueue<Key: Comparable & Hashable & Sendable>: Hashable, Sendable {
    @usableFromInline var heap: [Key] = []

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { heap.isEmpty }
    @inlinable package var count: Int { heap.count }
    @inlinable package var first: Key? { heap.first }

    @inlinable package mutating func insert(_ key: Key) {
        heap.append(key)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child] < heap[parent] else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    @inlinable package mutating func popFirst() -> Key? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var parent = 0
        while true {
            var smallest = parent
            for child in 2 * parent + 1...2 * parent + 2 where child < heap.count && heap[child] < heap[smallest] {
                smallest = child
            }
            if smallest == parent { return first }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
