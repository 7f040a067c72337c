import Monitors
import Spooling
import Testing
import WireContract

/// Histories that look bad and are not: deaths that left it open, and what users do.
@Suite struct InnocentHistoryTests {
    private typealias S = Story

    // MARK: Killed between intent and deed

    @Test func thePhoneDiesBetweenPublishAndWord() {
        // It had happened, and the word was lost: the resend is a duplicate and is acked.
        var happened = Story()
        happened.record(1)
        happened.send(1)
        happened.phone(PairEvent(.ingested, phase: .intends, id: S.id(1), byteCount: 100))
        happened.world(.killed(.phone))
        happened.phone(PairEvent(.started))
        happened.send(1)
        happened.phone(PairEvent(.duplicate, id: S.id(1)))
        happened.ack(1)
        happened.receiveAck(1)
        happened.delete(1)
        #expect(happened.verdict(happened.census(inContainer: [1])) == .held)
        // The census decides: had it not happened, the recording is lost.
        #expect(happened.verdict(happened.census()).broken == [.nothingIsLost])

        // It had not: it is ingested from the start.
        var not = Story()
        not.record(1)
        not.send(1)
        not.phone(PairEvent(.ingested, phase: .intends, id: S.id(1), byteCount: 100))
        not.world(.killed(.phone))
        not.phone(PairEvent(.started))
        not.ingest(1)
        not.ack(1)
        not.receiveAck(1)
        not.delete(1)
        #expect(not.verdict(not.census(inContainer: [1])) == .held)
    }

