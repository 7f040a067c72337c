import LinkFaults
import Scenarios
import Spooling

// What a shrinker tries. Every edit makes something smaller or simpler and never the other way round, so that trying comes to
// an end.

/// A simpler scenario; the same one when there is nothing to simplify.
typealias Edit = (Scenario) -> Scenario

private func editing(_ change: @escaping (inout Scenario) -> Void) -> Edit {
    { scenario in
        var copy = scenario
        change(&copy)
        return copy
    }
}

/// A change of one step, with what spoke of its notes put right.
private func editing(step index: Int, to step: Step) -> Edit {
    { $0.edited { $0 == index ? TimedStep(at: $1.at, step) : $1 } }
}

extension Scenario {
    // MARK: Settings

    var settingsEdits: [Edit] {
        func standard<Value>(_ path: WritableKeyPath<ScenarioSettings, Value>) -> Edit {
            editing { $0.settings[keyPath: path] = ScenarioSettings()[keyPath: path] }
        }
        return [
            editing { $0.settings.link = LinkPlan(seed: $0.settings.link.seed) },
            editing {
                let link = $0.settings.link
                $0.settings = ScenarioSettings()
                $0.settings.link = link
            },
            standard(\.policy), standard(\.policy.first), standard(\.policy.cap), standard(\.policy.patience),
            standard(\.payloadVersion), standard(\.watchUnderstands), standard(\.phoneUnderstands),
            standard(\.ackVersion), standard(\.watchCapacityByteCount), standard(\.phoneCapacityByteCount),
            standard(\.stagingCapByteCount), standard(\.startsBoth),
            editing { $0.expectations = [] },
            // Another seed decides other things: that the first one does it too says that nothing hangs on luck.
            { $0.seed > 1 ? $0.reseeded(1) : $0 },
        ]
    }

    // MARK: Recordings

    /// One note, by one of the steps that record; then several of that one.
    var onlyOneRecording: [Edit] {
        let places = steps.indices.filter { steps[$0].step.isRecord }
        guard places.count > 1 || recordingCount > 1 else { return [] }
        return places.map { place in
            { $0.edited { $1.step.isRecord ? ($0 == place ? $1.recordingOne : nil) : $1 } }
        } + places.map { place in { $0.edited { $1.step.isRecord && $0 != place ? nil : $1 } } }
    }

    // MARK: The link

    /// Of the plan in the settings, and of each that comes into force later.
    var linkEdits: [Edit] {
        var edits: [Edit] = settings.link.edits.map { plan in editing { $0.settings.link = plan } }
        for (index, timed) in steps.enumerated() {
            guard case .link(let plan) = timed.step else { continue }
            edits += plan.edits.map { editing(step: index, to: .link($0)) }
        }
        return edits
    }

    // MARK: Steps

    var stepEdits: [Edit] {
        steps.enumerated().flatMap { index, timed in timed.step.simpler.map { editing(step: index, to: $0) } }
    }

    // MARK: Times

    /// Shorter waits before all steps, then before each; everything behind it comes earlier too.
    var timeEdits: [Edit] {
        let all = [Duration.zero, .seconds(1), .seconds(10), .seconds(60)].map { most -> Edit in
            { scenario in
                var copy = scenario
                var (before, now) = (Duration.zero, Duration.zero)
                for index in copy.steps.indices {
                    now += min(most, scenario.steps[index].at - before)
                    before = scenario.steps[index].at
                    copy.steps[index].at = now
                }
                return copy
            }
        }
        return all
            + steps.indices.flatMap { index -> [Edit] in
                let gap = steps[index].at - (index == 0 ? .zero : steps[index - 1].at)
                guard gap > .zero else { return [] }
                var shorter = [Duration.zero]
                if gap > .seconds(1) { shorter.append(.seconds(1)) }
                let half = (gap / 2).wholeMilliseconds
                shorter.append(.milliseconds(half > 2_000 ? half / 1_000 * 1_000 : half))
                return shorter.filter { $0 < gap }.map { wait in
                    editing { scenario in
                        for later in scenario.steps.indices.suffix(from: index) {
                            scenario.steps[later].at -= gap - wait
                        }
                    }
                }
            }
    }
}

extension TimedStep {
    fileprivate var recordingOne: TimedStep {
        guard case .record(_, let byteCount) = step else { return self }
        return TimedStep(at: at, .record(count: 1, byteCount: byteCount))
    }
}

extension Step {
    fileprivate var isRecord: Bool { if case .record = self { true } else { false } }

