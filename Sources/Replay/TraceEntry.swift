import Monitors
import Spooling

// How one entry of a history is shown: its thread, its title, its arguments.

extension HistoryEntry {
    var track: ChromeTrace.Track {
        switch what {
        case .world: return .world
        case .pair(let event):
            switch event.kind {
            case .enqueued, .requeued, .transferFinished, .cancelled, .spoolFull, .lostByLink, .damagedByLink:
                return .link
            case .started, .stopped, .paired, .refused, .setAside, .failed, .spoolReopened, .recorded, .found,
                .ackReceived, .strayAck, .deleted, .taken, .staged, .duplicate, .waits, .ingested, .acked, .vetoed,
                .userDeleted, .discarded, .containerLost:
                switch source {
                case .watch: return .watch
                case .phone: return .phone
                case .world: return .world
                }
            }
        }
    }

    /// Whether the arrow of its recording goes through it.
    var flowRole: FlowRole? {
        switch what {
        case .world(.recordReturned): return .begins
        case .world: return nil
        case .pair(let event):
            guard event.phase == .did else { return nil }
            switch event.kind {
            case .deleted: return .ends
            case .recorded, .enqueued, .requeued, .lostByLink, .taken, .ingested, .vetoed, .waits, .acked, .ackReceived:
                return .passes
            case .started, .stopped, .paired, .refused, .setAside, .failed, .spoolReopened, .damagedByLink, .found,
                .transferFinished, .strayAck, .cancelled, .spoolFull, .staged, .duplicate, .userDeleted, .discarded,
                .containerLost:
                return nil
            }
        }
    }

    var scope: TraceScope {
        switch what {
        case .pair: return .thread
        case .world(let event):
            switch event {
            case .powerLost, .faultsBegan, .faultsEnded: return .global
            case .started, .stopped, .killed, .wiped, .restored, .phoneReplaced, .watchSwitched, .containerLocked,
                .containerSignedOut, .containerOpened, .historyGap:
                return .process
            case .recordReturned, .copyKept, .containerTouched, .removedByHand, .vetoAsked, .vetoAnswered,
                .deleteAsked, .deleteAnswered, .entryPlanted, .ackPlanted, .census:
                return .thread
            }
        }
    }

    var title: String {
        switch what {
        case .pair(let event):
            switch event.phase {
            case .did: event.kind.rawValue
            case .intends: "intends \(event.kind.rawValue)"
            }
        case .world(let event): event.title
        }
    }

    func arguments(ordinal: Int?) -> [TraceArgument] {
        var arguments: [TraceArgument] = []
        if let id { arguments.append(.text("id", id.description)) }
        if let ordinal { arguments.append(.number("ordinal", UInt64(ordinal))) }
        switch what {
        case .pair(let event):
            if track == .link { arguments.append(.text("toldBy", "\(source)")) }
            if let name = event.name { arguments.append(.text("name", name.description)) }
            if let byteCount = event.byteCount { arguments.append(.number("byteCount", byteCount)) }
            if let attempt = event.attempt { arguments.append(.number("attempt", UInt64(max(0, attempt)))) }
            if let pairing = event.pairing { arguments.append(.text("pairing", pairing.description)) }
            if let detail = event.detail { arguments.append(.text("detail", detail)) }
        case .world(let event): arguments += event.arguments
        }
        if watchNumber != 1 { arguments.append(.number("watch", UInt64(watchNumber))) }
        return arguments
    }
}

extension WorldEvent {
    fileprivate var title: String {
        switch self {
        case .recordReturned: "record returned"
        case .started(let side, _): "started \(side.rawValue)"
        case .stopped(let side): "stopped \(side.rawValue)"
        case .killed(let side): "killed \(side.rawValue)"
        case .powerLost: "power lost"
        case .wiped(.container): "wiped container"
        case .wiped(.ledger): "wiped ledger"
        case .wiped(.spool): "wiped spool"
        case .wiped(.home(let side)): "wiped home of \(side.rawValue)"
        case .copyKept(let side): "kept a copy of \(side.rawValue)"
        case .restored(let side): "restored \(side.rawValue)"
        case .phoneReplaced: "phone replaced"
        case .watchSwitched(let number): "switched to watch \(number)"
        case .containerLocked: "container locked"
        case .containerSignedOut: "container signed out"
        case .containerOpened: "container opened"
        case .containerTouched: "container touched"
        case .removedByHand: "removed by hand"
        case .vetoAsked: "veto asked"
        case .vetoAnswered(_, let isDone): isDone ? "veto done" : "veto not done"
        case .deleteAsked: "delete asked"
        case .deleteAnswered(_, let isDone): isDone ? "delete done" : "delete not done"
        case .entryPlanted: "entry planted"
        case .ackPlanted: "ack planted"
        case .faultsBegan: "faults began"
        case .faultsEnded: "faults ended"
        case .historyGap(let side): "gap in the history of \(side.rawValue)"
        case .census: "census"
        }
    }

    fileprivate var arguments: [TraceArgument] {
        switch self {
        case .recordReturned(_, let byteCount, _, let version):
            [.number("byteCount", byteCount), .number("version", UInt64(max(0, version)))]
        case .started(_, let build):
            [
                .number("understands", UInt64(max(0, build.understands))),
                .number("writes", UInt64(max(0, build.writes))),
            ]
        case .ackPlanted(_, let pairing): [.text("pairing", pairing.description)]
        case .census(let census):
            [
                .number("onWatch", UInt64(census.recordings.count)),
                .number("inContainer", UInt64(census.container.count)),
                .number("inStaging", UInt64(census.staging.count)), .number("entries", UInt64(census.entries.count)),
                .number("acks", UInt64(census.acks.count)),
            ]
        case .stopped, .killed, .powerLost, .wiped, .copyKept, .restored, .phoneReplaced, .watchSwitched,
            .containerLocked, .containerSignedOut, .containerOpened, .containerTouched, .removedByHand, .vetoAsked,
            .vetoAnswered, .deleteAsked, .deleteAnswered, .entryPlanted, .faultsBegan, .faultsEnded, .historyGap:
            []
        }
    }
}
