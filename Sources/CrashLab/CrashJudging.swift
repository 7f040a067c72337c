import Monitors
import Replay
import Scenarios
import Simulation
import Spooling

// The judge hears what happened until the crash, the crash, and what the recovery came to. The recovery was played once
// for a disk; who came to that disk on different ways is judged for each of them.

enum Crash {
    case kill, power
}

struct CrashCourt {
    var judge: Judge
    private var moment: Moment
    private var sequence: UInt64 = 1 << 32

    init(_ judge: Judge, at moment: Moment) {
        self.judge = judge
        self.moment = moment
    }

    mutating func crash(_ crash: Crash, _ crew: Crew, isContainerOpen: Bool) {
        switch crash {
        case .power: tell(.powerLost)
        case .kill:
            tell(.killed(.phone))
            for number in crew.builds.indices.dropFirst() { tell(.killed(.watch), watch: UInt8(number)) }
        }
        if !isContainerOpen { tell(.containerOpened) }
        tell(.faultsEnded)
    }

    private mutating func tell(_ event: WorldEvent, watch: UInt8 = 1) {
        observe(HistoryEntry(moment: .zero, sequence: 0, source: .world, watchNumber: watch, .world(event)))
    }

    /// Moments of entries count from the last crash.
    private mutating func observe(_ entry: HistoryEntry) {
        var entry = entry
        sequence += 1
        entry.sequence = sequence
        entry.moment = moment + entry.moment.since(.zero)
        judge.observe(entry)
    }

    /// Hears the beginning of a recovery, until it crashed in its turn.
    mutating func hear(_ recovery: Recovery, first count: Int, crashedAt end: Moment) {
        hear(recovery, count)
        moment = moment + end.since(.zero)
    }

    private mutating func hear(_ recovery: Recovery, _ count: Int) {
        for (index, entry) in recovery.entries[..<count].enumerated() {
            if let look = recovery.lookBeforeUpgrade, look.entryCount == index { tell(.census(shifted(look.census))) }
            observe(entry)
        }
    }

    private func shifted(_ census: Census) -> Census {
        var census = census
        census.moment = moment + census.moment.since(.zero)
        return census
    }

    /// What is wrong at the end; empty when everything held.
    mutating func finish(_ recovery: Recovery) -> [String] {
        hear(recovery, recovery.entries.count)
        return recovery.troubles + complaints(judge.finish(shifted(recovery.census)))
    }
}

/// What a verdict complains about, a line each.
func complaints(_ verdict: Verdict) -> [String] {
    switch verdict {
    case .held: return []
    case .undecided(let undrained):
        return undrained.prefix(3).map { "\($0.id) is still on the watch, and time ran out before it drained" }
    case .violated(let violations):
        return violations.prefix(3).flatMap { violation in
            [
                "\(violation.promise) (\(violation.promise.title)): \(violation.id.map { "\($0) " } ?? "")\(violation.why)"
            ]
                + violation.explanation.map { "    \($0)" }
        }
    }
}
