package import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The clock that decides when something is due: it only moves forward, and goes on while the machine sleeps.
package struct MonotonicClock: Sendable {
    package init() {}

    /// Nanoseconds since the machine started (`CLOCK_BOOTTIME`; on Darwin `CLOCK_MONOTONIC_RAW`, which counts sleep too).
    package func now() -> Moment {
        #if canImport(Darwin)
            let clock = CLOCK_MONOTONIC_RAW
        #else
            let clock = CLOCK_BOOTTIME
        #endif
        var time = timespec()
        let answer = clock_gettime(clock, &time)
        precondition(answer == 0, "the kernel has no monotonic clock: errno \(errno)")
        return Moment(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }
}
