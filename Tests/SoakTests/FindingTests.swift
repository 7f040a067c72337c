import LivePair
import PlantedFaults
import Replay
import Scenarios
import Simulation
import Testing

@testable import Soak

/// What the lab does with a failure: it finds it in drawn seeds, makes it small without slipping, and has a fresh process
/// confirm the file.
@Suite struct FindingTests {
    // MARK: Hunts

    @Test(
        "a fault of each family is found from drawn seeds, which hold without it",
        arguments: [
            .acksAtStaging, .renameBeforeSync, .startSweepsRecordings, .windowNeverReopens,
            .forwardGateLetsNewerThrough,
        ] as [PlantedFault])
    func isFound(_ fault: PlantedFault) throws {
        var seedsLeft = 60
        let ending = Hunt.begin(at: 1, plant: fault.make) {
            seedsLeft -= 1
            return seedsLeft >= 0
        }
        guard case .found(let find) = ending else {
            Issue.record("\(fault): \(ending)")
            return
        }
        #expect(find.seed == UInt64(find.seedCount))
        #expect(find.report.scenario == ScenarioDraw.scenario(seed: find.seed))
        #expect(try #require(FailureSignature(find.report)).promise != nil)
        #expect(World(find.report.scenario).run().outcome == .held)
    }

    @Test("what does nothing wrong is not found")
    func nothingIsFoundWhereNothingIs() {
        var seedsLeft = 20
        let ending = Hunt.begin(at: 1, plant: HarmlessPlant.nothing.make) {
            seedsLeft -= 1
            return seedsLeft >= 0
        }
        guard case .notFound(seedCount: 20) = ending else {
            Issue.record("\(ending)")
            return
        }
    }

    // MARK: Shrinking

    private func story() throws -> Scenario {
        try ScenarioReader.read(
            text: """
                {
                  name: 'Two things go wrong', shows: 'A transfer fails, and the phone is away.',
                  steps: [
                    { at: '0s', record: 3 }, { at: '1s', session: 'inactive' },
                    { at: '2s', record: { count: 2, bytes: 9000 } }, { at: '9s', session: 'active' },
                    { at: '20s', stop: 'phone' }, { at: '30s', start: 'phone' },
                    { at: '31s', clock: '1h' }, { at: '40s', reboot: 'durableOnly' },
                  ],
                }
                """, file: "story.json5")
    }

    /// Whatever has fewer than four steps breaks another promise. A shrinker that only asked whether it still fails would go
    /// on to one step.
    @Test func shrinkingStopsWhereAnotherPromiseBreaks() throws {
        let other = World(PlantedFault.deletesAtDidFinish.scenario, plant: PlantedFault.deletesAtDidFinish.make()).run()
        func run(_ scenario: Scenario) -> RunReport {
            guard scenario.steps.count > 3 else { return other }
            return World(scenario, plant: PlantedFault.renameBeforeSync.make()).run()
        }
        let report = run(try story())
        let signature = try #require(FailureSignature(report))
        #expect(signature.promise == .anAckIsTrue)
        #expect(try #require(FailureSignature(other)).promise == .onlyAnAckDeletes)
        var shrinker = try #require(Shrinker(sameAs: report, run: run))
        let small = shrinker.shrink(report.scenario)
        #expect(small.steps.count == 4, "\(small.text)")
        #expect(try #require(FailureSignature(run(small))).isSame(as: signature))
    }

    /// What fails without the plant too is not the plant's.
    @Test func nothingIsKeptThatFailsWithoutThePlant() throws {
        let run = { World($0, plant: PlantedFault.renameBeforeSync.make()).run() }
        let report = run(try story())
        var alone = try #require(Shrinker(sameAs: report, run: run, runWithout: { World($0).run() }))
        #expect(alone.shrink(report.scenario).steps.count <= 2)
        var both = try #require(Shrinker(sameAs: report, run: run, runWithout: run))
        #expect(both.shrink(report.scenario) == report.scenario)
    }

    /// A kill and its start go together or not at all where the end has to be healed; no candidate is run twice.
    @Test func whatBreaksAndWhatHealsGoTogether() throws {
        var runs: [Scenario] = []
        func run(_ scenario: Scenario) -> RunReport {
            runs.append(scenario)
            return World(scenario, plant: PlantedFault.windowNeverReopens.make()).run()
        }
        let scenario = try ScenarioReader.read(
            text: """
                {
                  name: 'Many', shows: 'A dozen notes.',
                  steps: [
                    { at: '0s', session: 'inactive' }, { at: '1s', stop: 'phone' }, { at: '2s', record: 12 },
                    { at: '3s', start: 'phone' }, { at: '4s', session: 'active' },
                  ],
                }
                """, file: "many.json5")
        let report = run(scenario)
        var shrinker = try #require(Shrinker(sameAs: report, run: run))
        let small = shrinker.shrink(scenario)
        #expect(small.steps.count == 1 && small.recordingCount == 9, "\(small.text)")
        #expect(Set(runs).count == runs.count)
    }

    // MARK: The program

    private func lab(_ arguments: [String], in folder: String) throws -> (output: String, exitCode: Int32) {
        try OtherProcess.run(try Products.transferLab(), arguments, below: folder)
    }

    /// The file that `shrink` leaves fails in the same way in a process that knows only the file.
    @Test func aFreshProcessConfirmsTheShrunkFile() throws {
        try withFolder { folder in
            let file = "\(folder)/story.json5"
            try write(try story().text, to: file)
            let holds = try lab(["shrink", file], in: folder)
            #expect(holds.exitCode == 0 && holds.output.contains("there is nothing to shrink"), "\(holds)")

            let fault = ["--plant", PlantedFault.renameBeforeSync.rawValue]
            let shrunk = try lab(["shrink", file, "--json"] + fault, in: folder)
            #expect(shrunk.exitCode == 1 && shrunk.output.contains("\"confirmed\":true"), "\(shrunk)")

            let small = try read("\(folder)/story.shrunk.json5")
            #expect(small.contains("// P3 (an ack is true)") && small.contains("\"name\": \"Shrunk from "), "\(small)")
            #expect(try ScenarioReader.read(text: small, file: "small.json5").steps.count <= 2)
            let again = try lab(["replay", "\(folder)/story.shrunk.json5"] + fault, in: folder)
            #expect(again.exitCode == 1 && again.output.contains("P3 (an ack is true)"), "\(again)")
            #expect(try lab(["replay", "\(folder)/story.shrunk.json5"], in: folder).exitCode == 0)
        }
    }

    /// A soak that fails ends with a small file and the line that replays it.
    @Test func aSoakShrinksItsFailures() throws {
        try withFolder { folder in
            let soak = try lab(
                [
                    "soak", "--seeds", "1..<5", "--plant", PlantedFault.acceptsAlteredBytes.rawValue, "--failures",
                    "\(folder)/failures", "--shrink-seconds", "2",
                ], in: folder)
            #expect(soak.exitCode == 1, "\(soak)")
            let lines = soak.output.split(separator: "\n").map { $0.drop { $0 == " " } }
            let replays = lines.indices.filter { lines[$0].hasPrefix("again: transfer-lab replay ") }
            #expect((1...5).contains(replays.count), "\(soak.output)")
            for index in replays {
                let words = lines[index].split(separator: " ").dropFirst(2).map(String.init)
                #expect(words.count == 4 && words[1].hasPrefix("\(folder)/failures/seed-"), "\(words)")
                // Three lines above stands what it violates.
                let again = try lab(words, in: folder)
                #expect(again.exitCode == 1 && again.output.contains(lines[index - 3].prefix(3)), "\(again)")
            }
        }
    }
}
