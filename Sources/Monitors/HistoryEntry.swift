package import Spooling
package import WireContract

// One history for both worlds: what the two daemons say that they did (`PairEvent`), and what their world did to them or
// saw (`WorldEvent`), in one order.

/// One line of the history.
package struct HistoryEntry: Hashable, Sendable {
    package enum Source: UInt8, Hashable, Sendable {
        case watch, phone, world
    }

    package enum What: Hashable, Sendable {
        case pair(PairEvent)
        case world(WorldEvent)
    }

    /// Of one clock for all sources: virtual time, or the machine's monotonic clock.
    package var moment: Moment
    /// Grows with every entry of a history; orders what happened at one moment.
    package var sequence: UInt64
    package var source: Source
    /// Which watch, from 1, where a phone is switched between several.
    package var watchNumber: UInt8
    package var what: What

    package init(
        moment: Moment, sequence: UInt64, source: Source, watchNumber: UInt8 = 1, _ what: What
    ) {
        self.moment = moment
        self.sequence = sequence
        self.source = source
        self.watchNumber = watchNumber
        self.what = what
    }

    /// The recording that it is about.
    package var id: ULID? {
        switch what {
        case .pair(let event): event.id
        case .world(let event): event.id
        }
    }
}

/// What a driver of the pair did, or saw. Everything that excuses a daemon (a user's act, a lost disk) has to be told here:
/// the monitors do not take a daemon's word for it.
package enum WorldEvent: Hashable, Sendable {
    /// `record` returned with success. `byteCount` and `checksums` are those of the audio; `version` is its payload's.
    case recordReturned(ULID, byteCount: UInt64, checksums: Checksums, version: Int)

    case started(Side, Build)
    /// Told to end, and it ended; or it ended by itself because nothing was owed.
    case stopped(Side)
    case killed(Side)
    /// Both sides are gone and so may be whatever was not synced.
    case powerLost

    case wiped(WipedPart)
    /// A copy of a home was kept, to be put back by `restored`.
    case copyKept(Side)
    case restored(Side)
    case phoneReplaced
    /// From now on the phone serves that watch, from 1.
    case watchSwitched(to: UInt8)
    case containerLocked, containerSignedOut
    /// Unlocked, or signed in again: the container is there as it was.
    case containerOpened
    /// Somebody changed something in the container behind the phone's back.
    case containerTouched
    /// Somebody removed a recording from the watch by hand.
    case removedByHand(ULID)

    case vetoAsked(ULID)
    case vetoAnswered(ULID, isDone: Bool)
    case deleteAsked(ULID)
    case deleteAnswered(ULID, isDone: Bool)

    /// Someone other than the watch put an entry into the spool. `version` is `nil` for a payload without a usable one.
    case entryPlanted(ULID?, checksums: Checksums, version: Int?)
    case ackPlanted(ULID, PairingID)

    case faultsBegan
    /// From here on everything drains within the bound.
    case faultsEnded

    /// Of this side's history something may be missing: its journal failed, filled its disk, or rotated.
    case historyGap(Side)
    /// Somebody looked at the disks while nothing was under way.
    indirect case census(Census)

    package var id: ULID? {
        switch self {
        case .recordReturned(let id, _, _, _), .removedByHand(let id), .vetoAsked(let id), .vetoAnswered(let id, _),
            .deleteAsked(let id), .deleteAnswered(let id, _), .ackPlanted(let id, _):
            id
        case .entryPlanted(let id, _, _): id
        case .started, .stopped, .killed, .powerLost, .wiped, .copyKept, .restored, .phoneReplaced, .watchSwitched,
            .containerLocked, .containerSignedOut, .containerOpened, .containerTouched, .faultsBegan, .faultsEnded,
            .historyGap, .census:
            nil
        }
    }
}

/// Which versions a build reads and writes: of the watch, acks and payloads; of the phone, payloads and acks.
package struct Build: Hashable, Sendable {
    package var understands: Int
    package var writes: Int

    package init(understands: Int = 1, writes: Int = 1) {
        self.understands = understands
        self.writes = writes
    }
}

/// What can be wiped from under a daemon.
package enum WipedPart: Hashable, Sendable {
    case container, ledger, spool
    case home(Side)
}
