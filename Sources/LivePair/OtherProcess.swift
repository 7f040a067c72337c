#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A program that is run to its end by itself, such as the lab by the lab.
package enum OtherProcess {
    /// What it wrote on standard output, and its exit code. Its files lie in a fresh folder below `folder` meanwhile.
    package static func run(
        _ executable: String, _ arguments: [String], below folder: String
    ) throws(LiveError) -> (output: String, exitCode: Int32) {
        let own = try LiveDisk.makeFolder(below: folder)
        let process: LiveProcess
        do throws(LiveError) {
            process = try LiveProcess(executable, arguments, logs: own + "/other")
        } catch {
            try? LiveDisk.remove(own)
            throw error
        }
        let ending = process.waitForEnd()
        let output = process.output
        try LiveDisk.remove(own)
        switch ending {
        case .exited(let code): return (output, code)
        case .signalled(let signal):
            throw LiveError("run", executable, errno: 0, remedy: "it was ended by signal \(signal)")
        }
    }

    /// Whether a process that this one started is still there, waited for or not.
    package static var hasChildren: Bool {
        // Nobody is taken away from anybody: without a child the answer is ECHILD.
        var info = siginfo_t()
        return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0
    }
}
