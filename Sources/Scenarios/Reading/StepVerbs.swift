import LinkFaults
import Spooling

// The verbs of a scenario's steps. A step is `{ at, <verb>: <object>, <qualifiers> }`; each verb is one entry of the table
// below, which the reader, the schema and the tests share.

/// One verb.
struct StepVerb: Sendable {
    let key: String
    /// For the schema, and whoever completes from it.
    let about: String
    /// The verb itself first, then its qualifiers.
    let fields: [AnyField]
    let required: [String]
    /// `seed`: what a plan takes that names none.
    let read: @Sendable (_ members: Members, _ seed: UInt64) throws(ScenarioError) -> [Step]

    static let at = Field("at", Shape<Duration>.duration)

    /// A verb with one value and no qualifiers.
    private static func plain<Value>(
        _ key: String, _ about: String, _ shape: Shape<Value>, _ steps: @escaping @Sendable (Value) -> [Step]
    ) -> StepVerb {
        let field = Field(key, shape)
        return StepVerb(key: key, about: about, fields: [field.erased], required: [key]) {
            (members, _) throws(ScenarioError) in
            steps(try members.required(field))
        }
    }

    static let all: [StepVerb] = [
        record,
        plain("start", "Starts a side, or both.", .sides) { $0.map { .start($0) } },
        plain("stop", "Ends a side in order, as SIGTERM does.", .sides) { $0.map { .stop($0) } },
        kill,
        plain("session", "The state of the watch's session.", Shape<SessionState>.choice) { [.session($0)] },
        plain("reachable", "Whether the other side is said to be reachable.", Shape<Bool>.boolean) {
            [.reachable($0)]
        },
        plain("handler", "What the phone's app does with a file.", Shape<PhoneHandler>.choice) { [.handler($0)] },
        plain("rawMetadata", "A transfer with any bytes as its metadata.", RawBytes.shape) { [.rawMetadata($0)] },
        plain("rawUserInfo", "An ack with any bytes as its userInfo.", RawBytes.shape) { [.rawUserInfo($0)] },
        build, link, capacity,
        plain("container", "The state of the phone's container.", Shape<ContainerState>.choice) { [.container($0)] },
        plain("wipe", "Removes a part of the phone, or the spool.", Shape<WipedPart>.choice) { [.wipe($0)] },
        plain("keepCopy", "Keeps a copy of a home.", Shape<Side>.side) { [.keepCopy($0)] },
        plain("restoreCopy", "Puts the kept copy of a home back.", Shape<Side>.side) { [.restoreCopy($0)] },
        plain("replacePhone", "A new, empty phone on the same spool.", Shape<Bool>.mark) { _ in [.replacePhone] },
        plain("switchWatch", "The phone serves another watch.", Shape<Int>.integer(1...16)) { [.switchWatch(to: $0)] },
        plain("veto", "Vetoes notes for good.", .ordinals) { $0.map { .veto(ordinal: $0) } },
        plain("delete", "The user deletes notes on the phone.", .ordinals) { $0.map { .delete(ordinal: $0) } },
        plain("cancel", "Cancels the transfers of notes.", .ordinals) { $0.map { .cancel(ordinal: $0) } },
        clock,
        plain("reboot", "The power of both goes; both start again.", Shape<Step.Reboot>.choice) { [.reboot($0)] },
    ]

    // MARK: Verbs with more to say

    private static let record: StepVerb = {
        let count = Field("count", Shape<Int>.ordinal)
        let bytes = Field("bytes", Shape<UInt64>.byteCount(0...(256 << 20)))
        let standard = 1_024
        let object = Shape<Step>.object([count.erased, bytes.erased]) { members throws(ScenarioError) in
            .record(count: try members[count] ?? 1, byteCount: try members[bytes].map { Int($0) } ?? standard)
        }
        return plain(
            "record", "Records notes.",
            .either(Shape<Int>.ordinal.map { .record(count: $0, byteCount: standard) }, object)
        ) { [$0] }
    }()

    private static let kill: StepVerb = {
        let sides = Field("kill", Shape<[Side]>.sides)
        return StepVerb(
            key: "kill", about: "Kills a side, at once or at a call through the seam.",
            fields: [sides.erased] + DiePoint.fields, required: ["kill"]
        ) { (members, _) throws(ScenarioError) in
            let point = try DiePoint.read(members).map { Step.KillPoint($0) } ?? .now
            return try members.required(sides).map { .kill($0, point) }
        }
    }()

    private static let build: StepVerb = {
        let side = Field("build", Shape<Side>.side)
        let understands = Field("understands", Shape<Int>.version)
        let writes = Field("writes", Shape<Int>.version)
        return StepVerb(
            key: "build", about: "Stops a side and starts it as another build.",
            fields: [side.erased, understands.erased, writes.erased], required: ["build"]
        ) { (members, _) throws(ScenarioError) in
            let (reads, wrote) = (try members[understands], try members[writes])
            guard reads != nil || wrote != nil else {
                throw members.node.mistake(
                    found: "a build that differs in nothing", accepted: "\"understands\", \"writes\", or both")
            }
            return [.build(try members.required(side), understands: reads, writes: wrote)]
        }
    }()

    private static let link: StepVerb = {
        let plan = Field("link", LinkPlan.shape.named("link"))
        return StepVerb(
            key: "link", about: "Another plan of the link comes into force.", fields: [plan.erased], required: ["link"]
        ) { (members, seed) throws(ScenarioError) in
            [.link(try members.required(plan).plan(defaultSeed: seed))]
        }
    }()

    private static let capacity: StepVerb = {
        let side = Field("capacity", Shape<Side>.side)
        let to = Field(
            "to",
            Shape<Step.CapacityChange>.either(
                Shape<Step.CapacityChange>.choice([.full, .unlimited]) { $0 == .full ? "full" : "unlimited" },
                Shape<UInt64>.byteCount(ScenarioSettings.byteCountRange).map { .byteCount($0) }))
        return StepVerb(
            key: "capacity", about: "Another size of the watch's disk, or of the one of phone and spool.",
            fields: [side.erased, to.erased], required: ["capacity", "to"]
        ) { (members, _) throws(ScenarioError) in
            [.capacity(try members.required(side), try members.required(to))]
        }
    }()

    private static let clock: StepVerb = {
        let jump = Shape<Duration>.signedDuration
        return plain("clock", "The wall clock of both jumps.", jump) { [.clock(jumpSeconds: $0.components.seconds)] }
    }()
}

extension Shape where Value == Duration {
    /// Whole seconds, forward or back: `1h`, `-365d`.
    static let signedDuration = Shape(
        accepts: "a time of whole seconds such as \"1h\" or \"-365d\"", kinds: [.string],
        schema: [
            "type": .string("string"), "pattern": .string("^-?[0-9]+(\\.[0-9]+)?(s|m|h|d)$"),
        ]
    ) { node throws(ScenarioError) in
        let accepts = "a time of whole seconds such as \"1h\" or \"-365d\""
        guard case .string(let text) = node.tree else { throw node.mistake(accepted: accepts) }
        let isBack = text.hasPrefix("-")
        let length = Node(
            file: node.file, path: node.path, tree: .string(String(isBack ? text.dropFirst() : text[...])))
        let duration: Duration
        do throws(ScenarioError) {
            duration = try Shape.duration.read(length)
        } catch {
            throw node.mistake(accepted: accepts)
        }
        guard duration.components.attoseconds == 0 else { throw node.mistake(accepted: accepts) }
        return isBack ? .zero - duration : duration
    }
}
