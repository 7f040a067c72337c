package import Spooling
package import WireContract

// What is remembered of each id: some hundred bytes, finished or not. Ten million events are about a million recordings, and
// any of them may be delivered once more, so none is forgotten.

/// What the history says so far of one id. Epochs are counters of the chronicle; 0 is "never".
package struct Record: Sendable {
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// `record` returned, or was about to: from here on P1 holds it.
        package static let recorded = Flags(rawValue: 1 << 0)
        /// A user's act, or a lost disk, may have taken the watch's copy.
        package static let excused = Flags(rawValue: 1 << 1)
        /// It was final once, and the phone said so when it was.
        package static let finalOnce = Flags(rawValue: 1 << 2)
        /// Acks for it were on their way, or are.
        package static let acked = Flags(rawValue: 1 << 3)
        /// The watch said that it deletes it, or did.
        package static let deletionIntended = Flags(rawValue: 1 << 4)
        package static let deletedOnce = Flags(rawValue: 1 << 5)
        /// Somebody else put deliveries under this id into the spool.
        package static let planted = Flags(rawValue: 1 << 6)
        /// The phone set a delivery of it aside as `idReused`.
        package static let idReused = Flags(rawValue: 1 << 7)
        package static let hasContent = Flags(rawValue: 1 << 8)
        package static let acknowledgedByWatch = Flags(rawValue: 1 << 9)
    }

    package let id: ULID
    package var flags: Flags = []
    package var watchNumber: UInt8 = 1
    package var byteCount: UInt64 = 0
    package var checksums = Checksums.ofNothing
    package var recordedAt = Moment.zero
    /// Of its payload; `nil` in a history that does not say.
    package var version: Int32?
    /// Bits of the pairings under which the phone acked it.
    package var ackPairings: UInt32 = 0
    /// The lowest version of the acks that were written for it; 0 for none.
    package private(set) var ackVersion: Int32 = 0
    /// The container held it in that epoch.
    package var heldEpoch: UInt32 = 0
    /// Which power epoch that was said in.
    package var heldPowerEpoch: UInt32 = 0
    /// The phone was about to put it into the container, in that start, and did not come to say that it had.
    package var intentStart: UInt32 = 0
    package var intentEpoch: UInt32 = 0
    package var ledgerEpoch: UInt32 = 0
    package var vetoEpoch: UInt32 = 0
    package var vetoAskedEpoch: UInt32 = 0
    package var deleteEpoch: UInt32 = 0
    package var deleteAskedEpoch: UInt32 = 0
    /// Its last entry in the trail.
    var trail: UInt64 = 0

    init(id: ULID) { self.id = id }

    mutating func noteAck(version: Int) {
        let version = Int32(clamping: version)
        ackVersion = ackVersion == 0 ? version : min(ackVersion, version)
    }
}

/// Numbers ids from 1 in the order in which they come up; 0 stands for the world.
///
/// Open addressing over the ids' random bits. `Dictionary` does the same with a keyed hash, which costs more than all
/// monitors together; nobody attacks this table, and a bad spread would cost time and nothing else.
struct RecordTable: Sendable {
    private(set) var records: [Record] = [Record(id: ULID(high: 0, low: 0))]
    private var slots: [Int32] = Array(repeating: 0, count: 1_024)

    var count: Int { records.count }

    subscript(index: Int) -> Record {
        _read { yield records[index] }
        _modify { yield &records[index] }
    }

    private func slot(of id: ULID) -> Int {
        let mask = slots.count - 1
        let mixed = (id.low ^ id.high &* 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
        var slot = Int(truncatingIfNeeded: mixed >> 20) & mask
        while slots[slot] != 0, records[Int(slots[slot])].id != id { slot = (slot + 1) & mask }
        return slot
    }

    func index(of id: ULID) -> Int? {
        let index = slots[slot(of: id)]
        return index == 0 ? nil : Int(index)
    }

    mutating func indexAdding(_ id: ULID) -> Int {
        let slot = slot(of: id)
        if slots[slot] != 0 { return Int(slots[slot]) }
        precondition(records.count < Int32.max, "two thousand million recordings in one history")
        slots[slot] = Int32(records.count)
        records.append(Record(id: id))
        if records.count * 2 > slots.count { grow() }
        return records.count - 1
    }

    private mutating func grow() {
        slots = Array(repeating: 0, count: slots.count * 2)
        for index in 1..<records.count { slots[slot(of: records[index].id)] = Int32(index) }
    }
}
