import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// A process of the pair under test. It is started with posix_spawn and its output goes into files, so that nothing is
// inherited, nothing blocks on a pipe, and what it said is there after a SIGKILL.

/// How a process ended.
enum Ending: Equatable, CustomStringConvertible {
    case exited(Int32)
    case killed(Int32)

    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7f
        self = signal == 0 ? .exited((waitStatus >> 8) & 0xff) : .killed(signal)
    }

    var description: String {
        switch self {
        case .exited(let code): "exit \(code)"
        case .killed(let signal): "killed by signal \(signal)"
        }
    }
}

struct Story: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

final class Child {
    let pid: pid_t
    let title: String
    private let outPath: String
    private let errPath: String
    private var ending: Ending?

    /// Starts `executable`. `logs` names two files that it makes: `<logs>.out` and `<logs>.err`.
    init(_ executable: String, _ arguments: [String], logs: String, environment: [String: String] = [:]) throws {
        title = ([executable.split(separator: "/").last.map(String.init) ?? executable] + arguments)
            .joined(separator: " ")
        outPath = logs + ".out"
        errPath = logs + ".err"
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, outPath, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errPath, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
        // The threads that tests run on block signals and a child would inherit that; it gets what a shell would give it.
        #if canImport(Darwin)
            var attributes: posix_spawnattr_t?
        #else
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var stops = sigset_t()
        sigemptyset(&stops)
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGPIPE] { sigaddset(&stops, signal) }
        posix_spawnattr_setsigdefault(&attributes, &stops)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var variables = ProcessInfo.processInfo.environment
        for (name, value) in environment { variables[name] = value }
        let argv = ([executable] + arguments).map { strdup($0) } + [nil]
        let envp = variables.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in argv + envp { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, executable, &actions, &attributes, argv, envp)
        guard code == 0 else { throw Story("cannot start \(executable): \(String(cString: strerror(code)))") }
        self.pid = pid
    }

    var output: String { Self.text(outPath) }
    var talk: String { Self.text(errPath) }

    private static func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }

    /// How it ended, or nil while it runs.
    func poll() -> Ending? {
        if let ending { return ending }
        var status: Int32 = 0
        if waitpid(pid, &status, WNOHANG) == pid { ending = Ending(waitStatus: status) }
        return ending
    }

    /// Nothing is sent to a process that was waited for: its number may be somebody else's by now.
    func send(_ signal: Int32) {
        if poll() == nil { kill(pid, signal) }
    }

    /// Waits for its end, at most `limit`.
    func end(within limit: Duration = .seconds(60)) async throws -> Ending {
        let giveUp = ContinuousClock.now + limit
        while true {
            if let ending = poll() { return ending }
            guard ContinuousClock.now < giveUp else {
                throw Story("\(title) does not end within \(limit); it says:\n\(tail(talk))")
            }
            try await Task.sleep(for: .milliseconds(4))
        }
    }

    /// Asks it to stop, and waits for that.
    @discardableResult
    func terminate() async throws -> Ending {
        send(SIGTERM)
        return try await end()
    }

    /// SIGKILL, and gone when this returns.
    func destroy() {
        guard poll() == nil else { return }
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        ending = Ending(waitStatus: status)
    }

    deinit { destroy() }
}

func tail(_ text: String, lines: Int = 30) -> String {
    text.split(separator: "\n").suffix(lines).joined(separator: "\n")
}
