package import LinkFaults
package import Spooling
package import WireContract

// A scenario: what happened in the field, as a value. The same value drives the virtual world and the two real daemons.
//
// It is a list of steps with moments, and of expectations; everything else (how daemons behave, what the link does to a
// transfer) is a function of it and of its seed. Recordings are named by their ordinal: the first that a scenario records is
// 1, whatever its id.

/// One scenario.
package struct Scenario: Hashable, Sendable {
    package var name: String
    /// The report that it comes from, e.g. `GH fastrepl/anarlog/pull/6355`; `nil` for one of our own.
    package var report: String?
    /// What it shows, in a sentence.
    package var shows: String
    package var seed: UInt64
    package var settings: ScenarioSettings
    /// In the order in which they happen: by moment, then as they stand in the file.
    package var steps: [TimedStep]
    package var expectations: [TimedExpectation]

    package init(
        name: String, report: String? = nil, shows: String, seed: UInt64, settings: ScenarioSettings = .init(),
        steps: [TimedStep], expectations: [TimedExpectation] = []
    ) {
        self.name = name
        self.report = report
        self.shows = shows
        self.seed = seed
        self.settings = settings
        self.steps = steps
        self.expectations = expectations
    }
}

package struct ScenarioSettings: Hashable, Sendable {
    package var policy = RetryPolicy.standard
    package var link = LinkPlan.clean
    package var payloadVersion = AudioNotePayload.currentVersion
    package var watchUnderstands = IngestAck.currentVersion
    package var phoneUnderstands = AudioNotePayload.currentVersion
    package var ackVersion = IngestAck.currentVersion
    /// Of the watch's disk, and of the disk that holds phone and spool; `nil` for as much as anybody wants.
    package var watchCapacityByteCount: UInt64?
    package var phoneCapacityByteCount: UInt64?
    package var stagingCapByteCount: UInt64?
    /// How much faster than real time it may run live: 3600 makes an hour a second. 1 where real time matters.
    package var liveScale: Double = 1
    /// Whether both daemons run from the beginning. Otherwise `start` steps say when.
    package var startsBoth = true
    /// How long after the last step everything has drained, at most; `nil` for the bound that the policy gives.
    package var drainWithin: Duration?

    package init() {}

    /// What a phone's staging, a disk, or one recording may be told to hold.
    package static let byteCountRange: ClosedRange<UInt64> = 1...(1 << 40)
}

extension Scenario {
    /// The most recordings, which an ordinal of sixteen bits counts, and the most steps and expectations of a file.
    package static let mostRecordings = 0xFFFF
    package static let mostSteps = 10_000

    /// How many recordings it makes.
    package var recordingCount: Int {
        steps.reduce(0) { sum, timed in
            if case .record(let count, _) = timed.step { sum + count } else { sum }
        }
    }

    /// The same scenario with another seed; plans that took the scenario's seed take the new one.
    package func reseeded(_ newSeed: UInt64) -> Scenario {
        var copy = self
        copy.seed = newSeed
        if settings.link.seed == seed { copy.settings.link.seed = newSeed }
        for index in steps.indices {
            if case .link(var plan) = steps[index].step, plan.seed == seed {
                plan.seed = newSeed
                copy.steps[index].step = .link(plan)
            }
        }
        return copy
    }
}

package struct TimedStep: Hashable, Sendable {
    /// From the beginning of the scenario.
    package var at: Duration
    package var step: Step

    package init(at: Duration, _ step: Step) {
        self.at = at
        self.step = step
    }
}

