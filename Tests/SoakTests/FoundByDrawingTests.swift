import Replay
import Scenarios
import Simulation
import Testing

@testable import Soak

/// What drawn scenarios found, each as the small scenario that it came to.
@Suite struct FoundByDrawingTests {
    private func run(_ text: String) throws -> RunReport {
        World(try ScenarioReader.read(text: text, file: "found.json5"), keepsEntries: true).run()
    }

    /// The transfer of an ack failed, so it is owed; before it is written again the container is wiped. The watch has not
    /// heard of the first ack and still has the recording: acked again, it would be nowhere.
    @Test(arguments: [
        "{ at: '1s', wipe: 'container' }", "{ at: '1s', container: 'signedOut' }, { at: '20s', container: 'open' }",
    ])
    func anAckThatFailedIsNotWrittenAgainWhenTheNoteIsGone(_ loss: String) throws {
        let report = try run(
            """
            {
              name: 'An ack fails and the container goes', shows: 'It is ingested again, not acked again.',
              settings: { link: { toWatch: { only: [{ note: 1, try: 1, fail: 7014 }] } } },
              steps: [{ at: '0s', record: 1 }, \(loss)],
              expect: [{ ingested: 1, onWatch: 0 }, { happened: 'deleted', note: 1, times: 1 }],
            }
            """)
        #expect(report.outcome == .held, "\(report.complaints.joined(separator: "\n"))")
    }

    /// The phone is killed between making a veto and syncing its name. The next process took it for durable, acked for it, and
    /// a power cut took it: the watch's copy came back, and what was vetoed came in.
    @Test func aVetoThatAKilledPhoneLeftIsDurableBeforeAnAck() throws {
        let report = try run(
            """
            {
              name: 'A veto that was not durable', shows: 'It holds through a power cut.',
              steps: [
                { at: '0s', stop: 'watch' }, { at: '0s', record: 1 },
                { at: '1s', kill: 'phone', after: { operation: 'create', path: 'vetoes/' } }, { at: '2s', veto: 1 },
                { at: '3s', start: 'both' }, { at: '5s', reboot: 'durableOnly' }, { at: '6s', start: 'both' },
              ],
              expect: [{ ingested: 0, onWatch: 0 }, { happened: 'acked', note: 1 }],
            }
            """)
        #expect(report.outcome == .held, "\(report.complaints.joined(separator: "\n"))")
    }

    /// Two names of one file in the spool, half of a rename that a power cut left, are no entries: law 9 has both sides leave
    /// them alone. (Found with a payload of the future that was requeued while the phone was away.)
    @Test func halfARenameInTheSpoolIsNoSecondEntry() throws {
        for seed in [1_212, 1_842, 3_501] {
            let report = try run(try read("\(Products.fixtures)/half-a-rename-\(seed).json5"))
            #expect(report.outcome == .held, "seed \(seed): \(report.complaints.joined(separator: "\n"))")
        }
    }

    /// Somebody sends bytes before any daemon has made a spool, or after somebody wiped it: there is nothing to put them into.
    @Test func strangersWithoutASpoolSendNothing() throws {
        let report = try run(
            """
            {
              name: 'Strangers come first', shows: 'Nothing happens.', settings: { startsBoth: false },
              steps: [
                { at: '0s', rawMetadata: { hex: '00' } }, { at: '0s', rawUserInfo: { hex: '00' } },
                { at: '0s', rawMetadata: { unsupported: true } }, { at: '1s', start: 'both' }, { at: '2s', record: 1 },
              ],
            }
            """)
        #expect(report.outcome == .held, "\(report.complaints.joined(separator: "\n"))")
        #expect(report.verifiedCount == 1)
    }

    /// What a user wiped does not come back by a power cut.
    @Test func aWipeIsDurable() throws {
        let report = try run(
            """
            {
              name: 'Wiped, and then the power', shows: 'The container does not come back.',
              steps: [
                { at: '0s', record: 1 }, { at: '5s', stop: 'both' }, { at: '6s', wipe: 'container' },
                { at: '7s', reboot: 'durableOnly' }, { at: '8s', start: 'both' },
              ],
              expect: [{ at: '5500ms', ingested: 1 }, { at: '7500ms', ingested: 0 }],
            }
            """)
        #expect(report.outcome == .held, "\(report.complaints.joined(separator: "\n"))")
    }
}
