import Spooling
package import WireContract

// A plan as a person writes it, the same in a scenario, in one of its steps, and in the file of `--link`.

extension LinkPlan {
    /// Reads a plan. Throws with the place of the first mistake.
    package static func read(text: String, file: String) throws(ScenarioError) -> LinkPlan {
        let tree = try JSONTree.read(text, file: file)
        return try shape.read(Node(file: file, tree: tree)).plan(defaultSeed: 0)
    }

    /// A plan that may leave its seed to what it stands in.
    package struct Written: Hashable, Sendable {
        var seed: UInt64?
        var body: LinkPlan

        package func plan(defaultSeed: UInt64) -> LinkPlan {
            var plan = body
            plan.seed = seed ?? defaultSeed
            return plan
        }
    }

    static let seed = Field("seed", Shape<UInt64>.seed)
    static let loss = Field("loss", Shape<Chance>.chance)
    static let toPhone = Field("toPhone", DirectionPlan.shape.named("direction"))
    static let toWatch = Field("toWatch", DirectionPlan.shape.named("direction"))
    static let fields = [seed.erased, loss.erased, toPhone.erased, toWatch.erased]

    package static let shape = Shape<Written>.object(fields) { members throws(ScenarioError) in try read(members) }

    static func read(_ members: Members) throws(ScenarioError) -> Written {
        var plan = LinkPlan.clean
        plan.toPhone = try members[toPhone] ?? plan.toPhone
        plan.toWatch = try members[toWatch] ?? plan.toWatch
        if let loss = try members[loss] {
            plan.toPhone.chances.insert(FaultChance(.drop, loss), at: 0)
            plan.toWatch.chances.insert(FaultChance(.drop, loss), at: 0)
        }
        return Written(seed: try members[seed], body: plan)
    }
}

// MARK: One direction

extension DirectionPlan {
    private static let bandwidth = Field(
        "bandwidth", Shape<UInt64>.byteCount(1...1_000_000_000_000, suffix: "/s"))
    private static let burst = Field("burst", BurstLoss.shape)
    private static let outages = Field("outages", Shape<[Outage]>.list(of: Outage.shape, most: 1_000))
    private static let stallUntil = Field("stallUntil", Shape<Duration>.positiveDuration)
    private static let stuckHead = Field("stuckHead", Shape<StuckHead>.choice)
    private static let only = Field("only", Shape<[[LinkRule]]>.list(of: LinkRule.shape, most: 10_000))
    private static let chances = Field("chances", Shape<[FaultChance]>.list(of: FaultChance.shape, most: 64))

    package static let shape = Shape<DirectionPlan>.object(
        FaultChance.members.map(\.erased) + [
            bandwidth.erased, burst.erased, outages.erased, stallUntil.erased, stuckHead.erased, only.erased,
            chances.erased,
        ],
        accepts: "an object of faults, each with its chance"
    ) { members throws(ScenarioError) in
        var plan = DirectionPlan()
        for field in FaultChance.members {
            if let chance = try members[field] { plan.chances.append(chance) }
        }
        plan.chances += try members[chances] ?? []
        plan.bytesPerSecond = try members[bandwidth]
        plan.burst = try members[burst]
        plan.outages = try members[outages] ?? []
        if let until = try members[stallUntil] { plan.outages.append(Outage(start: .zero, end: until)) }
        plan.stuckHead = try members[stuckHead]
        plan.rules = (try members[only] ?? []).flatMap { $0 }
        return plan
    }
}

extension StuckHead: CaseIterable, RawRepresentable {
    package static let allCases: [StuckHead] = [.untilNextEnqueue, .untilRestart]

    package init?(rawValue: String) {
        guard let value = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = value
    }

    package var rawValue: String {
        switch self {
        case .untilNextEnqueue: "untilNextEnqueue"
        case .untilRestart: "untilRestart"
        }
    }
}

