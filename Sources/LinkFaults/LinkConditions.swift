package import Spooling

// What a run does to the pair besides the link's plan, and what both daemons follow while they run.

/// The watch's session with the system.
package enum SessionState: String, Hashable, Sendable, CaseIterable {
    case active
    /// A transfer fails with `sessionInactive` (7016).
    case inactive
    /// A transfer fails with `deviceNotPaired` (7005).
    case notPaired
}

/// What the phone's app does with a file that the system hands it.
package enum PhoneHandler: String, Hashable, Sendable, CaseIterable {
    case normal
    /// Nobody listens: the system discards the file.
    case none
    /// It returns without having moved the file, which is then gone.
    case takesNothing
    /// Every note is vetoed for good.
    case vetoes
    /// It sends what it got back to where it came from.
    case echoes
}

package enum ContainerState: String, Hashable, Sendable, CaseIterable {
    case open
    /// Refuses reads and writes for a while, as data protection does while a device is locked.
    case locked
    /// The user signed out: it is gone, and comes back as it was.
    case signedOut
}

/// Everything that is in force at a moment.
package struct LinkConditions: Hashable, Sendable {
    package var plan = LinkPlan.clean
    /// When the plan came into force; outages, stalls and slots count from here. `CLOCK_BOOTTIME` is one clock for all
    /// processes of a machine, so two daemons agree.
    package var origin = Moment.zero
    package var session = SessionState.active
    /// Said to be reachable or not. Nothing may depend on it.
    package var isReachable = true
    package var handler = PhoneHandler.normal
    package var container = ContainerState.open

    package init() {}
}

/// An engine that lives behind a link.
package protocol LinkFollowing: AnyObject {
    /// From its next step on, these are in force. `now` is the moment of this call: the first one is made when the process
    /// begins, and a head that is stuck until a restart is stuck for processes that began before the plan did.
    func follow(_ conditions: LinkConditions, at now: Moment)
}
