import DaemonRuntime
package import Monitors
package import Replay
package import Scenarios
package import Spooling

// The live world: a scenario with the two real daemons, on the real disk, in real time.
//
// The daemons are the product as it is. The lab starts and stops them, writes the file that `--link` follows, and does to
// the disk what the scenario says; what happened it learns from their journals afterwards and judges with the monitors of
// the virtual world. Where the two worlds differ:
//
// - Time is real. A scenario with a `liveScale` runs so many times faster; what it does not name, such as the daemons' look
//   around every ten seconds, takes as long as it takes. So the time to drain is never shorter than the bound of the policy.
// - The machine's power stays on. `reboot` is SIGKILL to both: nothing unsynced is lost. Cutting the power of a real kernel
//   is for a bench of its own.
// - The lab learns of a death some milliseconds after it. What a daemon did is ordered by one clock (`CLOCK_BOOTTIME`).
//
// Nothing is left running: a daemon ends with the process that started it, also when that is killed.

/// How a scenario is run live.
package struct LiveOptions: Sendable {
    /// So many times faster than the scenario says; `nil` for its own `liveScale`.
    package var scale: Double?
    /// Paths of the two daemons.
    package var executables: (watch: String, phone: String)
    /// The folder below which the run makes a fresh one.
    package var parent: String
    /// Whether the run's folder stays when something did not hold.
    package var keepsFolder: Bool
    /// Whether the report holds the whole history.
    package var keepsEntries: Bool
    /// Whether the run shall be given up, its processes ended and its folder removed. Asked every few milliseconds.
    package var isGivenUp: @Sendable () -> Bool = { false }
    /// Told every second what each daemon that runs holds.
    package var sampled: @Sendable (LiveSample) -> Void = { _ in }

    package init(
        scale: Double? = nil, executables: (watch: String, phone: String), parent: String, keepsFolder: Bool = false,
        keepsEntries: Bool = false
    ) {
        self.scale = scale
        self.executables = executables
        self.parent = parent
        self.keepsFolder = keepsFolder
        self.keepsEntries = keepsEntries
    }
}

/// What a daemon of a run held at a moment.
package struct LiveSample: Sendable {
    package var side: Side
    /// Since the run began.
    package var at: Duration
    /// How many recordings there were so far.
    package var recordedCount: Int
    package var holdings: ProcessHoldings
}

package enum LivePair {
    /// Looks at the disks of a run: its places, how many watches, and the moment that the census is given.
    package typealias CensusTaking = (PairPlaces, UInt8, Moment) throws(FileSystemError) -> Census

    /// Runs a scenario to its end and judges it. Several runs at a time, on threads of their own, do not meet. `progress`
    /// gets a line for each thing that is done.
    ///
    /// Throws what keeps the lab from running it; what went wrong in the run stands in the report.
    package static func run(
        _ scenario: Scenario, _ options: LiveOptions, census: @escaping CensusTaking,
        progress: ((String) -> Void)? = nil
    ) throws(LiveError) -> RunReport {
        let folder = try LiveDisk.makeFolder(below: options.parent)
        let run = LiveRun(scenario, options, folder: folder, census: census, progress: progress)
        defer { run.end() }
        let report: RunReport
        do {
            report = try run.run()
        } catch {
            run.end()
            try? LiveDisk.remove(folder)
            throw error
        }
        if options.keepsFolder, report.outcome != .held {
            progress?("its folder is kept: \(folder)")
        } else {
            try LiveDisk.remove(folder)
        }
        return report
    }
}
