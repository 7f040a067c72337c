package import Spooling
package import WireContract

/// What lies on the disks at a moment, found by looking and not by asking a daemon. A world fills it; every list in the
/// order of its ids, so that what a monitor says about it is the same each time.
package struct Census: Hashable, Sendable {
    package struct Recording: Hashable, Sendable {
        package var id: ULID
        /// Of its audio as it lies there; the seal is not believed.
        package var checksums: Checksums
        /// Whether a power cut now would leave it there. A world that cannot tell says `true`.
        package var isDurable: Bool
        /// On which watch.
        package var watchNumber: UInt8

        package init(id: ULID, checksums: Checksums, isDurable: Bool = true, watchNumber: UInt8 = 1) {
            self.id = id
            self.checksums = checksums
            self.isDurable = isDurable
            self.watchNumber = watchNumber
        }
    }

    package struct ContainerFile: Hashable, Sendable {
        package var id: ULID
        package var fileExtension: FileExtension
        package var checksums: Checksums
        package var isDurable: Bool

        package init(id: ULID, fileExtension: FileExtension, checksums: Checksums, isDurable: Bool = true) {
            self.id = id
            self.fileExtension = fileExtension
            self.checksums = checksums
            self.isDurable = isDurable
        }
    }

    package enum LedgerOutcome: Hashable, Sendable {
        case ingesting, ingested, deleted
    }

    package struct LedgerRow: Hashable, Sendable {
        package var id: ULID
        package var outcome: LedgerOutcome

        package init(id: ULID, outcome: LedgerOutcome) {
            self.id = id
            self.outcome = outcome
        }
    }

    package struct Ack: Hashable, Sendable {
        package var id: ULID
        package var pairing: PairingID

        package init(id: ULID, pairing: PairingID) {
            self.id = id
            self.pairing = pairing
        }
    }

    package var moment: Moment
    /// On all watches together.
    package var recordings: [Recording] = []
    package var container: [ContainerFile] = []
    package var ledger: [LedgerRow] = []
    package var vetoes: [ULID] = []
    package var staging: [DeliveryKey] = []
    /// The ids in the names of what was taken and not received.
    package var inbox: [ULID] = []
    /// The ids in the names of the entries in `to-phone`; an id that has two is in here twice.
    package var entries: [ULID] = []
    package var acks: [Ack] = []
    package var watchQuarantineCount = 0
    package var phoneQuarantineCount = 0

    package init(moment: Moment) {
        self.moment = moment
    }
}
