import DaemonRuntime

// Figures of a benchmark: what was measured, in how many repetitions, against what.

/// What `--only` chooses from.
enum BenchPart: String, CaseIterable {
    case limits, pair, large, latency, backlog, start, ram, counts, virtual
}

/// A median, and between what the samples lay.
struct Spread {
    let median: Double
    let low: Double
    let high: Double
    let count: Int

    /// nil of nothing.
    init?(_ samples: [Double]) {
        let sorted = samples.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        let middle = sorted.count / 2
        median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        low = first
        high = last
        count = sorted.count
    }
}

/// What a figure, or its ratio to another one, has to keep.
enum Bound {
    case atLeast(Double)
    case atMost(Double)
    case exactly(Double)

    func holds(_ value: Double) -> Bool {
        switch self {
        case .atLeast(let bound): value >= bound
        case .atMost(let bound): value <= bound
        case .exactly(let bound): value == bound
        }
    }

    var text: String {
        switch self {
        case .atLeast(let bound): "≥ \(Figures.short(bound))"
        case .atMost(let bound): "≤ \(Figures.short(bound))"
        case .exactly(let bound): "= \(Figures.short(bound))"
        }
    }
}

/// All figures of one run, in the order in which they first came.
struct Figures {
    struct Figure {
        let key: String
        let part: BenchPart
        let name: String
        let unit: String
        /// The key of the figure that it is a multiple of.
        let baseline: String?
        let bound: Bound?
        /// Whether a missed bound fails the run: counts do, times depend on the machine.
        let isLaw: Bool
        var samples: [Double] = []
    }

    private(set) var all: [Figure] = []
    /// What could not be measured, and why.
    private(set) var skipped: [String] = []

    mutating func add(
        _ sample: Double, _ part: BenchPart, _ key: String, _ name: String, _ unit: String,
        against baseline: String? = nil,
        _ bound: Bound? = nil, isLaw: Bool = false
    ) {
        if let index = all.firstIndex(where: { $0.key == key }) {
            all[index].samples.append(sample)
        } else {
            all.append(
                Figure(
                    key: key, part: part, name: name, unit: unit, baseline: baseline, bound: bound, isLaw: isLaw,
                    samples: [sample]))
        }
    }

    mutating func skip(_ what: String) {
        if !skipped.contains(what) { skipped.append(what) }
    }

    func median(_ key: String) -> Double? {
        all.first { $0.key == key }.flatMap { Spread($0.samples)?.median }
    }

    /// The median of the ratios of each repetition, so that a slow minute of the disk hits both; of the medians where one
    /// was measured more often than the other.
    func ratio(_ figure: Figure) -> Double? {
        guard let baseline = figure.baseline, let other = all.first(where: { $0.key == baseline }) else { return nil }
        if other.samples.count == figure.samples.count {
            return Spread(zip(figure.samples, other.samples).map { $0 / $1 })?.median
        }
        guard let own = Spread(figure.samples), let others = Spread(other.samples) else { return nil }
        return own.median / others.median
    }

    /// Whether the bound holds; nil without one, or without what it is a multiple of.
    func isReached(_ figure: Figure) -> Bool? {
        guard let bound = figure.bound, let own = Spread(figure.samples) else { return nil }
        if figure.baseline == nil { return bound.holds(own.median) }
        return ratio(figure).map { bound.holds($0) }
    }

    var brokenLaws: [String] {
        all.filter { $0.isLaw && isReached($0) == false }.map {
            "\($0.name): \(Self.short(Spread($0.samples)!.median))"
        }
    }

    // MARK: For a person, for a program

    var lines: [String] {
        var lines: [String] = []
        for part in BenchPart.allCases where all.contains(where: { $0.part == part }) {
            var table = TextTable([
                .init(part.rawValue.uppercased()), .init("MEDIAN", .right), .init("LOW", .right), .init("HIGH", .right),
                .init("N", .right), .init("UNIT"), .init("RATIO", .right), .init("TO"), .init("BOUND"), .init(""),
            ])
            for figure in all where figure.part == part {
                guard let spread = Spread(figure.samples) else { continue }
                let word = isReached(figure).map { $0 ? "reached" : "NOT REACHED" } ?? ""
                table.add([
                    figure.name, Self.short(spread.median), Self.short(spread.low), Self.short(spread.high),
                    "\(spread.count)", figure.unit, ratio(figure).map { Self.short($0) } ?? "",
                    figure.baseline ?? "", figure.bound?.text ?? "", word,
                ])
            }
            lines += table.lines + [""]
        }
        return lines + skipped.map { "not measured: \($0)" }
    }

    func json(machine: JSONObject) -> JSONObject {
        var figures: [JSONValue] = []
        for figure in all {
            guard let spread = Spread(figure.samples) else { continue }
            var object: JSONObject = [
                "part": JSONValue(figure.part.rawValue), "key": JSONValue(figure.key), "name": JSONValue(figure.name),
                "unit": JSONValue(figure.unit), "median": JSONValue(spread.median), "low": JSONValue(spread.low),
                "high": JSONValue(spread.high), "samples": .array(figure.samples.map { JSONValue($0) }),
            ]
            if let baseline = figure.baseline { object.add("ratioTo", baseline) }
            if let ratio = ratio(figure) { object.add("ratio", ratio) }
            if let bound = figure.bound { object.add("bound", bound.text) }
            if let isReached = isReached(figure) { object.add("reached", isReached) }
            figures.append(.object(object))
        }
        return [
            "machine": JSONValue(machine), "figures": .array(figures),
            "notMeasured": .array(skipped.map { JSONValue($0) }),
        ]
    }

    /// Three digits that count.
    static func short(_ value: Double) -> String {
        let size = abs(value)
        let digits = size >= 100 || value == value.rounded() ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let whole = Int64((size * scale).rounded())
        let sign = value < 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(whole)" }
        let fraction = String(whole % Int64(scale))
        return "\(sign)\(whole / Int64(scale))." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
