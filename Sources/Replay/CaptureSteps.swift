import LinkFaults
import Monitors
import Scenarios
import Spooling
import WireContract

/// What the world did, as steps. Capture.swift says what is kept.
struct CaptureSteps {
    struct LeftOut {
        var words: String
        var count: Int
    }

    /// What a step would find: it decides whether a start or an end is one, or follows from another step.
    private struct SideState {
        var isRunning: Bool
        var build: Build
    }

    /// Either a step or the place for a plan.
    private enum Slot {
        case step(TimedStep)
        case plan(segment: Int)
    }

    private let original: Scenario?
    private let timeScale: Double
    private(set) var leftOut: [LeftOut] = []
    private var numbers = NoteNumbers(asReturned: [])
    private var slots: [Slot] = []
    private var link: CaptureLink
    private var end = CaptureEnd()
    private var watch = SideState(isRunning: true, build: Build())
    private var phone = SideState(isRunning: true, build: Build())
    private var base = ScenarioSettings()
    private var copies: [Side] = []
    /// The original's steps that no history tells of, and its ways to lose power; what is still to come.
    private var untold: ArraySlice<TimedStep>
    private var reboots: ArraySlice<Step.Reboot>
    private var origin = Moment.zero

    init(original: Scenario?, timeScale: Double) {
        self.original = original
        self.timeScale = timeScale
        if let original {
            base = original.settings
        } else {
            base.link.seed = 1
        }
        link = CaptureLink(base.link, isKnown: original != nil)
        untold = (original?.steps ?? []).filter { $0.step.isUntold }[...]
        reboots = (original?.steps ?? []).compactMap { if case .reboot(let kind) = $0.step { kind } else { nil } }[...]
    }

    // MARK: What comes out

    var settings: ScenarioSettings {
        var settings = base
        settings.link = link.plan(ofSegment: 0, numbers)
        return settings
    }

    var timedSteps: [TimedStep] {
        var steps: [TimedStep] = []
        var inForce = link.plan(ofSegment: 0, numbers)
        for slot in slots {
            switch slot {
            case .step(let step): steps.append(step)
            case .plan(let segment):
                let plan = link.plan(ofSegment: segment, numbers)
                guard link.isNews(segment, plan, after: inForce) else { continue }
                steps.append(TimedStep(at: link.beginning(ofSegment: segment), .link(plan)))
                inForce = plan
            }
        }
        return steps
    }

    func expectations(inOrder: Bool) -> [TimedExpectation] { end.expectations(numbers, inOrder: inOrder) }

    // MARK: What goes in

    mutating func observe(_ entries: ArraySlice<HistoryEntry>, isWhole: Bool) {
        origin = entries.first?.moment ?? .zero
        prepareSides(entries)
        for entry in entries {
            let at = time(of: entry.moment)
            tellUntold(until: at)
            switch entry.what {
            case .world(let event): observe(event, at: at)
            case .pair(let event): observe(event, entry.source, at: at)
            }
        }
        if isWhole { tellUntold(until: nil) }
        leave("what the link did to entries of somebody else", link.strangerCount(numbers))
    }

    /// Milliseconds since the first entry, as the scenario counts them; at most what a scenario can say.
    private func time(of moment: Moment) -> Duration {
        let nanoseconds = moment.since(origin).wholeNanoseconds
        let longest: UInt64 = 36_525 * 86_400_000
        if timeScale == 1 { return .milliseconds(min(longest, (nanoseconds / 500_000 + 1) / 2)) }
        let scaled = (Double(nanoseconds) * timeScale / 1e6).rounded()
        return .milliseconds(scaled < Double(longest) ? UInt64(scaled) : longest)
    }

