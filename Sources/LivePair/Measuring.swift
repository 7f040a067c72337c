// What a benchmark of the two daemons needs of the platform: processes whose cost the kernel tells when they end, fresh
// folders, and what the machine is. Nothing here knows what is measured.

import DaemonRuntime

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A process, and what it took.
package final class MeasuredProcess {
    package struct End: Sendable {
        /// nil when a signal ended it.
        package let exitCode: Int32?
        /// User and system time together.
        package let cpuSeconds: Double
        /// The most memory that was resident at a time.
        package let peakByteCount: UInt64
        /// What it said on standard error.
        package let talk: String
    }

    private let process: LiveProcess

    /// Starts `executable`; what it says goes into `<logs>.out` and `<logs>.err`. It is gone at the latest when this is let
    /// go of.
    package init(_ executable: String, _ arguments: [String], logs: String) throws(LiveError) {
        process = try LiveProcess(executable, arguments, logs: logs)
    }

    /// Waits for its end.
    package func end() -> End {
        let ending = process.waitForEnd()
        let usage = process.usage
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        // Linux counts KiB, Darwin bytes (getrusage(2)).
        #if canImport(Darwin)
            let unit: UInt64 = 1
        #else
            let unit: UInt64 = 1_024
        #endif
        let exitCode: Int32? = if case .exited(let code) = ending { code } else { nil }
        return End(
            exitCode: exitCode, cpuSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            peakByteCount: UInt64(clamping: usage.ru_maxrss) * unit, talk: process.talk)
    }

    /// SIGTERM to it and to what it started (a tracer passes none on), and waits.
    package func stop() -> End {
        if process.poll() == nil { kill(-process.pid, SIGTERM) }
        return end()
    }

    package var isRunning: Bool { process.poll() == nil }
    package var output: String { process.output }
}

/// Folders and files of a benchmark.
package enum MeasuringDisk {
    package static func makeFolder(_ path: String) throws(LiveError) { try LiveDisk.makeDirectory(path) }
    package static func isThere(_ path: String) -> Bool { LiveDisk.isThere(path) }
    package static func text(_ path: String) -> String { LiveDisk.text(path) }
    /// The first 64 KiB of a file of the kernel's, which have no length (`/proc`, `/sys`); empty when it cannot be read.
    package static func kernelText(_ path: String) -> String {
        let disk = DiskFileSystem()
        guard let file = try? disk.openSource(path) else { return "" }
        return String(decoding: (try? disk.readAll(file, at: 0, byteCount: 65_536)) ?? [], as: UTF8.self)
    }
    /// Everything below `path`, and it; no link is followed. What cannot be removed stays.
    package static func remove(_ path: String) { _ = try? LiveDisk.remove(path) }
    package static func nameCount(_ folder: String) -> Int { (try? LiveDisk.names(folder).count) ?? 0 }

    /// A program by its name, as a shell would find it.
    package static func program(_ name: String) -> String? {
        let places = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return places.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Touches so much memory, if the machine has four times as much, and lets go of it. A virtual machine may have given back
    /// to its host what nobody used for two seconds, and then the first one who writes to a page waits for the host.
    package static func touchMemory(byteCount: Int) {
        let pageByteCount = sysconf(Int32(_SC_PAGESIZE))
        guard pageByteCount > 0, sysconf(Int32(_SC_PHYS_PAGES)) / 4 > byteCount / pageByteCount else { return }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: pageByteCount)
        for offset in stride(from: 0, to: byteCount, by: pageByteCount) {
            memory.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self)
        }
        memory.deallocate()
    }

    package static func sleep(seconds: Double) { usleep(UInt32(seconds * 1e6)) }
    package static var processNumber: Int32 { getpid() }
}
