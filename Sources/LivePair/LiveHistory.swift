import DaemonRuntime
import Monitors
import Replay
import Spooling

// What happened in a live run, from three witnesses: the lab itself, and the journals of the two sides. All of them read one
// clock, so one order can be made of it when the run is over.

/// Collects, and tells all of it to a `RunHistory` in order.
struct LiveHistory {
    private enum What {
        case world(WorldEvent)
        case pair(HistoryEntry.Source, PairEvent)
        /// Somebody looked at the disks: for the expectations of that moment of the scenario.
        case look(Duration, Census)
    }

    private struct Told {
        var moment: Moment
        var watchNumber: UInt8
        var what: What
    }

    /// A home whose journal was read. It is read again when more has happened, and it may have been put back to an older
    /// copy by then: only what is younger counts.
    private struct Home {
        var path: String
        var lastMoment: Moment
        var hasGap: Bool
    }

    /// From here all moments count.
    let zero: Moment
    private var told: [Told] = []
    private var homes: [Home] = []

    init(zero: Moment) { self.zero = zero }

    mutating func tell(_ event: WorldEvent, watch: UInt8, at moment: Moment) {
        told.append(Told(moment: moment, watchNumber: watch, what: .world(event)))
    }

    mutating func look(_ census: Census, for momentOfScenario: Duration, at moment: Moment) {
        told.append(Told(moment: moment, watchNumber: 1, what: .look(momentOfScenario, census)))
    }

    /// Reads a home's journal. To be done before the home is taken away, and at the end.
    mutating func gather(_ side: Side, watch: UInt8, home: String, at now: Moment) throws(FileSystemError) {
        let index: Int
        if let known = homes.firstIndex(where: { $0.path == home }) {
            index = known
        } else {
            index = homes.count
            homes.append(Home(path: home, lastMoment: zero, hasGap: false))
        }
        let (entries, isWhole) = try JournalReader.entries(home: home)
        let source: HistoryEntry.Source = side == .watch ? .watch : .phone
        let last = homes[index].lastMoment
        for entry in entries where entry.moment > last {
            told.append(Told(moment: entry.moment, watchNumber: watch, what: .pair(source, entry.event)))
            homes[index].lastMoment = max(homes[index].lastMoment, entry.moment)
        }
        if !isWhole { gap(side, watch: watch, of: index) }
    }

    private mutating func gap(_ side: Side, watch: UInt8, of index: Int) {
        guard !homes[index].hasGap else { return }
        homes[index].hasGap = true
        // From the beginning on: nobody knows since when something is missing.
        told.append(Told(moment: zero, watchNumber: watch, what: .world(.historyGap(side))))
    }

    /// Where one moment has several, as they were told.
    func replay(into history: RunHistory) {
        let order = told.indices.sorted { left, right in
            (told[left].moment, left) < (told[right].moment, right)
        }
        for index in order {
            let item = told[index]
            let moment = relative(item.moment)
            switch item.what {
            case .world(let event): history.tell(.world(event), from: .world, watch: item.watchNumber, at: moment)
            case .pair(let source, let event):
                history.tell(.pair(event), from: source, watch: item.watchNumber, at: moment)
            case .look(let momentOfScenario, let census): history.meetExpectations(of: momentOfScenario, census)
            }
        }
    }

    func relative(_ moment: Moment) -> Moment {
        Moment(nanoseconds: moment.nanoseconds - min(moment.nanoseconds, zero.nanoseconds))
    }
}