/// One thing that is done to the pair.
package enum Step: Hashable, Sendable {
    /// So many notes, each of so many bytes of audio.
    case record(count: Int, byteCount: Int)
    case start(Side)
    /// SIGTERM, or its like: it ends in order.
    case stop(Side)
    /// At once, or when it is about to make the n-th call through the seam from now, or right after it.
    case kill(Side, KillPoint)
    /// The watch's session.
    case session(SessionState)
    /// Whether the other side is said to be reachable; it must change nothing.
    case reachable(Bool)
    /// What the phone's app does with a file.
    case handler(PhoneHandler)
    /// An entry with any bytes as its dictionary, as another build might send it; the body is a tone.
    case rawMetadata(RawBytes)
    /// An ack envelope with any bytes as its userInfo.
    case rawUserInfo(RawBytes)
    /// Stopped, and started as another build.
    case build(Side, understands: Int?, writes: Int?)
    /// Another plan comes into force.
    case link(LinkPlan)
    /// Of the watch's disk, or of the one that holds phone and spool; `nil` ends the limit. `.now` leaves no room at all.
    case capacity(Side, CapacityChange)
    case container(ContainerState)
    case wipe(WipedPart)
    /// Keeps a copy of a home; `restore` puts it back, with its side stopped before and started after.
    case keepCopy(Side)
    case restoreCopy(Side)
    /// A new phone, empty, on the same spool.
    case replacePhone
    /// The phone serves another watch (1, 2, …), with a spool of its own.
    case switchWatch(to: Int)
    case veto(ordinal: Int)
    case delete(ordinal: Int)
    case cancel(ordinal: Int)
    /// The wall clock jumps.
    case clock(jumpSeconds: Int64)
    /// The power of both goes: what was not synced may be lost; both start again.
    case reboot(Reboot)

    package enum KillPoint: Hashable, Sendable {
        case now
        case beforeCall(Int)
        case afterCall(Int)
        /// Before the first call that does this to a path with this in it, e.g. publish, `container/`.
        case before(FileSystemError.Operation, pathContaining: String)
        case after(FileSystemError.Operation, pathContaining: String)

        package init(_ point: DiePoint) {
            self =
                switch point {
                case .beforeCall(let number): .beforeCall(number)
                case .afterCall(let number): .afterCall(number)
                case .before(let operation, let path): .before(operation, pathContaining: path)
                case .after(let operation, let path): .after(operation, pathContaining: path)
                }
        }

        /// The call at which it dies; `nil` for at once.
        package var point: DiePoint? {
            switch self {
            case .now: nil
            case .beforeCall(let number): .beforeCall(number)
            case .afterCall(let number): .afterCall(number)
            case .before(let operation, let path): .before(operation, pathContaining: path)
            case .after(let operation, let path): .after(operation, pathContaining: path)
            }
        }
    }

    package enum CapacityChange: Hashable, Sendable {
        case byteCount(UInt64)
        /// Full: nothing more can be written.
        case full
        case unlimited
    }

    /// What the power leaves of what was not synced.
    package enum Reboot: String, Hashable, Sendable, CaseIterable {
        case durableOnly, everything, random
    }
}

package enum WipedPart: String, Hashable, Sendable, CaseIterable {
    case container, ledger, spool
}

/// Bytes that a scenario writes down.
package enum RawBytes: Hashable, Sendable {
    case hex([UInt8])
    case text(String)
    /// A dictionary, written as a binary property list.
    case dictionary(PropertyListDictionary)
    /// A dictionary of exactly so many bytes as a binary property list.
    case sized(Int)
    /// Holds a value that is no property-list type: the sender cannot even write it (7010).
    case unsupported
}

/// What must hold at a moment.
package struct TimedExpectation: Hashable, Sendable {
    /// From the beginning; `nil` for the end, when everything has drained or time ran out.
    package var at: Duration?
    package var expectation: Expectation

    package init(at: Duration?, _ expectation: Expectation) {
        self.at = at
        self.expectation = expectation
    }
}

package enum Expectation: Hashable, Sendable {
    /// How many recordings are on the watch, notes in the container, deliveries that wait in staging, items set aside.
    case onWatch(ClosedRange<Int>)
    case ingested(ClosedRange<Int>)
    case waiting(ClosedRange<Int>)
    case setAside(Side, ClosedRange<Int>)
    /// How often something happened so far, of one recording or of all.
    case happened(PairEvent.Kind, ordinal: Int?, ClosedRange<Int>)
    /// How often something happened with these words in its detail, e.g. `transferFinished` with `7014`.
    case said(PairEvent.Kind, String, ordinal: Int?, ClosedRange<Int>)
    /// The notes were ingested in the order in which they were recorded.
    case inOrder
    /// The scenario does not drain, and shall not (a payload of the future waits).
    case owes
}
