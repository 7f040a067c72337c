import LinkFaults
import Monitors
import Replay
import Scenarios
import Simulation
import Spooling
import Testing

@Suite struct WorldTests {
    // MARK: Determinism

    @Test func theSameSeedGivesTheSameHistory() throws {
        for file in Repository.catalogue {
            let scenario = try Repository.scenario(file)
            let (first, second) = (play(scenario), play(scenario))
            #expect(first.digest == second.digest, "\(file)")
            #expect(first.entries == second.entries, "\(file)")
        }
    }

    @Test func anotherSeedGivesAnother() throws {
        let scenario = try Repository.scenario("53-thirty-percent-each-way.json5")
        var digests: Set<HistoryDigest> = []
        for seed in 0..<50 as Range<UInt64> { digests.insert(World(scenario.reseeded(seed)).run().digest) }
        #expect(digests.count == 50)
    }

    /// A digest counts everything: one changed word of one event, and it is another one.
    @Test func aDigestSeesEveryPartOfAnEvent() {
        let base = PairEvent(.failed, name: "a", byteCount: 1, attempt: 1, detail: "x")
        var variants: [PairEvent] = [base]
        var other = base
        other.detail = "y"
        variants.append(other)
        other = base
        other.attempt = 2
        variants.append(other)
        other = base
        other.byteCount = nil
        variants.append(other)
        other = base
        other.name = "b"
        variants.append(other)
        other = base
        other.phase = .intends
        variants.append(other)
        other = base
        other.pairing = PairingID(rawValue: 3)
        variants.append(other)
        other = base
        other.checksums = .ofNothing
        variants.append(other)
        let digests = variants.map { event in
            var digest = HistoryDigest()
            digest.add(HistoryEntry(moment: .zero, sequence: 1, source: .watch, .pair(event)))
            return digest
        }
        #expect(Set(digests).count == variants.count)
    }

    // MARK: Time

    /// Ten years in which nothing happens are as long as a moment: nobody looks around in them.
    @Test func yearsWithoutTrafficCostNothing() throws {
        let report = play(
            try scenario("{ at: 0, record: 1 }, { at: '3650d', record: 1 }", expect: "{ ingested: 2, onWatch: 0 }"))
        #expect(report.outcome == .held, "\(report.complaints)")
        #expect(report.entryCount < 60, "\(report.entryCount) events in ten years with two notes")
    }

    /// A stall is over when the plan says so, and not at somebody's next look around. (Every few seconds of it the watch loses
    /// its patience and renames the entry, so hours are enough.)
    @Test func whatIsStalledGoesOnAtItsMoment() throws {
        let report = play(
            try scenario("{ at: 0, record: 1 }, { at: 0, link: { toPhone: { stallUntil: '2h' } } }"))
        #expect(report.outcome == .held, "\(report.complaints)")
        let taken = try #require(report.seconds(.taken).first)
        #expect(taken >= 7_200 && taken < 7_211, "\(taken)")
    }