    fileprivate var simpler: [Step] {
        switch self {
        case .record(let count, let byteCount):
            let counts = Set([1, count / 2, count - 1]).filter { $0 > 0 && $0 < count }.sorted()
            let sizes = Set([1, 1_024, byteCount / 2]).filter { $0 > 0 && $0 < byteCount }.sorted()
            return counts.map { .record(count: $0, byteCount: byteCount) }
                + sizes.map { .record(count: count, byteCount: $0) }
        case .kill(let side, let point):
            switch point {
            case .now: return []
            case .beforeCall(let number):
                return [.kill(side, .now)]
                    + [1, number / 2, number - 1].filter { $0 > 0 && $0 < number }.map { .kill(side, .beforeCall($0)) }
            case .afterCall(let number):
                return [.kill(side, .now), .kill(side, .beforeCall(number))]
            case .before: return [.kill(side, .now)]
            case .after(let operation, let path):
                return [.kill(side, .now), .kill(side, .before(operation, pathContaining: path))]
            }
        case .build(let side, let understands?, let writes?):
            return [
                .build(side, understands: understands, writes: nil), .build(side, understands: nil, writes: writes),
            ]
        case .capacity(let side, .byteCount): return [.capacity(side, .full)]
        case .container(.signedOut): return [.container(.locked)]
        case .switchWatch(let number): return number > 2 ? [.switchWatch(to: 2)] : []
        case .clock(let seconds):
            return abs(seconds) > 1 ? [.clock(jumpSeconds: seconds.signum()), .clock(jumpSeconds: seconds / 2)] : []
        case .reboot(.random): return [.reboot(.durableOnly), .reboot(.everything)]
        case .rawMetadata(let raw): return raw.simpler.map { .rawMetadata($0) }
        case .rawUserInfo(let raw): return raw.simpler.map { .rawUserInfo($0) }
        case .start, .stop, .session, .reachable, .handler, .build, .link, .capacity, .container, .wipe, .keepCopy,
            .restoreCopy, .replacePhone, .veto, .delete, .cancel, .reboot:
            return []
        }
    }
}

extension RawBytes {
    fileprivate var simpler: [RawBytes] {
        switch self {
        case .hex(let bytes): bytes.count > 1 ? [.hex([0]), .hex(Array(bytes.prefix(bytes.count / 2)))] : []
        case .dictionary(let dictionary):
            dictionary.entries.map { entry in
                var fewer = dictionary
                fewer[entry.key] = nil
                return .dictionary(fewer)
            }
        case .sized(let count): count > 1 ? [.sized(1), .sized(count / 2)] : []
        case .text, .unsupported: []
        }
    }
}

extension LinkPlan {
    fileprivate var edits: [LinkPlan] {
        if toPhone.isClean, toWatch.isClean { return [] }
        var clean = self
        (clean.toPhone, clean.toWatch) = (DirectionPlan(), DirectionPlan())
        return [clean]
            + LinkDirection.allCases.flatMap { direction in
                self[direction].edits.map { plan in
                    var copy = self
                    copy[direction] = plan
                    return copy
                }
            }
    }
}

extension DirectionPlan {
    fileprivate var edits: [DirectionPlan] {
        if isClean { return [] }
        var edits = [DirectionPlan()]
        func edit(_ change: (inout DirectionPlan) -> Void) {
            var copy = self
            change(&copy)
            edits.append(copy)
        }
        edit { $0.chances = [] }
        edit { $0.rules = [] }
        edit { $0.burst = nil }
        edit { $0.outages = [] }
        edit { $0.stuckHead = nil }
        edit { $0.bytesPerSecond = nil }
        for index in outages.indices { edit { $0.outages.remove(at: index) } }
        for index in rules.indices {
            edit { $0.rules.remove(at: index) }
            if let attempts = rules[index].attempts, attempts.count > 1 {
                edit { $0.rules[index].attempts = attempts.lowerBound...attempts.lowerBound }
            }
            if let simpler = rules[index].fault.simpler { edit { $0.rules[index].fault = simpler } }
        }
        for index in chances.indices {
            edit { $0.chances.remove(at: index) }
            if chances[index].chance != .always { edit { $0.chances[index].chance = .always } }
            if chances[index].longestDelay != nil { edit { $0.chances[index].longestDelay = nil } }
            if let simpler = chances[index].fault.simpler { edit { $0.chances[index].fault = simpler } }
        }
        return edits
    }
}

extension LinkFault {
    fileprivate var simpler: LinkFault? {
        switch self {
        case .duplicate(let copies): copies > 1 ? .duplicate(extraCopies: copies / 2) : nil
        case .damage(.truncated(let share)): share > 0 ? .damage(.truncated(share: 0)) : nil
        case .delay(let delay): delay > .seconds(1) ? .delay(.milliseconds(delay.wholeMilliseconds / 2)) : nil
        case .fail(let error): error == .deliveryFailed ? nil : .fail(.deliveryFailed)
        case .drop, .forget, .failWithoutDetails, .damage(.altered), .silent: nil
        }
    }
}
