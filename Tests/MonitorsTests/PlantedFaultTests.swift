import Monitors
import Spooling
import Testing
import WireContract

/// For each promise a daemon that breaks it, and nothing else.
@Suite struct PlantedFaultTests {
    private typealias S = Story

    @Test func aPlainDeliveryHolds() {
        var story = Story()
        story.world(.faultsEnded)
        story.deliver(1)
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    @Test func aWatchThatDeletesAtDidFinish() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.delete(1)
        #expect(story.verdict(story.census(inContainer: [1])).broken == [.onlyAnAckDeletes])
    }

    @Test func aWatchThatDeletesAtDidFinishWhatWasNeverDeliveredIsToldAsTheCause() {
        var story = Story()
        story.record(1)
        story.watch(PairEvent(.enqueued, id: S.id(1), attempt: 1))
        story.watch(PairEvent(.transferFinished, id: S.id(1)))
        story.delete(1)
        #expect(story.verdict(story.census()).broken == [.onlyAnAckDeletes])
    }

    @Test func aDeletionNobodySpokeOf() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        #expect(story.verdict(story.census(inContainer: [1])).broken == [.onlyAnAckDeletes])
    }

    @Test func anAckOfAnotherPairingIsTakenIn() {
        let (own, other) = (PairingID(rawValue: 1), PairingID(rawValue: 2))
        func story(_ pairing: PairingID) -> Verdict {
            var story = Story()
            story.phone(PairEvent(.paired, pairing: own))
            story.watch(PairEvent(.paired, pairing: own))
            story.record(1)
            story.send(1)
            story.ingest(1)
            story.ack(1, pairing: own)
            story.receiveAck(1, pairing: pairing)
            story.delete(1)
            return story.verdict(story.census(inContainer: [1]))
        }
        #expect(story(own) == .held)
        #expect(story(other).broken == [.onlyAnAckDeletes])
    }

    @Test func anAckOfALaterVersionIsTakenIn() {
        func story(understands: Int, writes: [Int]) -> [Promise] {
            var story = Story()
            story.world(.started(.watch, Build(understands: understands)))
            story.record(1)
            story.send(1)
            story.ingest(1)
            for version in writes {
                story.world(.started(.phone, Build(writes: version)))
                story.ack(1)
            }
            story.receiveAck(1)
            story.delete(1)
            return story.verdict(story.census(inContainer: [1])).broken
        }
        #expect(story(understands: 1, writes: [2]) == [.onlyAnAckDeletes])
        #expect(story(understands: 2, writes: [2]).isEmpty)
        // An ack of the older build still lies there.
        #expect(story(understands: 1, writes: [1, 2]).isEmpty)
    }

    @Test func anAckThatNoPhoneWroteIsTakenIn() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.receiveAck(1)
        story.delete(1)
        #expect(story.verdict(story.census(inContainer: [1])).broken == [.onlyAnAckDeletes])
    }

    @Test func aRecordingThatCameBackNeedsAnAckOfItsOwn() {
        var story = Story()
        story.deliver(1)
        story.world(.powerLost)
        story.watch(PairEvent(.started))
        story.watch(PairEvent(.found, id: S.id(1)))
        story.delete(1)
        #expect(story.verdict(story.census(inContainer: [1])).broken == [.onlyAnAckDeletes])
    }

    @Test func aPhoneThatAcksAtStaging() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ack(1)
        story.receiveAck(1)
        story.delete(1)
        // That the watch then lost it is the consequence.
        #expect(story.verdict(story.census()).broken == [.anAckIsTrue])
        #expect(story.verdict(story.census()).why == "the phone acks it, and it is not final there")
    }

    @Test func aPhoneThatAcksBetweenIntentAndIngest() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.phone(PairEvent(.ingested, phase: .intends, id: S.id(1), byteCount: 100))
        story.ack(1)
        #expect(story.verdict(story.census(onWatch: [1])).broken == [.anAckIsTrue])
    }

    @Test func anAckThatIsNotDurable() {
        var story = Story()
        story.deliver(1)
        story.world(.powerLost)
        #expect(story.verdict(story.census()).broken == [.anAckIsTrue])
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    @Test func anAckThatIsNotDurableIsNoSecondIngest() {
        func story(isAcked: Bool, losesPower: Bool, inContainer: [UInt64] = [1]) -> [Promise] {
            var story = Story()
            story.record(1)
            story.send(1)
            story.ingest(1)
            if isAcked { story.ack(1) }
            if losesPower { story.world(.powerLost) }
            story.ingest(1)
            return story.verdict(story.census(onWatch: [1], inContainer: inContainer)).broken
        }
        #expect(story(isAcked: true, losesPower: true) == [.anAckIsTrue])
        #expect(story(isAcked: true, losesPower: true, inContainer: [1, 1]) == [.once])
        // Nobody was told.
        #expect(story(isAcked: false, losesPower: true).isEmpty)
        #expect(story(isAcked: true, losesPower: false) == [.once])
    }

    @Test func anAckThatIsNotDurableShowsWithoutAPowerCutWhereTheDiskCanTell() {
        var story = Story()
        story.deliver(1)
        var census = story.census(inContainer: [1])
        census.container[0].isDurable = false
        #expect(story.verdict(census).broken == [.anAckIsTrue])
    }

    @Test func anAckWithoutItsRow() {
        var story = Story()
        story.deliver(1)
        var census = story.census(inContainer: [1])
        census.ledger[0].outcome = .ingesting
        #expect(story.verdict(census).broken == [.anAckIsTrue])
    }

    @Test func anAckOfWhatTheContainerLostByItself() {
        var story = Story()
        story.deliver(1)
        story.phone(PairEvent(.containerLost, id: S.id(1)))
        story.ingest(1)
        #expect(story.verdict(story.census(inContainer: [1])).broken == [.anAckIsTrue])
    }

    @Test func anAckOfWhatAWipedContainerNoLongerHolds() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.world(.wiped(.container))
        story.phone(PairEvent(.duplicate, id: S.id(1)))
        story.ack(1)
        #expect(story.verdict(story.census(onWatch: [1])).broken == [.anAckIsTrue])
    }

    @Test func aDuplicateIngestedTwice() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.send(1)
        story.ingest(1)
        #expect(story.verdict(story.census(onWatch: [1], inContainer: [1])).broken == [.once])
    }

    @Test func aDuplicateUnderAnotherExtension() {
        var story = Story()
        story.deliver(1)
        #expect(story.verdict(story.census(inContainer: [1, 1])).broken == [.once])
    }

    @Test func aLostLedgerIsNoReasonToIngestAgain() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.world(.wiped(.ledger))
        story.ingest(1)
        #expect(story.verdict(story.census(onWatch: [1], inContainer: [1])).broken == [.once])
    }

    @Test func whatTheUserDeletedComesBack() {
        var story = Story()
        story.deliver(1)
        story.world(.deleteAsked(S.id(1)))
        story.phone(PairEvent(.userDeleted, id: S.id(1)))
        story.send(1)
        story.ingest(1)
        #expect(story.verdict(story.census(inContainer: [1])).broken == [.once])
    }

    @Test func whatWasVetoedComesIn() {
        var story = Story()
        story.record(1)
        story.phone(PairEvent(.vetoed, id: S.id(1)))
        story.send(1)
        story.ingest(1)
        var census = story.census(onWatch: [1], inContainer: [1])
        census.vetoes = [S.id(1)]
        #expect(story.verdict(census).broken == [.once])
    }

    @Test func alteredBytesAccepted() {
        var told = Story()
        told.record(1)
        told.send(1)
        told.ingest(1, checksums: S.sums(9))
        #expect(told.verdict(told.census(onWatch: [1], inContainer: [1])).broken == [.bytesAreTheBytes])

        var untold = Story()
        untold.deliver(1)
        var census = untold.census(inContainer: [1])
        census.container[0].checksums = S.sums(9)
        #expect(untold.verdict(census).broken == [.bytesAreTheBytes])
    }

    @Test func aShortDeliveryAccepted() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.phone(PairEvent(.ingested, id: S.id(1), byteCount: 80))
        #expect(story.verdict(story.census(onWatch: [1], inContainer: [1])).broken == [.bytesAreTheBytes])
    }

    @Test func aRetryCap() {
        var story = Story()
        story.record(1)
        story.world(.faultsEnded)
        #expect(story.verdict(story.census(onWatch: [1], after: .seconds(3_600))).broken == [.itDrains])
        let early = story.verdict(story.census(onWatch: [1], after: .seconds(5)))
        guard case .undecided(let left) = early else { return #expect(Bool(false), "\(early)") }
        #expect(left.map(\.id) == [S.id(1)])
    }

    @Test func drainedButTooLate() {
        var story = Story()
        story.record(1)
        story.world(.faultsEnded)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.world(.historyGap(.watch), after: .seconds(3_600))
        story.receiveAck(1)
        story.delete(1)
        #expect(story.verdict(story.census(inContainer: [1])).broken == [.itDrains])
    }

    @Test func aSecondEntry() {
        var story = Story()
        story.record(1)
        story.watch(PairEvent(.enqueued, id: S.id(1), attempt: 1))
        story.watch(PairEvent(.requeued, id: S.id(1), attempt: 2))
        story.watch(PairEvent(.enqueued, id: S.id(1), attempt: 3))
        #expect(story.verdict(story.census(onWatch: [1])).broken == [.itDrains])

        var seen = Story()
        seen.record(1)
        var census = seen.census(onWatch: [1])
        census.entries = [S.id(1), S.id(1)]
        #expect(seen.verdict(census).broken == [.itDrains])
    }

    @Test func aRecordingThatIsNotDurable() {
        var story = Story()
        story.record(1)
        story.world(.powerLost)
        #expect(story.verdict(story.census()).broken == [.nothingIsLost])

        var census = story.census(onWatch: [1])
        census.recordings[0].isDurable = false
        #expect(story.verdict(census).broken == [.nothingIsLost])
        census.recordings[0] = .init(id: S.id(1), checksums: S.sums(9))
        #expect(story.verdict(census).broken == [.nothingIsLost])
    }

    @Test func aWatchThatBelievesAForgedAckLosesTheRecording() {
        let pairing = PairingID(rawValue: 1)
        var story = Story()
        story.record(1)
        story.world(.ackPlanted(S.id(1), pairing))
        story.receiveAck(1, pairing: pairing)
        story.delete(1)
        #expect(story.verdict(story.census()).broken == [.nothingIsLost])
        // A power cut that brings it back does not make the deletion right.
        story.world(.powerLost)
        #expect(story.verdict(story.census(onWatch: [1])).broken == [.nothingIsLost])
    }

    @Test func anIngestThatFailedInAContainerThatIsGoneWasNotFinal() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.phone(PairEvent(.ingested, phase: .intends, id: S.id(1), byteCount: 100))
        story.phone(PairEvent(.failed, id: S.id(1)))
        story.world(.wiped(.container))
        #expect(story.verdict(story.census()).broken == [.nothingIsLost])
    }
}

