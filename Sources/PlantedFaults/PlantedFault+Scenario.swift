import LinkFaults
package import Scenarios
import Spooling
import WireContract

// For each fault a small scenario in which it shows for certain. Without the fault the same scenario holds.

extension PlantedFault {
    package var scenario: Scenario {
        switch self {
        case .deletesAtDidFinish: story([1: .record1]) { $0.toPhone([.drop], tries: 1...1) }
        case .deletesAtCancel:
            story([0: .stop(.phone), 1: .record1, 2: .cancel(ordinal: 1), 4: .start(.phone)])
        case .sourceDeletedBeforeAckMatches:
            story([1: .record(count: 2, byteCount: 1_024)]) { $0.toPhone([.drop], tries: 1...1) }
        case .ackOfAnotherPairingDeletes:
            // The ack of the old phone is still on its way when there is a new one, which has nothing to ack yet.
            story([1: .record1, 3: .session(.inactive), 4: .replacePhone, 25: .session(.active)]) {
                $0.link.toWatch.outages = [Outage(start: .zero, end: .seconds(20))]
            }
        case .failedTransferDropsRecording:
            story([0: .session(.inactive), 1: .record1, 4: .session(.active)])
        case .acksFailedIngest: story([0: .container(.locked), 1: .record1, 8: .container(.open)])
        case .quarantineHoldsTheOnlyCopy, .lengthTrustedWithoutChecksum:
            story([1: .record(count: 1, byteCount: 65_536)]) { $0.toPhone([.damage(.altered)], tries: 1...1) }
        case .ingestsADuplicateTwice: story([1: .record1]) { $0.toWatch([.drop], tries: 1...1) }
        case .acksAtStaging, .acceptsAlteredBytes, .sweepDeletesLiveTemporary: story([1: .record1])
        case .recorderDoesNotSync:
            story([0: .stop(.phone), 1: .record1, 2: .reboot(.durableOnly), 3: .start(.phone)])
        case .ackNotDurable:
            // The second recording makes the deletion of the first durable, and is not sent before the power goes.
            story([1: .record1, 4: .stop(.phone), 5: .record1, 6: .reboot(.durableOnly), 7: .start(.phone)])
        case .renameBeforeSync, .noDirectorySyncAfterPublish, .failedSyncRetried:
            story([1: .record1, 4: .reboot(.durableOnly)])
        case .ackBeforeLedgerSync: story([1: .record1, 4: .record1, 7: .reboot(.durableOnly)])
        case .requeueMakesASecondEntry: owing([0: .stop(.phone), 1: .record1])
        case .sequenceNumberReused:
            story([1: .record(count: 30, byteCount: 1_024), 6: .kill(.watch, .now), 7: .start(.watch), 8: .record1])
        case .recoveryNotIdempotent:
            // The first that the phone unlinks in staging is the copy that came after the lost ack.
            story([0: .kill(.phone, .before(.unlink, pathContaining: "staging/")), 1: .record1, 8: .start(.phone)]) {
                $0.toWatch([.drop], tries: 1...1)
            }
        case .unlinkBeforeVetoRecord:
            story([0: .handler(.vetoes), 1: .record1, 4: .record1, 7: .reboot(.durableOnly)])
        case .ledgerRowLost:
            story([1: .record1, 2: .delete(ordinal: 1), 4: .stop(.phone), 5: .start(.phone)]) {
                $0.toWatch([.drop], tries: 1...2)
            }
        case .vetoForgottenAtRestart:
            story([0: .stop(.phone), 1: .record1, 2: .veto(ordinal: 1), 3: .start(.phone)])
        case .containerWipedNotNoticed:
            story([1: .record1, 2: .wipe(.container)]) { $0.toWatch([.drop], tries: 1...1) }
        case .startSweepsRecordings: story([0: .stop(.watch), 1: .record1, 2: .start(.watch)])
        case .retryCap: story([1: .record1]) { $0.toPhone([.drop], tries: 1...3) }
        case .patienceNeverEnds: story([1: .record1]) { $0.toPhone([.forget], tries: 1...1) }
        case .windowNeverReopens: story([1: .record(count: 12, byteCount: 1_024)])
        case .wallClockDecides: story([1: .record1, 4: .clock(jumpSeconds: -365 * 86_400), 5: .record1])
        case .stalledForeverAfterFull:
            story([0: .capacity(.phone, .full), 1: .record1, 8: .capacity(.phone, .unlimited)])
        case .dropsFuturePayload, .acksFuturePayload, .waitingKeptTwice, .forwardGateLetsNewerThrough:
            owing([1: .record1]) { $0.payloadVersion = 2 }
        case .ackVersionIgnored: owing([1: .record1]) { $0.ackVersion = 2 }
        }
    }

    /// `steps` by second. It drains.
    func story(
        _ steps: KeyValuePairs<Int, Step>, _ change: (inout ScenarioSettings) -> Void = { _ in }
    ) -> Scenario {
        var settings = ScenarioSettings()
        settings.policy = RetryPolicy(first: .seconds(2), cap: .seconds(16), patience: .seconds(10))
        settings.link = LinkPlan(seed: 1)
        change(&settings)
        return Scenario(
            name: rawValue, shows: says, seed: 1, settings: settings,
            steps: steps.map { TimedStep(at: .seconds($0.key), $0.value) })
    }

    /// It does not drain, and shall not.
    private func owing(
        _ steps: KeyValuePairs<Int, Step>, _ change: (inout ScenarioSettings) -> Void = { _ in }
    ) -> Scenario {
        var scenario = story(steps, change)
        scenario.expectations = [TimedExpectation(at: nil, .owes)]
        return scenario
    }
}

extension Step {
    /// One note of 1 KiB.
    static var record1: Step { .record(count: 1, byteCount: 1_024) }
}

extension ScenarioSettings {
    /// What happens to certain transfers of the first recording.
    fileprivate mutating func toPhone(_ faults: [LinkFault], tries: ClosedRange<Int>) {
        link.toPhone.rules += faults.map { LinkRule(ordinal: 1, attempts: tries, fault: $0) }
    }

    mutating func toWatch(_ faults: [LinkFault], tries: ClosedRange<Int>) {
        link.toWatch.rules += faults.map { LinkRule(ordinal: 1, attempts: tries, fault: $0) }
    }
}
