import LinkFaults
import Monitors
import Scenarios
import Spooling
import WireContract

/// What a captured run came to, as expectations of the scenario.
struct CaptureEnd {
    /// The last one.
    var census: Census?
    /// By number, from 1.
    private var ingests: [Int: Int] = [:]
    private var vetoed: Set<Int> = []
    private var deletedByUser: Set<Int> = []
    private var deleted: Set<Int> = []

    mutating func observe(_ event: PairEvent, _ number: Int?) {
        guard let number, event.phase == .did else { return }
        switch event.kind {
        case .ingested:
            ingests[number, default: 0] += 1
            deletedByUser.remove(number)
        case .vetoed: vetoed.insert(number)
        case .userDeleted: deletedByUser.insert(number)
        case .deleted: deleted.insert(number)
        case .started, .stopped, .paired, .refused, .setAside, .failed, .spoolReopened, .lostByLink, .damagedByLink,
            .recorded, .found, .enqueued, .requeued, .transferFinished, .ackReceived, .strayAck, .cancelled, .spoolFull,
            .taken, .staged, .duplicate, .waits, .acked, .discarded, .containerLost:
            break
        }
    }

    /// By what lies on the disks where somebody looked, otherwise by what both sides said.
    func expectations(_ numbers: NoteNumbers, inOrder: Bool) -> [TimedExpectation] {
        let all = numbers.count == 0 ? [] : Array(1...numbers.count)
        let onWatch = census?.recordings.count ?? all.filter { !deleted.contains($0) }.count
        let ingested =
            census?.container.count ?? all.filter { ingests[$0] != nil && !deletedByUser.contains($0) }.count
        let waiting = census?.staging.count ?? 0
        var found: [Expectation] = [.onWatch(onWatch...onWatch), .ingested(ingested...ingested)]
        if waiting > 0 { found.append(.waiting(waiting...waiting)) }
        // It had not drained, or time ran out.
        if onWatch > 0 || waiting > 0 { found.append(.owes) }
        if inOrder { found.append(.inOrder) }
        for number in all {
            // Once is the rule. More often is an answer to something that was wiped, and timing says how often.
            if let count = ingests[number] { found.append(.happened(.ingested, ordinal: number, 1...count)) }
            if vetoed.contains(number) { found.append(.happened(.vetoed, ordinal: number, 1...Int.max)) }
        }
        return found.map { TimedExpectation(at: nil, $0) }
    }
}
