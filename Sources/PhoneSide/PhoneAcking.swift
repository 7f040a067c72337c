import Spooling
import WireContract

// Ack: the phone's word, written into the spool and renamed into view. Not synced: an ack that the power takes is written
// again when the watch sends again.

extension PhoneEngine {
    func writeAcks(_ orders: [AckOrder]) {
        // A duplicate is acked by what the ledger knew before, which somebody may have removed since.
        guard reassureLedger() else {
            for order in orders { tell(.ackFailed(order.id)) }
            return
        }
        let orders = orders.filter { !failedAcks.contains($0.id) || isStillFinal($0.id) }
        // What came over another spool is not acked, so it is not about to be either.
        for order in orders where spool != nil && order.pairing == pairing {
            report(.init(.acked, phase: .intends, id: order.id, pairing: order.pairing, attempt: order.attempt))
        }
        surroundings.history.commit()
        var due: [AckOrder] = []
        for order in orders {
            if spool != nil, order.pairing == pairing {
                due.append(order)
            } else {
                // It came over another spool. Its ack belongs there: when that watch sends again over its own.
                report(.init(.failed, id: order.id, detail: "no ack: it came over another pairing (\(order.pairing))"))
                tell(.acked(order.id))
            }
        }
        // A link that does something to acks decides about each, so each is a transfer of its own.
        let mostTogether = conditions.plan.toWatch.isClean ? AckFile.mostAcks : 1
        var rest = due[...]
        while let first = rest.first {
            let together = rest.prefix(mostTogether).prefix { $0.attempt == first.attempt }
            rest = rest.dropFirst(together.count)
            writeTogether(together, first)
        }
    }

    /// One file of acks, which differ in their ids alone.
    private func writeTogether(_ orders: ArraySlice<AckOrder>, _ first: AckOrder) {
        guard let spool else { return }
        do throws(FileSystemError) {
            let entry = try write(orders, first, to: spool)
            for order in orders { written(order, as: entry.carrying(order.id)) }
        } catch {
            reportFailure(error, id: first.id)
            for order in orders { tell(.ackFailed(order.id)) }
        }
    }

    private func written(_ order: AckOrder, as entry: EntryName) {
        report(.init(.acked, id: order.id, name: entry.fileName, pairing: order.pairing, attempt: order.attempt))
        if let failure = reportedFailure(of: entry) {
            report(.init(.failed, id: order.id, detail: "the ack's transfer failed: \(failure)"))
            failedAcks.insert(order.id)
            tell(.ackTransferFailed(order.id))
        } else {
            failedAcks.remove(order.id)
            tell(.acked(order.id))
        }
    }

    /// P3: acked again only while the container holds it, or the ledger says that the user deleted it. Between an ack whose
    /// transfer failed and the next one the container may have been wiped or exchanged, and the watch has not heard of the
    /// first: it still has the recording.
    private func isStillFinal(_ id: ULID) -> Bool {
        do throws(FileSystemError) {
            if try holdsWhatWasAcked(id) { return true }
        } catch {
            // Locked, or signed out: nobody can say now.
            reportFailure(error, id: id)
            tell(.ackFailed(id))
            return false
        }
        // The watch sends it again, and then it is judged again.
        failedAcks.remove(id)
        report(.init(.failed, id: id, detail: "no ack again: it is not final here any more"))
        tell(.acked(id))
        return false
    }

    private func holdsWhatWasAcked(_ id: ULID) throws(FileSystemError) -> Bool {
        if vetoes.contains(id) { return true }
        guard let entry = ledger[id] else { return false }
        switch entry.outcome {
        case .deleted: return true
        case .ingesting: return false
        case .ingested:
            try refreshContainer()
            return try container.probe(
                id, fileExtension: entry.content.fileExtension, content: entry.content, carrier: carrier) == .same
        }
    }

    private func write(
        _ orders: ArraySlice<AckOrder>, _ first: AckOrder, to spool: SpoolEnd
    ) throws(FileSystemError) -> EntryName {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(orders.count * (ackForm.byteCount + Seal.byteCount))
        for order in orders {
            let dictionaryBytes = ackForm.dictionaryBytes(of: order.id)
            let seal = Seal(
                kind: .ack, bodyByteCount: 0, bodyChecksums: .ofNothing, dictionary: dictionaryBytes,
                pairing: order.pairing, fileExtension: .none)
            bytes += dictionaryBytes
            bytes += seal.bytes
        }
        precondition(UInt64(bytes.count) <= AckFile.largestByteCount, "an ack is short: \(bytes.count) bytes")
        // A name that exists was planted: every number is handed out once. Take the next.
        for _ in 0..<8 {
            let entry = ackNamer.next(
                id: first.id, attempt: first.attempt, nonce: UInt32(truncatingIfNeeded: surroundings.random()))
            do {
                try publishAck(bytes, as: entry.fileName, in: spool)
                return entry
            } catch  where error.reason == .exists {
                continue
            }
        }
        throw FileSystemError(.publish, spool.toWatch.displayPath, .exists)
    }

    func publishAck(_ bytes: [UInt8], as name: FileName, in spool: SpoolEnd) throws(FileSystemError) {
        let file = try fileSystem.createTemporary(for: name, in: spool.toWatch)
        do throws(FileSystemError) {
            try fileSystem.writeAll(file, at: 0, bytes)
            try fileSystem.publish(name.partial, in: spool.toWatch, as: name, in: spool.toWatch)
        } catch {
            _ = try? fileSystem.unlinkIfThere(name.partial, in: spool.toWatch)
            throw error
        }
    }
}

/// The encoded dictionaries of all acks of one version: they differ in the 26 bytes of the id alone, so the list is laid out
/// once.
struct AckForm {
    private let bytes: [UInt8]
    private let idPlace: Range<Int>

    init(version: Int) {
        // No other part of the list looks like this one.
        let id = ULID(high: .max, low: .max)
        let list: [UInt8]
        do throws(TransferError) {
            list = try TransferLimit.encode(IngestAck(id: id.description).dictionary(version: version))
        } catch {
            preconditionFailure("an ack is two short values: \(error)")
        }
        let spelling = id.utf8Bytes
        guard let start = list.indices.first(where: { list[$0...].starts(with: spelling) }) else {
            preconditionFailure("an id is spelled in ASCII: \(list)")
        }
        bytes = list
        idPlace = start..<start + spelling.count
    }

    var byteCount: Int { bytes.count }

    func dictionaryBytes(of id: ULID) -> [UInt8] {
        var copy = bytes
        copy.withUnsafeMutableBufferPointer { id.spell(into: UnsafeMutableBufferPointer(rebasing: $0[idPlace])) }
        return copy
    }
}
