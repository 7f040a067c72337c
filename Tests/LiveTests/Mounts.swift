import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// Small disks to fill: tmpfs, which takes root on Linux. Where that cannot be had, the tests that need it are skipped, and
// say so in the run's output; the same stories run on the simulated disk in SideTests.

enum Mounts {
    static let why: Comment = "a small disk to fill takes root on Linux (mount -t tmpfs), which this run has not"

    static let canMount: Bool = {
        #if os(Linux)
            guard geteuid() == 0 else { return false }
            let folder = NSTemporaryDirectory() + "/watchferry-mount-\(getpid())"
            mkdir(folder, 0o700)
            defer { rmdir(folder) }
            guard call("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]) == 0 else { return false }
            return call("umount", [folder]) == 0
        #else
            return false
        #endif
    }()

    static func call(_ name: String, _ arguments: [String]) -> Int32 {
        for folder in ["/usr/bin", "/bin", "/usr/sbin", "/sbin"] {
            let path = "\(folder)/\(name)"
            guard FileManager.default.isExecutableFile(atPath: path) else { continue }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = arguments
            process.standardError = FileHandle.nullDevice
            do { try process.run() } catch { return -1 }
            process.waitUntilExit()
            return process.terminationStatus
        }
        return -1
    }
}

/// Runs `body` with a small disk of its own, which is gone afterwards.
func withSmallDisk(mebibytes: Int, _ body: (String) async throws -> Void) async throws {
    var template = Array((NSTemporaryDirectory() + "/watchferry-disk.XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil, let real = realpath(template, nil) else { throw Story("cannot make a folder") }
    let folder = String(cString: real)
    free(real)
    guard Mounts.call("mount", ["-t", "tmpfs", "-o", "size=\(mebibytes)m,mode=0700", "tmpfs", folder]) == 0 else {
        rmdir(folder)
        throw Story("cannot mount a tmpfs at \(folder)")
    }
    defer {
        // Lazily, should anything still be open there: the folder goes in any case.
        if Mounts.call("umount", [folder]) != 0 { _ = Mounts.call("umount", ["-l", folder]) }
        rmdir(folder)
    }
    try await body(folder)
}

/// Takes all the room that is left on the disk of `path`.
func fill(_ path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT, 0o600)
    guard file >= 0 else { throw Story("cannot make \(path)") }
    defer { close(file) }
    let block = [UInt8](repeating: 0x55, count: 65_536)
    for size in [65_536, 4_096, 512] {
        while write(file, block, size) == size {}
    }
    guard errno == ENOSPC else { throw Story("the disk of \(path) is not full: \(String(cString: strerror(errno)))") }
}