    /// The builds that both begin as, and whether they run from the beginning: when both started before anything else.
    private mutating func prepareSides(_ entries: ArraySlice<HistoryEntry>) {
        watch.build = Build(understands: base.watchUnderstands, writes: base.payloadVersion)
        phone.build = Build(understands: base.phoneUnderstands, writes: base.ackVersion)
        var started: [Side] = []
        var startsBoth: Bool?
        for case .world(let event) in entries.lazy.map(\.what) {
            if case .started(let side, let build) = event {
                if started.contains(side) { continue }
                started.append(side)
                self[side].build = build
                if started.count == 2 { break }
            } else if event.isAct, startsBoth == nil {
                startsBoth = false
            }
        }
        // Of what told of no start, e.g. the rest of a rotated history, nobody knows.
        if started.isEmpty { startsBoth = base.startsBoth }
        base.startsBoth = startsBoth ?? (started.count == 2)
        (watch.isRunning, phone.isRunning) = (base.startsBoth, base.startsBoth)
        (base.watchUnderstands, base.payloadVersion) = (watch.build.understands, watch.build.writes)
        (base.phoneUnderstands, base.ackVersion) = (phone.build.understands, phone.build.writes)
    }

    private subscript(side: Side) -> SideState {
        get {
            switch side {
            case .watch: watch
            case .phone: phone
            }
        }
        set {
            switch side {
            case .watch: watch = newValue
            case .phone: phone = newValue
            }
        }
    }

    private mutating func leave(_ words: String, _ count: Int = 1) {
        guard count > 0 else { return }
        if let index = leftOut.firstIndex(where: { $0.words == words }) {
            leftOut[index].count += count
        } else {
            leftOut.append(LeftOut(words: words, count: count))
        }
    }

    private mutating func add(_ step: Step, at: Duration) { slots.append(.step(TimedStep(at: at, step))) }

    /// The original's steps up to `at`; all of them when it is `nil`.
    private mutating func tellUntold(until at: Duration?) {
        while let next = untold.first, at.map({ next.at <= $0 }) ?? true {
            untold.removeFirst()
            switch next.step {
            case .link(let plan): slots.append(.plan(segment: link.change(to: plan, at: next.at)))
            case .cancel(let ordinal) where ordinal > numbers.count: leave("a cancel of what was not recorded yet")
            case .cancel, .session, .reachable, .handler, .rawMetadata, .rawUserInfo, .capacity, .clock:
                add(next.step, at: next.at)
            case .record, .start, .stop, .kill, .build, .container, .wipe, .keepCopy, .restoreCopy, .replacePhone,
                .switchWatch, .veto, .delete, .reboot:
                preconditionFailure("a history tells of this itself: \(next.step)")
            }
        }
    }

    private mutating func observe(_ event: PairEvent, _ source: HistoryEntry.Source, at: Duration) {
        link.observe(event, source)
        let number = event.id.flatMap { numbers[$0] }
        end.observe(event, number)
        // A withdrawn entry is also what two entries of one recording are put right by; this word is for the user's.
        if original == nil, event.kind == .transferFinished, event.detail == "cancelled", let number {
            add(.cancel(ordinal: number), at: at)
        }
    }

    private mutating func observe(_ event: WorldEvent, at: Duration) {
        switch event {
        case .recordReturned(let id, let byteCount, _, _): record(id, byteCount, at: at)
        case .started(let side, let build): start(side, build, at: at)
        case .stopped(let side):
            // Not running: it follows from another step, e.g. a restore.
            if self[side].isRunning { add(.stop(side), at: at) }
            self[side].isRunning = false
        case .killed(let side):
            if self[side].isRunning { add(.kill(side, .now), at: at) }
            self[side].isRunning = false
        case .powerLost:
            link.phoneStarts()
            watchStarts(at: at)
            add(.reboot(reboots.popFirst() ?? .random), at: at)
            (watch.isRunning, phone.isRunning) = (true, true)
        case .wiped(.container): add(.wipe(.container), at: at)
        case .wiped(.ledger): add(.wipe(.ledger), at: at)
        case .wiped(.spool): add(.wipe(.spool), at: at)
        case .wiped(.home): leave("a wiped home")
        case .copyKept(let side):
            copies.append(side)
            add(.keepCopy(side), at: at)
        case .restored(let side): restore(side, at: at)
        case .phoneReplaced:
            add(.replacePhone, at: at)
            phone.isRunning = true
            link.phoneStarts()
        case .watchSwitched(let number):
            guard (1...16).contains(number) else { return leave("a switch to a watch beyond the sixteenth") }
            link.phoneStarts()
            watchStarts(at: at)
            add(.switchWatch(to: Int(number)), at: at)
            (watch.isRunning, phone.isRunning) = (true, true)
        case .containerLocked: add(.container(.locked), at: at)
        case .containerSignedOut: add(.container(.signedOut), at: at)
        case .containerOpened: add(.container(.open), at: at)
        case .containerTouched: leave("a change in the container")
        case .removedByHand: leave("a recording removed by hand")
        case .vetoAsked(let id): ask("a veto of what was not recorded", id, at: at) { .veto(ordinal: $0) }
        case .deleteAsked(let id): ask("a delete of what was not recorded", id, at: at) { .delete(ordinal: $0) }
        case .entryPlanted: if original?.hasRawBytes != true { leave("a planted entry") }
        case .ackPlanted: if original?.hasRawBytes != true { leave("a planted ack") }
        case .historyGap: leave("a gap in the history")
        case .census(let census): end.census = census
        case .vetoAnswered, .deleteAnswered, .faultsBegan, .faultsEnded: break
        }
    }