extension BurstLoss {
    private static let slot = Field("slot", Shape<Duration>.positiveDuration)
    private static let enter = Field("enter", Shape<Chance>.chance)
    private static let leave = Field("leave", Shape<Chance>.chance)
    private static let loss = Field("loss", Shape<Chance>.chance)

    static let shape = Shape<BurstLoss>.object(
        [slot.erased, enter.erased, leave.erased, loss.erased], required: ["slot", "enter", "leave", "loss"]
    ) { members throws(ScenarioError) in
        BurstLoss(
            slot: try members.required(slot), enter: try members.required(enter), leave: try members.required(leave),
            loss: try members.required(loss))
    }
}

extension Outage {
    private static let from = Field("from", Shape<Duration>.duration)
    private static let to = Field("to", Shape<Duration>.positiveDuration)

    static let shape = Shape<Outage>.object([from.erased, to.erased], required: ["from", "to"]) {
        members throws(ScenarioError) in
        let outage = Outage(start: try members.required(from), end: try members.required(to))
        guard outage.start < outage.end else {
            throw members.node.mistake(
                found: "an outage from \(quantityText(outage.start)) to \(quantityText(outage.end))",
                accepted: "a \"to\" after \"from\"")
        }
        return outage
    }
}

// MARK: Faults

extension TransferError {
    static let shape = Shape<TransferError>.either(
        Shape<Int>.integer(7001...7017).map { TransferError(rawValue: $0) },
        Shape<TransferError>.choice(Array(TransferError.allCases)) { $0.rawName })

    /// The name of the case, as WatchConnectivity spells it.
    package var rawName: String { String(description.prefix { $0 != " " }) }
}

extension LinkFault {
    static let mostExtraCopies = 100
    static let share = Shape<Double>.number(0...1)
    static let extraCopies = Shape<Int>.integer(1...mostExtraCopies)

    /// One fault that happens for certain, as a rule and an item of `chances` name it. In the order in which they apply.
    static let certain: [Field<LinkFault>] = [
        Field("drop", Shape<Bool>.mark.map { _ in .drop }),
        Field("forget", Shape<Bool>.mark.map { _ in .forget }),
        Field("fail", TransferError.shape.map { .fail($0) }),
        Field("failBare", Shape<Bool>.mark.map { _ in .failWithoutDetails }),
        Field("duplicate", extraCopies.map { .duplicate(extraCopies: $0) }),
        Field("truncate", share.map { .damage(.truncated(share: $0)) }),
        Field("alter", Shape<Bool>.mark.map { _ in .damage(.altered) }),
        Field("silent", Shape<Bool>.mark.map { _ in .silent }),
        Field("delay", Shape<Duration>.duration.map { .delay($0) }),
    ]
}

extension FaultChance {
    private static let chance = Field("chance", Shape<Chance>.chance)
    private static let extra = Field("extra", LinkFault.extraCopies)
    private static let share = Field("share", LinkFault.share)
    private static let code = Field("code", TransferError.shape)
    private static let from = Field("from", Shape<Duration>.duration)
    private static let to = Field("to", Shape<Duration>.duration)

    private static func plain(_ key: String, _ fault: LinkFault) -> Field<FaultChance> {
        Field(key, Shape<Chance>.chance.map { FaultChance(fault, $0) })
    }

    /// `0.1`, or `{ chance: 0.1, … }` with what else there is to say.
    private static func detailed<Detail>(
        _ key: String, _ standard: LinkFault, _ field: Field<Detail>,
        _ fault: @escaping @Sendable (Detail) -> LinkFault
    ) -> Field<FaultChance> {
        let object = Shape<FaultChance>.object([chance.erased, field.erased], required: ["chance"]) {
            members throws(ScenarioError) in
            FaultChance(try members[field].map(fault) ?? standard, try members.required(chance))
        }
        return Field(key, .either(Shape<Chance>.chance.map { FaultChance(standard, $0) }, object))
    }

