/// How long the watch waits before it sends a recording again. The waits grow; the number of tries has no cap.
package struct RetryPolicy: Hashable, Sendable {
    /// The wait for the ack after the first delivery, and after the first failure.
    package var first: Duration
    /// No wait and no patience is longer than this, apart from the allowance for long recordings.
    package var cap: Duration
    /// How long a transfer may lie in the spool untouched before it is cancelled and queued anew. It grows as the waits, and
    /// with the recording's length: see `patience(atAttempt:byteCount:)`.
    package var patience: Duration

    package static let standard = RetryPolicy(first: .seconds(10), cap: .seconds(600), patience: .seconds(120))

    package init(first: Duration, cap: Duration, patience: Duration) {
        self.first = first
        self.cap = cap
        self.patience = patience
    }

    /// The wait after `attempts` tries (from 1) of a recording of `byteCount` bytes.
    ///
    /// Doubled at each try up to the cap. A long recording takes its time to be verified and synced, so a second is
    /// added for each 8 MiB: otherwise the phone would still be at the first copy when the second one comes.
    package func wait(afterAttempts attempts: Int, byteCount: UInt64) -> Duration {
        first.doubled(attempts: attempts, cap: max(cap, first)) + verifying(byteCount)
    }

    /// How long the `attempts`-th transfer of a recording of `byteCount` bytes may lie untouched.
    ///
    /// Doubled at each try up to the cap, and on top the time that its bytes take over WatchConnectivity at its slowest:
    /// nothing shows that they are on their way, and a transfer that is cancelled begins anew. Without that a recording that
    /// takes longer than the longest patience would be cancelled for ever, only because the link is slow. In whole seconds,
    /// rounded down, so a patience of less than a second may be too short for a slow link.
    package func patience(atAttempt attempts: Int, byteCount: UInt64) -> Duration {
        patience.doubled(attempts: attempts, cap: max(cap, patience)) + carrying(byteCount)
    }

    /// A second for each 8 MiB.
    private func verifying(_ byteCount: UInt64) -> Duration {
        .seconds(Int64(byteCount / (8 * 1_024 * 1_024)))
    }

    /// A second for each 16 kB: the slowest transfers that are reported of the real thing.
    private func carrying(_ byteCount: UInt64) -> Duration {
        .seconds(Int64(byteCount / 16_000))
    }
}
