// One side of the pair as something that can be driven: by the event loop of a daemon, or by virtual time in the lab.
//
// An engine is a pure node plus the stores that carry its directives out. Whoever drives it tells it the moment and what
// the kernel said, calls `step`, and waits until the deadline that `step` named or until there is news, whichever comes
// first. News only shortens the wait: the engine looks at everything itself every `rescanSeconds`, so lost news costs time
// and nothing else.

/// A directory of which an engine wants news.
package enum Place: Int, Hashable, Sendable, CaseIterable {
    case recordings, toPhone, toWatch, requests, spool
}

/// Which names are news.
package enum Interest: Hashable, Sendable {
    case arrivals, departures, both
}

/// What the kernel said about a place.
package enum News: Hashable, Sendable {
    /// These names appeared or went.
    case names([FileName])
    /// Something happened; look at all of it.
    case rescan
}

package enum EngineTiming {
    /// How often an engine looks at every place although nobody told it to.
    package static let rescanSeconds = 10
    /// How soon it tries again what a full or failing disk refused.
    package static let refusedSeconds = 2
    /// How long it waits at most before it tries that once more: whoever made room sees it go on within half a minute.
    package static let longestRefusedSeconds = 30
}

/// The waits between tries of something that is refused again and again: doubled each time, from `refusedSeconds` up to
/// `longestRefusedSeconds`. So a wait is never much longer than it was refused until then, and a disk that stays full for
/// weeks does not keep a watch awake.
package struct RefusalPause: Hashable, Sendable {
    private var refusalCount = 0

    package init() {}

    /// It was refused (again): so long until the next try.
    package mutating func next() -> Duration {
        refusalCount += 1
        return Duration.seconds(EngineTiming.refusedSeconds)
            .doubled(attempts: refusalCount, cap: .seconds(EngineTiming.longestRefusedSeconds))
    }

    /// It went well.
    package mutating func end() { refusalCount = 0 }
}

extension Duration {
    /// This wait after the first of `attempts`, doubled at each of the others, up to `cap`.
    package func doubled(attempts: Int, cap: Duration) -> Duration {
        var wait = self
        for _ in 1..<max(2, min(attempts, 64)) where attempts > 1 {
            if wait >= cap { return cap }
            wait = wait + wait
        }
        return min(wait, cap)
    }
}

/// Everything that an engine needs from the world it runs in.
package struct Surroundings {
    package let fileSystem: any FileSystem
    package let history: any History
    /// 64 random bits. For nonces only; no decision depends on them.
    package let random: () -> UInt64
    /// Whether the process was told to stop; asked between two slices of a long copy.
    package let shouldStop: () -> Bool
    /// Hears what the kernel has to tell by now, in the middle of a step that takes long.
    package let listen: () -> Void
    /// What a second process is told about who holds a lock, on one line.
    package let holder: String

    package init(
        fileSystem: any FileSystem, history: any History, random: @escaping () -> UInt64,
        shouldStop: @escaping () -> Bool, holder: String, listen: @escaping () -> Void = {}
    ) {
        self.fileSystem = fileSystem
        self.history = history
        self.random = random
        self.shouldStop = shouldStop
        self.holder = holder
        self.listen = listen
    }
}

package protocol Engine: AnyObject {
    /// Grows whenever the directories behind the places changed (a spool that came back): then ask anew.
    var placesGeneration: Int { get }

    /// Calls `body` for each directory of which news is wanted, and of what. Names that are told are of that kind; whoever
    /// cannot tell the kinds apart says `rescan`.
    func forEachPlace(_ body: (Place, Interest, borrowing OpenDirectory) -> Void)

    /// Takes news in; acts on it at the next `step`.
    func hear(_ news: News, of place: Place)

    /// Does what is due at `now`, in bounded batches, and names the moment at which it wants to be called again
    /// (`now` itself when there is more to do at once). Never throws: what a disk, a peer or a user can cause is
    /// recorded as an event and tried again.
    func step(at now: Moment) -> Moment

    /// When it wants to be called again even if nothing changes anywhere; `nil` for never. Its looks around are not in it,
    /// unless something waits for one. In virtual time, where no news is lost, nobody needs to look at a world that stands
    /// still.
    var deadlineIfNothingChanges: Moment? { get }

    /// Whether nothing is owed by this side: see `--until-drained`.
    var isDrained: Bool { get }

    /// Says goodbye in the history. Locks go with the engine.
    func stop()
}
