/// Adds results of several machines up, if they are parts of one campaign.
package enum SoakMerge {
    /// Why results do not add up.
    package enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        case nothing
        case otherBuild(file: String, String, first: String, String)
        case otherSize(file: String, DrawSize, first: String, DrawSize)
        case overlap(file: String, other: String, Range<UInt64>)
        case gap(SeedSet)

        package var description: String {
            switch self {
            case .nothing: "there is nothing to merge"
            case .otherBuild(let file, let build, let first, let other):
                "\(file) is of build \(build), and \(first) of build \(other): results of different builds do not add up"
            case .otherSize(let file, let size, let first, let other):
                "\(file) drew --size \(size.rawValue), and \(first) --size \(other.rawValue): seeds are other scenarios there"
            case .overlap(let file, let other, let range):
                "\(file) and \(other) both ran the seeds \(range.lowerBound)..<\(range.upperBound)"
            case .gap(let missing):
                "the seeds \(missing) were not run; run them with the same program and merge that file too, or say"
                    + " --allow-gaps"
            }
        }
    }

    package static func merge(
        _ results: [(file: String, result: SoakResult)], allowsGaps: Bool = false
    ) throws(Refusal) -> SoakResult {
        guard let (first, start) = results.first else { throw .nothing }
        var sum = start
        // Who ran what, to name both of an overlap.
        var ran = [(file: first, done: start.done)]
        for (file, result) in results.dropFirst() {
            guard result.build == start.build else {
                throw .otherBuild(file: file, result.build, first: first, start.build)
            }
            guard result.size == start.size else { throw .otherSize(file: file, result.size, first: first, start.size) }
            for (other, done) in ran {
                if let range = done.firstOverlap(with: result.done) { throw .overlap(file: file, other: other, range) }
            }
            ran.append((file, result.done))
            sum.add(result)
        }
        // Where time was to end it, it was asked up to where it came.
        let end = sum.askedTo ?? sum.done.ranges.last?.upperBound ?? sum.askedFrom
        let missing = sum.done.missing(from: sum.askedFrom..<max(sum.askedFrom, end))
        guard allowsGaps || missing.isEmpty else { throw .gap(missing) }
        return sum
    }
}
