import WireContract

// A file in `to-watch`: one ack, or several one behind the other.
//
// A batch of notes that became final together is acked together. Each ack is an envelope of its own, with its own dictionary
// and seal, and is a transfer of its own to whoever speaks of it; but one rename shows them all, one open reads them, and one
// unlink takes them away. A file for each was a fifth of what a note of 64 KiB cost, and an inode more for each that ext4
// without a journal then walks over at every create (Docs/Performance.md). The first one's id stands in the file's name.
//
//     envelope        dictionary and seal of the first ack
//     envelope        of the second …
//
// It is read from its end, because a seal says where its envelope begins. One that is altered makes the whole file
// unusable: it is set aside, and the watch sends again what it was not told about.

package enum AckFile {
    /// The most acks that a build of ours writes into one.
    package static let mostAcks = 256
    /// No file that a build of ours writes is longer: one ack with the largest dictionary, or `mostAcks` with theirs. A
    /// reader needs no more memory than this.
    package static let largestByteCount = UInt64(TransferLimit.dictionaryByteCount + Seal.byteCount)

    package enum Inspection: Hashable, Sendable {
        /// In the order in which they were written; at least one.
        case acks([Envelope])
        case faulty(EnvelopeFault)
    }

    /// Judges the last `largestByteCount` bytes of a file of `fileByteCount`, or all that it has.
    package static func inspect(_ bytes: [UInt8], fileByteCount: UInt64) -> Inspection {
        var rest = bytes[...]
        var acks: [Envelope] = []
        do throws(EnvelopeFault) {
            repeat {
                let seal = try Seal(rest.suffix(Seal.byteCount), atMost: UInt64(rest.count))
                guard seal.kind == .ack else { throw .wrongKind }
                // With a body, or in a longer file, it is no ack that a build of ours writes.
                guard seal.bodyByteCount == 0, fileByteCount == UInt64(bytes.count) else { throw .wrongLength }
                rest.removeLast(Seal.byteCount)
                let dictionaryBytes = Array(rest.suffix(Int(seal.dictionaryByteCount)))
                rest.removeLast(dictionaryBytes.count)
                switch Spooling.Inspection(seal, dictionaryBytes) {
                case .faulty(let fault): throw fault
                case .envelope(let envelope): acks.append(envelope)
                }
            } while !rest.isEmpty
        } catch {
            return .faulty(error)
        }
        return .acks(acks.reversed())
    }
}

extension FileSystem {
    /// Checks all that an open file in `to-watch` holds.
    package func inspectAcks(
        _ file: borrowing OpenFile, byteCount: UInt64
    ) throws(FileSystemError) -> AckFile.Inspection {
        let readByteCount = min(byteCount, AckFile.largestByteCount)
        let bytes = try readAll(file, at: byteCount - readByteCount, byteCount: Int(readByteCount))
        return AckFile.inspect(bytes, fileByteCount: byteCount)
    }
}
