import LinkFaults
import Scenarios
import Spooling

// How expectations read in a sentence.

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
