import Spooling
import Testing
import WireContract

@testable import LinkFaults

// The two ends never speak about a decision. They agree because it is a function, and these tests say of what.

private func entry(
    _ ordinal: Int, start: UInt64 = 1, attempt: Int = 1, kind: EnvelopeKind = .note, seed: UInt64 = 1
) throws -> EntryName {
    EntryName(
        kind: kind, start: try #require(StartNumber(rawValue: start)), counter: 1, nonce: 9,
        id: ULID(millisecondsSince1970: 1_700_000_000_000, ordinal: ordinal, seed: seed), attempt: attempt)
}

private func transfer(
    _ ordinal: Int, start: UInt64 = 1, attempt: Int = 1, kind: EnvelopeKind = .note
) throws -> LinkTransfer {
    LinkTransfer(try entry(ordinal, start: start, attempt: attempt, kind: kind), byteCount: 1_000)
}

private func chance(_ value: Double) throws -> Chance { try #require(Chance(value)) }

@Suite struct LinkDecisionTests {
    @Test func counterAndNonceOfAnEntrySayNothing() throws {
        let plan = LinkPlan(seed: 4, loss: try chance(0.5))
        let one = try entry(3, attempt: 2)
        for counter in 1...64 {
            let other = EntryName(
                kind: .note, start: one.start, counter: UInt64(counter), nonce: UInt32(counter * 77), id: one.id,
                attempt: 2)
            #expect(
                plan.decision(about: LinkTransfer(other, byteCount: 5))
                    == plan.decision(about: LinkTransfer(one, byteCount: 5)))
        }
    }

    /// Numbers that are only added up collide: (start 1, try 2) would meet the fate of (start 2, try 3).
    @Test func everyTryOfEveryStartDrawsAnew() throws {
        var draws: Set<UInt64> = []
        let plan = LinkPlan(seed: 1)
        for ordinal in 1...8 {
            for start in 1...16 {
                for attempt in 1...16 {
                    for kind in [EnvelopeKind.note, .ack] {
                        let transfer = try transfer(ordinal, start: UInt64(start), attempt: attempt, kind: kind)
                        draws.insert(plan.decision(about: transfer).damageDraw)
                    }
                }
            }
        }
        #expect(draws.count == 8 * 16 * 16 * 2)
    }

    @Test func theShareOfLossesIsTheChance() throws {
        let plan = LinkPlan(seed: 11, loss: try chance(0.3))
        var lost = 0
        for ordinal in 1...10_000 where plan.decision(about: try transfer(ordinal)).deliveryCount == 0 { lost += 1 }
        // Five standard deviations of 10,000 draws; the draws are fixed, so this never changes by itself.
        #expect((2_770...3_230).contains(lost))
    }

    @Test func rulesApplyTogetherAndLeaveNothingToChance() throws {
        var plan = LinkPlan(seed: 1)
        plan.toPhone.chances = [FaultChance(.drop, .always)]
        plan.toPhone.rules = [
            LinkRule(ordinal: 1, attempts: 1...1, fault: .duplicate(extraCopies: 4)),
            LinkRule(ordinal: 1, attempts: nil, fault: .damage(.altered)),
        ]
        let first = plan.decision(about: try transfer(1))
        #expect(first.deliveryCount == 5 && first.report == .finished)
        #expect((0..<5).filter { first.damage(ofCopy: $0) != nil }.count == 1)
        #expect(plan.decision(about: try transfer(1, attempt: 2)).deliveryCount == 1)
        #expect(plan.decision(about: try transfer(2)).deliveryCount == 0)
        #expect(plan.decision(about: try transfer(2, kind: .ack)).deliveryCount == 1)
    }

    @Test func eachFaultSaysWhatArrivesAndWhatIsReported() throws {
        let expected: [(LinkFault, Int, FinishReport)] = [
            (.drop, 0, .finished), (.forget, 0, .never), (.fail(.deliveryFailed), 0, .failed(.deliveryFailed)),
            (.failWithoutDetails, 0, .failedWithoutDetails), (.duplicate(extraCopies: 2), 3, .finished),
            (.damage(.altered), 1, .finished), (.silent, 1, .never), (.delay(.seconds(3)), 1, .finished),
        ]
        for (fault, count, report) in expected {
            var plan = LinkPlan(seed: 1)
            plan.toPhone.chances = [FaultChance(fault, .always)]
            let decision = plan.decision(about: try transfer(1))
            #expect(decision.deliveryCount == count && decision.report == report, "\(fault)")
        }
    }

    @Test func aDelayIsDrawnBetweenItsEnds() throws {
        var plan = LinkPlan(seed: 1)
        plan.toPhone.chances = [FaultChance(.delay(.seconds(1)), .always, longestDelay: .seconds(5))]
        plan.toPhone.bytesPerSecond = 1_000
        let delays = try (1...1_000).map { plan.decision(about: try transfer($0)).delay }
        #expect(delays.allSatisfy { $0 >= .seconds(2) && $0 <= .seconds(6) })
        #expect(delays.contains { $0 < .milliseconds(2_500) } && delays.contains { $0 > .milliseconds(5_500) })
    }
}

