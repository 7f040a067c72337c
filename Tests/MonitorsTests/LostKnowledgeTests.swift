import Monitors
import Spooling
import Testing
import WireContract

/// What the phone still knows after somebody wiped its ledger, or put an old copy of its home back; and what several builds
/// send under one id. All of it was drawn by a soak, where the judge accused the innocent.
@Suite struct LostKnowledgeTests {
    private typealias S = Story

    /// A note that the user deleted, before the watch heard of any ack.
    private func deleted() -> Story {
        var story = Story()
        story.world(.started(.phone, Build()))
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.world(.deleteAsked(S.id(1)))
        story.phone(PairEvent(.userDeleted, id: S.id(1)))
        return story
    }

    /// Sent again, and acked for the ledger's word.
    private func ackedAgain(_ before: Story) -> Story {
        var story = before
        story.send(1)
        story.phone(PairEvent(.duplicate, id: S.id(1), detail: "the user deleted it"))
        story.ack(1)
        story.receiveAck(1)
        story.delete(1)
        return story
    }

    private func verdict(_ story: Story) -> Verdict {
        var census = story.census()
        census.ledger = [.init(id: S.id(1), outcome: .deleted)]
        return story.verdict(census)
    }

    @Test func aLedgerWipedUnderARunningPhoneIsKnownInItsMemory() {
        var running = deleted()
        running.world(.wiped(.ledger))
        #expect(verdict(ackedAgain(running)) == .held)

        // Nobody was there to know it.
        var down = deleted()
        down.world(.killed(.phone))
        down.world(.wiped(.ledger))
        down.world(.started(.phone, Build()))
        down.phone(PairEvent(.started))
        #expect(verdict(ackedAgain(down)).broken == [.anAckIsTrue])
    }

    @Test func whatTheUserCouldDeleteWasThere() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.phone(PairEvent(.ingested, phase: .intends, id: S.id(1), byteCount: 100))
        story.world(.killed(.phone))
        story.phone(PairEvent(.started))
        story.phone(PairEvent(.userDeleted, id: S.id(1)))
        #expect(verdict(ackedAgain(story)) == .held)
        // Also when the container was wiped before: the ledger knew it.
        var wiped = Story()
        wiped.record(1)
        wiped.send(1)
        wiped.phone(PairEvent(.ingested, phase: .intends, id: S.id(1), byteCount: 100))
        wiped.world(.killed(.phone))
        wiped.world(.wiped(.container))
        wiped.phone(PairEvent(.started))
        wiped.phone(PairEvent(.userDeleted, id: S.id(1)))
        #expect(verdict(ackedAgain(wiped)) == .held)
        // Nobody was about to put it there.
        var never = Story()
        never.record(1)
        never.phone(PairEvent(.userDeleted, id: S.id(1)))
        #expect(verdict(ackedAgain(never)).broken == [.anAckIsTrue])
    }

    @Test func aPhoneThatIsPutBackKnowsWhatItKnew() {
        var kept = deleted()
        kept.world(.copyKept(.phone))
        kept.world(.phoneReplaced)
        kept.world(.restored(.phone))
        #expect(verdict(ackedAgain(kept)) == .held)

        var replaced = deleted()
        replaced.world(.copyKept(.phone))
        replaced.world(.phoneReplaced)
        #expect(verdict(ackedAgain(replaced)).broken == [.anAckIsTrue])
    }

    @Test func aContainerThatIsPutBackHoldsWhatItHeld() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.world(.copyKept(.phone))
        story.world(.wiped(.container))
        var lost = story
        story.world(.restored(.phone))
        story.phone(PairEvent(.duplicate, id: S.id(1)))
        story.ack(1)
        lost.phone(PairEvent(.duplicate, id: S.id(1)))
        lost.ack(1)
        #expect(story.verdict(story.census(onWatch: [1], inContainer: [1])).broken.isEmpty)
        // One ack was earned by the duplicate's look; the note itself is not there.
        #expect(lost.verdict(lost.census(onWatch: [1])).broken == [.anAckIsTrue])
    }

    @Test func ofSeveralVersionsUnderOneIDTheOneThatIsUnderstoodComesIn() {
        var story = Story()
        for version in [2, 1_000_000] {
            story.world(.entryPlanted(S.id(1), checksums: S.sums(UInt64(version)), version: version))
            story.phone(
                PairEvent(.waits, id: S.id(1), detail: "version \(version) is not understood by this build"))
        }
        var early = story
        story.world(.started(.phone, Build(understands: 4, writes: 1)))
        story.ingest(1, checksums: S.sums(2))
        var census = story.census(inContainer: [1])
        census.container[0].checksums = S.sums(2)
        #expect(story.verdict(census) == .held)

        early.ingest(1, checksums: S.sums(2))
        #expect(early.verdict(census).broken.first == .theUnknownWaits)
    }
}
