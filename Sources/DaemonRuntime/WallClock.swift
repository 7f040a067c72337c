#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The clock that people read. It names recordings; nothing is decided by it, because it can be set.
package struct WallClock: Sendable {
    package init() {}

    /// Milliseconds since the beginning of 1970, UTC (`CLOCK_REALTIME`). Negative on a machine set to before that.
    package func millisecondsSince1970() -> Int64 {
        var time = timespec()
        let answer = clock_gettime(CLOCK_REALTIME, &time)
        precondition(answer == 0, "the kernel has no clock: errno \(errno)")
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
