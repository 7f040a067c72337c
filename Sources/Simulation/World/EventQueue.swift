import Spooling

// What is to happen, in the order of (moment, sequence): of two things at one moment, the one that was asked for first.
// A binary heap in one array; nothing in it depends on a hash or an address.

struct EventQueue<Event> {
    private struct Item {
        let moment: Moment
        let sequence: UInt64
        let event: Event

        func isBefore(_ other: Item) -> Bool {
            moment != other.moment ? moment < other.moment : sequence < other.sequence
        }
    }

    private var items: [Item] = []
    private var lastSequence: UInt64 = 0

    var isEmpty: Bool { items.isEmpty }
    var nextMoment: Moment? { items.first?.moment }

    mutating func add(_ event: Event, at moment: Moment) {
        lastSequence += 1
        items.append(Item(moment: moment, sequence: lastSequence, event: event))
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[child].isBefore(items[parent]) else { return }
            items.swapAt(child, parent)
            child = parent
        }
    }

    mutating func popFirst() -> (moment: Moment, event: Event)? {
        guard let first = items.first else { return nil }
        let last = items.removeLast()
        guard !items.isEmpty else { return (first.moment, first.event) }
        items[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in 2 * parent + 1...2 * parent + 2 where child < items.count {
                if items[child].isBefore(items[least]) { least = child }
            }
            guard least != parent else { return (first.moment, first.event) }
            items.swapAt(parent, least)
            parent = least
        }
    }
}
