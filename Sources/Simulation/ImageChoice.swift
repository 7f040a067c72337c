// Which images of a cut are tried. Up to twelve unsynced changes: every image that the model allows. Above that: all
// prefixes, all omissions of one and of two changes, and everything lost but one or two; under the models with an
// order, all prefixes with the bytes of every one, every two, and all unsynced writes missing. Writes are torn on top
// of that, one at a time. Hundreds of unsynced changes make millions of pairs: then so many of those are drawn.

/// One choice of what is kept of the unsynced changes.
package struct ImageChoice: Hashable, Sendable, CustomStringConvertible {
    enum Rule: Hashable, Sendable {
        /// The unit with index i where bit i is set.
        case subset(UInt32)
        case prefix(Int)
        case without(Int, Int)
        case only(Int, Int)
        /// The first names, and of the bytes those whose bit is set.
        case names(Int, bytes: UInt32)
        case namesWithout(Int, Int, Int)
        case namesAlone(Int)
        /// The first units, without the bytes of the file whose units these are.
        case checkpoint(Int, withoutBytes: [Int])
    }

    /// One write comes through in part.
    struct Tear: Hashable, Sendable {
        enum Part: Hashable, Sendable { case head, tail, length }
        var unit: Int
        /// Offset in the file.
        var border: UInt32
        var part: Part
    }

    var rule: Rule
    var tear: Tear?

    func keeps(_ index: Int, _ unit: PowerCut.Unit) -> Bool {
        switch rule {
        case .subset(let bits): return bits >> UInt32(index) & 1 == 1
        case .prefix(let count): return index < count
        case .without(let first, let second): return index != first && index != second
        case .only(let first, let second): return index == first || index == second
        case .names(let count, let bits): return unit.isData ? bits >> UInt32(unit.rank) & 1 == 1 : unit.rank < count
        case .namesWithout(let count, let first, let second):
            return unit.isData ? unit.rank != first && unit.rank != second : unit.rank < count
        case .namesAlone(let count): return !unit.isData && unit.rank < count
        case .checkpoint(let count, let missing): return index < count && !missing.contains(index)
        }
    }

    package var description: String {
        var text =
            switch rule {
            case .subset(let bits): "subset \(String(bits, radix: 2))"
            case .prefix(let count): "the first \(count)"
            case .without(let first, let second):
                first == second ? "all but \(first)" : "all but \(first) and \(second)"
            case .only(let first, let second): first == second ? "only \(first)" : "only \(first) and \(second)"
            case .names(let count, let bits): "the first \(count) names, bytes \(String(bits, radix: 2))"
            case .namesWithout(let count, let first, let second):
                "the first \(count) names, without the bytes of writes \(first) and \(second)"
            case .namesAlone(let count): "the first \(count) names, no bytes"
            case .checkpoint(let count, let missing): "the first \(count), without the bytes of \(missing)"
            }
        if let tear { text += ", write \(tear.unit) torn at \(tear.border) (\(tear.part))" }
        return text
    }
}

extension PowerCut {
    /// How many changes are few enough to try every choice among them.
    package static let fewUnits = 12
    private static let sector = 512

    /// Whether every image that the model allows is among `choices` (torn writes apart, which are always a sample).
    package var isComplete: Bool { units.count <= Self.fewUnits }

    /// How many choices the model allows, as a power of two, torn writes apart.
    package var allowedBits: Double {
        func log2(_ count: Int) -> Double { Double(Int.bitWidth - 1 - count.leadingZeroBitCount) }
        switch image.model {
        case .posix: return Double(units.count)
        case .orderedMetadata: return Double(dataCount) + log2(nameCount + 1)
        case .copyOnWrite: return Double(dataFiles.count) + log2(units.count + 1)
        }
    }

