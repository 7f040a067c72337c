import Spooling

// Every call fails in every way that it can, once or from then on until the scenario is over.

extension CrashSweep {
    private struct Point {
        var actor: CrashActor
        var call: Int
        var error: InjectedError
        var lasting: Bool
    }

    /// `stride`: only every so many-th point.
    package func errors(stride: Int = 1) -> CrashSection {
        var section = CrashSection(.errors)
        _ = cuts(.posix)
        var points: [Point] = []
        for actor in CrashActor.allCases {
            for (index, operation) in operations[actor.index].enumerated() {
                for error in InjectedError.allCases where error.fits(operation) {
                    for lasting in [false, true] {
                        points.append(Point(actor: actor, call: index + 1, error: error, lasting: lasting))
                    }
                }
            }
        }
        let all = points.strided(stride)
        section.pointCount = all.count
        let found = Slots<(Bool, [String])>(all.count)
        let isFailed: (Int) -> Bool = { found[$0]?.1.isEmpty == false }
        spread(all.count, untilFailed: isFailed) { [self] index in
            let point = all[index]
            found[index] = play(.error(point.actor, call: point.call, point.error, lasting: point.lasting))
        }
        for (index, point) in all.enumerated() {
            let attempt = CrashAttempt.error(point.actor, call: point.call, point.error, lasting: point.lasting)
            section.recoveryCount += 1
            section.verdictCount += 1
            guard let (happened, lines) = found[index], happened else {
                section.unreached.append("\(attempt)")
                continue
            }
            section.reachedCount += 1
            if !lines.isEmpty { section.fail(CrashFailure(attempt: attempt, lines: lines)) }
        }
        if stopsAtFirst, section.failureCount > 0 { return finished(section) }
        endSweeps(&section)
        return section
    }

    /// A sweep ends only when the scenario passes with nothing injected: behind the last call that each process made
    /// before.
    private func endSweeps(_ section: inout CrashSection) {
        for actor in CrashActor.allCases {
            let call = operations[actor.index].count + 1
            let (happened, lines) = play(.error(actor, call: call, .interrupted, lasting: true))
            if happened || !lines.isEmpty {
                let attempt = CrashAttempt.error(actor, call: call, .interrupted, lasting: true)
                let why = happened ? ["there is a call behind the last one of the \(actor.rawValue)"] : []
                section.fail(CrashFailure(attempt: attempt, lines: why + lines))
            }
        }
    }
}
