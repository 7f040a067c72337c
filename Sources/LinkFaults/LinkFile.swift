/// What `--link FILE` says: a plan, and, in a live run of a scenario, what else steers the daemons.
///
/// The daemons read it at their start and follow its changes.
package struct LinkFile: Hashable, Sendable {
    package var plan: LinkPlan
    /// The moment of the daemons' clock from which outages, stalls and slots count; without one, from when it is read.
    package var originNanoseconds: UInt64?
    package var session: SessionState?
    package var reachable: Bool?
    package var handler: PhoneHandler?
    package var container: ContainerState?
    package var disks: [DiskLimit]
    package var die: DieOrder?

    package init(
        plan: LinkPlan, originNanoseconds: UInt64? = nil, session: SessionState? = nil, reachable: Bool? = nil,
        handler: PhoneHandler? = nil, container: ContainerState? = nil, disks: [DiskLimit] = [], die: DieOrder? = nil
    ) {
        self.plan = plan
        self.originNanoseconds = originNanoseconds
        self.session = session
        self.reachable = reachable
        self.handler = handler
        self.container = container
        self.disks = disks
        self.die = die
    }

    private static let origin = Field("origin", Shape<UInt64>.seed)
    private static let session = Field("session", Shape<SessionState>.choice)
    private static let reachable = Field("reachable", Shape<Bool>.boolean)
    private static let handler = Field("handler", Shape<PhoneHandler>.choice)
    private static let container = Field("container", Shape<ContainerState>.choice)
    private static let disks = Field("disks", Shape<[DiskLimit]>.list(of: DiskLimit.shape, most: 16))
    private static let die = Field("die", DieOrder.shape)

    package static let shape = Shape<LinkFile>.object(
        LinkPlan.fields + [
            origin.erased, session.erased, reachable.erased, handler.erased, container.erased, disks.erased, die.erased,
        ]
    ) { members throws(ScenarioError) in
        LinkFile(
            plan: try LinkPlan.read(members).plan(defaultSeed: 0), originNanoseconds: try members[origin],
            session: try members[session], reachable: try members[reachable], handler: try members[handler],
            container: try members[container], disks: try members[disks] ?? [], die: try members[die])
    }

    /// Reads one. Throws with the place of the first mistake.
    package static func read(text: String, file: String) throws(ScenarioError) -> LinkFile {
        try shape.read(Node(file: file, tree: try JSONTree.read(text, file: file)))
    }

    /// Reads back to an equal value.
    package var text: String {
        guard case .object(var members) = plan.tree else { preconditionFailure("a plan is an object: \(plan.tree)") }
        func add(_ key: String, _ value: JSONTree?) {
            if let value { members.append(.init(key, value)) }
        }
        add("origin", originNanoseconds.map { .unsigned($0) })
        add("session", session.map { .string($0.rawValue) })
        add("reachable", reachable.map { .boolean($0) })
        add("handler", handler.map { .string($0.rawValue) })
        add("container", container.map { .string($0.rawValue) })
        add("disks", disks.isEmpty ? nil : .array(disks.map(\.tree)))
        add("die", die.map(\.tree))
        return JSONTree.object(members).text
    }
}
