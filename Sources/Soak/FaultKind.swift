// The kinds of faults that a drawn scenario may have, and how often each is on.
//
// Swarm testing (Groce, Zhang, Eide, Chen, Regehr: "Swarm Testing", ISSTA 2012): when every run has everything, what one
// fault does is drowned by the others, and mixes that need the absence of something never occur. So whole kinds are switched
// off at random. What lasts for the rest of a run or takes recordings out of it (another watch, a wiped phone) is on less
// often than what passes.

package enum FaultKind: String, CaseIterable, Sendable {
    case linkToPhone, linkToWatch, linkChanges, rules, outages, bursts, stuckHead, bandwidth
    case killNow, killAtCall, stop, reboot, lateStart
    case payloadVersions, ackVersions
    case watchCapacity, phoneCapacity, stagingCap
    case locked, signedOut, wipeContainer, wipeLedger, wipeSpool
    case copyOfWatch, copyOfPhone, replacePhone, switchWatch
    case veto, delete, cancel
    case clock, session, handler, reachable
    case rawMetadata, rawUserInfo
    case largeNotes, emptyNotes
    case futureAtTheEnd

    var chance: Double {
        switch self {
        case .linkToPhone, .linkToWatch: 0.6
        case .linkChanges, .killNow, .killAtCall, .stop, .reboot: 0.4
        case .outages, .bursts, .rules, .session, .handler, .locked, .veto, .delete, .cancel, .reachable: 0.25
        case .stuckHead, .bandwidth, .watchCapacity, .phoneCapacity, .clock, .rawMetadata, .rawUserInfo: 0.2
        case .payloadVersions, .ackVersions, .signedOut, .wipeSpool, .wipeLedger, .lateStart: 0.15
        case .wipeContainer, .copyOfWatch, .copyOfPhone, .replacePhone, .switchWatch, .stagingCap: 0.1
        case .largeNotes, .emptyNotes, .futureAtTheEnd: 0.08
        }
    }
}
