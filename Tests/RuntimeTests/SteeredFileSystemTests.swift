import Foundation
import LinkFaults
import Simulation
import Spooling
import Testing

@testable import DaemonRuntime

@Suite("The disk of a daemon that is steered") struct SteeredFileSystemTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func steering(
        _ byteCount: UInt64? = nil, paths: [String]? = nil, die: DieOrder? = nil
    ) -> Steering {
        var steering = Steering()
        if let byteCount { steering.disks = [DiskLimit(paths: paths ?? [folder.path], byteCount: byteCount)] }
        steering.die = die
        return steering
    }

    private func disk(_ steering: Steering, death: @escaping () -> Void = {}) -> SteeredFileSystem {
        SteeredFileSystem(DiskFileSystem(), side: .phone, atStart: steering, death: death)
    }

    @Test("with nothing in force, and with room enough, it is the real disk", arguments: [nil, 1 << 30] as [UInt64?])
    func conformance(byteCount: UInt64?) {
        #expect(FileSystemConformance.run(on: disk(steering(byteCount)), at: folder.file("new")) == [])
    }

    // MARK: Small disks

    @Test("a write that fits partly writes what fits, the next one finds no space, and room is there again after")
    func partlyFits() throws {
        let disk = disk(steering(3 * 4_096 + 4_095))
        let root = try disk.openRoot(folder.path, create: false)
        let first = try disk.create("a", in: root)
        try disk.writeAll(first, at: 0, [1])
        let file = try disk.create("b", in: root)
        let bytes = [UInt8](repeating: 2, count: 20_000)
        // One of three blocks is taken; what is behind the last whole block is none.
        #expect(try bytes.withUnsafeBytes { try disk.write(file, at: 0, from: $0) } == 8_192)
        let error = failure { _ = try bytes.withUnsafeBytes { try disk.write(file, at: 8_192, from: $0) } }
        #expect(error == FileSystemError(.write, folder.file("b"), .noSpace))
        // Inside the blocks that they have, files may be written and grow.
        try disk.writeAll(first, at: 1, [UInt8](repeating: 1, count: 4_095))
        try disk.writeAll(file, at: 100, [3, 4])
        #expect(failure { try disk.writeAll(first, at: 4_096, [1]) }?.reason == .noSpace)
        #expect(failure { try disk.truncate(first, to: 4_097) }?.reason == .noSpace)
        #expect(failure { _ = try disk.create("c", in: root) } == FileSystemError(.create, folder.file("c"), .noSpace))
        #expect(failure { _ = try disk.create("b", in: root) }?.reason == .exists)
        #expect(
            failure { _ = try disk.openDirectory("d", in: root, create: true) }
                == FileSystemError(.makeDirectory, folder.file("d"), .noSpace))
        #expect(
            failure { _ = try disk.openRoot(folder.file("e/f"), create: true) }
                == FileSystemError(.makeDirectory, folder.file("e/f"), .noSpace))
        _ = try disk.openRoot(folder.path + "/", create: true)
        #expect(try disk.sortedNames(in: root) == ["a", "b"])
        #expect(try disk.space(of: root) == FreeSpace(freeByteCount: 0, totalByteCount: 16_383))

        try disk.truncate(file, to: 4_096)
        #expect(try disk.space(of: root).freeByteCount == 4_096)
        let inside = try disk.openDirectory("d", in: root, create: true)
        let third = try disk.create("c", in: inside)
        try disk.truncate(third, to: 4_096)
        #expect(failure { try disk.truncate(third, to: 4_097) }?.reason == .noSpace)
        try disk.unlink("a", in: root)
        try disk.truncate(third, to: 8_192)
        disk.follow(steering())
        try disk.truncate(third, to: 1 << 20)
        #expect(try disk.space(of: root) == DiskFileSystem().space(of: root))
    }

    @Test("a limit of nothing leaves no room, a raised one does; a shrunk one takes nothing away")
    func full() throws {
        let disk = disk(steering(0))
        let root = try disk.openRoot(folder.path, create: true)
        #expect(failure { _ = try disk.create("a", in: root) }?.reason == .noSpace)
        #expect(try disk.space(of: root) == FreeSpace(freeByteCount: 0, totalByteCount: 0))
        disk.follow(steering(4_096))
        let file = try disk.create("a", in: root)
        try disk.writeAll(file, at: 0, [7])
        disk.follow(steering(0))
        #expect(try disk.readAll(file, at: 0, byteCount: 2) == [7])
        try disk.publish("a", in: root, as: "b", in: root)
        try disk.sync(root)
        try disk.truncate(file, to: 0)
    }

    @Test("folders share a limit; what lies outside, behind a link, or in a journal counts nothing")
    func shared() throws {
        let real = DiskFileSystem()
        let root = try real.openRoot(folder.path, create: false)
        let (one, two) = (folder.file("one"), folder.file("two"))
        let first = try real.openRoot(one + "/journal", create: true)
        let second = try real.openRoot(two + "/deep/journal", create: true)
        let outside = try real.openRoot(folder.file("one-outside"), create: true)
        for (directory, byteCount) in [(0, 40_960), (1, 4_096), (2, 40_960)] {
            let bytes = [UInt8](repeating: 0, count: byteCount)
            switch directory {
            case 0: try real.writeAll(try real.create("x", in: first), at: 0, bytes)
            case 1: try real.writeAll(try real.create("x", in: second), at: 0, bytes)
            case _: try real.writeAll(try real.create("x", in: outside), at: 0, bytes)
            }
        }
        try #require(symlink(folder.file("one-outside"), one + "/link") == 0)
        let disk = disk(steering(8_192, paths: [one, two, folder.file("missing")]))
        let home = try disk.openRoot(one, create: false)
        #expect(try disk.space(of: home) == FreeSpace(freeByteCount: 4_096, totalByteCount: 8_192))
        try disk.writeAll(try disk.create("y", in: home), at: 0, [1])
        #expect(failure { _ = try disk.create("z", in: home) }?.reason == .noSpace)
        let other = try disk.openRoot(folder.file("one-outside"), create: false)
        try disk.writeAll(try disk.create("z", in: other), at: 0, [UInt8](repeating: 1, count: 100_000))
        #expect(try disk.space(of: root).totalByteCount > 8_192)
    }

    // MARK: Death

    private func order(_ point: DiePoint, number: Int = 1, isFresh: Bool = true, side: Side = .phone) -> DieOrder {
        DieOrder(side: side, number: number, isFresh: isFresh, point: point)
    }

    private final class Deaths { var count = 0 }

    @Test("it dies before the call that is ordered, or after it, and once")
    func counts() throws {
        let deaths = Deaths()
        var seen: [[Bool]] = []
        let names: [FileName] = ["1", "2", "3"]
        for point in [DiePoint.beforeCall(3), .afterCall(3)] {
            // In the death, what is there: was the call made?
            let place = try TemporaryFolder()
            let disk = disk(steering(die: order(point))) {
                deaths.count += 1
                seen.append(names.map { FileManager.default.fileExists(atPath: place.file($0.description)) })
            }
            let root = try disk.openRoot(place.path, create: false)
            for name in names { _ = try disk.create(name, in: root) }
            disk.follow(steering(die: order(point)))
            for name in names { try disk.unlink(name, in: root) }
        }
        #expect(seen == [[true, false, false], [true, true, false]])
        #expect(deaths.count == 2)
    }

    @Test("or at the first call of a kind to a path with some words in it, wherever they stand in a rename")
    func operations() throws {
        for isAfter in [false, true] {
            let place = try TemporaryFolder()
            var seen: [[String]] = []
            let point: DiePoint =
                isAfter ? .after(.publish, pathContaining: "con/") : .before(.publish, pathContaining: "con/")
            let disk = disk(steering(die: order(point))) {
                seen.append(Set(FileManager.default.subpaths(atPath: place.path) ?? []).sorted())
            }
            let root = try disk.openRoot(place.path, create: false)
            let container = try disk.openDirectory("con", in: root, create: true)
            _ = try disk.create("a", in: container)
            try disk.publish("a", in: container, as: "b", in: container)
            try disk.publish("b", in: container, as: "c", in: root)
            #expect(seen == [["con", isAfter ? "con/b" : "con/a"]])
        }
        let deaths = Deaths()
        let disk = disk(steering(die: order(.after(.openRoot, pathContaining: "")))) { deaths.count += 1 }
        #expect(failure { _ = try disk.openRoot(folder.file("missing"), create: false) }?.reason == .notFound)
        #expect(deaths.count == 1, "a call that fails is a call")
    }

    @Test("an order is obeyed once, by its side; one that a start finds only when it is for fresh processes")
    func orders() throws {
        let deaths = Deaths()
        let disk = disk(steering(die: order(.beforeCall(1), number: 4, isFresh: false))) { deaths.count += 1 }
        func call(_ count: Int = 1) throws {
            for _ in 0..<count { _ = try disk.openRoot(folder.path, create: false) }
        }
        try call(2)
        disk.follow(steering(die: order(.beforeCall(1), number: 4, isFresh: false)))
        disk.follow(steering(die: order(.beforeCall(1), number: 4, isFresh: true)))
        disk.follow(steering(die: order(.beforeCall(1), number: 5, side: .watch)))
        try call(2)
        #expect(deaths.count == 0)
        disk.follow(steering(die: order(.beforeCall(2), number: 5, isFresh: false)))
        try call()
        // Read again, and gone from the file: the counting goes on.
        disk.follow(steering(die: order(.beforeCall(2), number: 5, isFresh: false)))
        disk.follow(steering())
        #expect(deaths.count == 0)
        try call()
        #expect(deaths.count == 1)
        disk.follow(steering(die: order(.beforeCall(1), number: 5)))
        try call(3)
        #expect(deaths.count == 1)
        disk.follow(steering(die: order(.afterCall(1), number: 6)))
        try call()
        #expect(deaths.count == 2)
    }

    @Test("dying is SIGKILL")
    func kill() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            var steering = Steering()
            steering.die = DieOrder(side: .watch, number: 1, isFresh: true, point: .beforeCall(1))
            let disk = SteeredFileSystem(DiskFileSystem(), side: .watch, atStart: steering)
            _ = try disk.openRoot("/", create: false)
            exit(EXIT_SUCCESS)
        }
    }
}
