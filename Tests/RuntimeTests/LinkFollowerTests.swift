import Foundation
import LinkFaults
import Spooling
import Testing

@testable import DaemonRuntime

@Suite("Following the link's file", .timeLimit(.minutes(1))) struct LinkFollowerTests {
    let folder: TemporaryFolder
    /// The clock of these tests stands still, so nothing is looked at because a second is over.
    let now = Moment(nanoseconds: 1_000_000_000_000)

    init() throws {
        folder = try TemporaryFolder()
        try put(LinkFile(plan: .clean))
    }

    private var path: String { folder.file("link.json5") }

    /// Written beside it and renamed into place, as a live run does.
    private func put(_ file: LinkFile) throws {
        try Data(file.text.utf8).write(to: URL(fileURLWithPath: folder.file("new")))
        guard rename(folder.file("new"), path) == 0 else { throw FileSystemError(.publish, path, .other(errno)) }
    }

    @Test("everything that the file says is handed on, once")
    func handsOn() throws {
        let disks = [DiskLimit(paths: [folder.path], byteCount: 8_192)]
        let die = DieOrder(side: .watch, number: 2, isFresh: true, point: .afterCall(3))
        try put(
            LinkFile(
                plan: LinkPlan(seed: 7, loss: .always), originNanoseconds: 5, session: .inactive, reachable: false,
                handler: .vetoes, container: .locked, disks: disks, die: die))
        let follower = try LinkFollower(path: path, at: now)
        let steering = try #require(try follower.changed(at: now))
        var conditions = LinkConditions()
        conditions.plan = LinkPlan(seed: 7, loss: .always)
        conditions.origin = Moment(nanoseconds: 5)
        conditions.session = .inactive
        conditions.isReachable = false
        conditions.handler = .vetoes
        conditions.container = .locked
        #expect(steering.conditions == conditions)
        #expect(steering.disks == disks && steering.die == die)
        #expect(try follower.changed(at: now + .seconds(60)) == nil)
        #expect(follower.disk(of: .watch) is SteeredFileSystem)
    }

    @Test("without news the file is looked at each second; a mistake in it is told once, and what was in force stays")
    func looks() throws {
        let follower = try LinkFollower(path: path, at: now)
        #expect(try follower.changed(at: now) != nil)
        try put(LinkFile(plan: .clean, reachable: false))
        #expect(follower.deadline == now + LinkFollower.lookInterval)
        #expect(try follower.changed(at: now + .milliseconds(999)) == nil)
        #expect(try follower.changed(at: now + .seconds(1))?.conditions.isReachable == false)
        try Data("{ disks: 7 }".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: ScenarioError.self) { try follower.changed(at: now + .seconds(2)) }
        #expect(try follower.changed(at: now + .seconds(3)) == nil)
        #expect(follower.steering.conditions.isReachable == false)
    }

    #if os(Linux)
        @Test(
            "a file that is renamed into place is followed at once, whatever the clock says; other names are none of it"
        )
        func news() throws {
            let follower = try LinkFollower(path: path, at: now)
            #expect(try follower.changed(at: now) != nil)
            let loop = try EventLoop()
            follower.watch(on: loop)
            func hear() {
                for change in loop.wait(until: MonotonicClock().now() + .seconds(20)).changes {
                    #expect(change.token == LinkFollower.token)
                    follower.hear(change.news)
                }
            }
            try put(LinkFile(plan: .clean, handler: .vetoes))
            #expect(try follower.changed(at: now) == nil, "nobody told it yet")
            hear()
            #expect(try follower.changed(at: now)?.conditions.handler == .vetoes)

            try put(LinkFile(plan: .clean, handler: .echoes))
            follower.hear(.names(["other"]))
            #expect(try follower.changed(at: now) == nil)
            hear()
            #expect(try follower.changed(at: now)?.conditions.handler == .echoes)

            try put(LinkFile(plan: .clean))
            follower.hear(.rescan)
            #expect(try follower.changed(at: now)?.conditions.handler == .normal)
        }
    #endif

    @Test("a command that is over in a moment takes the disks, and no order to die")
    func command() throws {
        try put(
            LinkFile(
                plan: .clean, disks: [DiskLimit(paths: [folder.path], byteCount: 0)],
                die: DieOrder(side: .watch, number: 1, isFresh: true, point: .beforeCall(1))))
        let disk = try LinkFollower.disk(limitedBy: path, of: .watch)
        let root = try disk.openRoot(folder.path, create: false)
        #expect(failure { _ = try disk.create("a", in: root) }?.reason == .noSpace)
        #expect(try LinkFollower.disk(limitedBy: nil, of: .watch) is DiskFileSystem)
        #expect(throws: ScenarioError.self) { try LinkFollower.disk(limitedBy: folder.file("none"), of: .watch) }
    }
}
