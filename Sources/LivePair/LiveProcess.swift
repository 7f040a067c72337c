// One process of a live run. It is started with posix_spawn, in a process group of its own, with the signal mask and handlers
// of a shell's child; its output goes into files, so that nothing blocks on a pipe and what it said is there after a SIGKILL.
//
// Nothing is sent to a process that was waited for: its number may be somebody else's by now.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// How a process ended.
enum Ending: Equatable, CustomStringConvertible {
    case exited(Int32)
    case signalled(Int32)

    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7f
        self = signal == 0 ? .exited((waitStatus >> 8) & 0xff) : .signalled(signal)
    }

    var description: String {
        switch self {
        case .exited(let code): "exit \(code)"
        case .signalled(let signal): "signal \(signal)"
        }
    }
}

final class LiveProcess {
    let pid: pid_t
    let title: String
    private let outPath: String
    private let errPath: String
    private(set) var ending: Ending?
    /// What the kernel says that it took, once it has ended.
    private(set) var usage = rusage()

    /// Starts `executable`. `logs` names two files that it makes: `<logs>.out` and `<logs>.err`.
    init(_ executable: String, _ arguments: [String], logs: String) throws(LiveError) {
        title = "\(executable.split(separator: "/").last ?? "") \(arguments.first ?? "")"
        outPath = logs + ".out"
        errPath = logs + ".err"
        var actions = emptySpawnActions()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let output = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, outPath, output, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errPath, output, 0o600)
        var attributes = emptySpawnAttributes()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var handled = sigset_t()
        sigemptyset(&handled)
        for signal in 1...31 where signal != Int(SIGKILL) && signal != Int(SIGSTOP) {
            sigaddset(&handled, Int32(signal))
        }
        posix_spawnattr_setsigdefault(&attributes, &handled)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags =
            Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETPGROUP)
            | Int32(spawnClosesAll)
        posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))
        let argv = ([executable] + arguments).map { strdup($0) } + [nil]
        defer { for text in argv { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, executable, &actions, &attributes, argv, environ)
        guard code == 0 else {
            throw LiveError("start", executable, errno: code, remedy: "name the daemons' executables")
        }
        self.pid = pid
    }

    deinit { destroy() }

    /// How it ended, or `nil` while it runs.
    func poll() -> Ending? {
        if let ending { return ending }
        var status: Int32 = 0
        if wait4(pid, &status, WNOHANG, &usage) == pid { ending = Ending(waitStatus: status) }
        return ending
    }

    /// Waits for its end, however long that takes.
    func waitForEnd() -> Ending {
        if let ending = poll() { return ending }
        var status: Int32 = 0
        while wait4(pid, &status, 0, &usage) < 0, errno == EINTR {}
        let end = Ending(waitStatus: status)
        ending = end
        return end
    }

    func send(_ signal: Int32) {
        if poll() == nil { kill(pid, signal) }
    }

    /// SIGKILL, and gone when this returns.
    func destroy() {
        guard poll() == nil else { return }
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        ending = Ending(waitStatus: status)
    }

    /// Stands still when this returns, unless it has ended.
    func freeze() {
        guard poll() == nil else { return }
        kill(pid, SIGSTOP)
        var status: Int32 = 0
        while waitpid(pid, &status, WUNTRACED) < 0, errno == EINTR {}
        // Stopped: the low byte is 0x7f (wait(2)); otherwise it died of something else meanwhile.
        if status & 0xff != 0x7f { ending = Ending(waitStatus: status) }
    }

    func thaw() { send(SIGCONT) }

    var output: String { LiveDisk.text(outPath) }
    var talk: String { LiveDisk.text(errPath) }

    /// The last lines that it said, for a trouble.
    var lastWords: String {
        let lines = talk.split(separator: "\n").suffix(12)
        return lines.isEmpty ? "it said nothing" : lines.joined(separator: "\n    ")
    }

    /// Whether it said what only a broken program says.
    var saysThatItIsBroken: Bool {
        let talk = talk
        return ["Fatal error", "Sanitizer:", "Precondition failed"].contains { talk.contains($0) }
    }
}
