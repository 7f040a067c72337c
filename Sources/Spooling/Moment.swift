/// A moment of a clock that only moves forward (`CLOCK_BOOTTIME` in the daemons, virtual time in the lab).
///
/// Nothing in the pair decides by the wall clock: a clock set back or forward by a year must neither cause a storm of
/// sends nor park a recording. Moments of two processes, or of two starts, cannot be compared.
package struct Moment: Hashable, Comparable, Sendable {
    /// Nanoseconds since a beginning that means nothing in itself.
    package var nanoseconds: UInt64

    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    package static let zero = Moment(nanoseconds: 0)

    package static func < (left: Moment, right: Moment) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The moment `wait` later. Saturates: a wait of centuries is "never", not an overflow.
    package static func + (moment: Moment, wait: Duration) -> Moment {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(wait.wholeNanoseconds)
        return Moment(nanoseconds: overflow ? .max : sum)
    }

    /// How long after `earlier` this moment is; zero when it is not after it.
    package func since(_ earlier: Moment) -> Duration {
        .nanoseconds(Int64(clamping: nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0))
    }
}

extension Duration {
    /// Whole nanoseconds, never negative; from 584 years on as many as 64 bits hold.
    package var wholeNanoseconds: UInt64 {
        guard self > .zero else { return 0 }
        // Before `components`, which traps beyond `Int64.max` seconds: two durations of a user's can add up to that.
        guard self < .seconds(18_446_744_073) + .nanoseconds(709_551_615) else { return .max }
        let (seconds, attoseconds) = components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    /// Seconds as a floating-point number, for people and for `poll`.
    package var inSeconds: Double {
        self / .seconds(1)
    }
}
