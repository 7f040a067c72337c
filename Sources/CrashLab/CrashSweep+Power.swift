package import Simulation
import Spooling

// The power goes, before and after every call, and leaves each image that the model allows, or as many as are tried.

extension CrashSweep {
    /// An image that differs for a reader from all others of its cut.
    struct DistinctImage: Sendable {
        var digest: UInt64
        var number: Int
        var choice: ImageChoice
    }

    struct CutImages: Sendable {
        /// Only read once its images are known.
        var cut: PowerCut
        var rawCount: Int
        var distinct: [DistinctImage]
    }

    /// One disk to recover on, and the cuts that can leave it.
    private struct ImageUse {
        var digest: UInt64
        var crew: Int
        var cut: Int
        var index: Int
    }

    /// `stride`: only of every so many-th cut.
    package func power(_ model: DiskModel, stride: Int = 1) -> CrashSection {
        let cuts = cuts(model).strided(stride)
        guard stopsAtFirst else { return power(model, cuts) }
        // From the end, where most has been promised.
        var section = CrashSection(.power(model))
        var end = cuts.count
        while end > 0, section.failureCount == 0 {
            let start = max(0, end - Self.cutsAtOnce)
            section.add(power(model, Array(cuts[start..<end])))
            end = start
        }
        return finished(section)
    }

    private static let cutsAtOnce = 8

    private func power(_ model: DiskModel, _ cuts: [Cut]) -> CrashSection {
        var section = CrashSection(.power(model))
        let images = Slots<CutImages>(cuts.count)
        spread(cuts.count) { images[$0] = cuts[$0].image.map(Self.images) }
        var crews: [Crew] = []
        var uses: [ImageUse] = []
        for (index, cut) in cuts.enumerated() {
            section.pointCount += cut.places.count
            guard let found = images[index] else { continue }
            section.rawImageCount += found.rawCount
            let crew = crews.firstIndex(of: cut.crew) ?? crews.count
            if crew == crews.count { crews.append(cut.crew) }
            for (number, image) in found.distinct.enumerated() {
                uses.append(ImageUse(digest: image.digest, crew: crew, cut: index, index: number))
            }
        }
        uses.sort { ($0.digest, $0.crew, $0.cut) < ($1.digest, $1.crew, $1.cut) }
        var ranges: [Range<Int>] = []
        for (index, use) in uses.enumerated() {
            if let last = ranges.last, uses[last.lowerBound].digest == use.digest,
                uses[last.lowerBound].crew == use.crew
            {
                ranges[ranges.count - 1] = last.lowerBound..<index + 1
            } else {
                ranges.append(index..<index + 1)
            }
        }
        section.distinctImageCount = ranges.count
        let notRecovered = ranges.count - mostRecoveries
        // They lie in the order of their digests, which has nothing to do with what they are: the first ones are a sample.
        if notRecovered > 0 { ranges.removeLast(notRecovered) }
        section.recoveryCount = ranges.count
        let (allUses, allRanges) = (uses, ranges)
        let found = Slots<(Int, [CrashFailure])>(ranges.count)
        let isFailed: (Int) -> Bool = { found[$0]?.1.isEmpty == false }
        spread(ranges.count, untilFailed: isFailed) { [self] index in
            found[index] = judgeUses(allUses[allRanges[index]], cuts, images, model)
        }
        for index in ranges.indices {
            section.verdictCount += found[index]?.0 ?? 0
            for failure in found[index]?.1 ?? [] { section.fail(failure) }
        }
        for (index, cut) in cuts.enumerated() where images[index] != nil { section.reachedCount += cut.places.count }
        section.notes = Self.coverage(cuts.indices.compactMap { images[$0] })
        if notRecovered > 0 {
            let percent = ranges.count * 100 / section.distinctImageCount
            section.notes.append("recovered from \(ranges.count) of the distinct images, drawn at random: \(percent) %")
        }
        return finished(section)
    }

    private func judgeUses(
        _ uses: ArraySlice<ImageUse>, _ cuts: [Cut], _ images: Slots<CutImages>, _ model: DiskModel
    ) -> (Int, [CrashFailure]) {
        guard let first = uses.first, let origin = images[first.cut] else { return (0, []) }
        let recovery = recover(origin.cut.image(origin.distinct[first.index].choice), cuts[first.cut].crew)
        var failures: [CrashFailure] = []
        var count = 0
        var lastEntryCount = -1
        for use in uses {
            // Cuts between which nothing was told have one judge.
            let cut = cuts[use.cut]
            guard cut.entryCount != lastEntryCount, let own = images[use.cut] else { continue }
            lastEntryCount = cut.entryCount
            count += 1
            let lines = verdict(cut, .power) { $0.finish(recovery) }
            if !lines.isEmpty {
                let image = own.distinct[use.index]
                failures.append(
                    CrashFailure(
                        attempt: .power(model, cut.places[0], image: image.number),
                        lines: lines + ["    of what was unsynced there is: \(image.choice)"]))
            }
        }
        return (count, failures)
    }

    static func images(_ image: DiskImage) -> CutImages {
        let cut = PowerCut(image)
        let choices = cut.choices()
        var seen: Set<UInt64> = []
        var distinct: [DistinctImage] = []
        for (number, choice) in choices.enumerated() {
            let digest = cut.digest(choice)
            if seen.insert(digest).inserted {
                distinct.append(DistinctImage(digest: digest, number: number, choice: choice))
            }
        }
        return CutImages(cut: cut, rawCount: choices.count, distinct: distinct)
    }

    private static func coverage(_ images: [CutImages]) -> [String] {
        let sampled = images.filter { !$0.cut.isComplete }
        guard !sampled.isEmpty else { return ["every image of all \(images.count) cuts"] }
        let most = sampled.map(\.cut.allowedBits).max() ?? 0
        let bits = sampled.reduce(0.0) { $0 + $1.cut.allowedBits } / Double(sampled.count)
        let tried = sampled.reduce(0) { $0 + $1.rawCount } / sampled.count
        let drawn = sampled.filter { $0.cut.isDrawn }
        var notes = [
            "every image of \(images.count - sampled.count) of \(images.count) cuts; of the other \(sampled.count), "
                + "with more than \(PowerCut.fewUnits) unsynced changes, some \(tried) of 2^\(Int(bits)) each (2^\(Int(most)) at most)"
        ]
        if let largest = drawn.map(\.cut.ruledCount).max() {
            notes.append(
                "\(drawn.count) of those have more than \(PowerCut.mostChoices) choices by the rules (\(largest) at most): "
                    + "so many are drawn")
        }
        return notes
    }
}
