// Lines for people and programs, straight through `write(2)`: what was said stays said when the process is killed (`print`
// into a pipe loses all of it). One call writes a whole line, so lines of two processes do not run into each other.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Writes a line to standard output. `false` when it could not be written (the reader went away, the disk is full).
@discardableResult
package func standardOutput(_ line: String) -> Bool {
    LineWriter.write(line, to: STDOUT_FILENO)
}

/// Writes a line to standard error. `false` when it could not be written.
@discardableResult
package func standardError(_ line: String) -> Bool {
    LineWriter.write(line, to: STDERR_FILENO)
}

enum LineWriter {
    /// How long a reader that does not read may hold up a non-blocking stream before the line is given up.
    private static let patienceMilliseconds: Int32 = 1_000

    static func write(_ line: String, to descriptor: Int32) -> Bool {
        write(Array((line + "\n").utf8), to: descriptor) == nil
    }

    /// Writes all of `bytes`; answers how many were written and the errno when it cannot.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> (byteCount: Int, errno: Int32)? {
        var done = 0
        while done < bytes.count {
            let answer = bytes.withUnsafeBytes { buffer in
                SystemCall.repeating { systemWrite(descriptor, buffer.baseAddress! + done, buffer.count - done) }
            }
            switch answer {
            case .value(0): return (done, ENOSPC)
            case .value(let count): done += count
            case .failure(errno: EAGAIN):
                // Somebody made our terminal or pipe non-blocking; it is shared with him.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                if poll(&wait, 1, patienceMilliseconds) == 0 { return (done, EAGAIN) }
            case .failure(let code): return (done, code)
            }
        }
        return nil
    }

    private static func systemWrite(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
        #if canImport(Darwin)
            Darwin.write(descriptor, start, count)
        #else
            Glibc.write(descriptor, start, count)
        #endif
    }
}
