import LinkFaults
import Replay
import Scenarios
import Spooling

// Whether a scenario asks for anything at its end: only after everything that may stand in the way was taken away is it
// wrong that a recording is still on the watch.

extension Scenario {
    /// Both sides run, the link is clean, nothing refuses, the disks have room, and each understands what the other writes.
    var isHealed: Bool {
        var plan = settings.link
        var isRunning: [Side: Bool] = [.watch: settings.startsBoth, .phone: settings.startsBoth]
        var hasRoom: [Side: Bool] = [
            .watch: settings.watchCapacityByteCount == nil, .phone: settings.phoneCapacityByteCount == nil,
        ]
        var (session, handler, container) = (SessionState.active, PhoneHandler.normal, ContainerState.open)
        var understands: [Side: Int] = [.watch: settings.watchUnderstands, .phone: settings.phoneUnderstands]
        var written: [Side: Int] = [.watch: settings.payloadVersion, .phone: settings.ackVersion]
        var servedWatch = 1
        for timed in steps {
            switch timed.step {
            case .start(let side): isRunning[side] = true
            case .stop(let side), .kill(let side, _): isRunning[side] = false
            case .build(let side, let reads, let writes):
                isRunning[side] = true
                if let reads { understands[side] = reads }
                if let writes { written[side] = max(written[side] ?? 1, writes) }
            case .link(let new): plan = new
            case .capacity(let side, let change): hasRoom[side] = change == .unlimited
            case .session(let state): session = state
            case .handler(let state): handler = state
            case .container(let state): container = state
            case .switchWatch(let number):
                servedWatch = number
                isRunning[.watch] = true
            case .record, .reachable, .rawMetadata, .rawUserInfo, .wipe, .keepCopy, .restoreCopy, .replacePhone, .veto,
                .delete,
                .cancel, .clock, .reboot:
                break
            }
        }
        func canRead(_ reader: Side, _ writer: Side) -> Bool {
            (understands[reader] ?? 1) >= (written[writer] ?? 1)
        }
        let isClean = plan.toPhone.isClean && plan.toWatch.isClean
        let refusesNothing = session == .active && handler == .normal && container == .open
        return isClean && refusesNothing && Side.both.allSatisfy { isRunning[$0] == true && hasRoom[$0] == true }
            && (canRead(.phone, .watch) || expectsToOwe) && canRead(.watch, .phone) && servedWatch == 1
    }
}
