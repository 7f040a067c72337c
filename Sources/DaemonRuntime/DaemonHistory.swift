package import Spooling
import WireContract

/// The history of a live daemon: every event as one JSON line in the journal, and what a person wants to follow as one line
/// on standard error.
///
/// What happens before the home is open (it may still have to be made) is kept and written when the journal is attached.
package final class DaemonHistory: History {
    private let side: Side
    private let isQuiet: Bool
    private let wallClock = WallClock()
    private let monotonicClock = MonotonicClock()
    private var journal: JournalFile?
    private var early: [[UInt8]] = []
    private var talk: [UInt8] = []

    /// A start that fails for hours tells its failures on standard error; the journal keeps the first so many.
    private static let mostEarly = 1_000

    package init(side: Side, isQuiet: Bool) {
        self.side = side
        self.isQuiet = isQuiet
    }

    /// The home is there: from now on into its journal.
    package func attachJournal(home: String) {
        let journal = JournalFile(home: home)
        for line in early { journal.append { $0 += line } }
        early = []
        self.journal = journal
    }

    package func record(_ event: PairEvent) {
        let wallMilliseconds = wallClock.millisecondsSince1970()
        if let journal {
            journal.append { spell(event, wallMilliseconds: wallMilliseconds, to: &$0) }
        } else if early.count < Self.mostEarly {
            var line: [UInt8] = []
            spell(event, wallMilliseconds: wallMilliseconds, to: &line)
            early.append(line)
        }
        if !isQuiet, event.phase == .did {
            let time = UTCTime.timeOfDay(millisecondsSince1970: wallMilliseconds)
            talk += Array("\(time) \(side.rawValue): \(event.sentence)\n".utf8)
        }
    }

    package func commit() {
        journal?.flush()
        guard !talk.isEmpty else { return }
        // A terminal that went away must not stop the pair.
        _ = LineWriter.write(talk, to: 2)
        talk.removeAll(keepingCapacity: true)
    }

    /// Straight into the journal's buffer: a note has a dozen of these, which is much of what it costs. `JournalReader`
    /// reads them.
    private func spell(_ event: PairEvent, wallMilliseconds: Int64, to line: inout [UInt8]) {
        line.append("{\"wallMs\":")
        line.appendJSON(wallMilliseconds)
        line.append(",\"monotonicNs\":")
        line.appendJSON(monotonicClock.now().nanoseconds)
        line.append(",\"side\":")
        line.appendJSON(side.rawValue)
        line.append(",\"event\":")
        line.appendJSON(event.kind.rawValue)
        line.append(",\"phase\":")
        line.appendJSON(event.phase.rawValue)
        if let id = event.id {
            line.append(",\"id\":\"")
            id.appendUTF8(to: &line)
            line.append("\"")
        }
        if let name = event.name {
            line.append(",\"name\":")
            line.appendJSON(name)
        }
        if let byteCount = event.byteCount {
            line.append(",\"byteCount\":")
            line.appendJSON(byteCount)
        }
        if let checksums = event.checksums {
            line.append(",\"checksums\":\"")
            line.appendHex(UInt64(checksums.crc32), digits: 8)
            line.appendHex(UInt64(checksums.adler32), digits: 8)
            line.append("\"")
        }
        if let pairing = event.pairing {
            line.append(",\"pairing\":\"")
            line.appendHex(pairing.rawValue, digits: 16)
            line.append("\"")
        }
        if let attempt = event.attempt {
            line.append(",\"attempt\":")
            line.appendJSON(Int64(attempt))
        }
        if let detail = event.detail {
            line.append(",\"detail\":")
            line.appendJSON(detail)
        }
        line.append("}")
    }
}

extension PairEvent {
    /// For a person, on one line.
    package var sentence: String {
        var parts = [kind.words]
        if let id { parts.append(id.description) }
        if let byteCount { parts.append("\(byteCount) bytes") }
        if let attempt { parts.append("try \(attempt)") }
        if id == nil, let name { parts.append(name.description) }
        if let detail { parts.append("(\(detail))") }
        return parts.joined(separator: " ")
    }
}

extension PairEvent.Kind {
    fileprivate var words: String {
        switch self {
        case .started: "started"
        case .stopped: "stopped"
        case .paired: "paired"
        case .refused: "refused, left alone:"
        case .setAside: "set aside into the quarantine:"
        case .failed: "failed, will be tried again:"
        case .spoolReopened: "opened the spool anew"
        case .lostByLink: "lost by the link"
        case .damagedByLink: "damaged by the link"
        case .recorded: "recorded"
        case .found: "found a recording"
        case .enqueued: "sent"
        case .requeued: "waited long enough, queued anew"
        case .transferFinished: "transfer finished"
        case .ackReceived: "ack received"
        case .strayAck: "stray ack, ignored:"
        case .deleted: "deleted, the phone has it"
        case .cancelled: "cancelled"
        case .spoolFull: "the spool takes no more for now"
        case .taken: "taken"
        case .staged: "staged"
        case .duplicate: "duplicate, not ingested again"
        case .waits: "waits in staging for a build that understands it"
        case .ingested: "ingested"
        case .acked: "acked"
        case .vetoed: "vetoed for good"
        case .userDeleted: "deleted by the user"
        case .discarded: "thrown away, the watch still has it:"
        case .containerLost: "the container lost it"
        }
    }
}
