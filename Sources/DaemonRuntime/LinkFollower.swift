package import LinkFaults
package import Spooling

/// Everything that is in force for a daemon: the engine gets the conditions, its disk (`SteeredFileSystem`) the rest.
package struct Steering: Hashable, Sendable {
    package var conditions = LinkConditions()
    package var disks: [DiskLimit] = []
    package var die: DieOrder?

    package init() {}

    /// What a file says that is read at `now`.
    package init(_ file: LinkFile, at now: Moment) {
        conditions.plan = file.plan
        conditions.origin = file.originNanoseconds.map { Moment(nanoseconds: $0) } ?? now
        conditions.session = file.session ?? .active
        conditions.isReachable = file.reachable ?? true
        conditions.handler = file.handler ?? .normal
        conditions.container = file.container ?? .open
        disks = file.disks
        die = file.die
    }
}

/// What `--link FILE`, or `--loss P --seed N`, puts between the two daemons; a file is followed while it changes.
package final class LinkFollower {
    /// What both daemons' `run` takes.
    package static let options: [Option] = [
        Option(
            "--link", .path, "FILE", section: "The link",
            help: "What the link does to transfers, and what else steers a live run, as JSON5 (Docs/Scenarios.md). "
                + "Followed while it changes."),
        Option(
            "--loss", .probability, "P", section: "The link",
            help: "Lose this share of the transfers, each way. Give both daemons the same seed."),
        Option("--seed", .seed, "N", default: "0", section: "The link", help: "What the losses are drawn from."),
    ]

    private let path: String?
    private var text: String?
    private(set) var steering = Steering()
    private var isNew = true
    /// Whether the file says from when outages, stalls and slots count.
    private var hasOrigin = false
    private var nextLook = Moment.zero

    /// How often the file is looked at when there is no news of it.
    package static let lookInterval = Duration.seconds(1)
    /// The event loop's token of the folder that holds the file; the places of an engine have small ones.
    package static let token = 1_000
    private static let mostByteCount = 1_024 * 1_024

    /// `nil` when the command line asks for no link. Throws what is wrong with the file.
    package convenience init?(_ command: ParsedCommand) throws(ScenarioError) {
        if let path = command.text("--link") {
            try self.init(path: path, at: MonotonicClock().now())
        } else if let share = command.probability("--loss"), let loss = Chance(share) {
            self.init(loss, seed: command.seed("--seed") ?? 0)
        } else {
            return nil
        }
    }

    /// Follows a file. Throws what is wrong with it.
    package init(path: String, at now: Moment) throws(ScenarioError) {
        self.path = path
        try read(at: now)
    }

    private init(_ loss: Chance, seed: UInt64) {
        path = nil
        steering.conditions.plan = LinkPlan(seed: seed, loss: loss)
    }

    /// The disk of a daemon that follows this.
    func disk(of side: Side) -> any FileSystem {
        path == nil ? DiskFileSystem() : SteeredFileSystem(DiskFileSystem(), side: side, atStart: steering)
    }

    /// The disk of a command that is over in a moment: of a file, only the sizes of disks matter to it.
    package static func disk(limitedBy path: String?, of side: Side) throws(ScenarioError) -> any FileSystem {
        guard let path else { return DiskFileSystem() }
        var steering = try LinkFollower(path: path, at: .zero).steering
        steering.die = nil
        return SteeredFileSystem(DiskFileSystem(), side: side, atStart: steering)
    }

    /// Asks for news of the folder that holds the file, so that a file that is renamed into place is followed at once.
    /// Without it, or when the folder itself is replaced, the look each second is left.
    package func watch(on loop: EventLoop) {
        guard let path else { return }
        let end = path.lastIndex(of: "/")
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard let directory = try? DiskFileSystem().openRoot(folder, create: false) else { return }
        try? loop.watch(directory, as: Self.token, for: .both)
    }

    /// Takes news of that folder in.
    package func hear(_ news: DirectoryChange.News) {
        guard let path else { return }
        let name = FileName(path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path)
        switch news {
        case .names(let names): if let name, names.contains(name) { nextLook = .zero }
        case .rescan: nextLook = .zero
        }
    }

    /// When the file is looked at next; `nil` when there is none.
    package var deadline: Moment? { path == nil ? nil : nextLook }

    /// What is in force from now on, if that is something else than before. A file that became malformed is told by the
    /// error, and what was in force stays.
    package func changed(at now: Moment) throws(ScenarioError) -> Steering? {
        if path != nil, now >= nextLook { try read(at: now) }
        guard isNew else { return nil }
        isNew = false
        // What names no beginning begins with this process, or with the change that it follows now.
        if !hasOrigin { steering.conditions.origin = now }
        return steering
    }

    private func read(at now: Moment) throws(ScenarioError) {
        guard let path else { return }
        nextLook = now + Self.lookInterval
        let found: String
        do throws(FileSystemError) {
            let disk = DiskFileSystem()
            let file = try disk.openSource(path)
            let bytes = try disk.readAll(file, at: 0, byteCount: Self.mostByteCount + 1)
            found = String(decoding: bytes, as: UTF8.self)
        } catch {
            throw ScenarioError(file: path, path: "", found: error.description, accepted: "a file that can be read")
        }
        guard found != text else { return }
        text = found
        let file = try LinkFile.read(text: found, file: path)
        hasOrigin = file.originNanoseconds != nil
        steering = Steering(file, at: now)
        isNew = true
    }
}
