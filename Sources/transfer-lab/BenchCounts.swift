import DaemonRuntime
import LivePair
import Spooling

// What one note costs in calls. Two runs of the same kind differ only in how many notes there are, so the difference is what
// they cost, without what a start costs. Syncs are checked against the table in Docs/Spool.md: a fast figure must not come
// from a missing sync, nor a slow one from a needless one.

struct BenchCounts {
    private let place: BenchPlace

    init(_ place: BenchPlace) { self.place = place }

    private struct Calls {
        var calls = 0.0
        var syncs = 0.0

        static func - (left: Calls, right: Calls) -> Calls {
            Calls(calls: left.calls - right.calls, syncs: left.syncs - right.syncs)
        }

        func each(of count: Int) -> Calls { Calls(calls: calls / Double(count), syncs: syncs / Double(count)) }

        /// What `--count-calls` said.
        init(_ end: MeasuredProcess.End) throws {
            guard let line = end.talk.split(separator: "\n").last(where: { $0.hasSuffix(" calls") }) else {
                throw BenchError("a daemon did not count its calls: \(end.talk)")
            }
            let words = line.split(separator: " ")
            // `… 3 syncs, 120 calls`
            guard words.count >= 4, let calls = Double(words[words.count - 2]),
                let syncs = Double(words[words.count - 4])
            else { throw BenchError("a daemon counted in another way: \(line)") }
            self.calls = calls
            self.syncs = syncs
        }

        init(calls: Double, syncs: Double) {
            self.calls = calls
            self.syncs = syncs
        }
    }

    func measure(into figures: inout Figures) throws {
        let few = try oneByOne(1)
        let more = try oneByOne(11)
        let watch = (more.watch - few.watch).each(of: 10)
        let phone = (more.phone - few.phone).each(of: 10)
        func add(_ value: Double, _ key: String, _ name: String, _ bound: Bound? = nil) {
            figures.add(value, .counts, key, name, "a note", bound, isLaw: bound != nil)
        }
        add(
            more.record.syncs + watch.syncs + phone.syncs, "counts.idle.syncs",
            "syncs of one note on an idle pair, with a record process for it",
            .exactly(7))
        add(more.record.syncs, "counts.idle.record.syncs", "of these by record", .exactly(2))
        add(watch.syncs, "counts.idle.watch.syncs", "of these by the watch's daemon", .exactly(0))
        add(phone.syncs, "counts.idle.phone.syncs", "of these by the phone", .exactly(5))
        add(watch.calls, "counts.idle.watch.calls", "calls through the seam, watch, idle pair")
        add(phone.calls, "counts.idle.phone.calls", "calls through the seam, phone, idle pair")
        let small = try backlog(256)
        let large = try backlog(1_280)
        let watchBatch = (large.watch - small.watch).each(of: 1_024)
        let phoneBatch = (large.phone - small.phone).each(of: 1_024)
        add(watchBatch.syncs, "counts.batch.watch.syncs", "syncs by the watch's daemon, backlog", .exactly(0))
        add(phoneBatch.syncs, "counts.batch.phone.syncs", "syncs by the phone, backlog")
        add(watchBatch.calls, "counts.batch.watch.calls", "calls through the seam, watch, backlog")
        add(phoneBatch.calls, "counts.batch.phone.calls", "calls through the seam, phone, backlog")
        try systemCalls(into: &figures)
    }

    private struct All {
        /// The last one.
        let record: Calls
        let watch: Calls
        let phone: Calls
    }

    private func oneByOne(_ count: Int) throws -> All {
        let pair = try BenchPair(try place.folder("counts"))
        let phone = try pair.phone(["--count-calls"])
        let watch = try pair.watch(["--count-calls"])
        MeasuringDisk.sleep(seconds: 0.3)
        var record: Calls?
        for _ in 0..<count {
            record = try Calls(try pair.recordTones(NoteSize.all[0], count: 1, ["--count-calls"]))
            try pair.waitUntilDeleted(within: 30)
            MeasuringDisk.sleep(seconds: 0.02)
        }
        guard let record else { preconditionFailure("there is something to record: \(count)") }
        return All(record: record, watch: try Calls(watch.stop()), phone: try Calls(phone.stop()))
    }

    private struct Both {
        let watch: Calls
        let phone: Calls
    }

    private func backlog(_ count: Int) throws -> Both {
        let pair = try BenchPair(try place.folder("counts"))
        try pair.recordTones(NoteSize.all[0], count: count)
        let phone = try pair.phone(["--count-calls"])
        let watch = try pair.drainingWatch(["--count-calls"]).end()
        guard watch.exitCode == 0 else { throw BenchError("the watch did not drain in \(pair.path): \(watch.talk)") }
        return Both(watch: try Calls(watch), phone: try Calls(phone.stop()))
    }

    // MARK: What the kernel sees

    private func systemCalls(into figures: inout Figures) throws {
        guard let strace = MeasuringDisk.program("strace") else {
            return figures.skip("system calls a note: there is no strace here")
        }
        let size = NoteSize.all[0]
        for side in ["watch", "phone"] {
            var totals: [Double] = []
            for count in [256, 1_280] {
                let pair = try BenchPair(try place.folder("strace"))
                try pair.recordTones(size, count: count)
                let table = "\(pair.path)/logs/calls"
                let wrapper = [strace, "-f", "-c", "-U", "calls,name", "-o", table]
                let phone = try pair.phone(wrapper: side == "phone" ? wrapper : [])
                let watch = try pair.drainingWatch(wrapper: side == "watch" ? wrapper : []).end()
                guard watch.exitCode == 0 else {
                    throw BenchError("the watch did not drain under strace: \(watch.talk)")
                }
                _ = phone.stop()
                totals.append(Self.total(MeasuringDisk.text(table)))
            }
            guard totals.allSatisfy({ $0 > 0 }) else {
                return figures.skip("system calls a note: strace may not trace here")
            }
            figures.add(
                (totals[1] - totals[0]) / 1_024, .counts, "counts.system.\(side)", "system calls, \(side), backlog",
                "a note")
        }
    }

    /// The last line of strace's table.
    private static func total(_ table: String) -> Double {
        guard let line = table.split(separator: "\n").last(where: { $0.hasSuffix(" total") }) else { return 0 }
        return line.split(separator: " ").first.flatMap { Double($0) } ?? 0
    }
}
