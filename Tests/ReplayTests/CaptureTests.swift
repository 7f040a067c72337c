import Foundation
import LinkFaults
import Monitors
import Scenarios
import Spooling
import Testing
import WireContract

@testable import Replay

struct CaptureTests {
    private func capture(
        _ original: Scenario? = nil, timeScale: Double = 1, _ write: (inout Run) throws -> Void
    ) throws -> Scenario {
        var run = Run()
        try write(&run)
        return try readBack(Capture.scenario(from: run.entries, of: original, name: "kept", timeScale: timeScale))
    }

    /// What every capture must do.
    private func readBack(_ scenario: Scenario) throws -> Scenario {
        let read = try ScenarioReader.read(text: scenario.text, file: "kept.json5")
        #expect(read == scenario)
        return scenario
    }

    private func original(_ plan: LinkPlan = .clean, steps: [TimedStep] = []) -> Scenario {
        var settings = ScenarioSettings()
        settings.link = plan
        settings.policy = RetryPolicy(first: .seconds(2), cap: .seconds(9), patience: .seconds(5))
        return Scenario(name: "soak", shows: "y", seed: 9, settings: settings, steps: steps)
    }

    @Test("what the world did is told at its moments, and nothing twice")
    func steps() throws {
        let scenario = try capture { run in
            run.start()
            run.pace = .zero
            run.record(1)
            run.record(2)
            run.record(3, byteCount: 2_000)
            run.pace = .nanoseconds(250_400_000)
            run.world(.killed(.phone))
            run.world(.started(.phone, Build()))
            run.world(.vetoAsked(Run.id(2)))
            run.world(.vetoAnswered(Run.id(2), isDone: true))
            run.world(.deleteAsked(Run.id(1)))
            run.world(.copyKept(.watch))
            run.world(.stopped(.watch))
            run.world(.restored(.watch))
            run.world(.started(.watch, Build()))
            run.world(.powerLost)
            run.world(.started(.watch, Build()))
            run.world(.started(.phone, Build()))
            run.world(.stopped(.phone))
            run.world(.started(.phone, Build(understands: 2, writes: 1)))
            run.world(.containerLocked)
            run.world(.containerOpened)
            run.world(.wiped(.ledger))
            run.world(.phoneReplaced)
            run.world(.watchSwitched(to: 2))
        }
        #expect(scenario.settings.startsBoth)
        let told: [(milliseconds: Int, step: Step)] = [
            (2_000, .record(count: 2, byteCount: 100)), (2_000, .record(count: 1, byteCount: 2_000)),
            (2_000, .kill(.phone, .now)), (2_250, .start(.phone)), (2_501, .veto(ordinal: 2)),
            (3_002, .delete(ordinal: 1)), (3_252, .keepCopy(.watch)), (3_503, .stop(.watch)),
            (3_753, .restoreCopy(.watch)), (4_254, .reboot(.random)), (5_005, .stop(.phone)),
            (5_256, .build(.phone, understands: 2, writes: 1)), (5_506, .container(.locked)),
            (5_756, .container(.open)), (6_007, .wipe(.ledger)), (6_257, .replacePhone), (6_508, .switchWatch(to: 2)),
        ]
        for (step, (milliseconds, expected)) in zip(scenario.steps, told) {
            // The pace is no whole number of milliseconds.
            let error = step.at - .milliseconds(milliseconds)
            #expect(step.step == expected && abs(error.inSeconds) <= 0.002, "\(step)")
        }
        #expect(scenario.steps.count == told.count)
    }