    /// The images of this cut, in an order that depends on the disk alone. The first is what was synced and nothing
    /// else.
    package func choices() -> [ImageChoice] {
        var found: [ImageChoice] = []
        func add(_ rule: ImageChoice.Rule, _ tear: ImageChoice.Tear? = nil) {
            found.append(ImageChoice(rule: rule, tear: tear))
        }
        switch image.model {
        case .posix:
            if isComplete {
                for bits in 0..<UInt32(1) << UInt32(units.count) { add(.subset(bits)) }
            } else {
                for count in 0...units.count { add(.prefix(count)) }
                if isDrawn {
                    for unit in units.indices {
                        add(.without(unit, unit))
                        add(.only(unit, unit))
                    }
                }
                for index in Self.drawn(Self.pairCount(units.count), most: Self.mostChoices / 2) {
                    let (first, second) = Self.pair(index, of: units.count)
                    add(.without(first, second))
                    add(.only(first, second))
                }
            }
        case .orderedMetadata:
            guard !isComplete else {
                for count in 0...nameCount {
                    for bits in 0..<UInt32(1) << UInt32(dataCount) { add(.names(count, bytes: bits)) }
                }
                break
            }
            // For each prefix of the names: no bytes, all bytes, and all but those of each pair of writes.
            let perPrefix = 2 + Self.pairCount(dataCount)
            for index in Self.drawn(ruledCount, most: Self.mostChoices) {
                let (count, rest) = index.quotientAndRemainder(dividingBy: perPrefix)
                switch rest {
                case 0: add(.namesAlone(count))
                case 1: add(.namesWithout(count, -1, -1))
                case _:
                    let (first, second) = Self.pair(rest - 2, of: dataCount)
                    add(.namesWithout(count, first, second))
                }
            }
        case .copyOnWrite:
            let files = dataFiles.map(\.units)
            for count in 0...units.count {
                // A file none of whose writes is in the prefix has none to be missing.
                let begun = files.filter { $0[0] < count }
                if isComplete || begun.count <= 4 {
                    for bits in 0..<1 << begun.count {
                        add(
                            .checkpoint(
                                count,
                                withoutBytes: begun.indices.filter { bits >> $0 & 1 == 1 }.flatMap { begun[$0] }))
                    }
                } else {
                    add(.checkpoint(count, withoutBytes: []))
                    for file in begun { add(.checkpoint(count, withoutBytes: file)) }
                    add(.checkpoint(count, withoutBytes: begun.flatMap { $0 }))
                }
            }
        }
        addTears(add)
        return found
    }

    /// Of how many choices more are made than are tried.
    package static let mostChoices = 12_000

    /// How many the rules above come to where not all are tried, torn writes apart.
    package var ruledCount: Int {
        switch image.model {
        case .posix: units.count + 1 + 2 * Self.pairCount(units.count)
        case .orderedMetadata: (nameCount + 1) * (2 + Self.pairCount(dataCount))
        case .copyOnWrite: (units.count + 1) * (2 + dataFiles.count)
        }
    }

    /// Whether only some of those are tried.
    package var isDrawn: Bool { !isComplete && image.model != .copyOnWrite && ruledCount > Self.mostChoices }

    /// Of things and themselves.
    private static func pairCount(_ count: Int) -> Int { count * (count + 1) / 2 }

    /// The pair with that index: (0, 0), (0, 1), … (1, 1), …
    private static func pair(_ index: Int, of count: Int) -> (Int, Int) {
        var (first, rest) = (0, index)
        while rest >= count - first {
            rest -= count - first
            first += 1
        }
        return (first, first + rest)
    }

    /// All indices, or `most` of them, spread over the whole and otherwise drawn; always the same ones.
    private static func drawn(_ count: Int, most: Int) -> [Int] {
        guard count > most else { return Array(0..<count) }
        var random = SplitMix64(seed: UInt64(count))
        return (0..<most).map { index in
            let (low, high) = (index * count / most, (index + 1) * count / most)
            return low + Int(random.next() % UInt64(high - low))
        }
    }

    private func addTears(_ add: (ImageChoice.Rule, ImageChoice.Tear?) -> Void) {
        // A checkpoint has a write or has not: nothing is overwritten in place.
        let step: Int
        switch image.model {
        case .posix: step = Self.sector
        case .orderedMetadata: step = Int(DiskImage.blockByteCount)
        case .copyOnWrite: return
        }
        for index in units.indices {
            guard let write = write(index) else { continue }
            // With all else there, and with nothing behind it there.
            let bases: [ImageChoice.Rule] =
                image.model == .posix
                ? [.prefix(units.count), .prefix(index + 1)] : [.namesWithout(nameCount, -1, -1)]
            for base in bases {
                add(base, .init(unit: index, border: 0, part: .length))
                var border = (write.offset / step + 1) * step
                while border < write.offset + write.count {
                    add(base, .init(unit: index, border: UInt32(border), part: .head))
                    add(base, .init(unit: index, border: UInt32(border), part: .tail))
                    border += step
                }
            }
        }
    }
}