    /// What a direction says about chances, in the order in which they are drawn.
    static let members: [Field<FaultChance>] = [
        plain("drop", .drop),
        plain("forget", .forget),
        detailed("fail", .fail(.deliveryFailed), code) { .fail($0) },
        plain("failBare", .failWithoutDetails),
        detailed("duplicate", .duplicate(extraCopies: 1), extra) { .duplicate(extraCopies: $0) },
        // 80 % is what the field reports of transfers that were cut.
        detailed("truncate", .damage(.truncated(share: 0.8)), share) { .damage(.truncated(share: $0)) },
        plain("alter", .damage(.altered)),
        plain("silent", .silent),
        Field("delay", .either(Shape<Duration>.duration.map { FaultChance(.delay($0), .always) }, delay)),
    ]

    private static let delay = Shape<FaultChance>.object(
        [chance.erased, from.erased, to.erased], required: ["from"]
    ) { members throws(ScenarioError) in
        let shortest = try members.required(from)
        return FaultChance(
            .delay(shortest), try members[chance] ?? .always,
            longestDelay: try longest(try members[to], above: shortest, members))
    }

    private static func longest(
        _ longest: Duration?, above shortest: Duration, _ members: Members
    ) throws(ScenarioError) -> Duration? {
        guard let longest, longest < shortest else { return longest }
        throw members.node.mistake(
            found: "a delay from \(quantityText(shortest)) to \(quantityText(longest))",
            accepted: "a \"to\" that is not before \"from\"")
    }

    /// An item of `chances`: the general form, in which any order and any number can be said.
    static let shape = Shape<FaultChance>.object(
        [chance.erased] + LinkFault.certain.map(\.erased) + [to.erased], required: ["chance"]
    ) { members throws(ScenarioError) in
        let faults = try LinkFault.readAll(members)
        guard faults.count == 1 else {
            throw members.node.mistake(
                found: "\(faults.count) faults",
                accepted: "one of \(LinkFault.certain.map(\.key).joined(separator: ", "))")
        }
        var item = FaultChance(faults[0], try members.required(chance))
        if let to = try members[to] {
            guard case .delay(let shortest) = item.fault else {
                throw members.node.mistake(found: "\"to\" without a delay", accepted: "\"to\" beside \"delay\"")
            }
            item.longestDelay = try longest(to, above: shortest, members)
        }
        return item
    }
}

extension LinkFault {
    static func readAll(_ members: Members) throws(ScenarioError) -> [LinkFault] {
        var faults: [LinkFault] = []
        for field in certain {
            if let fault = try members[field] { faults.append(fault) }
        }
        return faults
    }
}

extension LinkRule {
    private static let note = Field("note", Shape<Int>.integer(1...0xFFFF))
    private static let attempt = Field("try", Shape<Int>.integer(1...EntryName.largestAttempt))
    private static let attempts = Field(
        "tries", Shape<[Int]>.list(of: .integer(1...EntryName.largestAttempt), most: 2, least: 2))

    /// One item of `only`: a rule for each of its faults.
    static let shape = Shape<[LinkRule]>.object(
        [note.erased, attempt.erased, attempts.erased] + LinkFault.certain.map(\.erased)
    ) { members throws(ScenarioError) in
        let ordinal = try members[note]
        var range = try members[attempt].map { $0...$0 }
        if let pair = try members[attempts] {
            guard range == nil, pair[0] <= pair[1] else {
                throw members.node.mistake(
                    found: range == nil ? "the tries \(pair[0]) to \(pair[1])" : "both \"try\" and \"tries\"",
                    accepted: "one of them; \"tries\" as [first, last]")
            }
            range = pair[0]...pair[1]
        }
        let faults = try LinkFault.readAll(members)
        guard !faults.isEmpty else {
            throw members.node.mistake(
                found: "no fault", accepted: "one or more of \(LinkFault.certain.map(\.key).joined(separator: ", "))")
        }
        return faults.map { LinkRule(ordinal: ordinal, attempts: range, fault: $0) }
    }
}
