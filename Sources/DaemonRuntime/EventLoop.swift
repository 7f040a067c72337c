// What a daemon waits for: news of directories, a signal to stop, a deadline.
//
// One loop for one process, on the thread that made it. News is a hint and never the truth: names may be missing (then it
// says `rescan`) or be gone again when the daemon looks; what counts is what lies in the directory. So the order is: first
// `watch`, then list the directory once, then `wait`; what arrives between the two is news, and found twice at worst.
//
// Signals are taken from the kernel as data (`signalfd`, `EVFILT_SIGNAL`), not in a handler: a handler may run between any
// two instructions, in which next to nothing is allowed. For that they are blocked in the thread that makes the loop, and
// in every thread that it starts afterwards: make the loop first thing in `main`. A stop request sticks: once seen, each
// `wait` returns at once with it. SIGPIPE and SIGXFSZ are ignored, so that a reader that went away and a limit on file size
// come as errors of `write`. Children inherit the mask; who starts one resets it (`POSIX_SPAWN_SETSIGMASK`).

package import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Why the kernel gives no news.
package struct EventLoopError: Error, Sendable, CustomStringConvertible {
    package var description: String
}

/// What happened in a directory that is watched.
package struct DirectoryChange: Sendable, Equatable {
    package enum News: Sendable, Equatable {
        /// These names came or went, in this order; one may stand here more than once.
        case names([FileName])
        /// Something happened, and the daemon must look for itself: too many names, the kernel's queue ran over, the
        /// kernel tells no names here, or the directory itself was moved or deleted.
        case rescan
    }

    package var token: Int
    package var news: News

    package init(token: Int, news: News) {
        self.token = token
        self.news = news
    }
}

/// Why `wait` returned. At least one of the three holds.
package struct Wakeups: Sendable, Equatable {
    package var stop: StopSignal?
    /// In ascending order of the tokens, each at most once.
    package var changes: [DirectoryChange]
    package var deadlinePassed: Bool
}

/// The event loop of one daemon. Not for use from two threads.
package final class EventLoop {
    /// Names kept for one directory between two waits; with more it is `rescan`.
    package static let standardNameLimit = 4_096
    /// The kernel's timeouts stand still while the machine sleeps and `Moment` does not, so no single wait is longer.
    private static let longestSliceMilliseconds: UInt64 = 60_000
    /// `stopRequested` asks the kernel at most this often.
    private static let stopCheckInterval: Duration = .milliseconds(2)

    private let clock = MonotonicClock()
    private let events: PlatformEvents
    private var watches: [Watch] = []
    private var stop: StopSignal?
    private var nextStopCheck = Moment.zero
    private let nameLimit: Int
    /// Whose end is a request to stop.
    private var parent: Int64?
    private static let parentSliceMilliseconds: UInt64 = 500

    fileprivate struct Watch {
        var token: Int
        var id: PlatformEvents.WatchID
        var news: DirectoryChange.News?
    }

    /// Takes over SIGTERM, SIGINT and SIGHUP (SIGHUP not when it is ignored already, which is what `nohup` asks for).
    package init(nameLimit: Int = EventLoop.standardNameLimit) throws(EventLoopError) {
        self.nameLimit = nameLimit
        events = try PlatformEvents()
    }

    /// Asks for news of a directory under a token of the caller's choice, instead of the one that had that token before.
    /// Works on the open directory, whatever its path leads to by now, and keeps nothing borrowed.
    /// Only names of `interest` are told.
    package func watch(
        _ directory: borrowing OpenDirectory, as token: Int, for interest: Interest
    ) throws(EventLoopError) {
        unwatch(token)
        let id = try events.add(directory.handle.rawValue, for: interest, displayPath: directory.displayPath)
        let place = watches.firstIndex { $0.token > token } ?? watches.endIndex
        watches.insert(Watch(token: token, id: id, news: nil), at: place)
    }

    /// Ends the news under a token, also what was not told yet. A token that is not watched is fine.
    package func unwatch(_ token: Int) {
        guard let place = watches.firstIndex(where: { $0.token == token }) else { return }
        let id = watches.remove(at: place).id
        if !watches.contains(where: { $0.id == id }) { events.remove(id) }
    }

    /// From now on it is a request to stop, as SIGHUP is, when process `parent` is not this one's parent: that one has died,
    /// however it did. Looked at every half second, which needs nothing of the kernel that only one system has.
    package func stop(without parent: Int64) {
        self.parent = parent
    }

    private func lookForParent() {
        if let parent, stop == nil, Int64(getppid()) != parent { stop = .hangUp }
    }

    /// Waits until a directory changed, a stop is requested, or `deadline` has come (`nil`: no deadline). A deadline in the
    /// past is a look without waiting.
    package func wait(until deadline: Moment?) -> Wakeups {
        while true {
            let now = clock.now()
            lookForParent()
            let hasPassed = deadline.map { $0 <= now } ?? false
            let longest = parent == nil ? Self.longestSliceMilliseconds : Self.parentSliceMilliseconds
            let timeout = hasPassed || stop != nil ? 0 : Self.milliseconds(from: now, to: deadline, atMost: longest)
            events.wait(milliseconds: timeout) { take($0) }
            let changes = takeChanges()
            if stop != nil || hasPassed || !changes.isEmpty {
                return Wakeups(stop: stop, changes: changes, deadlinePassed: hasPassed)
            }
        }
    }

    /// Whether a stop is requested, without waiting; cheap enough for every slice of a long copy.
    package func stopRequested() -> StopSignal? {
        if let stop { return stop }
        let now = clock.now()
        guard now >= nextStopCheck else { return nil }
        nextStopCheck = now + Self.stopCheckInterval
        lookForParent()
        if let stop { return stop }
        stop = events.pendingStop()
        return stop
    }

    private func take(_ event: PlatformEvents.Event) {
        switch event {
        // The first one decides the exit code.
        case .stop(let signal): stop = stop ?? signal
        case .overflow: for place in watches.indices { watches[place].news = .rescan }
        case .changed(let id): for place in places(of: id) { watches[place].news = .rescan }
        case .name(let name, let id): for place in places(of: id) { watches[place].add(name, limit: nameLimit) }
        }
    }

    /// One directory may be watched under several tokens; the kernel gives it one id.
    private func places(of id: PlatformEvents.WatchID) -> [Int] {
        watches.indices.filter { watches[$0].id == id }
    }

    private func takeChanges() -> [DirectoryChange] {
        watches.indices.compactMap { place in
            defer { watches[place].news = nil }
            return watches[place].news.map { DirectoryChange(token: watches[place].token, news: $0) }
        }
    }

    private static func milliseconds(from now: Moment, to deadline: Moment?, atMost longest: UInt64) -> Int32 {
        guard let deadline else { return Int32(longest) }
        // Rounded up: a wait that ends a little early would spin until the deadline.
        let milliseconds = (deadline.nanoseconds - now.nanoseconds).dividedRoundingUp(by: 1_000_000)
        return Int32(min(milliseconds, longest))
    }
}

extension EventLoop.Watch {
    fileprivate mutating func add(_ name: FileName, limit: Int) {
        switch news {
        case .rescan: break
        case nil: news = limit > 0 ? .names([name]) : .rescan
        case .names(var names):
            // Let go of the array while it grows, so that it is not copied for each name.
            news = nil
            if names.count >= limit {
                news = .rescan
            } else {
                names.append(name)
                news = .names(names)
            }
        }
    }
}

extension UInt64 {
    fileprivate func dividedRoundingUp(by divisor: UInt64) -> UInt64 {
        self / divisor + (self % divisor == 0 ? 0 : 1)
    }
}
