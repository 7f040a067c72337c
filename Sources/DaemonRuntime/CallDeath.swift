import LinkFaults
package import Spooling

/// What `--die-at N`, `--die-after N` and `--count-calls` ask for: a death at one call through the seam, and how many calls
/// there are to die at. For a bench that tries each of them; without these options nothing lies in between.
package struct CallDeath: Sendable {
    private let point: DiePoint?
    private let countsCalls: Bool

    /// What the daemons and `watch-sim record` take.
    package static let options: [Option] = [
        Option(
            "--die-at", .integer(1...1_000_000_000), "N", section: "Replaying",
            help: "End by SIGKILL before this process's N-th call to the disk: a crash at a known place."),
        Option(
            "--die-after", .integer(1...1_000_000_000), "N", section: "Replaying",
            help: "The same behind that call. Not together with --die-at, which is obeyed then."),
        Option(
            "--count-calls", section: "Replaying",
            help:
                "Say on standard error at the end how many calls to the disk there were, and how many of them were syncs."
        ),
    ]

    package init(_ command: ParsedCommand) {
        countsCalls = command.flag("--count-calls")
        if let number = command.integer("--die-at") {
            point = .beforeCall(Int(clamping: number))
        } else if let number = command.integer("--die-after") {
            point = .afterCall(Int(clamping: number))
        } else {
            point = nil
        }
    }

    /// A disk that does to `inner` what was asked for; `inner` itself when nothing was.
    package func disk(over inner: any FileSystem, of side: Side) -> any FileSystem {
        guard point != nil || countsCalls else { return inner }
        var steering = Steering()
        // Calls are counted while there is an order, so one that no run reaches counts them all.
        steering.die = DieOrder(side: side, number: 1, isFresh: true, point: point ?? .beforeCall(.max))
        return SteeredFileSystem(inner, side: side, atStart: steering)
    }

    /// Says how many calls there were, if that was asked for. `disk` is what `disk(over:of:)` answered.
    package func tell(_ disk: any FileSystem, toolName: String) {
        guard countsCalls, let counting = disk as? SteeredFileSystem else { return }
        standardError("\(toolName): \(counting.syncCount) syncs, \(counting.callCount) calls")
    }
}
