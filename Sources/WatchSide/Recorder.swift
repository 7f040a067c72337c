package import Spooling
package import WireContract

// Recording: a source becomes a sealed file in `recordings/`, durable before anyone is told its id.
//
// | on disk | it is | who goes on |
// |---|---|---|
// | `<id>.note.part`, locked | being written | the recorder |
// | `<id>.note.part`, nobody's lock | what a killed recorder left | the next start of the daemon sweeps it |
// | `<id>.note`, not told | as good as recorded; whoever asked was not told so | the daemon sends it |
// | `<id>.note`, told | recorded (P1) | the daemon sends it until it is acked |
//
// The price is syncs, so sources are sealed in batches: contents, one barrier, names, one sync of the directory, ids.
// It takes no lock: a daemon may run or not, and several recorders may at once.

/// What is to be recorded.
package enum RecordingSource: Equatable, Sendable {
    /// A file of the user's. `durationSeconds` counts when its headers do not tell.
    case file(path: String, durationSeconds: Double?)
    case tone(ToneWAV)

    /// For messages.
    package var name: String {
        switch self {
        case .file(let path, _): path
        case .tone(let tone): "a tone of \(tone.durationSeconds) s"
        }
    }
}

/// Why a source was not recorded. Nothing of it is left.
package enum RecordingFailure: Error, Hashable, Sendable {
    /// The source cannot be a recording; the reason is one clause.
    case malformed(String)
    case disk(FileSystemError)
}

package enum RecordingOutcome: Hashable, Sendable {
    /// Durable.
    case recorded(ULID, byteCount: UInt64)
    case failed(RecordingFailure)
}

/// What is written into every recording of one recorder.
package struct RecorderSettings: Hashable, Sendable {
    /// The version of the payload dictionary.
    package var payloadVersion: Int
    /// The IANA zone, or nil when it is unknown.
    package var timeZoneID: String?

    package init(payloadVersion: Int, timeZoneID: String?) {
        self.payloadVersion = payloadVersion
        self.timeZoneID = timeZoneID
    }
}

package final class Recorder {
    private let home: WatchHome
    private let fileSystem: any FileSystem
    private let history: any History
    private let random: () -> UInt64
    private let sealer: RecordingSealer
    private let wallMilliseconds: () -> UInt64
    private let givenMint: ((UInt64) -> ULID)?
    private var minter = ULID.Minter()

    private static let batchCount = 64
    private static let batchByteCount: UInt64 = 16 * 1_024 * 1_024

    /// Opens the home, making it when it is missing. `wallMilliseconds` reads the wall clock, in milliseconds since 1970.
    /// `mint` makes an id of such a reading, once for each source in their order; random ids when it is not given. A run
    /// that is replayed numbers its recordings in their ids (`ULID.ordinal`). Each call must give another id.
    package init(
        home path: String, settings: RecorderSettings, surroundings: Surroundings,
        wallMilliseconds: @escaping () -> UInt64, mint: ((_ millisecondsSince1970: UInt64) -> ULID)? = nil
    ) throws(FolderError) {
        home = try WatchHome(at: path, fileSystem: surroundings.fileSystem, nonce: surroundings.random())
        fileSystem = surroundings.fileSystem
        history = surroundings.history
        random = surroundings.random
        sealer = RecordingSealer(settings, surroundings)
        self.wallMilliseconds = wallMilliseconds
        givenMint = mint
    }

    private struct Sealed {
        let index: Int
        let id: ULID
        let file: FileBox
        let byteCount: UInt64
        let seal: Seal
    }

    /// Records all of `sources`, and calls `report` once for each, in batches: with its index, when it is durable or has
    /// failed. One that fails does not keep the others from being recorded. Stops between two of them when told to.
    package func record(_ sources: some Sequence<RecordingSource>, report: (Int, RecordingOutcome) -> Void) {
        var batch: [Sealed] = []
        var batchByteCount: UInt64 = 0
        for (index, source) in sources.enumerated() {
            do throws(RecordingFailure) {
                let sealed = try seal(source, index: index)
                batch.append(sealed)
                batchByteCount += sealed.byteCount
            } catch {
                report(index, .failed(error))
            }
            if batch.count >= Self.batchCount || batchByteCount >= Self.batchByteCount {
                finish(batch, report)
                batch = []
                batchByteCount = 0
            }
        }
        finish(batch, report)
    }

    /// Writes a source's sealed file under its temporary name.
    private func seal(_ source: RecordingSource, index: Int) throws(RecordingFailure) -> Sealed {
        let milliseconds = wallMilliseconds()
        let id =
            givenMint?(milliseconds)
            ?? minter.mint(
                millisecondsSince1970: milliseconds, random: (UInt16(truncatingIfNeeded: random()), random()))
        do {
            let (file, byteCount, seal) = try sealer.seal(
                source, id: id, milliseconds: milliseconds, in: home.recordings)
            return Sealed(index: index, id: id, file: file, byteCount: byteCount, seal: seal)
        } catch {
            unlinkTemporary(id)
            throw error
        }
    }

    /// Makes a batch durable, publishes it and tells. The locks on the temporaries are held until here.
    private func finish(_ batch: [Sealed], _ report: (Int, RecordingOutcome) -> Void) {
        guard !batch.isEmpty else { return }
        let failures = fileSystem.syncContents(of: batch.map(\.file), on: home.recordings)
        var published: [Sealed] = []
        for (sealed, failure) in zip(batch, failures) {
            do throws(FileSystemError) {
                // Final for this file: what is on the disk is unknown. The source is still there.
                if let failure { throw failure }
                let name = FileName.recording(sealed.id)
                try fileSystem.publish(name.partial, in: home.recordings, as: name, in: home.recordings)
                published.append(sealed)
            } catch {
                unlinkTemporary(sealed.id)
                report(sealed.index, .failed(.disk(error)))
            }
        }
        guard !published.isEmpty else { return }
        do throws(FileSystemError) {
            try fileSystem.sync(home.recordings)
        } catch {
            // Nobody was told, so these are no recordings yet. A daemon may have sent one already: its ack is a stray.
            for sealed in published {
                _ = try? fileSystem.unlinkIfThere(.recording(sealed.id), in: home.recordings)
                report(sealed.index, .failed(.disk(error)))
            }
            return
        }
        for sealed in published {
            history.record(
                PairEvent(
                    .recorded, id: sealed.id, byteCount: sealed.seal.bodyByteCount,
                    checksums: sealed.seal.bodyChecksums))
        }
        history.commit()
        for sealed in published { report(sealed.index, .recorded(sealed.id, byteCount: sealed.byteCount)) }
    }

    private func unlinkTemporary(_ id: ULID) {
        // If even this fails, the next start sweeps it.
        _ = try? fileSystem.unlinkIfThere(FileName.recording(id).partial, in: home.recordings)
    }
}
