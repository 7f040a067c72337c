import Monitors
import Spooling
import Testing
import WireContract

@Suite struct JudgeTests {
    private typealias S = Story

    @Test func theExplanationIsTheStoryOfThatRecordingAlone() throws {
        var story = Story()
        story.record(1)
        story.record(2)
        story.watch(PairEvent(.enqueued, id: S.id(2), attempt: 1))
        story.watch(PairEvent(.enqueued, id: S.id(1), name: "entry", attempt: 1))
        story.world(.killed(.phone))
        story.phone(PairEvent(.started))
        story.phone(PairEvent(.failed, detail: "something else"))
        story.watch(PairEvent(.transferFinished, id: S.id(1), attempt: 1, detail: "delivered"))
        story.watch(PairEvent(.deleted, phase: .intends, id: S.id(1)))
        guard case .violated(let violations) = story.verdict(story.census(onWatch: [2])) else {
            Issue.record("it was deleted without an ack")
            return
        }
        let violation = try #require(violations.first)
        #expect(violation.id == S.id(1))
        #expect(violation.moment == story.now)
        #expect(violation.sequence == 8)
        #expect(
            violation.explanation == [
                "+0.000000 s  world  record returned, 100 bytes, version 1",
                "+3.000000 s  watch  enqueued, try 1, entry",
                "+4.000000 s  world  killed the phone",
                "+5.000000 s  phone  started",
                "+7.000000 s  watch  transferFinished, try 1 (delivered)",
                "+8.000000 s  watch  is about to: deleted",
            ])
    }

    @Test func aShortTrailSaysThatSomethingIsMissing() throws {
        var story = Story()
        story.record(1)
        for _ in 0..<20 { story.watch(PairEvent(.refused)) }
        story.delete(1)
        guard case .violated(let violations) = story.verdict(story.census(), trailCount: 8) else {
            Issue.record("it was deleted without an ack")
            return
        }
        #expect(
            try #require(violations.first).explanation == [
                "(what came before is not kept)", "+21.000000 s  watch  is about to: deleted",
            ])
    }

    @Test func aLookInTheMiddleIsComparedToo() {
        var story = Story()
        story.record(1)
        story.world(.census(story.census()))
        story.world(.removedByHand(S.id(1)))
        #expect(story.verdict(story.census()).broken == [.nothingIsLost])
    }

    @Test func missingHistoryAccusesNobody() {
        var story = Story()
        story.record(1)
        story.world(.historyGap(.watch))
        story.world(.historyGap(.phone))
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
        // What the disks show counts.
        #expect(story.verdict(story.census()).broken == [.nothingIsLost])
    }

    @Test func aDeletionThatIsMissingInTheJournalAccusesNobody() {
        var story = Story()
        story.record(1)
        story.send(1)
        story.ingest(1)
        story.ack(1)
        story.world(.historyGap(.watch))
        #expect(story.verdict(story.census(inContainer: [1])) == .held)
    }

    @Test func eachRecordingIsToldOnceInTheOrderInWhichItShowed() {
        var story = Story()
        story.record(1)
        story.record(2)
        story.delete(2)
        story.ack(1)
        story.delete(1)
        #expect(story.verdict(story.census()).broken == [.onlyAnAckDeletes, .anAckIsTrue])
    }

    @Test func theBoundGrowsWithTheWaitsTheNumberAndTheBytes() {
        let bound = DrainBound(Story.policy)
        let one = bound.duration(count: 1, byteCount: 0, largestByteCount: 0)
        // Longest patience and longest wait (8 s each), two looks (10 s each), two pauses (30 s each), 50 ms of work.
        #expect(one == .milliseconds(96_050))
        #expect(bound.duration(count: 101, byteCount: 0, largestByteCount: 0) == one + .seconds(5))
        let mebibytes: UInt64 = 8 * 1_024 * 1_024
        #expect(
            bound.duration(count: 1, byteCount: mebibytes, largestByteCount: mebibytes) > one + .seconds(3)
                - .milliseconds(1))
    }

    @Test func manyRecordingsAreKeptApart() {
        var story = Story()
        for number in 1...3_000 as ClosedRange<UInt64> { story.deliver(number) }
        story.watch(PairEvent(.deleted, id: S.id(1_234)))
        #expect(story.verdict(story.census(inContainer: Array(1...3_000))).broken == [.onlyAnAckDeletes])
    }
}
