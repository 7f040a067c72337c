package import CrashLab
import LinkFaults
package import Monitors
package import Scenarios
package import Simulation
import Spooling

// The faults that only a crash shows. In its scenario each of them holds as long as nothing goes wrong, and one part of the
// crash sweep finds it. What else is planted shows without a crash: `PlantedFault.scenario` is enough for it.

/// How the crash lab finds one fault.
package struct CrashCase: Sendable {
    package var fault: PlantedFault
    /// In it the fault does not show by itself.
    package var scenario: Scenario
    package var part: CrashPart
    /// The promise that the first failure is about.
    package var breaks: Promise
    /// Makes a new one for one run: wrong code only, where `PlantedFault.make` adds what has to go wrong for it to show.
    package var makePlant: @Sendable () -> any Plant

    private init(
        _ fault: PlantedFault, foundBy part: CrashPart, breaks promise: Promise, _ steps: KeyValuePairs<Int, Step>,
        makePlant: (@Sendable () -> any Plant)? = nil, change: (inout ScenarioSettings) -> Void = { _ in }
    ) {
        self.fault = fault
        self.part = part
        breaks = promise
        scenario = fault.story(steps, change)
        self.makePlant = makePlant ?? { fault.make() }
    }

    package static let all = [
        // The last look would see what is not durable, so in these two the power goes before it, and spares everything.
        CrashCase(
            .renameBeforeSync, foundBy: .power(.orderedMetadata), breaks: .anAckIsTrue,
            [1: .record1, 4: .reboot(.everything)]),
        CrashCase(
            .noDirectorySyncAfterPublish, foundBy: .power(.posix), breaks: .anAckIsTrue,
            [1: .record1, 4: .reboot(.everything)]),
        CrashCase(.ackBeforeLedgerSync, foundBy: .power(.posix), breaks: .anAckIsTrue, [1: .record1]),
        // Where the phone dies before it acks the first, the watch has both when that ack comes.
        CrashCase(
            .sourceDeletedBeforeAckMatches, foundBy: .killsAlone, breaks: .onlyAnAckDeletes,
            [1: .record1, 2: .record1]),
        // A failed sync shows only once the power goes.
        CrashCase(
            .failedSyncRetried, foundBy: .errors, breaks: .anAckIsTrue, [1: .record1, 4: .reboot(.durableOnly)],
            makePlant: { RetriesSyncs() }),
        // After the lost ack it comes once more: for a moment it lies in staging and in the container.
        CrashCase(
            .recoveryNotIdempotent, foundBy: .kills, breaks: .once, [1: .record1],
            change: { $0.toWatch([.drop], tries: 1...1) }),
        CrashCase(
            .sweepDeletesLiveTemporary, foundBy: .kills, breaks: .itDrains, [1: .record1],
            makePlant: { SweepDeletesLiveTemporary(afterFindings: true) }),
        CrashCase(
            .sequenceNumberReused, foundBy: .killsAlone, breaks: .itDrains,
            [1: .record(count: 12, byteCount: 1_024), 8: .record1]),
        // Longer than a page, so that a cut can take bytes and leave the seal behind them.
        CrashCase(
            .lengthTrustedWithoutChecksum, foundBy: .power(.posix), breaks: .bytesAreTheBytes,
            [1: .record(count: 1, byteCount: 9_000)]),
        CrashCase(
            .unlinkBeforeVetoRecord, foundBy: .power(.posix), breaks: .anAckIsTrue,
            [0: .handler(.vetoes), 1: .record1]),
    ]

    /// The sweep that finds it, or, with `isPlanted` false, holds.
    package func sweep(
        _ spread: @escaping CrashSweep.Spread, isPlanted: Bool = true, mostRecoveries: Int = .max
    ) -> CrashSweep {
        CrashSweep(
            scenario, spread: spread, stopsAtFirst: isPlanted, mostRecoveries: mostRecoveries,
            makePlant: { [makePlant] in isPlanted ? makePlant() : nil })
    }
}

extension PlantedFault {
    package var crashCase: CrashCase? { CrashCase.all.first { $0.fault == self } }

    /// A new one for one run of a crash sweep, of whatever scenario.
    package func makeForCrash() -> any Plant { crashCase?.makePlant() ?? make() }
}