    @Test func theWaitsOfThePolicyAreKeptToTheMillisecond() throws {
        let report = play(
            try scenario("{ at: 0, record: 1 }, { at: '16s', link: {} }", settings: "link: { toWatch: { drop: 1 } }"))
        #expect(report.outcome == .held, "\(report.complaints)")
        let sends = report.seconds(.enqueued)
        let waits = zip(sends.dropFirst(), sends).map { $0 - $1 }
        // 1, 2, 4, 4, …: doubled up to the cap.
        for (wait, expected) in zip(waits, [1.0, 2, 4, 4]) { #expect(abs(wait - expected) < 0.01, "\(waits)") }
    }

    // MARK: Death

    @Test func aKillAtACallIsBeforeThatCall() throws {
        let report = play(
            try scenario(
                """
                { at: 0, kill: 'phone', before: { operation: 'publish', path: 'container/' } },
                { at: '1s', record: 1 }
                """,
                expect: "{ at: '2s', ingested: 0 }, { owes: true }", settings: "drainWithin: '5s'"))
        #expect(report.unmet == [])
        #expect(report.worldSeconds(.killed(.phone)).count == 1)
        #expect(report.count(.staged) == 1 && report.count(.ingested) == 0)
        #expect(report.census.container.isEmpty && report.census.ledger.map(\.outcome) == [.ingesting])
    }

    @Test func aKillBehindACallIsBehindThatCall() throws {
        let report = play(
            try scenario(
                "{ at: 0, kill: 'phone', after: { operation: 'publish', path: 'container/' } }, { at: '1s', record: 1 }",
                expect: "{ at: '2s', ingested: 1 }, { owes: true }", settings: "drainWithin: '5s'"))
        #expect(report.unmet == [])
        #expect(report.count(.ingested) == 0)
        #expect(report.census.container.count == 1 && report.census.ledger.map(\.outcome) == [.ingesting])
    }

    /// A side that does not run yet meets the order when it starts.
    @Test func aKillThatIsOrderedBeforeTheStartWaitsForIt() throws {
        let report = play(
            try scenario(
                """
                { at: 0, kill: 'phone', before: { call: 3 } }, { at: '1s', start: 'phone' },
                { at: '2s', start: 'both' }, { at: '3s', record: 1 }
                """, settings: "startsBoth: false"))
        #expect(report.outcome == .held, "\(report.complaints)")
        #expect(report.worldSeconds(.killed(.phone)) == [1])
    }

    @Test func whatIsKilledStaysDownUntilItIsStarted() throws {
        let report = play(
            try scenario(
                "{ at: 0, record: 1 }, { at: 0, kill: 'phone' }, { at: '50s', start: 'phone' }",
                expect: "{ at: '49s', ingested: 0, onWatch: 1 }", settings: "startsBoth: true"))
        #expect(report.outcome == .held, "\(report.complaints)")
        #expect(try #require(report.seconds(.ingested).first) >= 50)
    }

    @Test func aBootAfterACutFindsWhatWasDurable() throws {
        for seed in 0..<40 as Range<UInt64> {
            for kind in ["durableOnly", "everything", "random"] {
                let scenario = try scenario(
                    "{ at: 0, record: 7 }, { at: '100ms', reboot: '\(kind)' }, { at: '200ms', reboot: '\(kind)' }",
                    expect: "{ onWatch: 0, ingested: 7 }", settings: "link: { toPhone: { bandwidth: '16kB/s' } }",
                    seed: seed)
                let report = play(scenario)
                #expect(report.outcome == .held, "\(kind), seed \(seed): \(report.complaints)")
            }
        }
    }

    // MARK: What people do

    @Test func requestsAreAnsweredByTheHolderOrByTheCommand() throws {
        let report = play(
            try scenario(
                """
                { at: 0, record: 3 }, { at: '1s', delete: 1 }, { at: '2s', stop: 'phone' }, { at: '3s', delete: 2 },
                { at: '4s', start: 'phone' }
                """, expect: "{ onWatch: 0, ingested: 1 }"))
        #expect(report.outcome == .held, "\(report.complaints)")
        let answers = report.entries.count {
            if case .world(.deleteAnswered(_, isDone: true)) = $0.what { true } else { false }
        }
        #expect(answers == 2)
    }

    @Test func aCancelledTransferIsSentAgain() throws {
        let report = play(
            try scenario(
                "{ at: 0, link: { toPhone: { stallUntil: '10s' } } }, { at: '1s', record: 1 }, { at: '2s', cancel: 1 }",
                expect: "{ onWatch: 0, ingested: 1 }, { happened: 'cancelled', times: 1 }"))
        #expect(report.outcome == .held, "\(report.complaints)")
    }

    /// The disk of the watch is its own: a full one refuses to record, and the phone does not notice.
    @Test func aFullWatchRecordsNothing() throws {
        let report = play(
            try scenario(
                """
                { at: 0, record: 1 }, { at: '1s', capacity: 'watch', to: 'full' }, { at: '2s', record: 2 },
                { at: '3s', capacity: 'watch', to: 'unlimited' }, { at: '4s', record: 1 }
                """, expect: "{ onWatch: 0, ingested: 2 }"))
        #expect(report.outcome == .held, "\(report.complaints)")
        #expect(report.recordedCount == 2 && report.verifiedCount == 2)
        // Those that were refused have their numbers all the same: the last one is the fourth.
        #expect(report.census.container.map(\.id.ordinal) == [1, 4])
    }

    @Test func aPlanThatMayLoseForEverIsUndecidedAndNotAccused() throws {
        let report = play(try scenario("{ at: 0, record: 1 }", settings: "link: { toPhone: { drop: 1 } }"))
        #expect(report.outcome == .undecided, "\(report.complaints)")
    }

    @Test func aDaemonThatIsDownForGoodIsUndecided() throws {
        let report = play(try scenario("{ at: 0, stop: 'phone' }, { at: '1s', record: 1 }"))
        #expect(report.outcome == .undecided, "\(report.complaints)")
    }

    @Test func whatShallOweAndDrainsIsAViolation() throws {
        let report = play(
            try scenario("{ at: 0, record: 1 }", expect: "{ owes: true }", settings: "drainWithin: '30s'"))
        #expect(report.outcome == .violated)
    }
}
