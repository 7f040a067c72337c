package import Spooling

/// How much of the spool the watch uses at once, and how much it does before it looks around again.
package struct WatchLimits: Hashable, Sendable {
    /// The most entries in the spool at a time.
    package var windowCount: Int
    /// The most bytes in the spool at a time; a recording that is larger goes alone.
    package var windowByteCount: UInt64
    /// The most directives that one tick gives.
    package var batchCount: Int
    /// The most bytes that one tick asks to be copied; a recording that is larger is a tick of its own.
    package var batchByteCount: UInt64

    package static let standard = WatchLimits(
        windowCount: 1_000, windowByteCount: 256 * 1_024 * 1_024, batchCount: 64, batchByteCount: 8 * 1_024 * 1_024)

    package init(windowCount: Int, windowByteCount: UInt64, batchCount: Int, batchByteCount: UInt64) {
        self.windowCount = windowCount
        self.windowByteCount = windowByteCount
        self.batchCount = batchCount
        self.batchByteCount = batchByteCount
    }
}

/// What a user may set on the watch.
package struct WatchSettings: Hashable, Sendable {
    package var policy: RetryPolicy
    package var limits: WatchLimits
    /// The highest version of `IngestAck` that is acted on.
    package var understands: Int

    package init(policy: RetryPolicy = .standard, limits: WatchLimits = .standard, understands: Int) {
        self.policy = policy
        self.limits = limits
        self.understands = understands
    }
}

/// What `recordings/` holds, as far as room is concerned.
package struct RecordingsOnDisk: Hashable, Sendable {
    package var count: UInt64 = 0
    package var largestByteCount: UInt64 = 0

    package init() {}

    package mutating func add(byteCount: UInt64) {
        count += 1
        largestByteCount = max(largestByteCount, byteCount)
    }

    /// No more than this can be there: each takes a block at least, and none is larger than all that is used. With room
    /// beside these, which a disk has that is less than two fifths full, nobody needs to look.
    package static func most(on space: FreeSpace) -> RecordingsOnDisk {
        let usedByteCount = space.totalByteCount - min(space.totalByteCount, space.freeByteCount)
        var most = RecordingsOnDisk()
        most.count = usedByteCount / 4_096
        most.largestByteCount = usedByteCount
        return most
    }
}

extension FreeSpace {
    /// What the watch leaves free on a disk: the phone's acks and its ledger need room before the watch can delete
    /// anything, and often it is the same disk. A twentieth of it, at least 1 MiB and at most 64 MiB.
    package var reserveByteCount: UInt64 {
        let mebibyte: UInt64 = 1_024 * 1_024
        return min(max(totalByteCount / 20, mebibyte), 64 * mebibyte)
    }

    /// Whether the reserve is still free once `byteCount` bytes more are written, in blocks of 4 KiB as the common file
    /// systems count them.
    ///
    /// With `alone`, half the reserve: when nothing lies in the spool, nobody but this one copy can bring an ack, and on a
    /// shared disk the container takes what the watch gives back. Somebody else who takes a part of the reserve would
    /// otherwise stop everything that is recorded already.
    package func hasRoom(for byteCount: UInt64, alone: Bool = false) -> Bool {
        let (needed, overflow) = FreeSpace.inBlocks(byteCount).addingReportingOverflow(
            alone ? reserveByteCount / 2 : reserveByteCount)
        return !overflow && needed <= freeByteCount
    }

    /// Whether one more recording may be made beside `others`: behind it, there must be room for a second copy of the
    /// largest of all, because that is how it leaves, and for what the phone writes down about each.
    package func hasRoom(forRecordingOf byteCount: UInt64, beside others: RecordingsOnDisk) -> Bool {
        let ownBlocks = FreeSpace.inBlocks(byteCount)
        let rows = (others.count + 1) * 1_024
        let (needed, overflow) = ownBlocks.addingReportingOverflow(
            max(ownBlocks, FreeSpace.inBlocks(others.largestByteCount)))
        let (sum, sumOverflow) = needed.addingReportingOverflow(rows)
        return !overflow && !sumOverflow && hasRoom(for: sum)
    }

    /// Counts `byteCount` bytes as written, so that a batch asks the disk once.
    package mutating func take(_ byteCount: UInt64) {
        freeByteCount -= min(freeByteCount, FreeSpace.inBlocks(byteCount))
    }

    private static func inBlocks(_ byteCount: UInt64) -> UInt64 {
        let (sum, overflow) = byteCount.addingReportingOverflow(4_095)
        return overflow ? .max : sum / 4_096 * 4_096
    }
}
