import Monitors
import Spooling
import Testing
import WireContract

@testable import Replay

struct CausalOrderTests {
    private func order(_ inOrder: Bool = false, _ write: (inout Run) -> Void) -> CausalOrder {
        var run = Run()
        write(&run)
        return CausalOrder(run.entries, inOrder: inOrder)
    }

    @Test("timing and retries do not tell two runs apart")
    func timingAndRetries() {
        let quick = order { run in
            run.deliver(1)
            run.deliver(2)
            run.census(inContainer: [1, 2])
        }
        let slow = order { run in
            run.pace = .milliseconds(700)
            run.record(1)
            run.record(2)
            run.enqueue(1)
            run.enqueue(2)
            run.take(2)
            run.lose(.note, 1)
            run.ingest(2)
            run.enqueue(1, attempt: 2)
            run.ack(2)
            run.lose(.ack, 2)
            run.take(1, attempt: 2)
            run.complete(1)
            // The retry comes before the slow ack, and is acked once more.
            run.enqueue(2, attempt: 2)
            run.take(2, attempt: 2)
            run.phone(PairEvent(.duplicate, id: Run.id(2)))
            run.ack(2, attempt: 2)
            run.receiveAck(2, attempt: 2)
            run.delete(2)
            run.watch(PairEvent(.strayAck, id: Run.id(2)))
            run.census(inContainer: [1, 2])
        }
        #expect(quick == slow)
        #expect(quick.difference(from: slow) == nil)
        #expect(
            quick.recordings[0].marks == [
                .recorded, .enqueued, .taken, .staged, .ingested, .acked, .ackReceived, .deleted,
            ])
    }

    @Test("an ack before its ingest is another order")
    func swapped() {
        let good = order { $0.deliver(1) }
        let bad = order { run in
            run.record(1)
            run.enqueue(1)
            run.take(1)
            run.ack(1)
            run.ingest(1)
            run.receiveAck(1)
            run.delete(1)
        }
        #expect(good != bad)
        #expect(bad.difference(from: good) == "recording 1: acked came before ingested here, and not there")
        #expect(good.difference(from: bad) == "recording 1: acked came before ingested there, and not here")
    }

    @Test("a deletion before the ack came is another order")
    func deletedTooEarly() {
        let good = order { $0.deliver(1) }
        let bad = order { run in
            run.record(1)
            run.enqueue(1)
            run.take(1)
            run.ingest(1)
            run.delete(1)
            run.ack(1)
            run.receiveAck(1)
        }
        #expect(bad.difference(from: good) == "recording 1: deleted came before ackReceived here, and not there")
    }

    @Test("an ack of what was never final is no way to the end")
    func ackedWithoutIngest() {
        let good = order { $0.deliver(1) }
        let bad = order { run in
            run.record(1)
            run.enqueue(1)
            run.take(1)
            run.ack(1)
            run.receiveAck(1)
            run.delete(1)
        }
        #expect(bad.difference(from: good) == "recording 1: after staged comes acked here, ingested there")
    }

    @Test("the first recording that differs is named, and how far it came")
    func firstDifference() {
        let all = order { run in
            run.deliver(1)
            run.deliver(2)
        }
        let part = order { run in
            run.deliver(1)
            run.record(2)
            run.enqueue(2)
        }
        #expect(part.difference(from: all) == "recording 2: after enqueued comes nothing here, taken there")
        let fewer = order { $0.deliver(1) }
        #expect(fewer.difference(from: all) == "1 recordings here, 2 there")
    }

    @Test("a daemon tells what it did after the other saw it")
    func toldLate() {
        let good = order { $0.deliver(1) }
        let late = order { run in
            run.take(1)
            run.enqueue(1)
            run.record(1)
            run.complete(1)
        }
        #expect(good == late)
    }

    @Test("what a killed daemon could not tell is filled in")
    func lostLines() {
        let good = order { run in
            run.deliver(1)
            run.census(inContainer: [1])
        }
        let killed = order { run in
            run.record(1)
            // The watch died after it sent, the phone after it ingested; the retry is a duplicate.
            run.phone(PairEvent(.ingested, phase: .intends, id: Run.id(1)))
            run.world(.killed(.phone))
            run.world(.killed(.watch))
            run.enqueue(1, attempt: 1, start: 2)
            run.take(1, start: 2)
            run.phone(PairEvent(.duplicate, id: Run.id(1)))
            run.ack(1)
            // The watch died between the deletion and the line about it.
            run.watch(PairEvent(.deleted, phase: .intends, id: Run.id(1)))
            run.world(.killed(.watch))
            run.census(inContainer: [1])
        }
        #expect(killed.difference(from: good) == nil)
        let kept = order { run in
            run.deliver(1)
            run.entries.removeLast()
            run.census(onWatch: [1], inContainer: [1])
        }
        #expect(kept.difference(from: good) == "recording 1: after ackReceived comes nothing here, deleted there")
    }

    @Test("a veto before the note and one after it are the same; a veto and an ingest are not")
    func vetoes() {
        let early = order { run in
            run.record(1)
            run.phone(PairEvent(.vetoed, id: Run.id(1)))
            run.enqueue(1)
            run.take(1)
            run.ack(1)
            run.receiveAck(1)
            run.delete(1)
        }
        let late = order { run in
            run.record(1)
            run.enqueue(1)
            run.take(1)
            run.phone(PairEvent(.waits, id: Run.id(1)))
            run.phone(PairEvent(.vetoed, id: Run.id(1), detail: "not ingested"))
            run.ack(1)
            run.receiveAck(1)
            run.delete(1)
        }
        #expect(early == late)
        let ingested = order { $0.deliver(1) }
        #expect(early.difference(from: ingested) == "recording 1: after staged comes vetoed here, ingested there")
    }

    @Test("the user's deletion is an end of its own")
    func deletedByUser() {
        let kept = order { $0.deliver(1) }
        let deleted = order { run in
            run.deliver(1)
            run.phone(PairEvent(.userDeleted, id: Run.id(1)))
        }
        #expect(deleted.difference(from: kept) == "recording 1: it ended as deletedByUser here, as ingested there")
    }

    @Test("a damaged try on the way does not count; one that was the end does")
    func setAside() {
        let aside = PairEvent(.setAside, id: Run.id(1), detail: "altered")
        let plain = order { $0.deliver(1) }
        let detour = order { run in
            run.record(1)
            run.enqueue(1)
            run.phone(aside)
            run.enqueue(1, attempt: 2)
            run.take(1, attempt: 2)
            run.complete(1)
        }
        #expect(plain == detour)
        let stuck = order { run in
            run.record(1)
            run.enqueue(1)
            run.take(1)
            run.phone(aside)
        }
        #expect(
            stuck.difference(from: plain) == "recording 1: after staged comes setAside (altered) here, ingested there")
    }

    @Test("ingests are in an order between recordings only where the scenario says so")
    func inOrder() {
        func run(_ order: [Int]) -> Run {
            var run = Run()
            for ordinal in [1, 2] { run.record(ordinal) }
            for ordinal in order {
                run.enqueue(ordinal)
                run.take(ordinal)
                run.complete(ordinal)
            }
            return run
        }
        let (forward, back) = (run([1, 2]).entries, run([2, 1]).entries)
        #expect(CausalOrder(forward) == CausalOrder(back))
        #expect(
            CausalOrder(forward, inOrder: true).difference(from: CausalOrder(back, inOrder: true))
                == "ingest 1 is of recording 1 here, of recording 2 there")
    }

    @Test("ids that carry no numbers are numbered as record returned")
    func numbers() {
        var run = Run()
        run.record(40)
        run.record(9)
        #expect(NoteNumbers(run.entries).ids == [Run.id(40), Run.id(9)])
        var swapped = Run()
        swapped.record(2)
        swapped.record(1)
        #expect(NoteNumbers(swapped.entries).ids == [Run.id(1), Run.id(2)])
        #expect(NoteNumbers(asReturned: swapped.entries).ids == [Run.id(2), Run.id(1)])
    }
}

