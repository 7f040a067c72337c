import DaemonRuntime
import PhoneSide
import Spooling
import WireContract

// How notes, counts and answers look on a terminal and in JSON.

extension ListedNote {
    var cells: [String] {
        [
            subject, state.word, payload.map { $0.recordedInstant } ?? "-", payload.map { $0.duration.inTenths } ?? "-",
            payload?.timeZoneID ?? "-", content.map { "\($0.byteCount)" } ?? "-", whereOrWhy,
        ]
    }

    private var whereOrWhy: String {
        switch state {
        case .waits(let reason): reason
        case .missingInContainer: "ingested, and the container does not hold it any more"
        case .deletedByUser: "deleted by the user"
        case .vetoed: "never ingested"
        case .ingested, .ingesting, .staged, .unknownToLedger: path ?? "-"
        }
    }

    var json: JSONObject {
        var object: JSONObject = ["id": JSONValue(subject), "state": JSONValue(state.word)]
        if case .waits(let reason) = state { object.add("reason", reason) }
        if let payload {
            object.add("recordedAt", payload.recordedInstant)
            object.add("duration", payload.duration)
            if let zone = payload.timeZoneID { object.add("tz", zone) }
        }
        if let content {
            object.add("byteCount", content.byteCount)
            object.add("crc32", content.checksums.crc32.hex(digits: 8))
            object.add("adler32", content.checksums.adler32.hex(digits: 8))
            object.add("extension", content.fileExtension.description)
        }
        if let path { object.add("path", path) }
        return object
    }
}

extension AudioNotePayload {
    var recordedInstant: String {
        UTCTime.instant(millisecondsSince1970: Int64((recordedAt.timeIntervalSince1970 * 1_000).rounded()))
    }
}

extension Double {
    /// With one decimal, for a column.
    fileprivate var inTenths: String {
        let tenths = (self * 10).rounded()
        return tenths < 1e15 ? "\(Int64(tenths) / 10).\(Int64(tenths) % 10)" : "\(self)"
    }
}

extension PhoneStatus {
    var rows: [(String, String)] {
        [
            ("run by", holder ?? "nobody"), ("pairing", pairing ?? "none yet"), ("starts so far", "\(startCount)"),
            ("notes ingested", "\(ingestedCount) (\(ingestedByteCount) bytes)"),
            ("deleted by the user", "\(deletedCount)"), ("vetoes", "\(vetoedCount)"),
            ("waiting for a newer build", "\(waitingCount)"), ("in staging", "\(stagedCount)"),
            ("in the inbox", "\(inboxCount)"), ("set aside", "\(quarantinedCount)"),
            ("in the spool, to the phone", queueCount.map { "\($0)" } ?? "no spool"),
            ("acks not read by the watch", unreadAckCount.map { "\($0)" } ?? "no spool"),
            ("free bytes", "\(space.freeByteCount) of \(space.totalByteCount)"),
        ]
    }

    var json: JSONObject {
        var object: JSONObject = [
            "startCount": JSONValue(startCount), "ingestedCount": JSONValue(ingestedCount),
            "ingestedByteCount": JSONValue(ingestedByteCount), "deletedCount": JSONValue(deletedCount),
            "vetoedCount": JSONValue(vetoedCount), "waitingCount": JSONValue(waitingCount),
            "stagedCount": JSONValue(stagedCount), "inboxCount": JSONValue(inboxCount),
            "quarantinedCount": JSONValue(quarantinedCount), "freeByteCount": JSONValue(space.freeByteCount),
            "totalByteCount": JSONValue(space.totalByteCount),
        ]
        object.add("holder", holder.map { JSONValue($0) } ?? .null)
        object.add("pairing", pairing.map { JSONValue($0) } ?? .null)
        object.add("queueCount", queueCount.map { JSONValue($0) } ?? .null)
        object.add("unreadAckCount", unreadAckCount.map { JSONValue($0) } ?? .null)
        return object
    }
}

extension Answer {
    func words(for verb: Request.Verb) -> String {
        switch (self, verb) {
        case (.done, .veto): "vetoed for good"
        case (.already, .veto): "was vetoed before"
        case (.refused, .veto): "refused: it is ingested; delete it instead"
        case (.done, .delete): "deleted"
        case (.already, .delete): "was deleted before"
        case (.refused, .delete): "refused: it is being ingested; try again"
        case (.done, .retry): "handed over once more"
        case (.refused, .retry): "refused: its bytes were dropped"
        case (.done, .drop): "dropped"
        case (.unknown, _): "unknown here"
        case (.failed, _): "failed: the disk did not let it; try again"
        case (.already, .retry), (.already, .drop), (.already, .cancel): "was so already"
        case (.refused, .drop), (.refused, .cancel): "refused"
        case (.done, .cancel): "cancelled"
        }
    }
}
