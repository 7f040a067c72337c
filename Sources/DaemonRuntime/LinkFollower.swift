package import LinkFaults
package import Spooling

/// What `--link FILE`, or `--loss P --seed N`, puts between the two daemons; a file is followed while it changes.
package final class LinkFollower {
    /// What both daemons' `run` takes.
    package static let options: [Option] = [
        Option(
            "--link", .path, "FILE", section: "The link",
            help: "What the link does to transfers, as JSON5 (Docs/Scenarios.md). Followed while it changes."),
        Option(
            "--loss", .probability, "P", section: "The link",
            help: "Lose this share of the transfers, each way. Give both daemons the same seed."),
        Option("--seed", .seed, "N", default: "0", section: "The link", help: "What the losses are drawn from."),
    ]

    private let path: String?
    private var text: String?
    private var conditions = LinkConditions()
    private var isNew = true
    /// Whether the file says from when outages, stalls and slots count.
    private var hasOrigin = false
    private var nextLook = Moment.zero

    /// How often the file is looked at.
    package static let lookInterval = Duration.seconds(1)
    private static let mostByteCount = 1_024 * 1_024

    /// `nil` when the command line asks for no link. Throws what is wrong with the file.
    package init?(_ command: ParsedCommand) throws(ScenarioError) {
        path = command.text("--link")
        let clock = MonotonicClock()
        if path != nil {
            try read(at: clock.now())
        } else if let share = command.probability("--loss"), let loss = Chance(share) {
            conditions.plan = LinkPlan(seed: command.seed("--seed") ?? 0, loss: loss)
        } else {
            return nil
        }
    }

    /// When the file is looked at next; `nil` when there is none.
    package var deadline: Moment? { path == nil ? nil : nextLook }

    /// What is in force from now on, if that is something else than before. A file that became malformed is told by the
    /// error, and what was in force stays.
    package func changed(at now: Moment) throws(ScenarioError) -> LinkConditions? {
        if path != nil, now >= nextLook { try read(at: now) }
        guard isNew else { return nil }
        isNew = false
        // What names no beginning begins with this process, or with the change that it follows now.
        if !hasOrigin { conditions.origin = now }
        return conditions
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
        let link = try LinkFile.read(text: found, file: path)
        var fresh = LinkConditions()
        fresh.plan = link.plan
        hasOrigin = link.originNanoseconds != nil
        fresh.origin = link.originNanoseconds.map { Moment(nanoseconds: $0) } ?? now
        fresh.session = link.session ?? .active
        fresh.isReachable = link.reachable ?? true
        fresh.handler = link.handler ?? .normal
        fresh.container = link.container ?? .open
        conditions = fresh
        isNew = true
    }
}
