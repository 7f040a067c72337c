package import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A file that a command writes for its user, such as a trace: made anew, in pieces. Not for what must not be lost: it is
/// neither synced nor put into place by a rename.
package final class OutputFile {
    private let path: String
    private let descriptor: Int32
    /// The first thing that went wrong; what comes after it is not written.
    package private(set) var failure: FileSystemError?

    /// Makes `path`, or empties what is there.
    package init(_ path: String) throws(FileSystemError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw FileSystemError(.create, path, FileSystemError.Reason(errno: errno))
        }
    }

    package func write(_ bytes: [UInt8]) {
        guard failure == nil, let problem = LineWriter.write(bytes, to: descriptor) else { return }
        failure = FileSystemError(.write, path, FileSystemError.Reason(errno: problem.errno))
    }

    deinit { close(descriptor) }
}
