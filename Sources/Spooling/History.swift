package import WireContract

// What happened, in one vocabulary for both sides and both worlds: the daemons write it into their journals and, for a
// person, on standard error.

/// One thing that happened to a recording, a transfer, or the pair.
package struct PairEvent: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        // Both sides.
        case started, stopped, paired
        /// Something in a folder of ours that is not a plain file of ours; it was left alone.
        case refused
        /// Bytes that cannot be used were moved into the quarantine.
        case setAside
        /// A call failed; it is tried again.
        case failed
        case spoolReopened
        /// The link took a transfer, or changed its bytes (`--link`, `--loss`).
        case lostByLink, damagedByLink
        // Watch.
        case recorded, found, enqueued, requeued, transferFinished, ackReceived, strayAck, deleted, cancelled
        /// Nothing more fits into the spool for now: its window or its disk is full.
        case spoolFull
        // Phone.
        case taken, staged, duplicate, waits, ingested, acked, vetoed, userDeleted, discarded
        /// The container does not hold what the ledger says that it ingested: it is ingested again.
        case containerLost
    }

    /// Whether it is about to happen or has. Between the two a daemon can be killed, and a journal that ends with an
    /// unmatched `intends` leaves it open; the disk decides.
    package enum Phase: String, Hashable, Sendable {
        case intends, did
    }

    package var kind: Kind
    package var phase: Phase
    package var id: ULID?
    /// The entry, or another name that it is about.
    package var name: FileName?
    /// Of the file that it is about. With `recorded` and `ingested`, which speak of the same audio at both ends, of that
    /// alone: without dictionary and seal.
    package var byteCount: UInt64?
    /// Of the audio that it is about: what `recorded` sealed, what `waits`, what `ingested` put into the container. An
    /// `ingested` with neither this nor a `byteCount` put nothing there: the container had the note, and the ledger learned
    /// of it.
    package var checksums: Checksums?
    /// Over which pairing an ack goes or came, also the one because of which a recording is `deleted`; which pairing was
    /// adopted or made (`paired`), or was found (`started`).
    package var pairing: PairingID?
    package var attempt: Int?
    /// Why, or what more there is to say.
    package var detail: String?

    package init(
        _ kind: Kind, phase: Phase = .did, id: ULID? = nil, name: FileName? = nil, byteCount: UInt64? = nil,
        checksums: Checksums? = nil, pairing: PairingID? = nil, attempt: Int? = nil, detail: String? = nil
    ) {
        self.kind = kind
        self.phase = phase
        self.id = id
        self.name = name
        self.byteCount = byteCount
        self.checksums = checksums
        self.pairing = pairing
        self.attempt = attempt
        self.detail = detail
    }
}

/// Takes events in, in the order in which they happen.
package protocol History: AnyObject {
    func record(_ event: PairEvent)
    /// What was recorded so far survives the death of this process once this returns. Never fails: a full or broken
    /// journal must not stop the pair.
    func commit()
}