    /// A cut of the power brings entries back that the phone had taken. Of a recording that is gone they are leftovers.
    @Test func leftoversOfADeletedRecording() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.receiveAck(1)
        story.delete(1)
        var census = story.census(inContainer: [1])
        census.entries = [S.id(1), S.id(1)]
        #expect(story.verdict(census) == .held)
    }

    @Test func thePhoneDiesBetweenIntentAndAck() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.phone(PairEvent(.acked, phase: .intends, id: S.id(1)))
        story.world(.killed(.phone))
        // The ack was visible.
        story.receiveAck(1)
        story.delete(1)
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    @Test func theWatchDiesBetweenIntentAndDeletion() {
        var story = Story()
        story.world(.faultsEnded)
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.receiveAck(1)
        story.watch(PairEvent(.deleted, phase: .intends, id: S.id(1)))
        story.world(.killed(.watch))
        // Deleted or not.
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
        guard case .undecided = story.verdict(story.census(onWatch: [1], inContainer: [1])) else {
            Issue.record("what is still there has to drain")
            return
        }
        story.world(.started(.watch, Build()))
        story.watch(PairEvent(.started))
        story.watch(PairEvent(.found, id: S.id(1)))
        story.receiveAck(1)
        story.delete(1)
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    @Test func theWatchDiesWithAnEntryInTheSpool() {
        var story = Story()
        story.record(1)
        story.watch(PairEvent(.enqueued, id: S.id(1), attempt: 1))
        story.world(.killed(.watch))
        story.watch(PairEvent(.started))
        story.phone(PairEvent(.taken, id: S.id(1)))
        story.watch(PairEvent(.enqueued, id: S.id(1), attempt: 1))
        story.world(.faultsEnded)
        #expect(story.verdict(story.census(onWatch: [1])).broken.isEmpty)
    }

    @Test func aVetoWhoseAnswerGotLost() {
        var story = Story()
        story.record(1)
        story.world(.vetoAsked(S.id(1)))
        story.world(.killed(.phone))
        story.phone(PairEvent(.started))
        story.send(1)
        story.phone(PairEvent(.vetoed, id: S.id(1), detail: "not ingested"))
        story.ack(1)
        story.receiveAck(1)
        story.delete(1)
        var census = story.census()
        census.vetoes = [S.id(1)]
        #expect(story.verdict(census) == .held)
        #expect(story.verdict(story.census()).broken == [.anAckIsTrue])
    }

    @Test func aDaemonToldOfARecordingBeforeItsRecorderReturned() {
        var story = Story()
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.receiveAck(1)
        story.delete(1)
        story.record(1)
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    /// What recovery says comes before the start says that it started.
    @Test func aKilledPhoneSpeaksBeforeItSaysThatItStarted() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.phone(PairEvent(.ingested, phase: .intends, id: S.id(1), byteCount: 100))
        story.world(.killed(.phone))
        story.phone(PairEvent(.duplicate, id: S.id(1)))
        story.ack(1)
        story.receiveAck(1)
        story.delete(1)
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    // MARK: Acks late, doubled, owed

    @Test func aDoubledAckDeletesOnce() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.phone(PairEvent(.duplicate, id: S.id(1)))
        story.ack(1)
        story.receiveAck(1)
        story.receiveAck(1)
        story.delete(1)
        story.watch(PairEvent(.strayAck, id: S.id(1)))
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    @Test func anOwedAckMayStillGoOutWhenTheContainerIsWiped() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.phone(PairEvent(.acked, phase: .intends, id: S.id(1)))
        story.phone(PairEvent(.failed, id: S.id(1)))
        story.world(.wiped(.container))
        story.ack(1)
        story.receiveAck(1)
        story.delete(1)
        #expect(story.verdict(story.census()) == .held)
    }

    // MARK: Users

    @Test func aWipedContainerMakesNotesNewAgain() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.world(.wiped(.container))
        story.send(1)
        story.phone(PairEvent(.containerLost, id: S.id(1)))
        story.ingest(1)
        story.ack(1)
        story.receiveAck(1)
        story.delete(1)
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    @Test func aNewPhoneIngestsEverythingAgain() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.world(.phoneReplaced)
        story.phone(PairEvent(.started))
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.receiveAck(1)
        story.delete(1)
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    @Test func aLostLedgerAdoptsWhatTheContainerHolds() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.world(.wiped(.ledger))
        story.send(1)
        story.phone(PairEvent(.ingested, id: S.id(1), detail: "the container had it"))
        story.ack(1)
        story.receiveAck(1)
        story.delete(1)
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    /// A `record` on another watch died before it returned, and the phone serves that watch no more: what it left has to
    /// drain when it is served again. On the watch that is served it has to drain like all others.
    @Test func whatNobodyWasToldOfDrainsWhereItIsServed() {
        var story = Story()
        story.world(.watchSwitched(to: 2))
        story.world(.watchSwitched(to: 1))
        story.world(.faultsEnded)
        for (watchNumber, drains) in [(UInt8(2), true), (1, false)] {
            var census = story.census(onWatch: [1], after: .seconds(3_600))
            census.recordings[0].watchNumber = watchNumber
            #expect((story.verdict(census) == .held) == drains, "watch \(watchNumber)")
        }
    }

    @Test func signedOutAndInAgain() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.world(.containerSignedOut)
        story.send(1)
        story.phone(PairEvent(.containerLost, id: S.id(1)))
        story.ingest(1)
        story.ack(1)
        story.world(.containerOpened)
        story.send(1)
        story.phone(PairEvent(.duplicate, id: S.id(1)))
        story.ack(1)
        #expect(story.verdict(story.census(onWatch: [1], inContainer: [1])).broken.isEmpty)
    }

    @Test func signedOutAndInAgainWithNothingInBetween() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.world(.containerSignedOut)
        story.world(.containerOpened)
        story.phone(PairEvent(.duplicate, id: S.id(1)))
        story.ack(1)
        story.receiveAck(1)
        story.delete(1)
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    @Test func anAckWhileSignedOutIsNotTrue() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.world(.containerSignedOut)
        story.phone(PairEvent(.duplicate, id: S.id(1)))
        story.ack(1)
        #expect(story.verdict(story.census(onWatch: [1])).broken == [.anAckIsTrue])
    }

    @Test func whatTheUserDeletedIsAckedAgain() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.world(.deleteAsked(S.id(1)))
        story.phone(PairEvent(.userDeleted, id: S.id(1)))
        story.phone(PairEvent(.duplicate, id: S.id(1), detail: "the user deleted it"))
        story.ack(1)
        story.receiveAck(1)
        story.delete(1)
        var census = story.census()
        census.ledger = [.init(id: S.id(1), outcome: .deleted)]
        #expect(story.verdict(census) == .held)
    }

    @Test func whatTheUserDeletedComesBackOnceTheLedgerIsLost() {
        var story = Story()
        story.deliver(1)
        story.phone(PairEvent(.userDeleted, id: S.id(1)))
        story.world(.wiped(.ledger))
        story.send(1)
        story.ingest(1)
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    @Test func aWatchRestoredFromAnOlderCopy() {
        var story = Story()
        story.record(1)
        story.world(.copyKept(.watch))
        story.record(2)
        story.world(.restored(.watch))
        // The second is lost by the user's act; the first is not.
        #expect(story.verdict(story.census(onWatch: [1])).broken.isEmpty)
        #expect(story.verdict(story.census()).broken == [.nothingIsLost])
    }

    @Test func removedByHandAndWiped() {
        var removed = Story()
        removed.record(1)
        removed.world(.removedByHand(S.id(1)))
        #expect(removed.verdict(removed.census()) == .held)
        var wiped = Story()
        wiped.record(1)
        wiped.world(.wiped(.home(.watch)))
        #expect(wiped.verdict(wiped.census()) == .held)
    }

    @Test func anIDThatSomebodyElseUsedIsOutsideTheDrain() {
        var story = Story()
        story.record(1)
        story.world(.entryPlanted(S.id(1), checksums: S.sums(9), version: 1))
        story.ingest(1, checksums: S.sums(9))
        story.phone(PairEvent(.setAside, id: S.id(1), detail: "idReused"))
        story.world(.faultsEnded)
        var census = story.census(onWatch: [1], inContainer: [1], after: .seconds(3_600))
        census.container[0].checksums = S.sums(9)
        #expect(story.verdict(census) == .held)
    }

    @Test func aWatchThatDoesNotUnderstandTheAcksOwesNothing() {
        var story = Story()
        story.world(.started(.phone, Build(understands: 1, writes: 2)))
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.world(.faultsEnded)
        #expect(story.verdict(story.census(onWatch: [1], inContainer: [1], after: .seconds(3_600))) == .held)
    }

    @Test func timeWhileASideIsDownDoesNotCount() {
        var story = Story()
        story.record(1)
        story.world(.faultsEnded)
        story.world(.stopped(.phone))
        guard case .undecided = story.verdict(story.census(onWatch: [1], after: .seconds(3_600))) else {
            Issue.record("nobody was there to drain it")
            return
        }
        story.world(.started(.phone, Build()), after: .seconds(7_200))
        guard case .undecided = story.verdict(story.census(onWatch: [1], after: .seconds(5))) else {
            Issue.record("the clock starts anew")
            return
        }
        #expect(story.verdict(story.census(onWatch: [1], after: .seconds(3_600))).broken == [.itDrains])
    }
}
