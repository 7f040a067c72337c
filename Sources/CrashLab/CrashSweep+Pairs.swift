import Simulation
import Spooling

// Killed, and killed once more in the recovery, at each of its calls.

extension CrashSweep {
    /// What one recovery from a kill came to, with every moment at which it could be killed in its turn.
    struct FirstRecovery: Sendable {
        var recovery: Recovery
        var cuts: [Cut]
    }

    /// `stride`: only of every so many-th disk that a first kill leaves.
    package func pairs(stride: Int = 1) -> CrashSection {
        var section = CrashSection(.pairs)
        let cuts = cuts(.posix)
        let groups = killGroups(cuts).strided(stride)
        let firsts = Slots<FirstRecovery>(groups.count)
        spread(groups.count) { [self] index in
            let cut = cuts[groups[index][0]]
            guard let image = cut.image else { return }
            firsts[index] = firstRecovery(image, cut.crew)
        }
        // A disk that a second kill leaves: who comes to it, as (first disk, cut of its recovery).
        var seconds: [(image: DiskImage, crew: Crew, uses: [(Int, Int)])] = []
        var known: [RecoveryKey: Int] = [:]
        for index in groups.indices {
            let firstPlaces = groups[index].reduce(0) { $0 + cuts[$1].places.count }
            guard let first = firsts[index] else {
                section.pointCount += firstPlaces
                section.unreached += groups[index].map { "\(cuts[$0].places[0])" }
                continue
            }
            section.recoveryCount += 1
            for (number, cut) in first.cuts.enumerated() {
                section.pointCount += firstPlaces * cut.places.count
                section.rawImageCount += 1
                let key = RecoveryKey(digest: cut.digest, crew: cut.crew)
                if let place = known[key] {
                    seconds[place].uses.append((index, number))
                } else if let image = cut.image ?? first.cuts.first(where: { $0.digest == cut.digest })?.image {
                    known[key] = seconds.count
                    seconds.append((image, cut.crew, [(index, number)]))
                }
                firsts[index]?.cuts[number].image = nil
            }
        }
        section.distinctImageCount = seconds.count
        let all = seconds
        let found = Slots<[CrashFailure]>(all.count)
        let isFailed: (Int) -> Bool = { found[$0]?.isEmpty == false }
        spread(all.count, untilFailed: isFailed) { [self] index in
            let recovery = recover(all[index].image, all[index].crew)
            var failures: [CrashFailure] = []
            for (group, number) in all[index].uses {
                guard let first = firsts[group] else { continue }
                for cut in groups[group] {
                    let lines = verdict(cuts[cut], first, first.cuts[number], recovery)
                    guard !lines.isEmpty else { continue }
                    let attempt = CrashAttempt.pair(cuts[cut].places[0], first.cuts[number].places[0])
                    failures.append(CrashFailure(attempt: attempt, lines: lines))
                }
            }
            found[index] = failures
        }
        for index in all.indices {
            section.recoveryCount += 1
            for (group, number) in all[index].uses {
                guard found[index] != nil, let first = firsts[group] else { continue }
                section.verdictCount += groups[group].count
                section.reachedCount +=
                    first.cuts[number].places.count * groups[group].reduce(0) { $0 + cuts[$1].places.count }
            }
            for failure in found[index] ?? [] { section.fail(failure) }
        }
        return finished(section)
    }

    func firstRecovery(_ image: DiskImage, _ crew: Crew) -> FirstRecovery {
        let taker = CutTaker(makePlant(), judge: nil)
        let recovery = recover(image, crew, taker)
        return FirstRecovery(recovery: recovery, cuts: taker.cuts)
    }

    func verdict(_ cut: Cut, _ first: FirstRecovery, _ second: Cut, _ recovery: Recovery) -> [String] {
        verdict(cut, .kill) { court in
            court.hear(first.recovery, first: second.entryCount, crashedAt: second.moment)
            court.crash(.kill, second.crew, isContainerOpen: true)
            return court.finish(recovery)
        }
    }
}
