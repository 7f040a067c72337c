import Monitors
import Spooling

/// The first occurrences of one recording, by their places in the history. CausalOrder.swift says what counts, and why.
struct NoteTrail {
    /// What has a first time, in the order of causes. `intends` of an ingest and of a deletion stand for themselves only
    /// until it is settled what became of them.
    enum Place: Int, CaseIterable {
        case recorded, enqueued, taken, staged, waits, setAside, vetoed, ingested, acked, ackReceived, deleted
        case ingestIntended, deleteIntended, duplicate
    }

    private var firsts = [Int?](repeating: nil, count: Place.allCases.count)
    private var setAsideReason = ""
    private var isAckPlanted = false
    private var outcome = CausalOrder.Outcome.pending

    func first(_ place: Place) -> Int? { firsts[place.rawValue] }

    private func has(_ place: Place) -> Bool { first(place) != nil }

    private mutating func mark(_ place: Place, _ position: Int) {
        if firsts[place.rawValue] == nil { firsts[place.rawValue] = position }
    }

    mutating func observe(_ entry: HistoryEntry, at position: Int) {
        switch entry.what {
        case .pair(let event): observe(event, entry.source, at: position)
        case .world(let event): observe(event, at: position)
        }
    }

    private mutating func observe(_ event: WorldEvent, at position: Int) {
        switch event {
        case .recordReturned: mark(.recorded, position)
        case .ackPlanted: isAckPlanted = true
        case .started, .stopped, .killed, .powerLost, .wiped, .copyKept, .restored, .phoneReplaced, .watchSwitched,
            .containerLocked, .containerSignedOut, .containerOpened, .containerTouched, .removedByHand, .vetoAsked,
            .vetoAnswered, .deleteAsked, .deleteAnswered, .entryPlanted, .faultsBegan, .faultsEnded, .historyGap,
            .census:
            break
        }
    }

    private mutating func observe(_ event: PairEvent, _ source: HistoryEntry.Source, at position: Int) {
        switch (event.kind, event.phase) {
        case (.acked, _): mark(.acked, position)
        case (.ingested, .intends): mark(.ingestIntended, position)
        case (.deleted, .intends): mark(.deleteIntended, position)
        case (_, .intends): break
        case (.enqueued, .did): mark(.enqueued, position)
        case (.taken, .did): mark(.taken, position)
        case (.staged, .did): mark(.staged, position)
        case (.waits, .did): mark(.waits, position)
        case (.setAside, .did):
            // On the watch it is an ack that is set aside, and that is no fate of the recording.
            guard source == .phone else { break }
            if !has(.setAside) { setAsideReason = event.detail ?? "" }
            mark(.setAside, position)
        case (.vetoed, .did):
            mark(.vetoed, position)
            outcome = .vetoed
        case (.ingested, .did):
            mark(.ingested, position)
            outcome = .ingested
        case (.userDeleted, .did): outcome = .deletedByUser
        // With a name it is a copy of what lies in staging, which says nothing about the note.
        case (.duplicate, .did): if event.name == nil { mark(.duplicate, position) }
        case (.ackReceived, .did): mark(.ackReceived, position)
        case (.deleted, .did): mark(.deleted, position)
        case (.started, .did), (.stopped, .did), (.paired, .did), (.refused, .did), (.failed, .did),
            (.spoolReopened, .did),
            (.lostByLink, .did), (.damagedByLink, .did), (.recorded, .did), (.found, .did), (.requeued, .did),
            (.transferFinished, .did), (.strayAck, .did), (.cancelled, .did), (.spoolFull, .did), (.discarded, .did),
            (.containerLost, .did):
            break
        }
    }

    /// Decides what the end says about the `intends` that are open. `isOnWatch` is `nil` when nobody looked at the end.
    mutating func settle(isOnWatch: Bool?) {
        if !has(.ingested), !has(.vetoed), let intended = first(.ingestIntended), has(.acked) || has(.duplicate) {
            mark(.ingested, intended)
            if outcome == .pending { outcome = .ingested }
        }
        // The line of the first ingest is lost; the one that is there is of a later one, after the container lost it.
        if let ingested = first(.ingested), let acked = first(.acked), acked < ingested,
            let duplicate = first(.duplicate), let intended = first(.ingestIntended), max(duplicate, intended) < acked
        {
            firsts[Place.ingested.rawValue] = intended
        }
        if !has(.deleted), let intended = first(.deleteIntended), isOnWatch == false { mark(.deleted, intended) }
        guard outcome == .pending else { return }
        if has(.waits) {
            outcome = .waits
        } else if has(.setAside) {
            outcome = .setAside
        }
    }

    func recording(ordinal: Int) -> CausalOrder.Recording {
        let isFinal = has(.ingested) || has(.vetoed)
        let wasAcked = has(.acked) || (!isAckPlanted && (has(.ackReceived) || has(.deleted)))
        let wasStaged = has(.staged) || has(.ingested) || has(.waits) || wasAcked
        let wasTaken = has(.taken) || wasStaged
        var marks: [CausalOrder.Mark] = [.recorded]
        if has(.enqueued) || wasTaken { marks.append(.enqueued) }
        if wasTaken { marks.append(.taken) }
        if wasStaged { marks.append(.staged) }
        // A veto may find the note waiting, or be there first.
        if has(.waits), !has(.vetoed) { marks.append(.waits) }
        if has(.setAside), !isFinal { marks.append(.setAside(reason: setAsideReason)) }
        if has(.vetoed) { marks.append(.vetoed) }
        if has(.ingested) { marks.append(.ingested) }
        if wasAcked { marks.append(.acked) }
        if has(.ackReceived) || has(.deleted) { marks.append(.ackReceived) }
        if has(.deleted) { marks.append(.deleted) }
        return .init(ordinal: ordinal, marks: marks, inversions: inversions, outcome: outcome)
    }

    private var inversions: [CausalOrder.Inversion] {
        var found: [CausalOrder.Inversion] = []
        func check(_ cause: Int?, _ causeMark: CausalOrder.Mark, _ effect: Place, _ effectMark: CausalOrder.Mark) {
            guard let cause, let effect = first(effect), effect < cause else { return }
            found.append(.init(early: effectMark, late: causeMark))
        }
        // Whichever made it final first.
        switch (first(.ingested), first(.vetoed)) {
        case (let ingested?, let vetoed?) where vetoed < ingested: check(vetoed, .vetoed, .acked, .acked)
        case (let ingested?, _): check(ingested, .ingested, .acked, .acked)
        case (nil, let vetoed): check(vetoed, .vetoed, .acked, .acked)
        }
        if !isAckPlanted { check(first(.acked), .acked, .ackReceived, .ackReceived) }
        check(first(.ackReceived), .ackReceived, .deleted, .deleted)
        return found
    }
}
