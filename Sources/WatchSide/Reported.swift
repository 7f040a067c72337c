import Spooling

// What was said once need not be said again: a disk that stays full or a link that stays in the spool would otherwise fill
// the journal, a line every two seconds.

/// Names that were reported as refused. Bounded: behind the bound they are refused in silence.
struct RefusedNames {
    private var names: Set<FileName> = []
    private static let most = 1_024

    /// Whether this is the first time, and there is still room to remember it.
    mutating func isNew(_ name: FileName) -> Bool {
        guard names.count < Self.most else { return false }
        return names.insert(name).inserted
    }

    func contains(_ name: FileName) -> Bool { names.contains(name) }
}

/// What a failure is about.
enum Concern: Int, CaseIterable {
    case spool, pairing, acks, entries, recordings, requests, enqueue, delete, quarantine
}

/// The last failure of each concern.
struct Troubles {
    private var last = [String?](repeating: nil, count: Concern.allCases.count)

    /// Whether this differs from what was last reported.
    mutating func isNew(_ concern: Concern, _ text: String) -> Bool {
        guard last[concern.rawValue] != text else { return false }
        last[concern.rawValue] = text
        return true
    }

    mutating func clear(_ concern: Concern) { last[concern.rawValue] = nil }
}
