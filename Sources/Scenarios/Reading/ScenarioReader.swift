package import LinkFaults
import Spooling
import WireContract

// From a text to a scenario, or to the first mistake in it. Docs/Scenarios.md is the format for people, ScenarioSchema the
// one for editors.

package enum ScenarioReader {
    /// Reads a scenario. `file` is only named in errors.
    package static func read(text: String, file: String) throws(ScenarioError) -> Scenario {
        let node = Node(file: file, tree: try JSONTree.read(text, file: file))
        let members = try Members(node, ScenarioFields.all, accepts: "a scenario: an object")
        let seed = try members[ScenarioFields.seed] ?? 1
        let steps = try members.required(ScenarioFields.steps(seed: seed))
        var scenario = Scenario(
            name: try members.required(ScenarioFields.name), report: try members[ScenarioFields.report],
            shows: try members.required(ScenarioFields.shows), seed: seed,
            settings: try members[SettingsFields.field(seed: seed)] ?? defaults(seed: seed), steps: [])
        scenario.expectations = (try members[ScenarioFields.expect] ?? []).flatMap { $0 }
        let order = steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        scenario.steps = order.flatMap { item in item.element.steps.map { TimedStep(at: item.element.at, $0) } }
        try checkReferences(order.map { (index: $0.offset, step: $0.element) }, node)
        try checkNotes(of: scenario, members)
        return scenario
    }

    static func defaults(seed: UInt64) -> ScenarioSettings {
        var settings = ScenarioSettings()
        settings.link.seed = seed
        return settings
    }

    /// What a step refers to must be there by then: a note that it vetoes, a copy that it restores.
    private static func checkReferences(
        _ steps: [(index: Int, step: ReadStep)], _ node: Node
    ) throws(ScenarioError) {
        var recorded = 0
        var copies: [Side] = []
        for (index, read) in steps {
            let place = Node(file: node.file, path: "steps[\(index)]", tree: node.tree)
            for step in read.steps {
                switch step {
                case .record(let count, _):
                    recorded += count
                    if recorded > Scenario.mostRecordings {
                        throw place.member("record", node.tree).mistake(
                            found: "recording \(recorded)", accepted: "at most \(Scenario.mostRecordings) in a scenario"
                        )
                    }
                case .veto(let ordinal): try check("veto", ordinal, recorded, place)
                case .delete(let ordinal): try check("delete", ordinal, recorded, place)
                case .cancel(let ordinal): try check("cancel", ordinal, recorded, place)
                case .keepCopy(let side): copies.append(side)
                case .restoreCopy(let side):
                    if !copies.contains(side) {
                        throw place.member("restoreCopy", .string(side.rawValue)).mistake(
                            accepted: "a side of which an earlier step keeps a copy")
                    }
                case .start, .stop, .kill, .session, .reachable, .handler, .rawMetadata, .rawUserInfo, .build, .link,
                    .capacity, .container, .wipe, .replacePhone, .switchWatch, .clock, .reboot:
                    break
                }
            }
        }
    }

    private static func check(_ verb: String, _ ordinal: Int, _ recorded: Int, _ place: Node) throws(ScenarioError) {
        guard ordinal > recorded else { return }
        throw place.member(verb, .integer(Int64(ordinal))).mistake(
            accepted: recorded == 0 ? "a note, but none is recorded by then" : "a note from 1 to \(recorded)")
    }

    private static func checkNotes(of scenario: Scenario, _ members: Members) throws(ScenarioError) {
        let most = scenario.recordingCount
        for (index, item) in (try members[ScenarioFields.expect] ?? []).enumerated() {
            for timed in item {
                switch timed.expectation {
                case .happened(_, let ordinal?, _) where ordinal > most,
                    .said(_, _, let ordinal?, _) where ordinal > most:
                    throw Node(
                        file: members.node.file, path: "expect[\(index)].note", tree: .integer(Int64(ordinal))
                    ).mistake(accepted: most == 0 ? "no note: none is recorded" : "a note from 1 to \(most)")
                case .onWatch, .ingested, .waiting, .setAside, .happened, .said, .inOrder, .owes: break
                }
            }
        }
    }
}

/// One item of `steps`; a verb about both sides, or about several notes, makes several steps.
struct ReadStep: Sendable {
    var at: Duration
    var steps: [Step]
}

enum ScenarioFields {
    static let name = Field("name", Shape<String>.text(most: 100, accepts: "a name"))
    static let report = Field("report", Shape<String>.text(most: 200, accepts: "the report that it comes from"))
    static let shows = Field("shows", Shape<String>.text(most: 500, accepts: "a sentence"))
    static let seed = Field("seed", Shape<UInt64>.seed)
    static let expect = Field(
        "expect", Shape<[[TimedExpectation]]>.list(of: ExpectationFields.shape, most: Scenario.mostSteps))

    static func steps(seed: UInt64) -> Field<[ReadStep]> {
        Field("steps", Shape<[ReadStep]>.list(of: step(seed: seed), most: Scenario.mostSteps))
    }

