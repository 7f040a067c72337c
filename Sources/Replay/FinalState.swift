package import Monitors
package import Spooling
import WireContract

/// What a run leaves on the disks, as far as two runs of one scenario must agree: by ordinals instead of ids, and without
/// what retries and timing decide (leftover entries and acks, the inbox, how much lies in quarantine, what a power cut now
/// would take). What belongs to nobody's recording is counted.
package struct FinalState: Hashable, Sendable {
    package struct Note: Hashable, Sendable {
        package var ordinal: Int
        package var fileExtension: FileExtension
        package var checksums: Checksums
    }

    package struct Recording: Hashable, Sendable {
        package var ordinal: Int
        package var checksums: Checksums
    }

    package struct Row: Hashable, Sendable {
        package var ordinal: Int
        package var outcome: Census.LedgerOutcome
    }

    /// All by ordinal.
    package private(set) var onWatch: [Recording] = []
    package private(set) var container: [Note] = []
    package private(set) var ledger: [Row] = []
    package private(set) var vetoes: [Int] = []
    package private(set) var waiting: [Int] = []
    /// What names no recording of the run.
    package private(set) var strangersInContainer = 0
    package private(set) var strangersWaiting = 0

    package init(_ census: Census, _ numbers: NoteNumbers) {
        onWatch = census.recordings.compactMap { item in
            numbers[item.id].map { Recording(ordinal: $0, checksums: item.checksums) }
        }.sorted { $0.ordinal < $1.ordinal }
        // An id can be there twice, which is a fault to be shown and not hidden: the extension decides between the two.
        container = census.container.compactMap { item in
            numbers[item.id].map {
                Note(ordinal: $0, fileExtension: item.fileExtension, checksums: item.checksums)
            }
        }.sorted { ($0.ordinal, $0.fileExtension.description) < ($1.ordinal, $1.fileExtension.description) }
        ledger = census.ledger.compactMap { row in
            numbers[row.id].map { Row(ordinal: $0, outcome: row.outcome) }
        }.sorted { $0.ordinal < $1.ordinal }
        vetoes = census.vetoes.compactMap { numbers[$0] }.sorted()
        waiting = census.staging.compactMap { $0.id.flatMap { numbers[$0] } }.sorted()
        strangersInContainer = census.container.count - container.count
        strangersWaiting = census.staging.count - waiting.count
    }

    /// From the last census of a history; `nil` when there is none.
    package init?(_ entries: some BidirectionalCollection<HistoryEntry>) {
        for entry in entries.reversed() {
            guard case .world(.census(let census)) = entry.what else { continue }
            self.init(census, NoteNumbers(entries))
            return
        }
        return nil
    }

    /// The first place in which the two differ, in a sentence; `nil` when they are equal. This one is "here", the other
    /// "there".
    package func difference(from other: FinalState) -> String? {
        Self.first("the watch", onWatch, other.onWatch) { ($0.ordinal, "with \($0.checksums.words)") }
            ?? Self.first("the container", container, other.container) { note in
                let suffix = note.fileExtension == .none ? "without extension" : ".\(note.fileExtension)"
                return (note.ordinal, "\(suffix), with \(note.checksums.words)")
            }
            ?? Self.first("the ledger", ledger, other.ledger) { ($0.ordinal, "as \($0.outcome)") }
            ?? Self.first("the vetoes", vetoes, other.vetoes) { ($0, "") }
            ?? Self.first("staging", waiting, other.waiting) { ($0, "") }
            ?? Self.count("the container", strangersInContainer, other.strangersInContainer)
            ?? Self.count("staging", strangersWaiting, other.strangersWaiting)
    }

    private static func first<Item: Hashable>(
        _ place: String, _ here: [Item], _ there: [Item], _ describe: (Item) -> (ordinal: Int, words: String)
    ) -> String? {
        let index = zip(here, there).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        guard let index = index ?? (here.count == there.count ? nil : min(here.count, there.count)) else { return nil }
        let left = index < here.count ? describe(here[index]) : nil
        let right = index < there.count ? describe(there[index]) : nil
        let ordinal = min(left?.ordinal ?? .max, right?.ordinal ?? .max)
        func words(_ item: (ordinal: Int, words: String)?) -> String {
            guard let item, item.ordinal == ordinal else { return "absent" }
            return item.words.isEmpty ? "present" : item.words
        }
        return "recording \(ordinal) in \(place): \(words(left)) here, \(words(right)) there"
    }

    private static func count(_ place: String, _ here: Int, _ there: Int) -> String? {
        here == there ? nil : "\(here) that belong to no recording in \(place) here, \(there) there"
    }
}

extension Checksums {
    fileprivate var words: String { "crc32 \(crc32.hex(digits: 8)), adler32 \(adler32.hex(digits: 8))" }
}