@Suite struct BurstLossTests {
    /// The chain walked from the block's first slot, as the textbook says it, against the look-back.
    @Test(arguments: [(0.1, 0.5), (0.001, 0.002), (0.9, 0.9), (1, 1), (0, 0), (1, 0), (0, 1), (0.3, 0.7)])
    func lookingBackGivesTheChainItself(enter: Double, leave: Double) throws {
        let plan = LinkPlan(seed: 5)
        let burst = BurstLoss(slot: .seconds(1), enter: try chance(enter), leave: try chance(leave), loss: .always)
        for block in [UInt64(0), 3] {
            let first = block * LinkPlan.burstBlock
            // The state before the block is what makes its first slot what the look-back says; from there on each slot must
            // follow from the one before by its own draw.
            var state = plan.isBad(first, burst, .toPhone)
            if block == 0, enter == 0 { #expect(!state) }
            for slot in (first + 1)..<(first + 600) {
                var draw = Draw(plan.seed, 5, slot)
                let unit = draw.unit()
                state = state ? unit < 1 - leave : unit < enter
                #expect(plan.isBad(slot, burst, .toPhone) == state)
            }
        }
    }

    @Test func theShareOfBadSlotsIsTheLongRunShare() throws {
        let plan = LinkPlan(seed: 2)
        let burst = BurstLoss(slot: .seconds(1), enter: try chance(0.1), leave: try chance(0.3), loss: .always)
        let bad = (0..<20_000).filter { plan.isBad($0, burst, .toWatch) }.count
        #expect((4_700...5_300).contains(bad))
    }

    /// Neighbouring seeds once met the same bursts in another order.
    @Test func seedsAreIndependent() throws {
        let burst = BurstLoss(slot: .seconds(1), enter: try chance(0.5), leave: try chance(0.5), loss: .always)
        var counts: Set<Int> = []
        for seed in 0..<32 {
            let plan = LinkPlan(seed: UInt64(seed))
            counts.insert((0..<1_024).filter { plan.isBad($0, burst, .toPhone) }.count)
        }
        #expect(counts.count > 8)
    }

    @Test func aCenturyOfSlotsCostsNothing() throws {
        let plan = LinkPlan(seed: 2)
        let burst = BurstLoss(slot: .milliseconds(1), enter: .never, leave: .never, loss: .always)
        #expect(!plan.isBad(3_000_000_000_000, burst, .toPhone))
    }
}

@Suite struct LinkReceiverTests {
    private func receiver(_ change: (inout DirectionPlan) -> Void, began: Moment = .zero) -> LinkReceiver {
        var plan = LinkPlan(seed: 1)
        change(&plan.toPhone)
        return LinkReceiver(direction: .toPhone, plan: plan, origin: .zero, began: began)
    }

    private func second(_ seconds: Int) -> Moment { .zero + .seconds(seconds) }

    @Test func anOutageHoldsTheQueueUntilItsEnd() throws {
        var link = receiver { $0.outages = [Outage(start: .seconds(5), end: .seconds(9))] }
        #expect(link.admit(try entry(1), byteCount: 1, isLast: true, at: second(8)) == .notBefore(second(9)))
        #expect(link.admit(try entry(1), byteCount: 1, isLast: true, at: second(9)) != .notBefore(second(9)))
    }

    @Test func aStuckHeadIsPoppedByTheNextEnqueue() throws {
        var link = receiver { $0.stuckHead = .untilNextEnqueue }
        #expect(link.admit(try entry(1), byteCount: 1, isLast: true, at: second(1)) == .waitsForNews)
        guard case .arrives = link.admit(try entry(1), byteCount: 1, isLast: false, at: second(2)) else {
            Issue.record("something stands behind it")
            return
        }
    }

    @Test func aRestartFreesTheHead() throws {
        var old = receiver({ $0.stuckHead = .untilRestart })
        #expect(old.admit(try entry(1), byteCount: 1, isLast: false, at: second(1)) == .waitsForNews)
        var fresh = receiver({ $0.stuckHead = .untilRestart }, began: second(5))
        guard case .arrives = fresh.admit(try entry(1), byteCount: 1, isLast: false, at: second(6)) else {
            Issue.record("this process began after the plan")
            return
        }
    }

    @Test func aSlowTransferArrivesWhenItsBytesHaveCome() throws {
        var link = receiver { $0.bytesPerSecond = 16_000 }
        #expect(link.admit(try entry(1), byteCount: 160_000, isLast: true, at: second(1)) == .notBefore(second(11)))
        guard case .arrives = link.admit(try entry(1), byteCount: 160_000, isLast: true, at: second(11)) else {
            Issue.record("its time has come")
            return
        }
        // The next one has the link for itself only from now on.
        #expect(link.admit(try entry(2), byteCount: 16_000, isLast: true, at: second(11)) == .notBefore(second(12)))
    }
}
