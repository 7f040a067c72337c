import LinkFaults
import Spooling
import Testing
import WireContract

// What a person may write about the link, and what he is told when he errs.

private func plan(_ text: String) throws -> LinkPlan { try LinkPlan.read(text: text, file: "link.json5") }

/// The mistake in a text, as a person reads it.
private func mistake(_ text: String) -> String {
    do throws(ScenarioError) {
        _ = try LinkPlan.read(text: text, file: "link.json5")
        return "no mistake"
    } catch {
        return error.description
    }
}

@Suite struct LinkPlanReadingTests {
    @Test func everyMemberIsRead() throws {
        let read = try plan(
            """
            { seed: 7, loss: 0.25, // alike in both directions
              toPhone: { drop: 0.3, forget: 0.1, fail: { chance: 0.1, code: 7017 }, failBare: 0.1,
                duplicate: { chance: 0.1, extra: 2 }, truncate: { chance: 0.05, share: 0.5 }, alter: 0.05, silent: 0.1,
                delay: { chance: 1, from: '1s', to: '5s' }, bandwidth: '16kB/s',
                burst: { slot: '10s', enter: 0.1, leave: 0.5, loss: 0.9 }, outages: [{ from: '1h', to: '8d' }],
                stallUntil: '2d', stuckHead: 'untilNextEnqueue',
                only: [{ note: 1, try: 1, drop: true }, { note: 2, tries: [1, 3], fail: 'deliveryFailed' },
                       { try: 1, duplicate: 4, alter: true }] },
              toWatch: { truncate: 0.5, fail: 0.5, delay: 2 } }
            """)
        #expect(read.seed == 7)
        let quarter = try #require(Chance(0.25))
        #expect(read.toPhone.chances.first == FaultChance(.drop, quarter))
        #expect(read.toPhone.chances.map(\.fault).contains(.fail(.transferTimedOut)))
        #expect(read.toPhone.chances.last == FaultChance(.delay(.seconds(1)), .always, longestDelay: .seconds(5)))
        #expect(read.toPhone.chances.count == 10)
        #expect(read.toPhone.bytesPerSecond == 16_000)
        #expect(read.toPhone.burst?.slot == .seconds(10))
        #expect(
            read.toPhone.outages == [
                Outage(start: .seconds(3_600), end: .seconds(8 * 86_400)),
                Outage(start: .zero, end: .seconds(2 * 86_400)),
            ])
        #expect(read.toPhone.stuckHead == .untilNextEnqueue)
        #expect(
            read.toPhone.rules == [
                LinkRule(ordinal: 1, attempts: 1...1, fault: .drop),
                LinkRule(ordinal: 2, attempts: 1...3, fault: .fail(.deliveryFailed)),
                LinkRule(ordinal: nil, attempts: 1...1, fault: .duplicate(extraCopies: 4)),
                LinkRule(ordinal: nil, attempts: 1...1, fault: .damage(.altered)),
            ])
        let half = try #require(Chance(0.5))
        #expect(
            read.toWatch.chances == [
                FaultChance(.drop, quarter), FaultChance(.fail(.deliveryFailed), half),
                FaultChance(.damage(.truncated(share: 0.8)), half), FaultChance(.delay(.seconds(2)), .always),
            ])
    }

    @Test func aPlanWrittenReadsBackTheSame() throws {
        var whole = LinkPlan(seed: .max)
        let third = try #require(Chance(1.0 / 3))
        whole.toPhone.rules = [
            LinkRule(ordinal: 1, attempts: nil, fault: .silent),
            LinkRule(ordinal: nil, attempts: 2...9, fault: .forget),
        ]
        let faults: [LinkFault] = [
            .delay(.milliseconds(1_500)), .drop, .forget, .fail(.insufficientSpace), .failWithoutDetails,
            .duplicate(extraCopies: 4), .damage(.truncated(share: 0.1)), .damage(.altered), .silent, .drop,
        ]
        whole.toPhone.chances = faults.map { FaultChance($0, third) }
        whole.toPhone.chances.append(FaultChance(.delay(.zero), .always, longestDelay: .nanoseconds(1)))
        whole.toPhone.burst = BurstLoss(slot: .seconds(1), enter: third, leave: .always, loss: .never)
        whole.toWatch.outages = [
            Outage(start: .zero, end: .seconds(90)), Outage(start: .seconds(100), end: .seconds(101)),
        ]
        whole.toWatch.stuckHead = .untilRestart
        whole.toWatch.bytesPerSecond = 16_384
        #expect(try plan(whole.text) == whole)
        #expect(try plan(LinkPlan.clean.text) == .clean)
    }

    @Test func aLinkFileCarriesWhatSteersALiveRun() throws {
        let file = LinkFile(
            plan: LinkPlan(seed: 3, loss: try #require(Chance(0.5))), originNanoseconds: .max, session: .notPaired,
            reachable: false, handler: .takesNothing, container: .signedOut)
        #expect(try LinkFile.read(text: file.text, file: "link") == file)
        let bare = try LinkFile.read(text: "{ seed: 3, loss: 0.5 }", file: "link")
        #expect(bare == LinkFile(plan: file.plan))
        #expect(throws: ScenarioError.self) { try LinkFile.read(text: "{ session: 'asleep' }", file: "link") }
    }

    @Test(arguments: [
        DiePoint.beforeCall(1), .afterCall(1_000_000), .before(.publish, pathContaining: "container/"),
        .after(.syncAll, pathContaining: ""),
    ])
    func aLinkFileCarriesDisksAndDeath(point: DiePoint) throws {
        let file = LinkFile(
            plan: .clean,
            disks: [
                DiskLimit(paths: ["/a b/\"c\"", "/d"], byteCount: 0), DiskLimit(paths: ["/e"], byteCount: 1 << 40),
                DiskLimit(paths: ["/"], byteCount: 4_097),
            ], die: DieOrder(side: .phone, number: 3, isFresh: true, point: point))
        #expect(try LinkFile.read(text: file.text, file: "link") == file)
        let text =
            "{ disks: [{ paths: ['/a'], bytes: '64KiB' }], die: { side: 'watch', number: 1, after: { call: 2 } } }"
        #expect(
            try LinkFile.read(text: text, file: "link")
                == LinkFile(
                    plan: .clean, disks: [DiskLimit(paths: ["/a"], byteCount: 65_536)],
                    die: DieOrder(side: .watch, number: 1, isFresh: false, point: .afterCall(2))))
    }

    @Test func everyCallOfTheSeamHasAName() throws {
        #expect(Set(FileSystemError.Operation.named.map(\.name)).count == FileSystemError.Operation.named.count)
        for operation in FileSystemError.Operation.named {
            let file = LinkFile(
                plan: .clean,
                die: DieOrder(side: .watch, number: 1, isFresh: false, point: .before(operation, pathContaining: "x")))
            #expect(try LinkFile.read(text: file.text, file: "link") == file)
        }
    }

    @Test(arguments: [
        ("{ disks: [{ paths: ['a'], bytes: 0 }] }", "link: disks[0].paths[0]: found \"a\"; accepted: an absolute path"),
        ("{ disks: [{ paths: ['/a/'], bytes: 0 }] }", "link: disks[0].paths[0]: found \"/a/\""),
        ("{ disks: [{ paths: [], bytes: 0 }] }", "link: disks[0].paths: found a list of 0"),
        ("{ disks: [{ paths: ['/a'], bytes: -1 }] }", "link: disks[0].bytes: found -1; accepted: a size"),
        ("{ disks: [{ paths: ['/a'] }] }", "link: disks[0]: found no \"bytes\""),
        ("{ die: { side: 'phone', before: { call: 1 } } }", "link: die: found no \"number\""),
        ("{ die: { side: 'phone', number: 1 } }", "link: die: found no point to die at"),
        ("{ die: { side: 'both', number: 1, before: { call: 1 } } }", "link: die.side: found \"both\""),
        ("{ die: { side: 'phone', number: 1, before: { call: 0 } } }", "link: die.before.call: found 0"),
        (
            "{ die: { side: 'phone', number: 1, before: { operation: 'publihs' } } }",
            "link: die.before.operation: found \"publihs\" (did you mean \"publish\"?)"
        ),
        (
            "{ die: { side: 'phone', number: 1, before: { call: 1 }, after: { call: 1 } } }",
            "link: die: found both \"before\" and \"after\""
        ),
    ])
    func aMistakeInALinkFileIsAnsweredWithItsPlace(text: String, answer: String) {
        do throws(ScenarioError) {
            _ = try LinkFile.read(text: text, file: "link")
            Issue.record("no mistake in \(text)")
        } catch {
            #expect(error.description.contains(answer), "\(error)")
        }
    }

    @Test(arguments: [
        (
            "{ toWatch: { dorp: 0.3 } }",
            "link.json5: toWatch.dorp: found the unknown key \"dorp\" (did you mean \"drop\"?)"
        ),
        ("{ toWatch: { drop: 1.5 } }", "link.json5: toWatch.drop: found 1.5; accepted: a number from 0.0 to 1.0"),
        ("{ toWatch: { drop: '30%' } }", "link.json5: toWatch.drop: found \"30%\"; accepted: a number"),
        ("{ toWatch: { drop: true } }", "link.json5: toWatch.drop: found true; accepted: a number"),
        ("{ toWatch: { drop: NaN } }", "link.json5: toWatch.drop: found nan; accepted: a number"),
        ("{ toWatch: { drop: null } }", "link.json5: toWatch.drop: found null; accepted: a number"),
        ("{ toPhone: [] }", "link.json5: toPhone: found a list of 0; accepted: an object of faults"),
        (
            "{ toPhone: { only: [{ note: 1 }] } }",
            "link.json5: toPhone.only[0]: found no fault; accepted: one or more of"
        ),
        (
            "{ toPhone: { only: [{ note: 0, drop: true }] } }",
            "link.json5: toPhone.only[0].note: found 0; accepted: a whole"
        ),
        (
            "{ toPhone: { only: [{ tries: [3, 1], drop: true }] } }",
            "link.json5: toPhone.only[0]: found the tries 3 to 1"
        ),
        (
            "{ toPhone: { only: [{ fail: 7777 }] } }",
            "link.json5: toPhone.only[0].fail: found 7777; accepted: a whole number"
        ),
        ("{ toPhone: { duplicate: { extra: 2 } } }", "link.json5: toPhone.duplicate: found no \"chance\""),
        ("{ toPhone: { duplicate: { chance: 1, extra: 101 } } }", "link.json5: toPhone.duplicate.extra: found 101"),
        ("{ toPhone: { delay: { from: '5s', to: '1s' } } }", "link.json5: toPhone.delay: found a delay from 5s to 1s"),
        (
            "{ toPhone: { outages: [{ from: '5s', to: '5s' }] } }",
            "link.json5: toPhone.outages[0]: found an outage from 5s"
        ),
        ("{ toPhone: { outages: [{ from: '5 s', to: '9s' }] } }", "link.json5: toPhone.outages[0].from: found \"5 s\""),
        (
            "{ toPhone: { stuckHead: 'untilRestrat' } }",
            "(did you mean \"untilRestart\"?); accepted: \"untilNextEnqueue\""
        ),
        (
            "{ toPhone: { bandwidth: 0 } }",
            "link.json5: toPhone.bandwidth: found 0; accepted: a size such as \"64KiB/s\""
        ),
        ("{ seed: -1 }", "link.json5: seed: found -1; accepted: a whole number of at most 64 bits"),
        ("{ seed: 1,\n seed: 2 }", "link.json5: found the key \"seed\" a second time in line 2"),
        ("[]", "link.json5: found a list of 0; accepted: an object of seed, loss, toPhone, toWatch"),
        ("{ seed: 1", "link.json5: found "),
        ("", "link.json5: found "),
    ])
    func aMistakeIsAnsweredWithItsPlace(text: String, answer: String) {
        #expect(mistake(text).contains(answer), "\(mistake(text))")
    }

    @Test func aFileIsBounded() {
        #expect(mistake("{ seed: 1 }" + String(repeating: " ", count: 1_024 * 1_024)).contains("at most 1048576 bytes"))
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        #expect(mistake("{ toPhone: \(deep) }").contains("more than 32"))
        let deepest = String(repeating: "[", count: 400_000)
        #expect(mistake("{ toPhone: \(deepest)").contains("link.json5: "))
        let rules = Array(repeating: "{drop:true}", count: 10_001).joined(separator: ",")
        #expect(mistake("{ toPhone: { only: [\(rules)] } }").contains("found a list of 10001"))
    }

    @Test(arguments: [
        ("'90s'", 90.0), ("'250ms'", 0.25), ("'1.5h'", 5_400), ("'8d'", 691_200), ("'2m'", 120), ("0.5", 0.5), ("3", 3),
        ("'1us'", 0.000_001),
    ])
    func aTimeIsReadExactly(text: String, seconds: Double) throws {
        let read = try plan("{ toWatch: { delay: \(text) } }")
        #expect(read.toWatch.chances == [FaultChance(.delay(.nanoseconds(Int64(seconds * 1e9))), .always)])
    }

    @Test(arguments: [
        "'90'", "'s'", "'-1s'", "-1", "'1e3s'", "'1.s'", "'.5s'", "'200000d'", "4e9", "'9999999999999999999d'",
    ])
    func whatIsNoTimeIsRefused(text: String) {
        #expect(mistake("{ toWatch: { delay: \(text) } }").contains("link.json5: toWatch.delay: found "))
    }
}
