import Spooling
import WireContract

/// P5. What is ingested equals what was recorded.
///
/// Judged by what the phone says that it ingests, and by what lies in the container whenever somebody looks. Content that
/// somebody else sent under the id may be there instead, and what a user did to the container is not the phone's doing.
package struct BytesAreTheBytes: Monitor {
    package static let promise = Promise.bytesAreTheBytes

    package init() {}

    package mutating func observe(_ entry: HistoryEntry, _ chronicle: Chronicle) -> Violation? {
        guard case .pair(let event) = entry.what, event.kind == .ingested, entry.source == .phone,
            chronicle.current != 0
        else { return nil }
        let record = chronicle[chronicle.current]
        guard record.flags.contains(.hasContent), !record.flags.contains(.planted) else { return nil }
        if let byteCount = event.byteCount, byteCount != record.byteCount {
            return Violation(
                Self.promise, entry, record.id,
                "the phone ingests \(byteCount) bytes of audio, and \(record.byteCount) were recorded")
        }
        if let checksums = event.checksums, checksums != record.checksums {
            return Violation(Self.promise, entry, record.id, "the phone ingests other bytes than were recorded")
        }
        return nil
    }

    package mutating func finish(_ census: Census, _ chronicle: Chronicle) -> [Violation] {
        guard !chronicle.isContainerTouched else { return [] }
        var violations: [Violation] = []
        for file in census.container {
            guard let index = chronicle.index(of: file.id) else { continue }
            let record = chronicle[index]
            guard record.flags.contains(.hasContent), !record.flags.contains(.planted),
                file.checksums != record.checksums
            else { continue }
            violations.append(
                Violation(Self.promise, census, file.id, "the container has other bytes than were recorded"))
        }
        return violations
    }
}
