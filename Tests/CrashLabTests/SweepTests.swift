import CrashLab
import Monitors
import PlantedFaults
import Replay
import Simulation
import Testing

private func expectHeld(_ section: CrashSection) {
    #expect(section.pointCount > 0)
    #expect(section.reachedCount == section.pointCount)
    #expect(section.unreached == [])
    #expect(section.failureCount == 0, "\(section.failures)")
    print(
        "\(section.name): \(section.pointCount) places, \(section.rawImageCount) images, "
            + "\(section.distinctImageCount) distinct, \(section.recoveryCount) runs, \(section.verdictCount) verdicts")
}

/// The sweep of the canonical scenario, as much of it as a debug build does in some seconds; `transfer-lab crash` does
/// all of it.
@Suite struct SweepTests {
    @Test func itHoldsWithoutAnyCrash() {
        let report = Canonical.sweep().reference()
        #expect(report.outcome == .held, "\(report.complaints)")
    }

    @Test func bothDieAtEveryCall() { expectHeld(Canonical.sweep().kills()) }

    @Test func oneDiesAtEveryCallAndTheOtherLivesOn() { expectHeld(Canonical.sweep().killsAlone()) }

    @Test func bothDieAgainInTheRecovery() { expectHeld(Canonical.sweep().pairs(stride: 25)) }

    @Test(arguments: [(DiskModel.posix, 60), (.orderedMetadata, 11), (.copyOnWrite, 15)])
    func thePowerGoes(_ model: DiskModel, _ stride: Int) {
        expectHeld(Canonical.sweep().power(model, stride: stride))
    }

    @Test func callsFail() { expectHeld(Canonical.sweep().errors(stride: 31)) }

    /// The same run has the same cuts in the same order, whoever looks, on however many threads.
    @Test func aSweepIsAFunctionOfItsScenario() {
        let alone = CrashSweep(
            Canonical.scenario, spread: { count, body in for index in 0..<count { body(index) } })
        let (one, other) = (alone.kills(), Canonical.sweep().kills())
        #expect(one.distinctImageCount == other.distinctImageCount)
        #expect(one.verdictCount == other.verdictCount)
        #expect(alone.callCounts() == Canonical.sweep().callCounts())
    }
}

/// Faults that are put in on purpose are found, each by the promise that it breaks, and repeated by the line that names
/// it.
@Suite struct PlantTests {
    private func promises(_ section: CrashSection) -> Set<String> {
        Set(section.failures.compactMap { $0.lines.first?.split(separator: " ").first.map(String.init) })
    }

    @Test func aPhoneThatSyncsNothingIsFoundByAPowerCut() throws {
        let sweep = Canonical.sweep { PlantedFault.ackNotDurable.make() }
        let section = sweep.power(.orderedMetadata, stride: 9)
        #expect(section.failureCount > 0)
        // The watch has deleted what the phone's disk did not keep.
        #expect(promises(section).contains { $0 == "P1" || $0 == "P3" }, "\(promises(section))")
        let failure = try #require(section.failures.first)
        let attempt = try #require(CrashAttempt(failure.attempt.description))
        #expect(Canonical.sweep { PlantedFault.ackNotDurable.make() }.repeated(attempt)?.first == failure.lines[0])
        // The healthy pair makes other calls, so it need not have that place. It holds at all that are swept so.
        #expect(Canonical.sweep().power(.orderedMetadata, stride: 9).failureCount == 0)
    }

    @Test func aWatchThatDeletesWhenATransferFinishedIsFoundByAKill() {
        let section = Canonical.sweep { PlantedFault.deletesAtDidFinish.make() }.kills()
        #expect(promises(section).contains("P2"), "\(promises(section))")
    }

    /// The issue of the crash lab names ten. None of them shows without a crash; each is found by the part of the sweep and
    /// by the promise that its case says, and where it is not planted the same sweep holds.
    @Test(arguments: CrashCase.all)
    func aFaultThatOnlyACrashShowsIsFound(_ one: CrashCase) throws {
        let sweep = one.sweep(Canonical.overAllCores, mostRecoveries: 200)
        #expect(sweep.reference().outcome == .held, "\(sweep.reference().complaints)")
        let section = sweep.section(one.part)
        let failure = try #require(
            section.failures.first, "\(one.fault): \(section.reachedCount) places, nothing found")
        #expect(failure.lines[0].hasPrefix("\(one.breaks) "), "\(failure.attempt): \(failure.lines)")
        #expect(sweep.repeated(failure.attempt)?.first == failure.lines[0])

        let healthy = one.sweep(Canonical.overAllCores, isPlanted: false, mostRecoveries: 200)
            .section(one.part, stride: one.part == .errors ? 45 : 17)
        #expect(healthy.verdictCount > 2)
        expectHeld(healthy)
    }

    @Test func allTenAreThere() {
        #expect(
            Set(CrashCase.all.map(\.fault)) == [
                .renameBeforeSync, .noDirectorySyncAfterPublish, .ackBeforeLedgerSync, .sourceDeletedBeforeAckMatches,
                .failedSyncRetried, .recoveryNotIdempotent, .sweepDeletesLiveTemporary, .sequenceNumberReused,
                .lengthTrustedWithoutChecksum, .unlinkBeforeVetoRecord,
            ])
    }

    @Test(arguments: [
        "kill:phone:3:before", "alone:record:12:after", "pair:watch:1:before:phone:99:after",
        "power:cow:phone:57:after:12", "error:record:4:sync-failed:lasting",
    ])
    func aPlaceReadsAsItIsWritten(_ text: String) {
        #expect(CrashAttempt(text)?.description == text)
    }

    @Test(arguments: [
        "", "kill:phone:0:before", "kill:tablet:1:before", "power:fat:phone:1:after:0", "error:phone:1:io",
    ])
    func whatIsNoPlaceIsRefused(_ text: String) {
        #expect(CrashAttempt(text) == nil)
    }
}
