#if os(Linux)

    import Foundation
    import Testing

    import Glibc

    // The machine's clock is set while both run: a small library in front of the C library moves what `clock_gettime` says
    // of the wall clock by as many seconds as stand in a file, and leaves the other clocks alone. clang comes with the
    // toolchain.

    @Suite("Live: the clock is set", .timeLimit(.minutes(5)))
    struct ClockTests {
        private static let source = """
            #define _GNU_SOURCE
            #include <fcntl.h>
            #include <stdlib.h>
            #include <sys/syscall.h>
            #include <time.h>
            #include <unistd.h>

            static long shift(void) {
                const char *path = getenv("TEST_CLOCK_SHIFT_FILE");
                char text[32] = {0};
                int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
                if (file < 0) return 0;
                long count = read(file, text, sizeof text - 1);
                close(file);
                return count > 0 ? atol(text) : 0;
            }

            int clock_gettime(clockid_t clock, struct timespec *time) {
                int answer = syscall(SYS_clock_gettime, clock, time);
                if (answer == 0 && clock == CLOCK_REALTIME) time->tv_sec += shift();
                return answer;
            }
            """

        private static let year = 31_536_000

        private static let clang: String? = {
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
            return (folders + ["/usr/bin", "/opt/swift/usr/bin"]).map { $0 + "/clang" }
                .first { FileManager.default.isExecutableFile(atPath: $0) }
        }()

        private func environment(_ pair: TestPair) async throws -> [String: String] {
            let clang = try #require(Self.clang)
            let library = pair.root + "/shift.so"
            try Disk.write(Data(Self.source.utf8), to: pair.root + "/shift.c")
            let compiler = try Child(
                clang, ["-shared", "-fPIC", "-o", library, pair.root + "/shift.c"], logs: pair.logs + "/clang")
            #expect(try await compiler.end() == .exited(0), "\(compiler.talk)")
            return ["LD_PRELOAD": library, "TEST_CLOCK_SHIFT_FILE": pair.root + "/shift"]
        }

        private func set(_ seconds: Int, _ pair: TestPair) throws {
            // By a rename, so that nobody reads half of it.
            try Disk.write(Data("\(seconds)".utf8), to: pair.root + "/shift.new")
            guard rename(pair.root + "/shift.new", pair.root + "/shift") == 0 else {
                throw Story("cannot set the clock")
            }
        }

        @Test(
            "a year forward, then two back, while notes wait for their acks: no storm, and nothing is stuck",
            .enabled(if: clang != nil, "there is no clang on the PATH to make the library that moves the clock"))
        func yearForwardAndBack() async throws {
            try await withPair { pair in
                let environment = try await environment(pair)
                try set(0, pair)
                // They wait at the phone, unacked, and the watch waits long for that.
                let waiting = try await pair.record(
                    ["--seconds", "0.1", "--count", "5", "--payload-version", "2"], environment: environment)
                let watch = try pair.startWatch(
                    ["--retry-first", "5m", "--retry-cap", "5m", "--patience", "5m"], environment: environment)
                let phone = try pair.startPhone(environment: environment)
                try await pair.eventually("all wait") { try pair.count("waits", .phone) == 5 }

                for (shift, prefix) in [(Self.year, 0), (-Self.year, 1)] {
                    try set(shift, pair)
                    let now = Date().addingTimeInterval(TimeInterval(shift))
                    // It wakes the daemons; what they then do is judged by their own clock.
                    let ids = try await pair.record(["--seconds", "0.1", "--count", "2"], environment: environment)
                    try await pair.eventually("what is recorded now crosses at once") {
                        pair.watchIDs == waiting.sorted()
                    }
                    for id in ids {
                        let path = try #require(pair.container[id]?.first)
                        let month = Calendar(identifier: .gregorian).dateComponents(
                            in: TimeZone(identifier: "UTC") ?? .current, from: now)
                        #expect(path.contains("/container/\(month.year ?? 0)-"), "\(path)")
                    }
                    let sent = try pair.count("enqueued", .watch) + pair.count("requeued", .watch)
                    #expect(sent == waiting.count + 2 * (prefix + 1), "each was sent once")
                }
                #expect(watch.poll() == nil && phone.poll() == nil)

                // Nothing is stuck either: the same clock that jumped is no reason not to go on.
                try await watch.terminate()
                try await phone.terminate()
                try set(-2 * Self.year, pair)
                try pair.startWatch(environment: environment)
                try pair.startPhone(["--understands", "2"], environment: environment)
                try await pair.eventually("it drains") { pair.watchIDs.isEmpty }
            }
        }
    }

#endif
