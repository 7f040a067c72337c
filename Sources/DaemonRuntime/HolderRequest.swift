package import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A command's request to the daemon that holds a home.
package enum HolderRequest {
    private static let pollMicroseconds: UInt32 = 20_000

    /// Publishes `request` and waits for the answer. nil when none came in time; the request is then taken back, so that
    /// nobody carries it out later behind the user's back.
    package static func ask(
        _ request: Request, in box: borrowing RequestBox, patience: Duration = .seconds(5)
    ) throws(FileSystemError) -> Answer? {
        let clock = MonotonicClock()
        let end = clock.now() + patience
        try box.ask(request)
        while true {
            if let answer = try box.answer(to: request) { return answer }
            if clock.now() >= end {
                // Not there any more: the holder has it, and its answer is there or comes at once.
                return try box.withdraw(request) ? nil : try box.answer(to: request)
            }
            usleep(pollMicroseconds)
        }
    }
}
