import DaemonRuntime
import Foundation
import Spooling
import Testing

/// A folder under the system's temporary folder that is gone, with what is in it, when its owner is.
final class TemporaryFolder {
    let path: String

    init() throws {
        let template = NSTemporaryDirectory() + "watchferry-runtime-XXXXXX"
        var bytes = Array(template.utf8CString)
        try #require(mkdtemp(&bytes) != nil, "no temporary folder: errno \(errno)")
        path = String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            Issue.record("the temporary folder \(path) stays behind: \(error)")
        }
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }
}

/// The file system error that `body` throws; anything else is recorded.
func failure(
    _ sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> FileSystemError? {
    do {
        try body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    } catch let error as FileSystemError {
        return error
    } catch {
        Issue.record("another error: \(error)", sourceLocation: sourceLocation)
    }
    return nil
}

/// A small file system of its own, which can be filled without hurting anybody. Only root can mount one.
final class SmallDisk {
    static let why = "mounting a small tmpfs needs root on Linux; run as root to see a full disk"
    static var canMount: Bool {
        #if os(Linux)
            return geteuid() == 0
        #else
            return false
        #endif
    }

    let folder: TemporaryFolder
    var path: String { folder.path }

    init(byteCount: Int) throws {
        folder = try TemporaryFolder()
        #expect(
            try run("/bin/mount", ["-t", "tmpfs", "-o", "size=\(byteCount),mode=0700", "tmpfs", folder.path]) == 0)
    }

    deinit {
        let status = try? run("/bin/umount", [folder.path])
        if status != 0 { Issue.record("the small disk stays mounted at \(folder.path)") }
    }
}

func run(_ program: String, _ arguments: [String]) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
}
