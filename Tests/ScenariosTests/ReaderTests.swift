import LinkFaults
import Scenarios
import Spooling
import Testing
import WireContract

@Suite struct ReaderTests {
    @Test func stepsHappenByTimeAndThenAsTheyStand() throws {
        let scenario = try read(
            wrapped(
                steps:
                    "{ at: '5s', kill: 'both' }, { at: 1, record: { count: 2, bytes: '1KiB' } }, { at: '1s', reachable: false }"
            ))
        #expect(
            scenario.steps == [
                TimedStep(at: .seconds(1), .record(count: 2, byteCount: 1_024)),
                TimedStep(at: .seconds(1), .reachable(false)), TimedStep(at: .seconds(5), .kill(.watch, .now)),
                TimedStep(at: .seconds(5), .kill(.phone, .now)),
            ])
        #expect(scenario.seed == 1 && scenario.settings.link.seed == 1 && scenario.settings.policy == .standard)
    }

    @Test func everySettingIsRead() throws {
        let settings = try read(
            wrapped(
                settings: """
                    { retryFirst: '1s', retryCap: '2s', patience: '3s', link: { seed: 9 }, payloadVersion: 2,
                      watchUnderstands: 3, phoneUnderstands: 4, ackVersion: 5, watchDisk: '1MiB', phoneDisk: 4096,
                      stagingCap: '1kB', liveScale: 60, drainWithin: '9m', startsBoth: false }
                    """)
        ).settings
        var expected = ScenarioSettings()
        expected.policy = RetryPolicy(first: .seconds(1), cap: .seconds(2), patience: .seconds(3))
        expected.link = LinkPlan(seed: 9)
        (expected.payloadVersion, expected.watchUnderstands) = (2, 3)
        (expected.phoneUnderstands, expected.ackVersion) = (4, 5)
        (expected.watchCapacityByteCount, expected.phoneCapacityByteCount) = (1 << 20, 4_096)
        (expected.stagingCapByteCount, expected.liveScale) = (1_000, 60)
        (expected.drainWithin, expected.startsBoth) = (.seconds(540), false)
        #expect(settings == expected)
    }

    @Test func oneItemMayExpectSeveralThings() throws {
        let scenario = try read(
            wrapped(
                steps: "{ at: 0, record: 2 }",
                expect: """
                    { at: '3s', onWatch: 2, setAside: { watch: 0, phone: [1, 2] }, inOrder: true },
                    { happened: 'taken', note: 2 },
                    { happened: 'failed', saying: '7014', times: { atLeast: 3 }, owes: true }
                    """))
        #expect(
            scenario.expectations.map(\.expectation) == [
                .onWatch(2...2), .setAside(.watch, 0...0), .setAside(.phone, 1...2), .inOrder,
                .happened(.taken, ordinal: 2, 1...Int.max), .said(.failed, "7014", ordinal: nil, 3...Int.max), .owes,
            ])
        #expect(scenario.expectations.map(\.at) == Array(repeating: .seconds(3), count: 4) + [nil, nil, nil])
    }

    @Test func anotherSeedGoesIntoThePlansThatNamedNone() throws {
        let scenario = try read(
            wrapped(
                steps: "{ at: 0, link: { loss: 0.5 } }, { at: 1, link: { seed: 77 } }",
                settings: "{ link: { loss: 1 } }"))
        let other = scenario.reseeded(5)
        #expect(other.seed == 5 && other.settings.link.seed == 5)
        let seeds = other.steps.map { timed in if case .link(let plan) = timed.step { plan.seed } else { UInt64.max } }
        #expect(seeds == [5, 77])
    }

    @Test(arguments: [
        (
            "{ at: 0, record: 1 }, { at: 1, link: { toWatch: { drop: 2 } } }",
            "x.json5: steps[1].link.toWatch.drop: found 2; accepted: a number from 0.0 to 1.0"
        ),
        (
            "{ at: 0, recrod: 1 }",
            "x.json5: steps[0]: found no verb in { at, recrod } (did you mean \"record\"?); accepted: one of record"
        ),
        ("{ at: 0 }", "x.json5: steps[0]: found no verb in { at }; accepted: one of record, start"),
        ("{ at: 0, record: 1, kill: 'phone' }", "x.json5: steps[0]: found 2 verbs: record, kill; accepted: one of"),
        ("{ record: 1 }", "x.json5: steps[0]: found no \"at\"; accepted: at: a time"),
        ("{ at: -1, record: 1 }", "x.json5: steps[0].at: found -1; accepted: a time"),
        ("{ at: 0, record: 0 }", "x.json5: steps[0].record: found 0; accepted: a whole number from 1 to 65535"),
        ("{ at: 0, record: 1.5 }", "x.json5: steps[0].record: found 1.5"),
        (
            "{ at: 0, record: { count: 1, bites: 2 } }",
            "steps[0].record.bites: found the unknown key \"bites\" (did you mean \"bytes\"?)"
        ),
        ("{ at: 0, record: { bytes: '1GiB' } }", "steps[0].record.bytes: found \"1GiB\"; accepted: a size"),
        ("{ at: 0, record: 65535 }, { at: 1, record: 1 }", "x.json5: steps[1].record: found recording 65536"),
        (
            "{ at: 0, kill: 'fone' }",
            "steps[0].kill: found \"fone\" (did you mean \"phone\"?); accepted: \"watch\", \"phone\", \"both\""
        ),
        (
            "{ at: 0, kill: 'phone', before: { call: 1 }, after: { call: 1 } }",
            "steps[0]: found both \"before\" and \"after\""
        ),
        (
            "{ at: 0, kill: 'phone', before: { path: 'x' } }",
            "steps[0].kill.before".replacing(".kill", with: "") + ": found { path }"
        ),
        ("{ at: 0, kill: 'phone', before: { operation: 'rename' } }", "steps[0].before.operation: found \"rename\""),
        ("{ at: 0, start: 'watch', before: { call: 1 } }", "steps[0].before: found the unknown key \"before\""),
        ("{ at: 0, build: 'phone' }", "steps[0]: found a build that differs in nothing"),
        ("{ at: 0, capacity: 'phone' }", "steps[0]: found no \"to\""),
        ("{ at: 0, capacity: 'phone', to: 'ful' }", "steps[0].to: found \"ful\" (did you mean \"full\"?)"),
        ("{ at: 0, replacePhone: false }", "steps[0].replacePhone: found false; accepted: true"),
        ("{ at: 0, rawUserInfo: {} }", "steps[0].rawUserInfo: found 0 of them"),
        ("{ at: 0, rawUserInfo: { hex: 'abc' } }", "steps[0].rawUserInfo.hex: found \"abc\""),
        ("{ at: 0, rawUserInfo: { dictionary: { a: [null] } } }", "steps[0].rawUserInfo.dictionary.a[0]: found null"),
        (
            "{ at: 0, rawUserInfo: { dictionary: { a: { $uuid: 1 } } } }",
            "found the key \"$uuid\"; accepted: $real, $date, $data"
        ),
        ("{ at: 0, clock: '1500ms' }", "steps[0].clock: found \"1500ms\"; accepted: a time of whole seconds"),
        ("{ at: 0, veto: 1 }", "steps[0].veto: found 1; accepted: a note, but none is recorded by then"),
        ("{ at: 5, record: 2 }, { at: 4, delete: 2 }", "steps[1].delete: found 2; accepted: a note, but none"),
        ("{ at: 0, record: 2 }, { at: 4, cancel: [1, 3] }", "steps[1].cancel: found 3; accepted: a note from 1 to 2"),
        ("{ at: 0, restoreCopy: 'watch' }", "steps[0].restoreCopy: found \"watch\"; accepted: a side of which"),
        ("3", "x.json5: steps[0]: found 3; accepted: a step"),
    ])
    func aMistakeInAStepIsAnsweredWithItsPlace(steps: String, answer: String) {
        #expect(mistake(wrapped(steps: steps)).contains(answer), "\(mistake(wrapped(steps: steps)))")
    }

    @Test(arguments: [
        ("{ at: 1 }", "x.json5: expect[0]: found nothing that is expected"),
        ("{ onWatch: [2, 1] }", "x.json5: expect[0].onWatch: found a list of 2"),
        ("{ onWatch: 1, note: 1 }", "x.json5: expect[0]: found \"note\" without \"happened\""),
        (
            "{ onWatch: 0 }, { happened: 'taken', note: 1 }",
            "x.json5: expect[1].note: found 1; accepted: no note: none is recorded"
        ),
        ("{ happened: 'tkaen' }", "expect[0].happened: found \"tkaen\" (did you mean \"taken\"?)"),
        ("{ setAside: {} }", "x.json5: expect[0].setAside: found {}; accepted: \"watch\", \"phone\", or both"),
    ])
    func aMistakeInAnExpectationIsAnsweredWithItsPlace(expect: String, answer: String) {
        #expect(mistake(wrapped(expect: expect)).contains(answer), "\(mistake(wrapped(expect: expect)))")
    }

    @Test func aScenarioHasANameAndShowsSomething() {
        #expect(mistake("{ shows: 'y', steps: [] }").contains("x.json5: found no \"name\""))
        #expect(mistake("{ name: 'x', shows: 'y' }").contains("x.json5: found no \"steps\""))
        #expect(
            mistake("{ name: 'x', shows: 'y', steps: [], stepps: [] }").contains(
                "x.json5: stepps: found the unknown key"))
    }

    @Test func aScenarioIsBounded() {
        let many = Array(repeating: "{at:0,reachable:true}", count: 10_001).joined(separator: ",")
        #expect(
            mistake(wrapped(steps: many)).contains("steps: found a list of 10001; accepted: a list of at most 10000"))
    }
}
