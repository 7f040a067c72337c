extension PlantedFault {
    /// Which wrong code it imitates, in a sentence.
    package var says: String {
        switch self {
        case .deletesAtDidFinish: "The watch deletes a recording when its transfer is reported finished."
        case .deletesAtCancel: "The watch deletes a recording when its transfer is cancelled."
        case .sourceDeletedBeforeAckMatches: "Any ack deletes the oldest other recording: nobody compares the id."
        case .ackOfAnotherPairingDeletes: "An ack of the phone before this one deletes: nobody compares the pairing."
        case .failedTransferDropsRecording: "A recording whose transfer failed is set aside as if it were spoiled."
        case .acksAtStaging: "The phone acks when a note is staged, before it is ingested."
        case .acksFailedIngest: "The phone acks a note that the container did not take, to be done with it."
        case .quarantineHoldsTheOnlyCopy: "The phone acks what it set aside, so that the watch stops sending it."
        case .ingestsADuplicateTwice: "A duplicate goes into the container beside the first, under another extension."
        case .recorderDoesNotSync: "The command that records returns before anything is durable."
        case .ackNotDurable: "No sync of the phone's does anything."
        case .renameBeforeSync: "The phone renames a note into the container and never syncs its content."
        case .noDirectorySyncAfterPublish: "The phone does not sync the month that it renamed a note into."
        case .ackBeforeLedgerSync: "The phone acks before the ledger's rows are synced."
        case .failedSyncRetried: "A sync of a note fails; the phone calls it again and believes that it succeeded."
        case .acceptsAlteredBytes: "A byte flips after the look at a delivery, and nobody compares what goes in."
        case .lengthTrustedWithoutChecksum: "A delivery of the right length is ingested, whatever its bytes are."
        case .requeueMakesASecondEntry:
            "A transfer without progress is queued anew as a second entry, and the first is never taken back."
        case .sequenceNumberReused: "A restarted watch numbers entries from 1, and the phone goes on behind its last."
        case .sweepDeletesLiveTemporary: "The phone sweeps the entry that the watch is writing: it asks for no lock."
        case .recoveryNotIdempotent: "A start ingests what it finds in staging, although it was ingested before."
        case .unlinkBeforeVetoRecord: "A vetoed delivery is unlinked and acked before the veto is durable."
        case .ledgerRowLost: "A start does not carry the rows of deleted notes over into the new generation."
        case .vetoForgottenAtRestart: "A start does not read the vetoes."
        case .containerWipedNotNoticed: "The phone acks again what it remembers, without a look into the container."
        case .startSweepsRecordings: "A start of the watch sweeps recordings that have no entry in the spool."
        case .retryCap: "After three tries the watch sends a recording no more."
        case .patienceNeverEnds: "Once sent, a recording is waited for without end, whatever became of its transfer."
        case .windowNeverReopens: "What was taken out of the spool is never counted out of the window."
        case .wallClockDecides: "What is due is kept by the wall clock, so that setting it back parks recordings."
        case .stalledForeverAfterFull: "Once the disk was full, the watch sends nothing any more."
        case .dropsFuturePayload: "The phone unlinks what it does not understand."
        case .acksFuturePayload: "The phone acks what it does not understand."
        case .waitingKeptTwice: "The phone keeps every copy of what it does not understand."
        case .forwardGateLetsNewerThrough: "The phone reads a payload of a later version as one of its own."
        case .ackVersionIgnored: "The watch deletes for an ack of a version that it does not know."
        }
    }
}
