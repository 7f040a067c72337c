import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

// What the promise says about a phone's disk, whoever stopped it and wherever. Each returns what is wrong.

/// A disk's paths, read once for many questions.
private struct DiskPaths {
    let all: [String]
    let isDurable: Bool

    init(_ disk: SimulatedFileSystem, isDurable: Bool) {
        all = isDurable ? disk.durablePaths() : disk.paths()
        self.isDurable = isDurable
    }

    func names(in directory: String) -> [String] { all.names(in: directory) }
}

extension [String] {
    /// The last parts of the paths that lie directly in a directory.
    func names(in directory: String) -> [String] {
        let prefix = directory + "/"
        return compactMap { path in
            guard path.hasPrefix(prefix) else { return nil }
            let rest = path.dropFirst(prefix.count)
            return rest.utf8.contains(UInt8(ascii: "/")) ? nil : String(rest)
        }
    }
}

extension PhoneWorld {
    /// P3 and P5 on what is written now: whatever has an ack in view is in the container to the byte, or vetoed; whatever
    /// has a final name is whole.
    func writtenFaults(_ notes: [PhoneNote]) -> [String] {
        writtenFaults(notes, DiskPaths(disk, isDurable: false))
    }

    private func writtenFaults(_ notes: [PhoneNote], _ paths: DiskPaths) -> [String] {
        var faults: [String] = []
        let files = containerFiles(among: paths.all)
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
        return faults + notFinal(visibleAcks(paths.all), notes, paths).map { "\($0) is acked and not final" }
    }

    /// P3 on what the worst cut of the power would leave: every ack in view is of a note that is durable.
    func durableFaults(_ notes: [PhoneNote]) -> [String] {
        durableFaults(notes, acked: visibleAcks())
    }

    private func durableFaults(_ notes: [PhoneNote], acked: [ULID]) -> [String] {
        notFinal(acked, notes, DiskPaths(disk, isDurable: true)).map { "\($0) is acked and not durable" }
    }

    /// The ids of the acks in view, by their bytes and by their names: the bytes may be gone after a cut of the power.
    func visibleAcks() -> [ULID] { visibleAcks(disk.paths()) }

    private func visibleAcks(_ paths: [String]) -> [ULID] {
        paths.names(in: "\(spoolPath)/to-watch").compactMap { name in
            FileName(name).flatMap(EntryName.init).flatMap { $0.kind == .ack ? $0.id : nil }
        }
            + paths.filter { $0.hasPrefix("\(spoolPath)/to-watch/") && $0.hasSuffix(".ack") }.flatMap { path in
                PairMonitor.acks(disk.content(path) ?? []).dropFirst().map(\.id)
            }
    }

    /// Those of `ids` that are neither ingested and there to the byte, nor deleted, nor vetoed.
    private func notFinal(_ ids: [ULID], _ notes: [PhoneNote], _ paths: DiskPaths) -> [ULID] {
        guard !ids.isEmpty else { return [] }
        let vetoed = Set(paths.names(in: "\(homePath)/vetoes"))
        let outcomes = outcomes(paths)
        return ids.filter { id in
            if vetoed.contains(id.description) || outcomes[id] == .deleted { return false }
            guard outcomes[id] == .ingested, let note = notes.first(where: { $0.id == id }) else { return true }
            let path = note.containerPath
            return (paths.isDurable ? disk.durableContent(path) : disk.content(path)) != note.body
        }
    }

    /// What the ledger's last generation says, row by row.
    func outcomes(isDurable: Bool) -> [ULID: Outcome] { outcomes(DiskPaths(disk, isDurable: isDurable)) }

    private func outcomes(_ paths: DiskPaths) -> [ULID: Outcome] {
        let folder = "\(homePath)/ledger"
        guard let last = paths.names(in: folder).last(where: { $0.hasSuffix(".ledger") }),
            let bytes = paths.isDurable ? disk.durableContent("\(folder)/\(last)") : disk.content("\(folder)/\(last)")
        else { return [:] }
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
        let paths = DiskPaths(disk, isDurable: false)
        let acked = acks(among: paths.all)
        var faults = writtenFaults(notes, paths) + durableFaults(notes, acked: acked)
        let files = Set(containerFiles(among: paths.all))
        let ackedOnce = Set(acked)
        for note in notes {
            if !files.contains(note.containerPath) { faults.append("\(note.id) is not in the container") }
            if !ackedOnce.contains(note.id) { faults.append("\(note.id) is not acked") }
        }
        for folder in ["inbox", "staging"] {
            let names = paths.names(in: "\(homePath)/\(folder)")
            if !names.isEmpty { faults.append("left in \(folder): \(names)") }
        }
        if !mayLeaveTemporaries { faults += temporaries(among: paths.all).map { "left: \($0)" } }
        if !paths.names(in: "\(spoolPath)/to-phone").isEmpty { faults.append("left in the spool") }
        if engine?.isDrained != true { faults.append("it does not say that it is drained") }
        return faults
    }

    func temporaries(among paths: [String]) -> [String] { paths.filter { $0.hasSuffix(".part") } }

    /// Temporaries are gone after a start at the latest.
    func faultsAfterStart(_ notes: [PhoneNote]) throws -> [String] {
        guard !temporaries(among: disk.paths()).isEmpty else { return [] }
        try start()
        run()
        return endFaults(notes)
    }

    /// What the watch does when it waited long enough: sends again what it saw no ack of (its entry, if it still lies
    /// there, is cancelled).
    func resendUnacked(_ notes: [PhoneNote], attempt: Int) throws {
        let acked = Set(acks())
        let unacked = notes.filter { !acked.contains($0.id) }
        guard !unacked.isEmpty else { return }
        let queue = names(in: "\(spoolPath)/to-phone")
        for note in unacked {
            for name in queue where name.contains(note.id.description) {
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