struct FinalStateTests {
    private func state(_ write: (inout Run) -> Void) -> FinalState? {
        var run = Run()
        run.record(1)
        run.record(2)
        write(&run)
        return FinalState(run.entries)
    }

    @Test("without a census there is no end")
    func noCensus() { #expect(state { _ in } == nil) }

    @Test("what retries leave behind does not count")
    func leftovers() throws {
        let clean = try #require(state { $0.census(inContainer: [1, 2]) })
        let littered = try #require(
            state { run in
                run.census(onWatch: [1])
                run.census(inContainer: [1, 2]) { census in
                    census.entries = [Run.id(1)]
                    census.acks = [.init(id: Run.id(1), pairing: PairingID(rawValue: 1))]
                    census.phoneQuarantineCount = 3
                    census.container[0].isDurable = false
                }
            })
        #expect(clean.difference(from: littered) == nil)
    }

    @Test("each place that differs is named")
    func differences() throws {
        let clean = try #require(state { $0.census(inContainer: [1, 2]) })
        func difference(_ change: @escaping (inout Census) -> Void) throws -> String? {
            try #require(state { $0.census(inContainer: [1, 2], change) }).difference(from: clean)
        }
        #expect(
            try difference { $0.recordings = [.init(id: Run.id(2), checksums: Run.sums(2))] }
                == "recording 2 in the watch: with crc32 00000002, adler32 00000003 here, absent there")
        #expect(
            try difference { $0.container[1].checksums = Run.sums(9) }
                == "recording 2 in the container: without extension, with crc32 00000009, adler32 0000000a here,"
                + " without extension, with crc32 00000002, adler32 00000003 there")
        #expect(
            try difference { $0.container.removeFirst() }
                == "recording 1 in the container: absent here,"
                + " without extension, with crc32 00000001, adler32 00000002 there")
        #expect(
            try difference { $0.ledger[1].outcome = .deleted }
                == "recording 2 in the ledger: as deleted here, as ingested there")
        #expect(try difference { $0.vetoes = [Run.id(1)] } == "recording 1 in the vetoes: present here, absent there")
        #expect(
            try difference { census in
                census.staging = [.init(identity: .id(Run.id(2)), bodyCRC32: 1, dictionaryCRC32: 2)]
            } == "recording 2 in staging: present here, absent there")
        #expect(
            try difference { census in
                census.staging = [.init(identity: .id(Run.id(77)), bodyCRC32: 1, dictionaryCRC32: 2)]
            } == "1 that belong to no recording in staging here, 0 there")
    }
}
