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
    /// Whole nanoseconds, never negative, at most what 64 bits hold.
    package var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return .max }
        let (sum, carry) = product.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
        return carry ? .max : sum
    }

    /// Seconds as a floating-point number, for people and for `poll`.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
