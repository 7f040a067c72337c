import LinkFaults
import Monitors
import PhoneSide
import Replay
import Scenarios
import Spooling
import WatchSide

/// Where a daemon runs, or would: its engine while it lives, and what there is to know about it when it does not.
final class Seat {
    let side: Side
    /// Of a watch, from 1; 1 for the phone.
    let number: UInt8
    let history: SeatHistory
    var build: Build
    /// It shall run: it was started, and neither stopped nor killed since.
    var isWanted = false
    var engine: (any Engine & LinkFollowing)?
    var view: ProcessView?
    /// Only where a scenario kills at a call.
    var instrument: InstrumentedFileSystem?
    /// Kills at a call that were ordered while it did not run.
    var waitingKills: [Step.KillPoint] = []
    /// Between tries to open it on a disk that refuses.
    var openingPause = RefusalPause()
    /// When its engine wants to be stepped, or when it is to be opened anew.
    var due = Moment.zero
    /// Which of the wake-ups in the queue counts; those asked for before are over.
    var wakeNumber: UInt64 = 0
    var watchedGeneration = -1
    var hasRescan = false
    /// What the world looked like when it was stepped last.
    var lastSeen: WorldState?

    init(_ side: Side, _ number: UInt8, _ build: Build, _ history: SeatHistory) {
        self.side = side
        self.number = number
        self.build = build
        self.history = history
    }

    var isAlive: Bool { view?.isAlive == true && instrument?.isDead != true }

    func letGo() {
        view?.kill()
        engine = nil
        instrument = nil
        view = nil
        watchedGeneration = -1
    }
}

/// What an engine says goes into the run's history at once: in this world nothing that really happened is forgotten by a
/// death, so the judge sees more than a journal could tell.
final class SeatHistory: History {
    private let source: HistoryEntry.Source
    private let number: UInt8
    private let history: RunHistory
    private let clock: WorldClock
    /// What is planted in this process, and its way to the disk.
    var plant: (any Plant)?
    var disk: (any FileSystem)?

    init(_ side: Side, _ number: UInt8, _ history: RunHistory, _ clock: WorldClock) {
        source = side == .watch ? .watch : .phone
        self.number = number
        self.history = history
        self.clock = clock
    }

    func record(_ event: PairEvent) {
        guard let plant, let disk else { return tell(event) }
        for told in plant.tells(event, by: source == .watch ? .watch : .phone, disk: disk) { tell(told) }
    }

    private func tell(_ event: PairEvent) {
        history.tell(.pair(event), from: source, watch: number, at: clock.now)
    }

    func commit() {}
}

/// Virtual time, and the wall clock that people could set.
final class WorldClock {
    var now = Moment.zero
    /// 2026-05-31 23:59:58 UTC: two seconds before a month ends, so that containers have two months.
    var wallMillisecondsAtZero: Int64 = 1_780_271_998_000

    var wallMilliseconds: UInt64 {
        UInt64(clamping: wallMillisecondsAtZero + Int64(clamping: now.nanoseconds / 1_000_000))
    }
}
