// What a cut of the power leaves.
//
// Everything that a sync covered is there. Of the rest, POSIX promises nothing, and the choices here are the two ends
// and a seeded middle. In the middle each change survives or does not, independently of the others, so later ones may be
// there without earlier ones:
//
// - a rename within a directory happened or did not; of one between two directories either half may be there (with
//   `RenameAcrossDirectories.atomic`: both or none);
// - written bytes are torn at pages of 4 KiB; the new length may survive without its bytes, which are zero then: the file
//   "published with zero bytes" of ext4 and xfs, and the one that is too long with nothing in it;
// - a name that lost its creation but kept its rename exists under the new name only.
//
// How likely a change survives is drawn once for each cut: nearly nothing, half, nearly all. With one fixed chance in
// two, a file of a hundred pages would never come through whole.

/// Which of the states that the disk's model allows a cut of the power leaves.
package enum PowerLoss: Hashable, Sendable, CustomStringConvertible {
    /// Only what was synced.
    case durableOnly
    /// All that was written, as if the cache had been flushed a moment before.
    case everything
    /// Each unsynced change survives or not. The same seed on the same disk gives the same state.
    case random(seed: UInt64)

    package var description: String {
        switch self {
        case .durableOnly: "durable only"
        case .everything: "everything"
        case .random(let seed): "random, seed \(seed)"
        }
    }
}

extension DiskImage {
    /// Turns the disk into what is found on it when the power is back.
    mutating func losePower(_ loss: PowerLoss) {
        switch loss {
        case .durableOnly: break
        case .everything: for change in unsyncedChanges() { apply(change) }
        case .random(let seed): applySome(SplitMix64(seed: seed))
        }
        restartFromDurable()
    }

    private mutating func applySome(_ generator: SplitMix64) {
        var generator = generator
        let chances: UInt64 = [1, 4, 7][Int(generator.next() % 3)]
        var lastSequence: UInt64 = 0
        var lastSurvived = false
        for change in unsyncedChanges() {
            switch change.change {
            case .addName, .removeName, .rename, .truncate:
                let isOtherHalf = change.counterpart != nil && change.sequence == lastSequence
                if !(isOtherHalf && renameAcrossDirectories == .atomic) {
                    lastSurvived = generator.happens(chances, in: 8)
                }
                lastSequence = change.sequence
                if lastSurvived { apply(change) }
            case .write(let offset, let bytes):
                applyTorn(bytes, at: Int(offset), to: change.inode, chances: chances, &generator)
            }
        }
    }

    private mutating func applyTorn(
        _ bytes: [UInt8], at offset: Int, to number: InodeNumber, chances: UInt64, _ generator: inout SplitMix64
    ) {
        let end = offset + bytes.count
        if generator.happens(chances, in: 8), self[number].durable.count < end {
            self[number].durable.setLength(end)
        }
        var start = offset
        while start < end {
            let next = min(end, (start / Int(DiskImage.blockByteCount) + 1) * Int(DiskImage.blockByteCount))
            if generator.happens(chances, in: 8) {
                self[number].durable.put(bytes[start - offset..<next - offset], at: start)
            }
            start = next
        }
    }
}