    @Test("sides that start later are started by steps, as the builds that they were")
    func lateStarts() throws {
        let scenario = try capture { run in
            run.world(.started(.watch, Build(understands: 1, writes: 3)))
            run.record(1)
            run.world(.started(.phone, Build(understands: 2, writes: 1)))
        }
        #expect(!scenario.settings.startsBoth)
        #expect(scenario.settings.payloadVersion == 3 && scenario.settings.phoneUnderstands == 2)
        #expect(
            scenario.steps.map(\.step) == [.start(.watch), .record(count: 1, byteCount: 100), .start(.phone)])
    }

    @Test("what the link did becomes rules of note and try, in its direction")
    func rules() throws {
        let scenario = try capture { run in
            run.start()
            for ordinal in 1...5 { run.record(ordinal) }
            for attempt in 1...3 {
                run.enqueue(1, attempt: attempt)
                run.lose(.note, 1, attempt: attempt)
                run.finish(1, attempt: attempt)
            }
            run.lose(.note, 2)
            run.finish(2, "failed: transferTimedOut (7017)")
            run.lose(.note, 3)
            run.take(4)
            run.take(4)
            run.take(4)
            run.lose(.ack, 4)
            let damaged = Run.entry(.note, 5)
            run.phone(PairEvent(.damagedByLink, id: Run.id(5), name: damaged, attempt: 1))
            run.take(5)
            let inbox = try #require(FileName("00000000000000ff.\(damaged)"))
            run.phone(PairEvent(.setAside, name: inbox, byteCount: 75, detail: "noSeal"))
        }
        let plan = scenario.settings.link
        #expect(
            plan.toPhone.rules == [
                LinkRule(ordinal: 1, attempts: 1...3, fault: .drop),
                LinkRule(ordinal: 2, attempts: 1...1, fault: .fail(.transferTimedOut)),
                LinkRule(ordinal: 3, attempts: 1...1, fault: .forget),
                LinkRule(ordinal: 4, attempts: 1...1, fault: .duplicate(extraCopies: 2)),
                LinkRule(ordinal: 5, attempts: 1...1, fault: .damage(.truncated(share: 0.25))),
            ])
        #expect(plan.toWatch.rules == [LinkRule(ordinal: 4, attempts: 1...1, fault: .drop)])
        #expect(
            scenario.steps.map(\.step) == [Step](repeating: .record(count: 1, byteCount: 100), count: 5),
            "no plan comes into force later")
    }

    @Test("the rules meet the transfers that they were made of")
    func rulesDecide() throws {
        let scenario = try capture { run in
            run.start()
            for ordinal in 1...2 { run.record(ordinal) }
            run.lose(.note, 2)
            run.finish(2)
            run.take(2, attempt: 2)
        }
        let plan = scenario.settings.link
        func count(_ ordinal: Int, _ attempt: Int) throws -> Int {
            let entry = try #require(EntryName(Run.entry(.note, ordinal, attempt: attempt)))
            return plan.decision(about: LinkTransfer(entry, byteCount: 1)).deliveryCount
        }
        #expect(try [count(1, 1), count(2, 1), count(2, 2)] == [1, 0, 1])
    }

    @Test("tries count from the watch's start, so each start has a plan of its own")
    func watchRestarts() throws {
        let scenario = try capture { run in
            run.start()
            run.record(1)
            run.lose(.note, 1)
            run.finish(1)
            run.world(.killed(.watch))
            run.world(.started(.watch, Build()))
            run.take(1, start: 2)
            run.lose(.ack, 1)
            run.world(.killed(.phone))
            run.world(.started(.phone, Build()))
        }
        let drop = [LinkRule(ordinal: 1, attempts: 1...1, fault: .drop)]
        #expect(scenario.settings.link.toPhone.rules == drop)
        guard case .link(let plan) = scenario.steps[2].step else {
            Issue.record("no plan in \(scenario.steps)")
            return
        }
        #expect(plan.toPhone.rules.isEmpty && plan.toWatch.rules == drop)
        #expect(scenario.steps[3].step == .start(.watch))
        #expect(scenario.steps.count == 6)
    }

    @Test("the original's plan says what the history does not, and leaves nothing to chance")
    func knownPlan() throws {
        var plan = LinkPlan(seed: 9)
        plan.toPhone.chances = [
            FaultChance(.silent, .always), FaultChance(.damage(.truncated(share: 0.5)), .always),
            FaultChance(.delay(.seconds(3)), .always),
        ]
        plan.toPhone.outages = [Outage(start: .seconds(100), end: .seconds(200))]
        plan.toWatch.burst = BurstLoss(slot: .seconds(1), enter: .always, leave: .never, loss: .always)
        let scenario = try capture(original(plan)) { run in
            run.start()
            run.record(1)
            run.phone(PairEvent(.damagedByLink, id: Run.id(1), name: Run.entry(.note, 1), attempt: 1))
            run.take(1)
            run.lose(.ack, 1)
        }
        let kept = scenario.settings.link
        #expect(
            kept.toPhone.rules
                == [.damage(.truncated(share: 0.5)), .silent, .delay(.seconds(3))].map {
                    LinkRule(ordinal: 1, attempts: 1...1, fault: $0)
                })
        #expect(kept.toPhone.chances.isEmpty && kept.toWatch.burst == nil)
        #expect(kept.toPhone.outages == plan.toPhone.outages)
        #expect(kept.toWatch.rules == [LinkRule(ordinal: 1, attempts: 1...1, fault: .drop)])
        #expect(scenario.settings.policy.patience == .seconds(5))
    }

    @Test("an outage goes on where a start of the watch brings another plan")
    func outageShifts() throws {
        var plan = LinkPlan(seed: 9)
        plan.toPhone.outages = [
            Outage(start: .seconds(1), end: .seconds(2)), Outage(start: .seconds(4), end: .seconds(60)),
        ]
        plan.toPhone.stuckHead = .untilRestart
        plan.toWatch.stuckHead = .untilRestart
        let scenario = try capture(original(plan)) { run in
            run.start()
            run.record(1)
            run.lose(.note, 1)
            run.pace = .zero
            run.world(.killed(.watch))
            run.now = Moment(nanoseconds: 10_000_000_000)
            run.world(.started(.watch, Build()))
            run.lose(.note, 1, start: 2)
            run.lose(.note, 1, attempt: 2, start: 2)
        }
        let later = scenario.steps.compactMap { if case .link(let plan) = $0.step { plan } else { nil } }
        #expect(later.count == 1)
        #expect(later[0].toPhone.outages == [Outage(start: .zero, end: .seconds(50))])
        #expect(later[0].toPhone.stuckHead == .untilRestart && later[0].toWatch.stuckHead == nil)
        #expect(scenario.settings.link.toWatch.stuckHead == .untilRestart)
    }

    @Test("steps that leave no trace come from the original, at its moments")
    func untoldSteps() throws {
        var later = LinkPlan(seed: 9)
        later.toPhone.chances = [FaultChance(.drop, .always)]
        later.toPhone.bytesPerSecond = 16_000
        let steps = [
            TimedStep(at: .zero, .record(count: 1, byteCount: 5)), TimedStep(at: .seconds(3), .session(.inactive)),
            TimedStep(at: .seconds(4), .link(later)), TimedStep(at: .seconds(5), .cancel(ordinal: 1)),
            TimedStep(at: .seconds(5), .cancel(ordinal: 2)), TimedStep(at: .seconds(6), .reboot(.durableOnly)),
            TimedStep(at: .seconds(90), .clock(jumpSeconds: -60)),
        ]
        let scenario = try capture(original(LinkPlan(seed: 9), steps: steps)) { run in
            run.start()
            run.record(1)
            run.now = Moment(nanoseconds: 4_500_000_000)
            run.lose(.note, 1)
            run.world(.powerLost)
        }
        let clean = LinkPlan(seed: 9)
        var ruled = clean
        ruled.toPhone.bytesPerSecond = 16_000
        ruled.toPhone.rules = [LinkRule(ordinal: 1, attempts: 1...1, fault: .drop)]
        #expect(scenario.settings.link == clean)
        #expect(
            scenario.steps.map(\.step) == [
                .record(count: 1, byteCount: 100), .session(.inactive), .link(ruled), .cancel(ordinal: 1),
                .link(
                    {
                        var plan = ruled
                        plan.toPhone.rules = []
                        return plan
                    }()), .reboot(.durableOnly), .clock(jumpSeconds: -60),
            ])
        #expect(scenario.shows.contains("a cancel of what was not recorded yet (1)"))
    }

    @Test("without the original a cancel is told by its transfer")
    func cancel() throws {
        let scenario = try capture { run in
            run.record(1)
            run.finish(1, "cancelled")
        }
        #expect(scenario.steps.last?.step == .cancel(ordinal: 1))
    }

    @Test("the end is what the scenario expects")
    func expectations() throws {
        let drained = try capture { run in
            run.deliver(1)
            run.record(2)
            run.phone(PairEvent(.vetoed, id: Run.id(2)))
            run.delete(2)
        }
        #expect(
            drained.expectations.map(\.expectation) == [
                .onWatch(0...0), .ingested(1...1), .happened(.ingested, ordinal: 1, 1...1),
                .happened(.vetoed, ordinal: 2, 1...Int.max),
            ])
        var ordered = original()
        ordered.expectations = [TimedExpectation(at: nil, .inOrder)]
        let owing = try capture(ordered) { run in
            run.record(1)
            run.census(onWatch: [1]) { census in
                census.staging = [.init(identity: .id(Run.id(1)), bodyCRC32: 1, dictionaryCRC32: 2)]
            }
        }
        #expect(
            owing.expectations.map(\.expectation) == [
                .onWatch(1...1), .ingested(0...0), .waiting(1...1), .owes, .inOrder,
            ])
    }

    @Test("what cannot be told is counted")
    func leftOut() throws {
        let scenario = try capture(original()) { run in
            run.world(.entryPlanted(nil, checksums: .ofNothing, version: nil))
            run.world(.entryPlanted(Run.id(7), checksums: .ofNothing, version: 1))
            run.world(.restored(.phone))
            run.world(.wiped(.home(.watch)))
            run.lose(.note, 70)
        }
        #expect(
            scenario.shows
                == "Captured from a run of \"soak\". Left out: a planted entry (2), a restore of a copy that was kept"
                + " earlier (1), a wiped home (1), what the link did to entries of somebody else (1).")
    }

    @Test("live seconds are the scenario's minutes where it ran faster")
    func timeScale() throws {
        let scenario = try capture(timeScale: 60) { run in
            run.start()
            run.record(1)
        }
        #expect(scenario.steps.map(\.at) == [.seconds(120)])
    }

    @Test("a run that no file holds is cut, and says so")
    func tooLong() throws {
        let scenario = try capture { run in
            run.start()
            for ordinal in 1...12_000 {
                run.record(ordinal)
                run.lose(.note, ordinal)
            }
        }
        #expect(scenario.shows == "Captured from a run. Only the first 12001 of 24002 entries.")
        #expect(scenario.expectations.isEmpty)
        #expect(scenario.recordingCount == 6_000)
    }

    @Test("every scenario of the catalogue can be the original, and long names are cut")
    func catalogue() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = root.appending(path: "Scripts/Scenarios")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json5") }
        #expect(files.count > 50)
        var run = Run()
        run.start()
        for ordinal in 1...3 { run.deliver(ordinal) }
        for file in files.sorted() {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            let original = try ScenarioReader.read(text: text, file: file)
            _ = try readBack(
                Capture.scenario(from: run.entries, of: original, name: String(repeating: "näme ", count: 50)))
        }
    }

    @Test("whatever happens in whatever order reads back")
    func anything() throws {
        var state: UInt64 = 1
        func draw(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<200 {
            var run = Run()
            for _ in 0..<80 {
                run.pace = [.zero, .microseconds(300), .seconds(40), .seconds(86_400 * 9_999)][draw(4)]
                let (note, attempt, start) = (draw(9), draw(4), UInt64(1 + draw(2)))
                let side = [Side.watch, .phone][draw(2)]
                switch draw(22) {
                case 0, 1, 2: run.record(note, byteCount: draw(9) == 0 ? .max : UInt64(draw(3)))
                case 3: run.world(.started(side, Build(understands: 1 + draw(2), writes: 1 + draw(2))))
                case 4: run.world(.stopped(side))
                case 5: run.world(.killed(side))
                case 6: run.world(.powerLost)
                case 7: run.world(.copyKept(side))
                case 8: run.world(.restored(side))
                case 9: run.world(.watchSwitched(to: UInt8(draw(20))))
                case 10: run.world(.vetoAsked(Run.id(note)))
                case 11: run.world(.deleteAsked(Run.id(note)))
                case 12, 13: run.lose(.note, note, attempt: attempt, start: start)
                case 14: run.lose(.ack, note, attempt: attempt, start: start)
                case 15, 16: run.take(note, attempt: attempt, start: start)
                case 17: run.finish(note, attempt: attempt, start: start, "failed: x (70\(10 + draw(9)))")
                case 18:
                    let name = Run.entry(.note, note, start: start, attempt: attempt)
                    run.phone(PairEvent(.damagedByLink, id: Run.id(note), name: name, attempt: attempt))
                case 19: run.world(.phoneReplaced)
                case 20: run.complete(note)
                case _: run.finish(note, "cancelled")
                }
            }
            _ = try readBack(Capture.scenario(from: run.entries, of: nil, name: "any"))
        }
    }
}
