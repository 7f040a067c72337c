import Spooling
import WireContract

/// P1. From the moment `record` has returned until it was final once, a recording is durably on the watch.
///
/// Exceptions, all of them the world's acts: a watch restored from an older copy loses what was recorded after that copy, a
/// wiped watch loses everything, and somebody may remove a recording by hand. After it was final once the promise is
/// fulfilled: what a wiped container loses later is not the watch's to keep.
package struct NothingIsLost: Monitor {
    package static let promise = Promise.nothingIsLost

    package init() {}

    package mutating func observe(_ entry: HistoryEntry, _ chronicle: Chronicle) -> Violation? {
        guard case .pair(let event) = entry.what, event.kind == .deleted, entry.source == .watch else { return nil }
        let record = chronicle[chronicle.current]
        guard record.flags.contains(.recorded), !chronicle.isPerhapsFinal(record) else { return nil }
        return Violation(Self.promise, entry, record.id, "the watch deletes it, and it was never final on the phone")
    }

    package mutating func finish(_ census: Census, _ chronicle: Chronicle) -> [Violation] {
        let found = CensusIndex(census.recordings.map(\.id))
        let ingested = CensusIndex(census.container.map(\.id))
        let rows = CensusIndex(census.ledger.lazy.filter { $0.outcome != .ingesting }.map(\.id))
        let vetoes = CensusIndex(census.vetoes)
        var violations: [Violation] = []
        for index in 1..<chronicle.count {
            let record = chronicle[index]
            guard record.flags.contains(.recorded), record.flags.isDisjoint(with: [.excused, .finalOnce]) else {
                continue
            }
            if let position = found[record.id] {
                if let why = Self.fault(in: census.recordings[position], record) {
                    violations.append(Violation(Self.promise, census, record.id, why))
                }
            } else if !chronicle.isPerhapsFinal(record) {
                violations.append(
                    Violation(Self.promise, census, record.id, "it is not on the watch, and it was never final"))
            } else if Self.canDisksTell(record, chronicle), ingested[record.id] == nil, rows[record.id] == nil,
                vetoes[record.id] == nil
            {
                // A death left open whether it became final. It did not.
                violations.append(
                    Violation(
                        Self.promise, census, record.id, "it is not on the watch, and nothing on the phone has it"))
            }
        }
        return violations
    }

    /// Whether what may have become final would still be seen there: the world took nothing from the phone since.
    private static func canDisksTell(_ record: Record, _ chronicle: Chronicle) -> Bool {
        if record.intentEpoch != 0, record.intentEpoch != chronicle.containerEpoch { return false }
        if record.vetoAskedEpoch != 0, record.vetoAskedEpoch != chronicle.homeEpoch { return false }
        return !chronicle.hasPhoneGap || chronicle.containerEpoch == 1
    }

    private static func fault(in recording: Census.Recording, _ record: Record) -> String? {
        if !recording.isDurable { return "it is on the watch, but a power cut would take it" }
        if record.flags.contains(.hasContent), recording.checksums != record.checksums {
            return "its bytes on the watch are not those that were recorded"
        }
        return nil
    }
}

/// Where an id stands in one of the lists of a census.
struct CensusIndex {
    private var positions: [ULID: Int] = [:]

    /// Of an id that is there twice, the first.
    init(_ ids: some Sequence<ULID>) {
        for (position, id) in ids.enumerated() where positions[id] == nil { positions[id] = position }
    }

    subscript(id: ULID) -> Int? { positions[id] }
}
