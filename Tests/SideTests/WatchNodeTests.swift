import Spooling
import Testing
import WatchSide
import WireContract

/// A node with the world around it played by the test: it says what the stores would.
private struct Play {
    var node: WatchNode
    var now = Moment.zero
    var directives: [WatchDirective] = []
    private var namer: EntryNamer

    init(
        first: Duration = .seconds(10), cap: Duration = .seconds(160), patience: Duration = .seconds(60),
        limits: WatchLimits = .standard
    ) {
        node = WatchNode(policy: RetryPolicy(first: first, cap: cap, patience: patience), limits: limits)
        guard let start = StartNumber(rawValue: 1) else { preconditionFailure("1 is a start number") }
        namer = EntryNamer(kind: .note, start: start)
    }

    mutating func tell(_ event: WatchEvent) { node.handle(event, at: now, into: &directives) }

    mutating func take() -> [WatchDirective] {
        defer { directives = [] }
        return directives
    }

    mutating func name(_ id: ULID, attempt: Int) -> EntryName { namer.next(id: id, attempt: attempt, nonce: 7) }

    /// Ticks and lets every enqueue and requeue succeed; the ids that were sent, in order.
    mutating func send() -> [ULID] {
        var sent: [ULID] = []
        tell(.tick)
        for directive in take() {
            switch directive {
            case .enqueue(let id, let attempt):
                sent.append(id)
                tell(.enqueued(id, name(id, attempt: attempt)))
            case .requeue(let id, let entry, let attempt):
                tell(.requeued(id, from: entry, to: name(id, attempt: attempt)))
            case .delete, .withdraw, .reportStray:
                Issue.record("a tick asks for \(directive)")
            }
        }
        return sent
    }

    mutating func deliver(_ id: ULID) {
        tell(.transferFinished(id, entry: node.phase(of: id)?.entry, .delivered))
    }

    /// Goes to the moment at which the node wants to be called.
    mutating func sleep() -> Duration? {
        guard let deadline = node.nextDeadline else { return nil }
        defer { now = max(now, deadline) }
        return deadline.since(now)
    }
}

private func id(_ number: UInt64) -> ULID { ULID(high: 1 << 20, low: number) }

@Suite struct WatchNodeTests {
    @Test func aDoubledAckDeletesOnce() {
        var play = Play()
        play.tell(.recordingFound(id(1), byteCount: 100))
        #expect(play.send() == [id(1)])
        let entry = play.node.phase(of: id(1))?.entry
        play.tell(.ackArrived(id(1)))
        play.tell(.ackArrived(id(1)))
        #expect(play.take() == [.delete(id(1), entry: entry)])
        play.tell(.deleted(id(1)))
        #expect(play.node.isEmpty)
        play.tell(.ackArrived(id(1)))
        #expect(play.take() == [.reportStray(id(1))])
    }

    @Test func anAckThatOvertakesItsDidFinishTakesTheEntryBackToo() {
        var play = Play()
        play.tell(.recordingFound(id(1), byteCount: 100))
        _ = play.send()
        guard let entry = play.node.phase(of: id(1))?.entry else {
            Issue.record("it is not outstanding")
            return
        }
        play.tell(.ackArrived(id(1)))
        #expect(play.take() == [.delete(id(1), entry: entry)])
        play.tell(.transferFinished(id(1), entry: entry, .delivered))
        play.tell(.deleted(id(1)))
        play.tell(.transferFinished(id(1), entry: entry, .delivered))
        #expect(play.take() == [])
        #expect(play.node.isEmpty && play.node.entries.isEmpty && play.node.nextDeadline == nil)
    }

    @Test func anAckWhileTheCopyIsMadeDeletesAndTakesTheCopyBack() {
        var play = Play()
        play.tell(.recordingFound(id(1), byteCount: 100))
        play.tell(.tick)
        #expect(play.take() == [.enqueue(id(1), attempt: 1)])
        play.tell(.ackArrived(id(1)))
        #expect(play.take() == [.delete(id(1), entry: nil)])
        let entry = play.name(id(1), attempt: 1)
        play.tell(.enqueued(id(1), entry))
        #expect(play.take() == [.withdraw(id(1), entry)])
        play.tell(.deleted(id(1)))
        #expect(play.node.isEmpty)
    }

    @Test func anAckForAnIdThatIsNotHereIsAStrayAndHarmless() {
        var play = Play()
        play.tell(.recordingFound(id(1), byteCount: 100))
        let before = play.node
        play.tell(.ackArrived(id(2)))
        #expect(play.take() == [.reportStray(id(2))])
        #expect(play.node == before)
    }