    private mutating func record(_ id: ULID, _ byteCount: UInt64, at: Duration) {
        guard numbers[id] == nil else { return }
        numbers.add(id)
        let longest: UInt64 = 256 << 20
        if byteCount > longest { leave("bytes of a recording beyond 256 MiB") }
        let byteCount = Int(min(byteCount, longest))
        if case .step(let last)? = slots.last, last.at == at, case .record(let count, byteCount) = last.step,
            count < Scenario.mostRecordings
        {
            slots[slots.count - 1] = .step(TimedStep(at: at, .record(count: count + 1, byteCount: byteCount)))
        } else {
            add(.record(count: 1, byteCount: byteCount), at: at)
        }
    }

    private mutating func start(_ side: Side, _ build: Build, at: Duration) {
        let state = self[side]
        guard !state.isRunning || build != state.build else { return }
        switch side {
        case .watch: watchStarts(at: at)
        case .phone: link.phoneStarts()
        }
        if build == state.build {
            add(.start(side), at: at)
        } else {
            add(.build(side, understands: build.understands, writes: build.writes), at: at)
        }
        self[side] = SideState(isRunning: true, build: build)
    }

    private mutating func restore(_ side: Side, at: Duration) {
        guard copies.contains(side) else { return leave("a restore of a copy that was kept earlier") }
        switch side {
        case .watch: watchStarts(at: at)
        case .phone: link.phoneStarts()
        }
        add(.restoreCopy(side), at: at)
        self[side].isRunning = true
    }

    private mutating func ask(_ words: String, _ id: ULID, at: Duration, _ step: (Int) -> Step) {
        guard let number = numbers[id] else { return leave(words) }
        add(step(number), at: at)
    }

    /// Tries count anew from here.
    private mutating func watchStarts(at: Duration) {
        if let segment = link.watchStarts(at: at) { slots.append(.plan(segment: segment)) }
    }
}

extension Scenario {
    fileprivate var hasRawBytes: Bool {
        steps.contains {
            switch $0.step {
            case .rawMetadata, .rawUserInfo: true
            case .record, .start, .stop, .kill, .session, .reachable, .handler, .build, .link, .capacity, .container,
                .wipe, .keepCopy, .restoreCopy, .replacePhone, .switchWatch, .veto, .delete, .cancel, .clock, .reboot:
                false
            }
        }
    }
}

extension Step {
    /// No history tells of it, so that only the original can.
    fileprivate var isUntold: Bool {
        switch self {
        case .session, .reachable, .handler, .rawMetadata, .rawUserInfo, .link, .capacity, .clock, .cancel: true
        case .record, .start, .stop, .kill, .build, .container, .wipe, .keepCopy, .restoreCopy, .replacePhone,
            .switchWatch, .veto, .delete, .reboot:
            false
        }
    }
}

extension WorldEvent {
    /// Something that was done to the pair, not a start.
    fileprivate var isAct: Bool {
        switch self {
        case .recordReturned, .stopped, .killed, .powerLost, .wiped, .copyKept, .restored, .phoneReplaced,
            .watchSwitched, .containerLocked, .containerSignedOut, .containerOpened, .containerTouched, .removedByHand,
            .vetoAsked, .deleteAsked, .entryPlanted, .ackPlanted:
            true
        case .started, .vetoAnswered, .deleteAnswered, .faultsBegan, .faultsEnded, .historyGap, .census: false
        }
    }
}