/// P7: what the phone's build does not understand.
@Suite struct PlantedFaultOfTheFutureTests {
    private typealias S = Story

    private func waiting() -> Story {
        var story = Story()
        story.record(1, version: 2)
        story.send(1)
        story.phone(PairEvent(.waits, id: S.id(1)))
        return story
    }

    private func staging(_ story: Story, onWatch: [UInt64] = [1], after wait: Duration = .seconds(1)) -> Census {
        var census = story.census(onWatch: onWatch, after: wait)
        census.staging = [DeliveryKey(identity: .id(S.id(1)), bodyCRC32: 1, dictionaryCRC32: 1)]
        return census
    }

    @Test func itWaits() {
        var story = waiting()
        story.world(.faultsEnded)
        #expect(story.verdict(staging(story, after: .seconds(3_600))) == .held)
    }

    @Test func aDroppedFuturePayload() {
        #expect(waiting().verdict(waiting().census(onWatch: [1])).broken == [.theUnknownWaits])

        // One that never said a word about it.
        var silent = Story()
        silent.record(1, version: 2)
        silent.send(1)
        silent.world(.faultsEnded)
        #expect(
            silent.verdict(silent.census(onWatch: [1], after: .seconds(3_600))).broken == [.theUnknownWaits])
    }

    @Test func aPowerCutMayTakeItAndAResendBringsItBack() {
        var story = waiting()
        story.world(.powerLost)
        story.world(.started(.watch, Build()))
        story.world(.started(.phone, Build()))
        #expect(story.verdict(story.census(onWatch: [1])) == .held)
        story.world(.faultsEnded)
        #expect(
            story.verdict(story.census(onWatch: [1], after: .seconds(3_600))).broken == [.theUnknownWaits])
    }

    @Test func oneThatWaitsInTheSpoolIsKept() {
        let story = waiting()
        var census = story.census(onWatch: [1])
        census.entries = [S.id(1)]
        #expect(story.verdict(census) == .held)
    }

    @Test func aFuturePayloadIngestedOrAcked() {
        var ingested = waiting()
        ingested.ingest(1)
        #expect(ingested.verdict(staging(ingested)).broken == [.theUnknownWaits])
        var acked = waiting()
        acked.ack(1)
        #expect(acked.verdict(staging(acked)).broken == [.theUnknownWaits])
    }

    @Test func aLaterBuildIngestsIt() {
        var story = waiting()
        story.world(.started(.phone, Build(understands: 2)))
        story.ingest(1)
        story.ack(1)
        story.receiveAck(1)
        story.delete(1)
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    @Test func aLaterBuildLeavesItLying() {
        var story = waiting()
        story.world(.faultsEnded)
        story.world(.started(.phone, Build(understands: 2)))
        #expect(story.verdict(staging(story, after: .seconds(3_600))).broken == [.theUnknownWaits])
    }

    @Test func onceHoweverOftenItIsSent() {
        let story = waiting()
        var census = staging(story)
        census.staging += census.staging
        #expect(story.verdict(census).broken == [.theUnknownWaits])
    }

    @Test func oneWithoutAnIDIsKnownByItsChecksums() {
        var story = Story()
        story.phone(PairEvent(.waits, checksums: S.sums(5)))
        #expect(story.verdict(story.census()).broken == [.theUnknownWaits])
        var census = story.census()
        census.staging = [DeliveryKey(identity: .checksums(S.sums(5)), bodyCRC32: 5, dictionaryCRC32: 5)]
        #expect(story.verdict(census) == .held)
    }
}
