import LinkFaults
package import Monitors
import Replay
package import Scenarios
package import Spooling

// What comes after a crash: both daemons start anew on what the disk holds, nothing stands in their way any more, and
// everything drains. The time of a recovery begins at zero, as a machine's does that was switched on again; so what
// happens is a function of the disk and of who starts on it, whatever was before.

/// Who runs on a disk.
package struct Crew: Hashable, Sendable {
    /// The phone's build, then those of the watches.
    package var builds: [Build]
    package var servedWatch: UInt8

    package init(builds: [Build], servedWatch: UInt8) {
        self.builds = builds
        self.servedWatch = servedWatch
    }
}

/// What a recovery came to; moments count from its beginning.
package struct Recovery: Sendable {
    package var entries: [HistoryEntry]
    /// What lay there when newer builds came, and how many of the entries were told before.
    package var lookBeforeUpgrade: (entryCount: Int, census: Census)?
    package var census: Census
    package var troubles: [String]
}

extension World {
    /// What lies on the disk, a line each: for a person who looks for the reason.
    package var listing: [String] {
        disk.paths().compactMap { path in
            guard let status = disk.status(path), status.kind != .directory else { return nil }
            return "\(path), \(status.byteCount) bytes" + (status.linkCount > 1 ? ", \(status.linkCount) names" : "")
        }
    }

    package var crew: Crew { Crew(builds: seats.map(\.build), servedWatch: servedWatch) }
    package var now: Moment { clock.now }
    package var isContainerOpen: Bool { conditions.container == .open }

    /// A world in which nothing has happened but a crash: `image` is what the disk holds, `crew` who starts on it.
    package convenience init(
        after image: DiskImage, of scenario: Scenario, _ crew: Crew, plant: (any Plant)? = nil
    ) {
        let healed = scenario.healed
        // Judged it is by whoever knows what was before.
        let history = RunHistory(
            healed, policy: healed.settings.policy, drainWithin: nil, keepsEntries: true, isJudged: false)
        self.init(healed, history, SimulatedFileSystem(), plant)
        disk.restore(image)
        disk.removeLimits()
        servedWatch = crew.servedWatch
        seats = crew.builds.enumerated().map { index, build in
            makeSeat(index == 0 ? .phone : .watch, UInt8(max(1, index)), build)
        }
    }

    /// Starts both, and runs until nothing is owed or the time to drain is up.
    ///
    /// While something waits in staging that the phone does not understand, what else is owed drains first; then a
    /// census is told, and the builds are replaced by some that understand everything.
    package func recover() -> Recovery {
        start(phone)
        for seat in seats.dropFirst() { start(seat) }
        isSettled = true
        queue.add(.giveUp, at: clock.now + patience)
        upgradesTo = isTooOld ? newest : nil
        runEvents()
        if history.troubles.isEmpty { rest() }
        return Recovery(
            entries: history.entries, lookBeforeUpgrade: lookBeforeUpgrade, census: census(),
            troubles: history.troubles)
    }

    /// Whether all that is left waits for a newer build: in staging, with its recordings on the watch.
    func onlyTheUnknownIsLeft() -> Bool {
        let waiting = disk.count(places.phoneHome + "/staging")
        guard waiting > 0, disk.count(places.watchHome(servedWatch) + "/recordings") <= waiting,
            disk.count(places.phoneHome + "/inbox") == 0
        else { return false }
        let isSpoolEmpty = ["/to-phone", "/to-watch"].allSatisfy { disk.count(places.spool(servedWatch) + $0) == 0 }
        // What nobody can use may lie in the spool for ever.
        return isSpoolEmpty || clock.now.since(.zero) > .seconds(2 * EngineTiming.rescanSeconds)
    }

    /// The newer builds come.
    func upgrade(to version: Int) {
        upgradesTo = nil
        bringBuilds(version)
    }

    /// Nothing stands in the way of anybody any more.
    func heal() {
        disk.removeLimits()
        if conditions.container != .open { tell(.containerOpened) }
        conditions = LinkConditions()
        restartsAfter = .seconds(1)
        for seat in seats {
            // Kills that the scenario ordered, and that a fault has kept from being reached.
            seat.waitingKills = []
            seat.instrument?.injections = []
            seat.engine?.follow(conditions, at: clock.now)
            start(seat)
            wake(seat, at: clock.now)
        }
        if isTooOld { bringBuilds(newest) }
    }

    private var newest: Int { seats.map(\.build.writes).max() ?? 1 }

    /// Whether the phone does not understand what a watch writes, or a watch what the phone writes.
    private var isTooOld: Bool {
        seats.dropFirst().contains {
            $0.build.writes > phone.build.understands || phone.build.writes > $0.build.understands
        }
    }

    private func bringBuilds(_ version: Int) {
        for seat in seats where seat.build.understands < version {
            stop(seat)
            seat.build.understands = version
            start(seat)
        }
    }
}

extension SimulatedFileSystem {
    /// Every disk takes as much as anybody wants, and may be written to.
    func removeLimits() {
        for index in kernel.image.devices.indices { kernel.image.devices[index].capacityByteCount = nil }
        for index in kernel.image.mounts.indices { kernel.image.mounts[index].isReadOnly = false }
    }

    /// How many names a directory has; 0 where there is none.
    func count(_ path: String) -> Int {
        guard let number = try? kernel.image.resolve(path) else { return 0 }
        return kernel.image[number].table.names(in: .written).count
    }

    /// Tells apart the states of the disk that a crash could tell apart.
    package var crashState: (changeCount: UInt64, unsyncedCount: Int) {
        (kernel.image.changeCount, kernel.image.unsyncedCount)
    }
}

extension Scenario {
    /// With the link healed and nothing expected; what it records still says how long draining may take.
    package var healed: Scenario {
        var copy = self
        copy.settings.link = .clean
        copy.steps = steps.filter { if case .record = $0.step { true } else { false } }
        copy.expectations = []
        copy.settings.drainWithin = nil
        copy.settings.watchCapacityByteCount = nil
        copy.settings.phoneCapacityByteCount = nil
        return copy
    }
}
