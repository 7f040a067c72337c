import Spooling

// What was said once need not be said again: see `ToldTroubles`.

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

/// The failures of each concern that were told and last.
struct Troubles {
    private var told = [ToldTroubles](repeating: ToldTroubles(), count: Concern.allCases.count)

    subscript(_ concern: Concern) -> ToldTroubles {
        get { told[concern.rawValue] }
        _modify { yield &told[concern.rawValue] }
    }

    mutating func clear(_ concern: Concern) { self[concern].clear() }
}
