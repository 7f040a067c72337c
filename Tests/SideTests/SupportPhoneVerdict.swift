import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

// What the promise says about a phone's disk, whoever stopped it and wherever. Each returns what is wrong.

extension PhoneWorld {
    /// P3 and P5 on what is written now: whatever has an ack in view is in the container to the byte, or vetoed; whatever
    /// has a final name is whole.
    func writtenFaults(_ notes: [PhoneNote]) -> [String] {
        var faults: [String] = []
        let files = containerFiles
        for path in files {
            guard let note = notes.first(where: { $0.containerPath == path }) else {
                faults.append("\(path) is nobody's")
                continue
            }
            if disk.content(path) != note.body { faults.append("\(path) has other bytes") }
        }
        for note in notes where files.count(where: { $0.contains(note.id.description) }) > 1 {
            faults.append("\(note.id) is there twice")
        }
        return faults + notFinal(visibleAcks(), notes, isDurable: false).map { "\($0) is acked and not final" }
    }

    /// P3 on what the worst cut of the power would leave: every ack in view is of a note that is durable.
    func durableFaults(_ notes: [PhoneNote]) -> [String] {
        notFinal(visibleAcks(), notes, isDurable: true).map { "\($0) is acked and not durable" }
    }

    /// The ids of the acks in view, by their names; their bytes may be gone after a cut of the power.
    func visibleAcks() -> [ULID] {
        names(in: "\(spoolPath)/to-watch").compactMap { name in
            FileName(name).flatMap(EntryName.init).flatMap { $0.kind == .ack ? $0.id : nil }
        }
    }

    /// Those of `ids` that are neither ingested and there to the byte, nor deleted, nor vetoed.
    private func notFinal(_ ids: [ULID], _ notes: [PhoneNote], isDurable: Bool) -> [ULID] {
        guard !ids.isEmpty else { return [] }
        let vetoed = Set(
            (isDurable ? disk.durablePaths() : disk.paths()).filter { $0.hasPrefix("\(homePath)/vetoes/") })
        let outcomes = outcomes(isDurable: isDurable)
        return ids.filter { id in
            if vetoed.contains("\(homePath)/vetoes/\(id)") || outcomes[id] == .deleted { return false }
            guard outcomes[id] == .ingested, let note = notes.first(where: { $0.id == id }) else { return true }
            let path = note.containerPath
            return (isDurable ? disk.durableContent(path) : disk.content(path)) != note.body
        }
    }

    /// What the ledger's last generation says, row by row.
    func outcomes(isDurable: Bool) -> [ULID: Outcome] {
        let paths = isDurable ? disk.durablePaths() : disk.paths()
        let last = paths.last { $0.hasPrefix("\(homePath)/ledger/") && $0.hasSuffix(".ledger") }
        guard let last, let bytes = isDurable ? disk.durableContent(last) : disk.content(last) else { return [:] }
        var outcomes: [ULID: Outcome] = [:]
        var rest = bytes[...]
        while !rest.isEmpty {
            switch LedgerRow.read(rest) {
            case .row(let row, let byteCount):
                outcomes[row.id] = row.outcome
                rest = rest.dropFirst(byteCount)
            case .incomplete, .noRow: rest = rest.dropFirst()
            }
        }
        return outcomes
    }

    /// Once faults stopped: every note is in the container once, to the byte, acked, and nothing is left over.
    ///
    /// - Parameter mayLeaveTemporaries: when even an unlink failed, a temporary stays until the next start.
    func endFaults(_ notes: [PhoneNote], mayLeaveTemporaries: Bool = false) -> [String] {
        var faults = writtenFaults(notes) + durableFaults(notes)
        let files = containerFiles
        let acked = Set(acks())
        for note in notes {
            if !files.contains(note.containerPath) { faults.append("\(note.id) is not in the container") }
            if !acked.contains(note.id) { faults.append("\(note.id) is not acked") }
        }
        for folder in ["inbox", "staging"] where !phone(folder).isEmpty {
            faults.append("left in \(folder): \(phone(folder))")
        }
        if !mayLeaveTemporaries {
            for path in disk.paths() where path.hasSuffix(".part") { faults.append("left: \(path)") }
        }
        if !names(in: "\(spoolPath)/to-phone").isEmpty { faults.append("left in the spool") }
        if engine?.isDrained != true { faults.append("it does not say that it is drained") }
        return faults
    }

    /// What the watch does when it waited long enough: sends again what it saw no ack of (its entry, if it still lies
    /// there, is cancelled).
    func resendUnacked(_ notes: [PhoneNote], attempt: Int) throws {
        let acked = Set(acks())
        for note in notes where !acked.contains(note.id) {
            for name in names(in: "\(spoolPath)/to-phone") where name.contains(note.id.description) {
                try disk.remove("\(spoolPath)/to-phone/\(name)")
            }
            try deliver(note, attempt: attempt)
        }
    }

    /// Starts without faults and lets phone and watch finish.
    func finish(_ notes: [PhoneNote], sourceLocation: SourceLocation = #_sourceLocation) throws {
        onDeath = nil
        try start()
        run(sourceLocation: sourceLocation)
        for attempt in 2...3 {
            try resendUnacked(notes, attempt: attempt)
            hearAndRun(seconds: 60)
        }
    }
}
