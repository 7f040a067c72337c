import Foundation
import Spooling
import Testing

@testable import DaemonRuntime

#if os(Linux)

    /// Long enough for a slow machine; no test waits for it when the loop works.
    private let soon: Duration = .seconds(20)

    @Suite("The event loop", .timeLimit(.minutes(1))) struct EventLoopTests {
        let disk = DiskFileSystem()
        let clock = MonotonicClock()
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
        }

        private func put(
            _ name: FileName, in directory: borrowing OpenDirectory, from temporary: borrowing OpenDirectory
        )
            throws
        {
            _ = try disk.create(name, in: temporary)
            try disk.publish(name, in: temporary, as: name, in: directory)
        }

        @Test("published and deleted names arrive by token, in order; temporaries are no news")
        func names() throws {
            let root = try disk.openRoot(folder.path, create: false)
            let temporary = try disk.openDirectory("tmp", in: root, create: true)
            let first = try disk.openDirectory("a", in: root, create: true)
            let second = try disk.openDirectory("b", in: root, create: true)
            let loop = try EventLoop()
            try loop.watch(second, as: 9, for: .both)
            try loop.watch(first, as: 2, for: .both)
            _ = try disk.create("being-written", in: first)
            #expect(loop.wait(until: .zero).changes == [])

            let odd = FileName(bytes: [0xFF, 0x0A])!
            try put("x", in: second, from: temporary)
            try put(odd, in: first, from: temporary)
            try put("y", in: first, from: temporary)
            try disk.unlink("y", in: first)
            let wakeups = loop.wait(until: clock.now() + soon)
            #expect(
                wakeups.changes == [
                    DirectoryChange(token: 2, news: .names([odd, "y", "y"])),
                    DirectoryChange(token: 9, news: .names(["x"])),
                ])
            #expect(wakeups.stop == nil && !wakeups.deadlinePassed)
            #expect(loop.wait(until: .zero) == Wakeups(stop: nil, changes: [], deadlinePassed: true))
        }

        @Test("who waits for what comes hears of nothing that goes, and the other way round")
        func interests() throws {
            let root = try disk.openRoot(folder.path, create: false)
            let temporary = try disk.openDirectory("tmp", in: root, create: true)
            let first = try disk.openDirectory("a", in: root, create: true)
            let second = try disk.openDirectory("b", in: root, create: true)
            let loop = try EventLoop()
            try loop.watch(first, as: 1, for: .arrivals)
            try loop.watch(second, as: 2, for: .departures)
            // The parent of both is told of more by the kernel, and passes on what it was asked for.
            try loop.watch(root, as: 3, for: .arrivals)
            try put("x", in: first, from: temporary)
            try put("y", in: second, from: temporary)
            try disk.unlink("x", in: first)
            try disk.publish("y", in: second, as: "z", in: root)
            try disk.unlink("z", in: root)
            #expect(
                loop.wait(until: clock.now() + soon).changes == [
                    DirectoryChange(token: 1, news: .names(["x"])),
                    DirectoryChange(token: 2, news: .names(["y"])),
                    DirectoryChange(token: 3, news: .names(["z"])),
                ])
        }

        @Test("the directory is watched, not its path, and also after its handle was closed")
        func pathFree() throws {
            let root = try disk.openRoot(folder.path, create: false)
            let temporary = try disk.openDirectory("tmp", in: root, create: true)
            let loop = try EventLoop()
            do {
                let directory = try disk.openDirectory("a", in: root, create: true)
                try loop.watch(directory, as: 1, for: .both)
            }
            try disk.publish("a", in: root, as: "moved", in: root)
            #expect(loop.wait(until: clock.now() + soon).changes == [DirectoryChange(token: 1, news: .rescan)])
            let moved = try disk.openDirectory("moved", in: root, create: false)
            try put("n", in: moved, from: temporary)
            #expect(loop.wait(until: clock.now() + soon).changes == [DirectoryChange(token: 1, news: .names(["n"]))])
        }

        @Test("more names than the limit become a rescan, and then names again")
        func limit() throws {
            let root = try disk.openRoot(folder.path, create: false)
            let temporary = try disk.openDirectory("tmp", in: root, create: true)
            let directory = try disk.openDirectory("a", in: root, create: true)
            let loop = try EventLoop(nameLimit: 3)
            try loop.watch(directory, as: 1, for: .both)
            for name: FileName in ["1", "2", "3"] { try put(name, in: directory, from: temporary) }
            #expect(
                loop.wait(until: clock.now() + soon).changes == [
                    DirectoryChange(token: 1, news: .names(["1", "2", "3"]))
                ])
            for name: FileName in ["4", "5", "6", "7"] { try put(name, in: directory, from: temporary) }
            #expect(loop.wait(until: clock.now() + soon).changes == [DirectoryChange(token: 1, news: .rescan)])
            try put("8", in: directory, from: temporary)
            #expect(loop.wait(until: clock.now() + soon).changes == [DirectoryChange(token: 1, news: .names(["8"]))])
        }

        @Test("the kernel's queue runs over: every directory is looked at again")
        func kernelOverflow() throws {
            let text = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
            let bound = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            let root = try disk.openRoot(folder.path, create: false)
            let busy = try disk.openDirectory("a", in: root, create: true)
            let quiet = try disk.openDirectory("b", in: root, create: true)
            // No limit of our own, so that what is seen is the kernel's.
            let loop = try EventLoop(nameLimit: .max)
            try loop.watch(busy, as: 1, for: .both)
            try loop.watch(quiet, as: 2, for: .both)
            _ = try disk.create("x", in: busy)
            for _ in 0..<(bound / 4 + 10) {
                try disk.publish("x", in: busy, as: "y", in: busy)
                try disk.publish("y", in: busy, as: "x", in: busy)
            }
            let changes = loop.wait(until: clock.now() + soon).changes
            #expect(changes.map(\.token) == [1, 2])
            let rescans = changes.filter { $0.news == .rescan }.count
            #expect(rescans == 2)
        }

        @Test("a directory that is deleted under its open handle says so at once, also when its siblings are watched")
        func deleted() throws {
            let root = try disk.openRoot(folder.path, create: false)
            let first = try disk.openDirectory("a", in: root, create: true)
            let second = try disk.openDirectory("b", in: root, create: true)
            let loop = try EventLoop()
            try loop.watch(first, as: 1, for: .both)
            try loop.watch(second, as: 2, for: .both)
            try #require(rmdir(folder.file("a")) == 0)
            // A look without waiting: a wait of a minute would find it out by itself.
            #expect(loop.wait(until: .zero).changes == [DirectoryChange(token: 1, news: .rescan)])
            // The name comes back with another inode; watching it under the same token works, the old one is told off.
            #expect(throws: EventLoopError.self) { try loop.watch(first, as: 1, for: .both) }
            let again = try disk.openDirectory("a", in: root, create: true)
            try loop.watch(again, as: 1, for: .both)
            let temporary = try disk.openDirectory("tmp", in: root, create: true)
            try put("n", in: again, from: temporary)
            #expect(loop.wait(until: clock.now() + soon).changes == [DirectoryChange(token: 1, news: .names(["n"]))])
        }

        @Test("a directory that holds a watched one, is watched itself, and is let go of, keeps both straight")
        func nestedWatches() throws {
            let root = try disk.openRoot(folder.path, create: false)
            let outer = try disk.openDirectory("outer", in: root, create: true)
            let inner = try disk.openDirectory("inner", in: outer, create: true)
            let temporary = try disk.openDirectory("tmp", in: root, create: true)
            let loop = try EventLoop()
            try loop.watch(inner, as: 1, for: .both)
            try loop.watch(outer, as: 2, for: .both)
            try loop.watch(outer, as: 3, for: .both)
            try put("n", in: outer, from: temporary)
            let told = [2, 3].map { DirectoryChange(token: $0, news: .names(["n"])) }
            #expect(loop.wait(until: clock.now() + soon).changes == told)
            loop.unwatch(2)
            try put("k", in: outer, from: temporary)
            #expect(loop.wait(until: .zero).changes == [DirectoryChange(token: 3, news: .names(["k"]))])
            loop.unwatch(3)
            loop.unwatch(4)
            try put("m", in: outer, from: temporary)
            #expect(loop.wait(until: .zero).changes == [])
            try #require(rmdir(folder.file("outer/inner")) == 0)
            #expect(loop.wait(until: .zero).changes == [DirectoryChange(token: 1, news: .rescan)])
        }

        @Test("a deadline wakes, not before its time")
        func deadline() throws {
            let loop = try EventLoop()
            let deadline = clock.now() + .milliseconds(30)
            #expect(loop.wait(until: deadline) == Wakeups(stop: nil, changes: [], deadlinePassed: true))
            #expect(clock.now() >= deadline)
        }

        @Test("news from another thread ends a wait")
        func wakes() throws {
            let root = try disk.openRoot(folder.path, create: false)
            let directory = try disk.openDirectory("a", in: root, create: true)
            _ = try disk.create("x", in: root)
            let loop = try EventLoop()
            try loop.watch(directory, as: 1, for: .both)
            let path = folder.path
            Thread.detachNewThread {
                usleep(20_000)
                rename(path + "/x", path + "/a/x")
            }
            #expect(loop.wait(until: nil).changes == [DirectoryChange(token: 1, news: .names(["x"]))])
        }

        // The signals below are sent to the thread that blocks them: in this process, the testing library's other threads
        // do not, and would die of a signal to the process. The live tests send real ones to the daemons.

        @Test(
            "a signal to stop is seen between two slices, sticks, and ends every later wait",
            arguments: StopSignal.allCases)
        func stop(signal: StopSignal) async throws {
            await #expect(processExitsWith: .exitCode(signal.exitCode.rawValue)) {
                [number = signal.rawValue as Int32] in
                let loop = try EventLoop()
                guard loop.stopRequested() == nil else { exit(1) }
                pthread_kill(pthread_self(), number)
                // It is asked every other millisecond, so the first question after that tells.
                usleep(3_000)
                guard let stop = loop.stopRequested(), stop.rawValue == number else { exit(1) }
                let wakeups = loop.wait(until: nil)
                guard wakeups.stop == stop, loop.wait(until: nil).stop == stop else { exit(1) }
                stop.exitCode.exit()
            }
        }

        @Test("a signal ends a wait")
        func signalEndsWait() async throws {
            await #expect(processExitsWith: .exitCode(143)) {
                let loop = try EventLoop()
                let waiting = pthread_self()
                Thread.detachNewThread {
                    usleep(20_000)
                    pthread_kill(waiting, SIGTERM)
                }
                let wakeups = loop.wait(until: nil)
                (wakeups.stop?.exitCode ?? .violated).exit()
            }
        }

        @Test("nohup is respected: a SIGHUP that is ignored stays ignored")
        func nohup() async throws {
            await #expect(processExitsWith: .success) {
                signal(SIGHUP, SIG_IGN)
                let loop = try EventLoop()
                pthread_kill(pthread_self(), SIGHUP)
                exit(loop.wait(until: .zero).stop == nil ? EXIT_SUCCESS : EXIT_FAILURE)
            }
        }

        @Test("a reader that went away is an error of write, not the end")
        func brokenPipe() async throws {
            await #expect(processExitsWith: .success) {
                _ = try EventLoop()
                var ends: [Int32] = [0, 0]
                guard pipe(&ends) == 0, close(ends[0]) == 0, dup2(ends[1], STDOUT_FILENO) >= 0 else { exit(1) }
                exit(standardOutput("into the void") ? EXIT_FAILURE : EXIT_SUCCESS)
            }
        }
    }

#endif
