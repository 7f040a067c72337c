import LinkFaults
package import Monitors
import Scenarios
import Spooling

// How expectations read in a sentence, and entries on a line.

extension HistoryEntry {
    /// All that it says, on one line.
    package var fullLine: String {
        let time = "+\(moment.nanoseconds / 1_000_000_000).\((moment.nanoseconds % 1_000_000_000).decimal(digits: 9))"
        switch what {
        case .pair(let event): return "\(time) \(source)-\(watchNumber) \(event.fullLine)"
        case .world(let event): return "\(time) world-\(watchNumber) \(event)"
        }
    }
}

extension PairEvent {
    fileprivate var fullLine: String {
        var words = [kind.rawValue]
        if phase == .intends { words.append("intends") }
        if let id { words.append("id=\(id)") }
        if let name { words.append("name=\(name)") }
        if let byteCount { words.append("byteCount=\(byteCount)") }
        if let checksums {
            words.append("checksums=\(checksums.crc32.hex(digits: 8))\(checksums.adler32.hex(digits: 8))")
        }
        if let pairing { words.append("pairing=\(pairing)") }
        if let attempt { words.append("attempt=\(attempt)") }
        if let detail { words.append("detail=\(detail)") }
        return words.joined(separator: " ")
    }
}

extension Expectation {
    package var words: String {
        switch self {
        case .onWatch(let range): "\(range.words) on the watch"
        case .ingested(let range): "\(range.words) in the container"
        case .waiting(let range): "\(range.words) waiting in staging"
        case .setAside(let side, let range): "\(range.words) set aside by the \(side.rawValue)"
        case .happened(let kind, let ordinal, let range):
            "\(kind.rawValue)\(Self.of(ordinal)) \(range.words) times"
        case .said(let kind, let words, let ordinal, let range):
            "\(kind.rawValue)\(Self.of(ordinal)) saying \"\(words)\" \(range.words) times"
        case .inOrder: "ingested in the order of recording"
        case .owes: "something owed"
        }
    }

    private static func of(_ ordinal: Int?) -> String { ordinal.map { " of note \($0)" } ?? "" }
}

extension ClosedRange<Int> {
    fileprivate var words: String {
        if upperBound == .max { return "at least \(lowerBound)" }
        return lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound) to \(upperBound)"
    }
}
