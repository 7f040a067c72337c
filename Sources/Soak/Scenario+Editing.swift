import LinkFaults
import Scenarios

// Taking something out of a scenario, so that what is left still reads: notes are named by their number, and numbers shift
// when an earlier note is gone; what spoke of a note that is gone goes with it.

extension Scenario {
    /// Every step replaced by what `change` makes of it, or left out. Of a `record` that makes fewer notes the first stay.
    func edited(_ change: (_ index: Int, TimedStep) -> TimedStep?) -> Scenario {
        var numbers: [Int: Int] = [:]
        var (oldCount, newCount) = (0, 0)
        var kept: [TimedStep] = []
        for (index, timed) in steps.enumerated() {
            let changed = change(index, timed)
            if case .record(let count, _) = timed.step {
                var left = 0
                if let changed, case .record(let new, _) = changed.step { left = min(count, new) }
                for offset in 0..<left { numbers[oldCount + offset + 1] = newCount + offset + 1 }
                oldCount += count
                newCount += left
            }
            if let changed { kept.append(changed) }
        }
        var copy = self
        copy.steps = kept
        if newCount != oldCount { copy.renumber(numbers) }
        copy.dropDangling()
        return copy
    }

    func withoutSteps(_ range: Range<Int>) -> Scenario { edited { range.contains($0) ? nil : $1 } }

    private mutating func renumber(_ numbers: [Int: Int]) {
        settings.link.renumber(numbers)
        steps = steps.compactMap { timed in
            var timed = timed
            switch timed.step {
            case .veto(let ordinal):
                guard let number = numbers[ordinal] else { return nil }
                timed.step = .veto(ordinal: number)
            case .delete(let ordinal):
                guard let number = numbers[ordinal] else { return nil }
                timed.step = .delete(ordinal: number)
            case .cancel(let ordinal):
                guard let number = numbers[ordinal] else { return nil }
                timed.step = .cancel(ordinal: number)
            case .link(var plan):
                plan.renumber(numbers)
                timed.step = .link(plan)
            case .record, .start, .stop, .kill, .session, .reachable, .handler, .rawMetadata, .rawUserInfo, .build,
                .capacity, .container, .wipe, .keepCopy, .restoreCopy, .replacePhone, .switchWatch, .clock, .reboot:
                break
            }
            return timed
        }
        expectations = expectations.compactMap { item in
            var item = item
            switch item.expectation {
            case .happened(let kind, let ordinal?, let times):
                guard let number = numbers[ordinal] else { return nil }
                item.expectation = .happened(kind, ordinal: number, times)
            case .said(let kind, let words, let ordinal?, let times):
                guard let number = numbers[ordinal] else { return nil }
                item.expectation = .said(kind, words, ordinal: number, times)
            case .onWatch, .ingested, .waiting, .setAside, .happened, .said, .inOrder, .owes: break
            }
            return item
        }
    }

    /// Steps that mean what is not there (yet): a restore without a copy, a veto before its note.
    private mutating func dropDangling() {
        var recorded = 0
        var copies: [Bool] = [false, false]
        steps = steps.filter { timed in
            switch timed.step {
            case .record(let count, _): recorded += count
            case .veto(let ordinal), .delete(let ordinal), .cancel(let ordinal): return ordinal <= recorded
            case .keepCopy(let side): copies[side == .watch ? 0 : 1] = true
            case .restoreCopy(let side): return copies[side == .watch ? 0 : 1]
            case .start, .stop, .kill, .session, .reachable, .handler, .rawMetadata, .rawUserInfo, .build, .link,
                .capacity, .container, .wipe, .replacePhone, .switchWatch, .clock, .reboot:
                break
            }
            return true
        }
    }
}

extension LinkPlan {
    fileprivate mutating func renumber(_ numbers: [Int: Int]) {
        for direction in LinkDirection.allCases {
            self[direction].rules = self[direction].rules.compactMap { rule in
                guard let ordinal = rule.ordinal else { return rule }
                var rule = rule
                guard let number = numbers[ordinal] else { return nil }
                rule.ordinal = number
                return rule
            }
        }
    }
}
