import LinkFaults
package import Monitors
import Spooling
package import WireContract

/// Which recording of a run is which: what a scenario, and a comparison of two runs, call a note by.
///
/// A run numbers its recordings in their ids (`ULID.ordinal`), and where those are 1 to n they count, whatever the order
/// in which `record` returned: two that are recorded at once return in any order. Ids of the field carry no numbers; then
/// the order in which `record` returned is the number. Only what `record` returned has one, so nobody else's entries do.
package struct NoteNumbers: Hashable, Sendable {
    private var numbers: [ULID: Int] = [:]

    /// By number, from 1: the id of number n is at n - 1.
    package private(set) var ids: [ULID] = []

    /// In the order in which `record` returned.
    package init(asReturned entries: some Sequence<HistoryEntry>) {
        for case .world(.recordReturned(let id, _, _, _)) in entries.lazy.map(\.what) { add(id) }
    }

    /// As the ids say, where they say 1 to n; otherwise as returned.
    package init(_ entries: some Sequence<HistoryEntry>) {
        self.init(asReturned: entries)
        let sorted = ids.sorted { $0.ordinal < $1.ordinal }
        guard sorted.enumerated().allSatisfy({ $0.element.ordinal == $0.offset + 1 }) else { return }
        ids = sorted
        for (index, id) in ids.enumerated() { numbers[id] = index + 1 }
    }

    package subscript(id: ULID) -> Int? { numbers[id] }

    package var count: Int { ids.count }

    /// The number of `id`, which is the next one if it has none yet.
    @discardableResult
    package mutating func add(_ id: ULID) -> Int {
        if let number = numbers[id] { return number }
        ids.append(id)
        numbers[id] = ids.count
        return ids.count
    }
}

extension EntryName {
    /// The entry that a name is of, or came from: a name in the inbox is a pairing, perhaps a copy's number, and the
    /// entry's name.
    init?(ending name: FileName) {
        let noteByteCount = 68
        guard
            let entry = EntryName(name) ?? FileName(bytes: name.bytes.suffix(noteByteCount)).flatMap({ EntryName($0) })
        else { return nil }
        self = entry
    }
}
