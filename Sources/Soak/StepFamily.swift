import LinkFaults
import Scenarios
import Spooling

/// Steps that belong together: one breaks something, another heals it.
enum StepFamily: Hashable {
    case life(Side)
    case disk(Side)
    case copies(Side)
    case session, reachable, handler, container, wipe, strangers, link, phones, watches, people, clock, power
}

extension Step {
    /// `nil` for `record`: recordings are what it is about.
    var family: StepFamily? {
        switch self {
        case .record: nil
        case .start(let side), .stop(let side), .kill(let side, _), .build(let side, _, _): .life(side)
        case .session: .session
        case .reachable: .reachable
        case .handler: .handler
        case .rawMetadata, .rawUserInfo: .strangers
        case .link: .link
        case .capacity(let side, _): .disk(side)
        case .container: .container
        case .wipe: .wipe
        case .keepCopy(let side), .restoreCopy(let side): .copies(side)
        case .replacePhone: .phones
        case .switchWatch: .watches
        case .veto, .delete, .cancel: .people
        case .clock: .clock
        case .reboot: .power
        }
    }
}
