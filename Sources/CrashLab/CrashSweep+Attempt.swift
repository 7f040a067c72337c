import Simulation

// One attempt again, as a failure names it.

extension CrashSweep {
    /// What did not hold; `nil` when the scenario has no such place, or the place no such image.
    package func repeated(_ attempt: CrashAttempt) -> [String]? {
        _ = cuts(.posix)
        switch attempt {
        case .kill(let place):
            guard let cut = cut(at: place, .posix), let image = cut.image else { return nil }
            let (recovery, listing) = recoverAndList(image, cut.crew)
            return Self.explained(verdict(cut, .kill) { $0.finish(recovery) }, listing)
        case .killAlone(let place):
            let (happened, lines) = play(.kill(place))
            return happened ? lines : nil
        case .pair(let place, let second):
            guard let cut = cut(at: place, .posix), let image = cut.image else { return nil }
            let first = firstRecovery(image, cut.crew)
            guard let other = first.cuts.first(where: { $0.places.contains(second) }),
                let otherImage = first.cuts.first(where: { $0.digest == other.digest && $0.image != nil })?.image
            else { return nil }
            let (recovery, listing) = recoverAndList(otherImage, other.crew)
            return Self.explained(verdict(cut, first, other, recovery), listing)
        case .power(let model, let place, let number):
            guard let cut = cut(at: place, model), let image = cut.image else { return nil }
            let power = PowerCut(image)
            let choices = power.choices()
            guard choices.indices.contains(number) else { return nil }
            let (recovery, listing) = recoverAndList(power.image(choices[number]), cut.crew)
            let unsynced = power.listing(choices[number])
            return Self.explained(
                verdict(cut, .power) { $0.finish(recovery) },
                ["of what was unsynced there is (+) or not (-):"] + unsynced + listing)
        case .error(let actor, let call, let error, let lasting):
            let (happened, lines) = play(.error(actor, call: call, error, lasting: lasting))
            return happened ? lines : nil
        }
    }

    private static func explained(_ lines: [String], _ more: [String]) -> [String] {
        lines.isEmpty ? [] : lines + more.map { "    \($0)" }
    }

    private func cut(at place: CrashPlace, _ model: DiskModel) -> Cut? {
        cuts(model).first { $0.places.contains(place) }
    }
}
