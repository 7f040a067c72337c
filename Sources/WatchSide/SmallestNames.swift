import Spooling

/// The smallest of the elements that it is shown, at most `limit` of them: a bounded selection from a directory of any size.
struct SmallestNames<Element: Comparable> {
    private let limit: Int
    /// A heap with the largest on top, which is the one to give up.
    private var heap: [Element] = []
    /// Whether there were more than `limit`.
    private(set) var isCut = false

    init(limit: Int) {
        precondition(limit > 0, "a selection of \(limit) names")
        self.limit = limit
    }

    mutating func insert(_ element: Element) {
        if heap.count < limit {
            heap.append(element)
            siftUp()
            return
        }
        isCut = true
        guard element < heap[0] else { return }
        heap[0] = element
        siftDown()
    }

    var sorted: [Element] { heap.sorted() }

    private mutating func siftUp() {
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[parent] < heap[child] else { return }
            heap.swapAt(parent, child)
            child = parent
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var largest = parent
            for child in 2 * parent + 1...2 * parent + 2 where child < heap.count && heap[largest] < heap[child] {
                largest = child
            }
            if largest == parent { return }
            heap.swapAt(parent, largest)
            parent = largest
        }
    }
}
