import DaemonRuntime
import Foundation
import LivePair
import PairInspection
import Replay
import Scenarios
import Spooling
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

enum Products {
    static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// Beside the test bundle that is running, whatever the configuration and the build folder.
    static let folder: String? = {
        var folders: [String] = []
        // Linux: the bundle is the program that runs. Apple: a helper runs it and is given its path.
        for argument in CommandLine.arguments {
            guard let range = argument.range(of: ".xctest") else { continue }
            folders.append(
                URL(fileURLWithPath: String(argument[..<range.upperBound])).deletingLastPathComponent().path)
        }
        for bundle in Bundle.allBundles where bundle.bundlePath.hasSuffix(".xctest") {
            folders.append(bundle.bundleURL.deletingLastPathComponent().path)
        }
        return (folders + [repository + "/.build/debug", repository + "/.build/release"])
            .first { FileManager.default.isExecutableFile(atPath: $0 + "/watch-sim") }
    }()
}

/// A folder of a test's own, gone when the body ends.
func withFolder<Answer>(_ body: (String) async throws -> Answer) async throws -> Answer {
    let folder = FileManager.default.temporaryDirectory.appending(path: "live-pair-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.path)
}

/// Runs a scenario live and blocks until it is over.
func runLive(
    _ scenario: Scenario, below folder: String, keepsFolder: Bool = false, progress: ((String) -> Void)? = nil
) throws -> RunReport {
    let products = try #require(Products.folder, "build the daemons first (swift build)")
    let options = LiveOptions(
        executables: (products + "/watch-sim", products + "/phone-sim"), parent: folder, keepsFolder: keepsFolder,
        keepsEntries: true)
    let disk = DiskFileSystem()
    return try LivePair.run(
        scenario, options,
        census: { places, watchCount, moment throws(FileSystemError) in
            try CensusTaker(places, disk).census(at: moment, watchCount: watchCount)
        }, progress: progress)
}

/// The same on a thread of its own: Swift's are few, and other tests want them while this one waits for its daemons.
func live(
    _ text: String, below folder: String? = nil, keepsFolder: Bool = false,
    progress: (@Sendable (String) -> Void)? = nil
) async throws -> RunReport {
    let scenario = try ScenarioReader.read(text: text, file: "test.json5")
    func run(_ folder: String) async throws -> RunReport {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                continuation.resume(
                    with: Result {
                        try runLive(scenario, below: folder, keepsFolder: keepsFolder, progress: progress)
                    })
            }
            thread.start()
        }
    }
    if let folder { return try await run(folder) }
    return try await withFolder { try await run($0) }
}

func catalogue(_ name: String) throws -> String {
    try String(contentsOfFile: "\(Products.repository)/Scripts/Scenarios/\(name).json5", encoding: .utf8)
}

/// Processes that have all of this in their command line.
func processes(with words: String...) throws -> [Int32] {
    let ps = Process()
    ps.executableURL = URL(filePath: "/bin/ps")
    ps.arguments = ["-axww", "-o", "pid=,args="]
    let pipe = Pipe()
    ps.standardOutput = pipe
    try ps.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    ps.waitUntilExit()
    return String(decoding: output, as: UTF8.self).split(separator: "\n").filter { line in
        words.allSatisfy { line.contains($0) }
    }
    .compactMap { Int32($0.split(separator: " ")[0]) }.filter { $0 != getpid() }
}
