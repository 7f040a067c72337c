import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// A pair in a folder of its own, with everything that was started for it. When the body of `withPair` ends, however it
// ends, no process is left and the folder is gone.

final class TestPair {
    let root: String
    var watchHome: String
    var phoneHome: String
    var spool: String
    /// Where the processes' output goes; outside whatever a test fills or breaks.
    let logs: String
    private var children: [Child] = []
    private var count = 0

    init(in parent: String = NSTemporaryDirectory()) throws {
        // The real path: the pair follows no links, and a Mac's temporary folder lies behind one.
        let template = "\(parent.hasSuffix("/") ? String(parent.dropLast()) : parent)/watchferry-live.XXXXXX"
        var bytes = Array(template.utf8CString)
        guard mkdtemp(&bytes) != nil, let real = realpath(bytes, nil) else {
            throw Story("cannot make a folder like \(template)")
        }
        defer { free(real) }
        root = String(cString: real)
        watchHome = root + "/pair/watch"
        phoneHome = root + "/pair/phone"
        spool = root + "/pair/spool"
        logs = root + "/logs"
        try FileManager.default.createDirectory(atPath: logs, withIntermediateDirectories: true)
    }

    func home(_ tool: Tool) -> String { tool == .watch ? watchHome : phoneHome }

    // MARK: Processes

    /// Starts a tool; `command` is the command and its own arguments.
    @discardableResult
    func start(_ tool: Tool, _ command: [String], environment: [String: String] = [:]) throws -> Child {
        count += 1
        let child = try Child(
            try tool.executable, command + ["--home", home(tool), "--spool", spool], logs: "\(logs)/\(count)",
            environment: environment)
        children.append(child)
        return child
    }

    /// A daemon whose waits are short enough for a test.
    @discardableResult
    func startWatch(_ extra: [String] = [], environment: [String: String] = [:]) throws -> Child {
        try start(
            .watch, ["run"] + Self.quickly(unless: extra) + extra, environment: environment)
    }

    @discardableResult
    func startPhone(_ extra: [String] = [], environment: [String: String] = [:]) throws -> Child {
        try start(.phone, ["run"] + extra, environment: environment)
    }

    private static func quickly(unless extra: [String]) -> [String] {
        [("--retry-first", "500ms"), ("--retry-cap", "2s"), ("--patience", "3s")]
            .flatMap { name, value in extra.contains(name) ? [] : [name, value] }
    }

    struct Result {
        let ending: Ending
        let output: String
        let talk: String
        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// Runs a command to its end.
    @discardableResult
    func run(
        _ tool: Tool, _ command: [String], within limit: Duration = .seconds(60), environment: [String: String] = [:]
    ) async throws -> Result {
        let child = try start(tool, command, environment: environment)
        let ending = try await child.end(within: limit)
        return Result(ending: ending, output: child.output, talk: child.talk)
    }

    /// Records, expects that all of it worked, and answers the ids.
    func record(_ arguments: [String], environment: [String: String] = [:]) async throws -> [String] {
        let result = try await run(.watch, ["record"] + arguments, environment: environment)
        guard result.ending == .exited(0) else { throw Story("record: \(result.ending): \(result.talk)") }
        return result.lines
    }

    /// Both daemons, until nothing is owed; expects 0 of both.
    func drain(
        watch: [String] = [], phone: [String] = [], within limit: String = "40s",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let watchRun = try startWatch(["--until-drained", "--timeout", limit] + watch)
        let phoneRun = try startPhone(phone)
        let ending = try await watchRun.end()
        #expect(ending == .exited(0), "\(tail(watchRun.talk))", sourceLocation: sourceLocation)
        try await phoneRun.terminate()
        let phoneEnding = try await run(.phone, ["run", "--until-drained", "--timeout", limit] + phone)
        #expect(phoneEnding.ending == .exited(0), "\(tail(phoneEnding.talk))", sourceLocation: sourceLocation)
    }

    /// Waits for a condition; the limit is for a machine that is busy, and far more than it takes.
    func eventually(
        _ what: String, within limit: Duration = .seconds(30), _ condition: () throws -> Bool
    ) async throws {
        let giveUp = ContinuousClock.now + limit
        while try !condition() {
            guard ContinuousClock.now < giveUp else {
                let said = children.suffix(4).map { "\($0.title):\n\(tail($0.talk, lines: 15))" }
                throw Story("not within \(limit): \(what)\n\(said.joined(separator: "\n"))")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    func end() {
        for child in children { child.destroy() }
        for path in Set([root, watchHome, phoneHome, spool]).sorted() {
            // Back to what can be removed, whatever a test took away.
            try? FileManager.default.removeItem(atPath: path)
        }
    }
}

/// A pair for one story. Stories of real daemons share two cores with the rest of the tests: a few run at a time.
func withPair(
    in parent: String = NSTemporaryDirectory(), alone: Bool = false, _ body: (TestPair) async throws -> Void
) async throws {
    await Stage.shared.enter(alone: alone)
    do {
        let pair = try TestPair(in: parent)
        defer { pair.end() }
        try await body(pair)
    } catch {
        await Stage.shared.leave(alone: alone)
        throw error
    }
    await Stage.shared.leave(alone: alone)
}

/// Lets so many stories run at once, or one that wants to be alone.
actor Stage {
    static let shared = Stage()
    private let most = 3
    private var running = 0
    private var waiting: [(size: Int, resume: CheckedContinuation<Void, Never>)] = []

    private func size(_ alone: Bool) -> Int { alone ? most : 1 }

    func enter(alone: Bool) async {
        let size = size(alone)
        if waiting.isEmpty, running + size <= most {
            running += size
            return
        }
        await withCheckedContinuation { waiting.append((size, $0)) }
    }

    func leave(alone: Bool) {
        running -= size(alone)
        while let next = waiting.first, running + next.size <= most {
            running += next.size
            waiting.removeFirst()
            next.resume.resume()
        }
    }
}