    @Test func onlyAnAckDeletes() {
        let outcomes: [TransferOutcome] = [.delivered, .cancelled, .failed(.deliveryFailed), .failed(.payloadTooLarge)]
        for outcome in outcomes {
            var play = Play()
            play.tell(.recordingFound(id(1), byteCount: 100))
            _ = play.send()
            play.tell(.transferFinished(id(1), entry: play.node.phase(of: id(1))?.entry, outcome))
            for _ in 0..<20 {
                _ = play.sleep()
                play.tell(.tick)
                for directive in play.take() {
                    if case .delete = directive { Issue.record("\(outcome) deletes") }
                    if case .enqueue(let id, _) = directive {
                        play.tell(.transferFinished(id, entry: nil, .failed(.genericError)))
                    }
                }
            }
            #expect(play.node.holds(id(1)))
        }
    }

    @Test func aLostAckMeansSendingAgainWithWaitsThatDoubleToTheCapAndTriesThatHaveNone() {
        var play = Play()
        play.tell(.recordingFound(id(1), byteCount: 100))
        var waits: [Duration] = []
        for attempt in 1...10_000 {
            #expect(play.send() == [id(1)])
            #expect(play.node.attempts(of: id(1)) == attempt)
            play.deliver(id(1))
            guard let wait = play.sleep() else {
                Issue.record("parked for ever at try \(attempt)")
                return
            }
            waits.append(wait)
        }
        #expect(
            waits.prefix(6) == [.seconds(10), .seconds(20), .seconds(40), .seconds(80), .seconds(160), .seconds(160)])
        #expect(waits.dropFirst(4).allSatisfy { $0 == .seconds(160) })
    }

    /// 20 MB at 16 kB/s take 1,250 seconds: longer than the longest patience of any try would be without them.
    @Test func aSlowTransferIsNotCancelledBecauseItIsSlow() {
        var play = Play()
        play.tell(.recordingFound(id(1), byteCount: 20_000_000))
        #expect(play.send() == [id(1)])
        #expect(play.sleep() == .seconds(60 + 1_250))
        play.tell(.tick)
        #expect(play.take().count == 1, "then it is: it may have been forgotten")
    }

    @Test func patienceRenamesTheEntryAndGrows() {
        var play = Play()
        play.tell(.recordingFound(id(1), byteCount: 100))
        _ = play.send()
        var waits: [Duration] = []
        var entries = Array(play.node.entries)
        for _ in 0..<4 {
            guard let wait = play.sleep(), let entry = play.node.entries.first else {
                Issue.record("nobody is impatient")
                return
            }
            waits.append(wait)
            play.tell(.tick)
            let attempt = play.node.attempts(of: id(1)) + 1
            #expect(play.take() == [.requeue(id(1), entry, attempt: attempt)])
            let renamed = play.name(id(1), attempt: attempt)
            play.tell(.requeued(id(1), from: entry, to: renamed))
            #expect(play.node.entries == [renamed])
            entries.append(renamed)
        }
        #expect(waits == [.seconds(60), .seconds(120), .seconds(160), .seconds(160)])
        #expect(entries == entries.sorted())
    }

    @Test func aRequeueThatFindsTheEntryTakenIsADelivery() {
        var play = Play()
        play.tell(.recordingFound(id(1), byteCount: 100))
        _ = play.send()
        _ = play.sleep()
        play.tell(.tick)
        guard case .requeue(_, let entry, _) = play.take().first else {
            Issue.record("nobody is impatient")
            return
        }
        play.tell(.transferFinished(id(1), entry: entry, .delivered))
        #expect(play.node.entries.isEmpty)
        #expect(play.sleep() == .seconds(10))
        #expect(play.send() == [id(1)])
    }

    @Test func theWindowTakesAThousandAndTheRestGoesInTheOrderOfRecording() {
        var play = Play()
        for number in (1...3_000).reversed() { play.tell(.recordingFound(id(UInt64(number)), byteCount: 100)) }
        var sent: [ULID] = []
        while true {
            let batch = play.send()
            if batch.isEmpty { break }
            #expect(batch.count <= WatchLimits.standard.batchCount)
            sent += batch
        }
        #expect(sent == (1...1_000).map { id(UInt64($0)) })
        #expect(play.node.entries.count == 1_000)
        // Nothing that does not fit wakes anybody before the patience of those that lie there.
        #expect(play.node.nextDeadline == .zero + .seconds(60))
        play.tell(.ackArrived(id(500)))
        #expect(play.take().count == 1)
        // As long as its entry lies there, it counts.
        #expect(play.send() == [])
        play.tell(.deleted(id(500)))
        #expect(play.send() == [id(1_001)])
    }

    @Test func theWindowTakes256MiBAndAGiBGoesAlone() {
        let mebibyte: UInt64 = 1_024 * 1_024
        var play = Play()
        for number in 1...5 { play.tell(.recordingFound(id(UInt64(number)), byteCount: 100 * mebibyte)) }
        play.tell(.recordingFound(id(6), byteCount: 1_024 * mebibyte))
        play.tell(.recordingFound(id(7), byteCount: 1))
        #expect(play.send() == [id(1)])
        #expect(play.send() == [id(2)])
        #expect(play.send() == [])
        for number in 1...5 {
            play.tell(.ackArrived(id(UInt64(number))))
            play.tell(.deleted(id(UInt64(number))))
            _ = play.take()
        }
        // The small one waits behind the large one: none overtakes.
        #expect(play.send() == [id(6)])
        #expect(play.send() == [])
        play.deliver(id(6))
        #expect(play.send() == [id(7)])
    }

    @Test func aFullSpoolClosesTheDoorForAllAndOpensItAgain() {
        var play = Play()
        play.tell(.recordingFound(id(1), byteCount: 100))
        play.tell(.recordingFound(id(2), byteCount: 100))
        play.tell(.tick)
        #expect(play.take().count == 2)
        let until = play.now + .seconds(2)
        play.tell(.enqueuePostponed(id(1), until: until))
        play.tell(.enqueuePostponed(id(2), until: until))
        #expect(play.send() == [])
        #expect(play.sleep() == .seconds(2))
        #expect(play.send() == [id(1), id(2)])
    }

    @Test func aRecordingThatRottedWaitsTheLongestWaitAndTheOthersGoOn() {
        var play = Play()
        play.tell(.recordingFound(id(1), byteCount: 100))
        play.tell(.tick)
        _ = play.take()
        play.tell(.recordingAltered(id(1)))
        play.tell(.recordingFound(id(2), byteCount: 100))
        #expect(play.send() == [id(2)])
        play.tell(.ackArrived(id(2)))
        play.tell(.deleted(id(2)))
        _ = play.take()
        #expect(play.sleep() == .seconds(160))
        #expect(play.send() == [id(1)])
    }

    @Test func aSecondEntryForARecordingIsTakenBack() {
        var play = Play()
        play.tell(.recordingFound(id(1), byteCount: 100))
        let (first, second) = (play.name(id(1), attempt: 1), play.name(id(1), attempt: 2))
        play.tell(.entryFound(first))
        play.tell(.entryFound(second))
        #expect(play.take() == [.withdraw(id(1), second)])
        #expect(play.node.entries == [first])
        #expect(play.send() == [])
    }

    @Test func aCancelledTransferEndsOnceAndTheRecordingIsSentAgain() {
        var play = Play()
        play.tell(.cancelRequested(id(1)))
        play.tell(.recordingFound(id(1), byteCount: 100))
        play.tell(.cancelRequested(id(1)))
        #expect(play.take() == [])
        _ = play.send()
        guard let entry = play.node.entries.first else {
            Issue.record("it is not outstanding")
            return
        }
        play.tell(.cancelRequested(id(1)))
        #expect(play.take() == [.withdraw(id(1), entry)])
        play.tell(.transferFinished(id(1), entry: entry, .cancelled))
        play.tell(.transferFinished(id(1), entry: entry, .delivered))
        #expect(play.sleep() == .seconds(10))
        #expect(play.send() == [id(1)])
    }

    @Test func aDeletionThatFailsGoesOnAsBefore() {
        var play = Play()
        play.tell(.recordingFound(id(1), byteCount: 100))
        _ = play.send()
        let entry = play.node.phase(of: id(1))?.entry
        play.tell(.ackArrived(id(1)))
        play.tell(.deleteFailed(id(1)))
        #expect(play.node.phase(of: id(1))?.entry == entry && play.node.entries.count == 1)
        _ = play.take()
        play.tell(.ackArrived(id(1)))
        #expect(play.take() == [.delete(id(1), entry: entry)])
    }

    /// 100,000 recordings, each of which is sent, delivered, resent and acked. With any work that grows with the number of
    /// recordings at each event this takes hours; the time limit is generous on purpose.
    @Test(.timeLimit(.minutes(2))) func aHundredThousandRecordingsDrain() {
        var play = Play()
        let count: UInt64 = 100_000
        for number in 1...count { play.tell(.recordingFound(id(number), byteCount: 1_000)) }
        var acked: UInt64 = 0
        while acked < count {
            let sent = play.send()
            if sent.isEmpty, play.sleep() == nil {
                Issue.record("stuck after \(acked)")
                return
            }
            for (index, id) in sent.enumerated() {
                play.deliver(id)
                // Every tenth ack is lost the first time.
                if index % 10 == 0, play.node.attempts(of: id) == 1 { continue }
                play.tell(.ackArrived(id))
                play.tell(.deleted(id))
                acked += 1
                _ = play.take()
            }
        }
        #expect(play.node.isEmpty && play.node.entries.isEmpty && play.node.nextDeadline == nil)
    }
}
