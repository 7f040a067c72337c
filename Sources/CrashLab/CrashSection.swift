package import Simulation

// What a part of a sweep came to.

/// Something that did not hold.
package struct CrashFailure: Sendable {
    package var attempt: CrashAttempt
    /// What is wrong and how it came to that, a line each.
    package var lines: [String]
}

/// One part of a sweep.
package enum CrashPart: Hashable, Sendable {
    case kills, killsAlone, pairs
    case power(DiskModel)
    case errors

    package var name: String {
        switch self {
        case .kills: "kill"
        case .killsAlone: "kill alone"
        case .pairs: "kill, and kill in the recovery"
        case .power(let model): "power cut, \(model.word)"
        case .errors: "error"
        }
    }
}

package struct CrashSection: Sendable {
    package var name: String
    /// What there was to try, and how much of it was.
    package var pointCount = 0
    package var reachedCount = 0
    package var unreached: [String] = []
    /// Images, as many as there are choices; and those that differ for a reader.
    package var rawImageCount = 0
    package var distinctImageCount = 0
    /// How often both daemons started on something, or a run was played to its end; each was judged for everything that
    /// could have happened before, which is the next number.
    package var recoveryCount = 0
    package var verdictCount = 0
    /// More to say: which share was covered.
    package var notes: [String] = []
    /// The first of each kind; how many there are in all.
    package private(set) var failures: [CrashFailure] = []
    package private(set) var failureCount = 0
    private static let mostFailures = 8

    package init(_ part: CrashPart) { name = part.name }

    package var held: Bool { failureCount == 0 && unreached.isEmpty && reachedCount == pointCount }

    /// What another part of the same came to; disks that are in both count twice.
    mutating func add(_ other: CrashSection) {
        pointCount += other.pointCount
        reachedCount += other.reachedCount
        unreached += other.unreached
        rawImageCount += other.rawImageCount
        distinctImageCount += other.distinctImageCount
        recoveryCount += other.recoveryCount
        verdictCount += other.verdictCount
        notes = other.notes
        failures += other.failures
        failureCount += other.failureCount
    }

    mutating func stop() {
        unreached = []
        notes = ["stopped at the first that did not hold"]
    }

    /// Keeps the first of those that say the same.
    mutating func fail(_ failure: CrashFailure) {
        failureCount += 1
        let kind = failure.lines.first.map(Self.kind) ?? ""
        guard failures.count < Self.mostFailures, !failures.contains(where: { $0.lines.first.map(Self.kind) == kind })
        else { return }
        failures.append(failure)
    }

    /// The line without the recording that it is about.
    private static func kind(_ line: String) -> String {
        line.split(separator: " ").filter { $0.utf8.count != 26 }.joined(separator: " ")
    }
}

/// A place for each result of work that is spread over threads: every index is written by the one thread that works on
/// it.
final class Slots<Value: Sendable>: @unchecked Sendable {
    private let values: UnsafeMutableBufferPointer<Value?>

    init(_ count: Int) {
        values = .allocate(capacity: count)
        values.initialize(repeating: nil)
    }

    deinit {
        values.deinitialize()
        values.deallocate()
    }

    subscript(index: Int) -> Value? {
        get { values[index] }
        set { values[index] = newValue }
    }
}