    static let all = [
        name.erased, report.erased, shows.erased, seed.erased, SettingsFields.field(seed: 0).erased,
        steps(seed: 0).erased, expect.erased,
    ]

    private static func step(seed: UInt64) -> Shape<ReadStep> {
        let schemas = StepVerb.all.map { verb in
            guard
                case .object(var members) = objectSchema(
                    [StepVerb.at.erased] + verb.fields, required: ["at"] + verb.required)
            else { preconditionFailure("a schema is an object: \(verb.key)") }
            members.insert(.init("description", .string(verb.about)), at: 0)
            return JSONTree.object(members)
        }
        return Shape<ReadStep>(
            accepts: "a step: { at, … } with one verb", kinds: [.object], schema: ["oneOf": .array(schemas)]
        ) { node throws(ScenarioError) in try readStep(node, seed: seed) }
    }

    private static func readStep(_ node: Node, seed: UInt64) throws(ScenarioError) -> ReadStep {
        guard case .object(let members) = node.tree else {
            throw node.mistake(accepted: "a step: { at, … } with one verb")
        }
        let verbs = StepVerb.all.filter { verb in members.contains { $0.key == verb.key } }
        let names = StepVerb.all.map(\.key)
        guard verbs.count == 1 else {
            let found: String
            if verbs.isEmpty {
                let near = members.filter { $0.key != "at" }.compactMap { nearest(to: $0.key, among: names) }.first
                found = "no verb in \(node.tree.described)" + (near.map { " (did you mean \"\($0)\"?)" } ?? "")
            } else {
                found = "\(verbs.count) verbs: \(verbs.map(\.key).joined(separator: ", "))"
            }
            throw node.mistake(found: found, accepted: "one of \(names.joined(separator: ", "))")
        }
        let known = try Members(node, [StepVerb.at.erased] + verbs[0].fields, accepts: "a step")
        return ReadStep(at: try known.required(StepVerb.at), steps: try verbs[0].read(known, seed))
    }
}

// MARK: Settings

enum SettingsFields {
    private static let retryFirst = Field("retryFirst", Shape<Duration>.positiveDuration)
    private static let retryCap = Field("retryCap", Shape<Duration>.positiveDuration)
    private static let patience = Field("patience", Shape<Duration>.positiveDuration)
    private static let link = Field("link", LinkPlan.shape.named("link"))
    private static let payloadVersion = Field("payloadVersion", Shape<Int>.version)
    private static let watchUnderstands = Field("watchUnderstands", Shape<Int>.version)
    private static let phoneUnderstands = Field("phoneUnderstands", Shape<Int>.version)
    private static let ackVersion = Field("ackVersion", Shape<Int>.version)
    private static let watchDisk = Field("watchDisk", Shape<UInt64>.byteCount(ScenarioSettings.byteCountRange))
    private static let phoneDisk = Field("phoneDisk", Shape<UInt64>.byteCount(ScenarioSettings.byteCountRange))
    private static let stagingCap = Field("stagingCap", Shape<UInt64>.byteCount(ScenarioSettings.byteCountRange))
    private static let liveScale = Field("liveScale", Shape<Double>.number(0.001...1_000_000))
    private static let drainWithin = Field("drainWithin", Shape<Duration>.positiveDuration)
    private static let startsBoth = Field("startsBoth", Shape<Bool>.boolean)

    static func field(seed: UInt64) -> Field<ScenarioSettings> {
        Field(
            "settings",
            Shape<ScenarioSettings>.object([
                retryFirst.erased, retryCap.erased, patience.erased, link.erased, payloadVersion.erased,
                watchUnderstands.erased, phoneUnderstands.erased, ackVersion.erased, watchDisk.erased,
                phoneDisk.erased, stagingCap.erased, liveScale.erased, drainWithin.erased, startsBoth.erased,
            ]) { members throws(ScenarioError) in try read(members, seed: seed) })
    }

    private static func read(_ members: Members, seed: UInt64) throws(ScenarioError) -> ScenarioSettings {
        var settings = ScenarioReader.defaults(seed: seed)
        settings.policy.first = try members[retryFirst] ?? settings.policy.first
        settings.policy.cap = try members[retryCap] ?? settings.policy.cap
        settings.policy.patience = try members[patience] ?? settings.policy.patience
        if let plan = try members[link] { settings.link = plan.plan(defaultSeed: seed) }
        settings.payloadVersion = try members[payloadVersion] ?? settings.payloadVersion
        settings.watchUnderstands = try members[watchUnderstands] ?? settings.watchUnderstands
        settings.phoneUnderstands = try members[phoneUnderstands] ?? settings.phoneUnderstands
        settings.ackVersion = try members[ackVersion] ?? settings.ackVersion
        settings.watchCapacityByteCount = try members[watchDisk]
        settings.phoneCapacityByteCount = try members[phoneDisk]
        settings.stagingCapByteCount = try members[stagingCap]
        settings.liveScale = try members[liveScale] ?? settings.liveScale
        settings.drainWithin = try members[drainWithin]
        settings.startsBoth = try members[startsBoth] ?? settings.startsBoth
        return settings
    }
}
