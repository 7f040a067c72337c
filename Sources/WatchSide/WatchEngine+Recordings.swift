import Spooling
import WireContract

// Recordings: what lies in `recordings/`, made by `record`, which may be another process and needs no lock.

extension WatchEngine {
    /// A look at each recording costs a call, so 100,000 new ones are met over several steps.
    private static let mostMetAtOnce = 1_024

    /// One batch; whether there is more to do at once.
    func lookAtRecordings(at now: Moment) -> Bool {
        do throws(FileSystemError) {
            if wantsRecordingListing {
                try listRecordings(at: now)
                wantsRecordingListing = false
                recordingNews = []
            }
            let names = recordingNews
            recordingNews = []
            for name in names { try meet(name, at: now) }
            for _ in 0..<Self.mostMetAtOnce {
                guard let id = newIDs.popLast() else { break }
                try meet(.recording(id), at: now)
            }
            troubles.clear(.recordings)
            return !newIDs.isEmpty
        } catch {
            wantsRecordingListing = true
            trouble(.recordings, error, at: now)
            return false
        }
    }

    /// All of it, in one pass: what is known already is only counted, what is new is sorted.
    private func listRecordings(at now: Moment) throws(FileSystemError) {
        var new: [ULID] = []
        var strange: [FileName] = []
        var knownCount = 0
        // Asked of one copy: through the engine's own, each question would copy it.
        let known = node
        try fileSystem.forEachName(in: home.recordings) { name in
            if let id = name.recordingID {
                if known.holds(id) { knownCount += 1 } else { new.append(id) }
            } else if !name.isPartial, strange.count < 64 {
                strange.append(name)
            }
            return true
        }
        newIDs = new.sorted(by: >)
        for name in strange.sorted() { refuse(name, "no recording has such a name; move it away") }
        guard knownCount < node.count else { return }
        // Somebody removed one by hand. Which, is asked for only then.
        for id in node.sortedIDs { try meet(.recording(id), at: now) }
    }

    /// Looks at one name of which there is news.
    private func meet(_ name: FileName, at now: Moment) throws(FileSystemError) {
        guard let id = name.recordingID else {
            if !name.isPartial { refuse(name, "no recording has such a name; move it away") }
            return
        }
        do {
            let byteCount = try home.byteCount(ofRecording: id)
            switch (byteCount, node.holds(id)) {
            case (let byteCount?, false): found(id, byteCount: byteCount, at: now)
            case (nil, true): gone(id, at: now)
            case (_?, true), (nil, false): break
            }
        } catch {
            guard case .refused(let refusal) = error.reason else { throw error }
            refuse(name, "\(refusal); \(refusal.remedy)")
        }
    }

    func found(_ id: ULID, byteCount: UInt64, at now: Moment) {
        record(PairEvent(.found, id: id, byteCount: byteCount))
        var directives: [WatchDirective] = []
        tell(.recordingFound(id, byteCount: byteCount), at: now, into: &directives)
    }

    /// Somebody removed it by hand. An entry of it may still arrive; its ack is then a stray.
    func gone(_ id: ULID, at now: Moment) {
        record(PairEvent(.failed, id: id, detail: "the recording is gone, and it was not this watch that deleted it"))
        var directives: [WatchDirective] = []
        tell(.recordingGone(id), at: now, into: &directives)
    }
}
