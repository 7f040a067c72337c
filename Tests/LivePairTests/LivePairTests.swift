import Foundation
import LivePair
import Monitors
import Replay
import Scenarios
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("A scenario with the two real daemons")
struct LivePairTests {
    private func expectHeld(_ report: RunReport, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(report.outcome == .held, "\(report.complaints.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }

    private func world(_ report: RunReport) -> [WorldEvent] {
        report.entries.compactMap { entry in
            if case .world(let event) = entry.what { event } else { nil }
        }
    }

    @Test("a lost ack: the note is sent again, acked again, and deleted once")
    func lostAck() async throws {
        let report = try await live(catalogue("08-lost-ack"))
        expectHeld(report)
        #expect(report.recordedCount == 1 && report.verifiedCount == 1)
        #expect(report.census.container.count == 1)
    }

    @Test("a kill at a call hits exactly there: the row is written, the note is not in the container")
    func killAtACall() async throws {
        let report = try await live(catalogue("01-killed-between-staging-and-ingest"))
        expectHeld(report)
        let death = try #require(
            report.entries.firstIndex { entry in
                if case .world(.killed(.phone)) = entry.what { true } else { false }
            }, "the phone was not killed")
        let before = report.entries[..<death].compactMap { entry in
            if case .pair(let event) = entry.what, entry.source == .phone { event } else { nil }
        }
        #expect(before.last { $0.kind == .ingested }?.phase == .intends)
        #expect(world(report).count { if case .killed = $0 { true } else { false } } == 1)
    }

    @Test("a head that is stuck until a restart is free after one")
    func stuckUntilRestart() async throws {
        expectHeld(try await live(catalogue("43-stuck-until-restart")))
    }

    @Test("eight days pass in eight seconds")
    func eightDays() async throws {
        let report = try await live(catalogue("14-eight-days-down"))
        expectHeld(report)
        #expect(report.length >= .seconds(8 * 86_400) && report.length < .seconds(30 * 86_400))
    }

    @Test("a full disk: what the watch cannot record is not recorded, and what the phone has no room for waits")
    func fullDisk() async throws {
        let report = try await live(
            """
            {
              name: 'Full', shows: 'Both disks are full for a while.',
              settings: { retryFirst: '500ms', retryCap: '1s', patience: '1s' },
              steps: [
                { at: '0s', capacity: 'phone', to: 'full' },
                { at: '200ms', record: 2 },
                { at: '800ms', capacity: 'watch', to: 'full' },
                { at: '1s', record: 1 },
                { at: '1200ms', capacity: 'watch', to: 'unlimited' },
                { at: '1500ms', capacity: 'phone', to: 'unlimited' },
              ],
              expect: [{ at: '1400ms', onWatch: 2, ingested: 0 }, { onWatch: 0, ingested: 2 }],
            }
            """)
        expectHeld(report)
        #expect(report.recordedCount == 2)
    }

    @Test("a daemon that ends by itself is a trouble, and its last words are told")
    func endsByItself() async throws {
        try await withFolder { folder in
            let report = try await live(
                """
                {
                  name: 'Shot', shows: 'Somebody kills the phone.', settings: { retryFirst: '1s' },
                  steps: [{ at: '500ms', reachable: false }, { at: '1s', record: 1 }],
                  expect: [{ onWatch: 0 }],
                }
                """, below: folder
            ) { line in
                guard line.contains("reachable") else { return }
                // Only the phone has this option.
                for pid in (try? processes(with: folder, "--ack-version")) ?? [] { kill(pid, SIGKILL) }
            }
            #expect(report.outcome == .violated)
            #expect(report.troubles.contains { $0.contains("phone-sim run ended by itself with signal 9") })
            #expect(report.census.recordings.count == 1)
        }
    }

    @Test("an expectation that is not met is told, and the folder is there to look at")
    func unmet() async throws {
        try await withFolder { folder in
            let report = try await live(
                """
                {
                  name: 'Hoped', shows: 'One note, and two are expected.', settings: { retryFirst: '1s' },
                  steps: [{ at: '0s', record: 1 }], expect: [{ ingested: 2 }],
                }
                """, below: folder, keepsFolder: true)
            #expect(report.outcome == .violated)
            #expect(report.complaints == ["at the end: expected 2 in the container, found 1"])
            let kept = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(kept.count == 1 && kept[0].hasPrefix("watchferry-live."))
        }
    }

    @Test("nothing runs and nothing lies there when it is over")
    func nothingIsLeft() async throws {
        try await withFolder { folder in
            let report = try await live(
                """
                {
                  name: 'Short', shows: 'A note.', settings: { retryFirst: '1s' },
                  steps: [{ at: '0s', record: 1 }], expect: [{ onWatch: 0, ingested: 1 }],
                }
                """, below: folder)
            expectHeld(report)
            #expect(try processes(with: folder).isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test("nothing runs on when the lab itself is killed")
    func labIsKilled() async throws {
        try await withFolder { folder in
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
                _ = try await live(
                    "{ name: 'Long', shows: 'x', steps: [{ at: '1s', record: 1 }, { at: '1h', reachable: true }] }",
                    below: folder
                ) { line in
                    guard line.contains("record") else { return }
                    kill(getpid(), SIGKILL)
                }
            }
            let giveUp = ContinuousClock.now + .seconds(20)
            while try !processes(with: folder).isEmpty, ContinuousClock.now < giveUp {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(try processes(with: folder).isEmpty)
        }
    }
}
