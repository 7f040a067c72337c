import LinkFaults
package import Monitors
package import Scenarios
package import Spooling
import WireContract

// What a run of a scenario is told, by either world: one history, judged while it grows, with the scenario's expectations
// held against it at their moments.

/// An expectation that did not hold.
package struct Unmet: Hashable, Sendable, CustomStringConvertible {
    package var expectation: TimedExpectation
    /// What there was instead, in a clause.
    package var found: String

    package var description: String {
        let when = expectation.at.map { "at \(quantityText($0))" } ?? "at the end"
        return "\(when): expected \(expectation.expectation.words), found \(found)"
    }
}

/// Hears a history while it grows; it changes nothing.
package protocol HistoryListener: AnyObject {
    func hear(_ entry: HistoryEntry)
}

/// Judges one run. Entries come in their order; a world that learns of them later (live, from journals) tells them then.
package final class RunHistory {
    package let scenario: Scenario
    // Nothing that is told here tells anything itself, so what the runtime would check at each of a million entries holds.
    @exclusivity(unchecked) private var judge: Judge
    @exclusivity(unchecked) private var sequence: UInt64 = 0
    @exclusivity(unchecked) private var tallies: [Tally]
    private let keepsEntries: Bool
    private let isJudged: Bool
    /// Hears every entry as it is told.
    package var listener: (any HistoryListener)?

    @exclusivity(unchecked) package private(set) var digest = HistoryDigest()
    /// All that was told, when the run was asked to keep it.
    package private(set) var entries: [HistoryEntry] = []
    package private(set) var unmet: [Unmet] = []
    package private(set) var recordedCount = 0
    /// Recordings that went all the way: recorded, delivered, ingested (or vetoed), acked, and deleted for that.
    package private(set) var verifiedCount = 0
    package private(set) var entryCount: UInt64 = 0
    /// What a world could not do, or what went wrong in it: a bug of ours, or of the machine's.
    package var troubles: [String] = []

    private var lastIngestedOrdinal = 0
    private var isInOrder = true

    /// `policy` is the one that the watch really runs with: live it is scaled. `drainWithin` replaces the bound of P6.
    /// Without `isJudged` entries are kept and nothing more: for who judges them himself, and no run that has a report.
    package init(
        _ scenario: Scenario, policy: RetryPolicy, drainWithin: Duration?, keepsEntries: Bool, trailCount: Int = 65_536,
        isJudged: Bool = true
    ) {
        self.isJudged = isJudged
        self.scenario = scenario
        self.keepsEntries = keepsEntries
        judge = Judge(policy: policy, drainWithin: drainWithin, trailCount: trailCount)
        tallies = scenario.expectations.map { Tally($0.expectation) }
    }

    package func tell(
        _ what: HistoryEntry.What, from source: HistoryEntry.Source, watch: UInt8 = 1, at moment: Moment
    ) {
        sequence += 1
        let entry = HistoryEntry(moment: moment, sequence: sequence, source: source, watchNumber: watch, what)
        entryCount += 1
        if isJudged {
            digest.add(entry)
            count(entry)
            judge.observe(entry)
        }
        listener?.hear(entry)
        if keepsEntries { entries.append(entry) }
    }

    private func count(_ entry: HistoryEntry) {
        switch entry.what {
        case .world(.recordReturned): recordedCount += 1
        case .world: break
        case .pair(let event):
            for index in tallies.indices { tallies[index].count(event) }
            guard event.phase == .did else { return }
            if event.kind == .deleted, let id = event.id, isVerified(id) { verifiedCount += 1 }
            if event.kind == .ingested, let id = event.id {
                if id.ordinal < lastIngestedOrdinal { isInOrder = false }
                lastIngestedOrdinal = max(lastIngestedOrdinal, id.ordinal)
            }
        }
    }

    /// Whether a recording that is deleted now went all the way, and for the first time.
    private func isVerified(_ id: ULID) -> Bool {
        guard let index = judge.chronicle.index(of: id) else { return false }
        let flags = judge.chronicle[index].flags
        return flags.isSuperset(of: [.recorded, .finalOnce, .acked]) && !flags.contains(.deletedOnce)
    }

    /// Recordings that are still owed something, as far as the history says.
    package var pendingCount: Int { recordedCount - verifiedCount }

    /// Holds the expectations of `moment` (`nil`: of the end) against the history so far and what lies on the disks.
    package func meetExpectations(of moment: Duration?, _ census: Census) {
        for (timed, tally) in zip(scenario.expectations, tallies) where timed.at == moment {
            if let found = mismatch(timed.expectation, tally, census) {
                unmet.append(Unmet(expectation: timed, found: found))
            }
        }
    }

    private func mismatch(_ expectation: Expectation, _ tally: Tally, _ census: Census) -> String? {
        func outside(_ range: ClosedRange<Int>, _ count: Int) -> String? { range.contains(count) ? nil : "\(count)" }
        switch expectation {
        case .onWatch(let range): return outside(range, census.recordings.count)
        case .ingested(let range): return outside(range, census.container.count)
        case .waiting(let range): return outside(range, census.staging.count)
        case .setAside(.watch, let range): return outside(range, census.watchQuarantineCount)
        case .setAside(.phone, let range): return outside(range, census.phoneQuarantineCount)
        case .happened(_, _, let range), .said(_, _, _, let range): return outside(range, tally.total)
        case .inOrder: return isInOrder ? nil : "another order"
        case .owes: return nil
        }
    }

    /// The last look, and the verdict.
    package func finish(_ census: Census, world: RunReport.World, length: Duration) -> RunReport {
        precondition(isJudged, "a history that is not judged has no verdict: \(entryCount) entries")
        meetExpectations(of: nil, census)
        let verdict = judge.finish(census)
        if keepsEntries {
            entries.append(
                HistoryEntry(moment: census.moment, sequence: sequence + 1, source: .world, .world(.census(census))))
        }
        return RunReport(
            scenario: scenario, world: world, verdict: verdict, unmet: unmet, troubles: troubles, digest: digest,
            entryCount: entryCount, recordedCount: recordedCount, verifiedCount: verifiedCount, census: census,
            length: length, entries: entries)
    }
}

/// Counts what one expectation asks for.
private struct Tally {
    let kind: PairEvent.Kind?
    let ordinal: Int?
    let words: String?
    var total = 0

    init(_ expectation: Expectation) {
        switch expectation {
        case .happened(let kind, let ordinal, _): (self.kind, self.ordinal, words) = (kind, ordinal, nil)
        case .said(let kind, let words, let ordinal, _): (self.kind, self.ordinal, self.words) = (kind, ordinal, words)
        case .onWatch, .ingested, .waiting, .setAside, .inOrder, .owes: (kind, ordinal, words) = (nil, nil, nil)
        }
    }

    mutating func count(_ event: PairEvent) {
        guard event.kind == kind, event.phase == .did, ordinal == nil || event.id?.ordinal == ordinal else { return }
        if let words, event.detail?.contains(words) != true { return }
        total += 1
    }
}

extension Scenario {
    /// Whether it shall not drain.
    package var expectsToOwe: Bool {
        expectations.contains { if case .owes = $0.expectation { true } else { false } }
    }

    /// The moments at which something is expected, each once, in order.
    package var expectedMoments: [Duration] {
        var moments: [Duration] = []
        for moment in expectations.compactMap(\.at).sorted() where moments.last != moment { moments.append(moment) }
        return moments
    }
}
