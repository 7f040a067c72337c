import Foundation
import Spooling
import WireContract

// One source, written and sealed under a temporary name: body, dictionary, seal. Nothing is synced here.

struct RecordingSealer {
    private let settings: RecorderSettings
    private let fileSystem: any FileSystem
    private let carrier: SliceCarrier
    private let shouldStop: () -> Bool
    private let others: OtherRecordings

    init(_ settings: RecorderSettings, _ surroundings: Surroundings) {
        self.settings = settings
        fileSystem = surroundings.fileSystem
        shouldStop = surroundings.shouldStop
        others = OtherRecordings(surroundings.fileSystem)
        carrier = SliceCarrier(fileSystem: surroundings.fileSystem, shouldStop: surroundings.shouldStop)
    }

    /// The temporary, open and locked, its length, and the seal that stands in it. When it throws, the temporary may be
    /// left.
    func seal(
        _ source: RecordingSource, id: ULID, milliseconds: UInt64, in recordings: borrowing OpenDirectory
    ) throws(RecordingFailure) -> (FileBox, UInt64, Seal) {
        switch source {
        case .file(let path, let durationSeconds):
            let file = try openSource(path)
            let byteCount = try plainByteCount(of: file)
            let duration = try duration(of: file, byteCount, otherwise: durationSeconds)
            let note = try note(id, milliseconds, duration, Self.fileExtension(of: path))
            return try write(note, bodyByteCount: byteCount, in: recordings) { (target) throws(RecordingFailure) in
                try copy(file, byteCount, to: target)
            }
        case .tone(let tone):
            let note = try note(id, milliseconds, tone.durationSeconds, FileExtension("wav") ?? .none)
            return try write(note, bodyByteCount: tone.byteCount, in: recordings) { (target) throws(RecordingFailure) in
                try play(tone, to: target)
            }
        }
    }

    // MARK: The source

    private func openSource(_ path: String) throws(RecordingFailure) -> OpenFile {
        do {
            return try fileSystem.openSource(path)
        } catch {
            throw .disk(error)
        }
    }

    private func plainByteCount(of file: borrowing OpenFile) throws(RecordingFailure) -> UInt64 {
        let status: FileStatus
        do {
            status = try fileSystem.status(of: file)
        } catch {
            throw .disk(error)
        }
        switch status.kind {
        case .regular: break
        case .directory: throw .malformed("it is a directory; name the files in it")
        case .fifo: throw .malformed("it is a FIFO; write it into a file first")
        case .socket: throw .malformed("it is a socket; name a plain file")
        case .device: throw .malformed("it is a device; write it into a file first")
        case .symbolicLink, .other: throw .malformed("it is not a plain file; name one")
        }
        guard status.byteCount > 0 else { throw .malformed("it is empty; name a file with audio in it") }
        return status.byteCount
    }

    private func duration(
        of file: borrowing OpenFile, _ byteCount: UInt64, otherwise given: Double?
    ) throws(RecordingFailure) -> Double {
        let verdict: AudioProbe.Verdict
        do {
            verdict = try probe(file, byteCount)
        } catch {
            throw .disk(error)
        }
        switch verdict {
        case .duration(let seconds, _): return seconds
        case .broken(let format, let reason):
            throw .malformed("a broken \(format.rawValue) file: \(reason); repair it with an audio tool first")
        case .unknownFormat:
            guard let given else { throw .malformed("its duration cannot be told; give it with --duration") }
            return given
        }
    }

    private func probe(
        _ file: borrowing OpenFile, _ byteCount: UInt64
    ) throws(FileSystemError) -> AudioProbe.Verdict {
        try AudioProbe.probe(byteCount: byteCount) { (offset, count) throws(FileSystemError) in
            try fileSystem.readAll(file, at: offset, byteCount: count)
        }
    }

    /// One to eight letters and digits behind the last point of the last component, or none.
    static func fileExtension(of path: String) -> FileExtension {
        let name = path.split(separator: "/").last ?? ""
        guard let point = name.lastIndex(of: "."), point != name.startIndex else { return .none }
        return FileExtension(String(name[name.index(after: point)...])) ?? .none
    }

    // MARK: The note

    private struct Note {
        let id: ULID
        let dictionary: [UInt8]
        let fileExtension: FileExtension
    }

    private func note(
        _ id: ULID, _ milliseconds: UInt64, _ duration: Double, _ fileExtension: FileExtension
    ) throws(RecordingFailure) -> Note {
        let payload = AudioNotePayload(
            id: id.description, recordedAt: Date(timeIntervalSince1970: Double(milliseconds) / 1_000),
            duration: duration, timeZoneID: settings.timeZoneID)
        do {
            let dictionary = try TransferLimit.encode(payload.dictionary(version: settings.payloadVersion))
            return Note(id: id, dictionary: dictionary, fileExtension: fileExtension)
        } catch {
            throw .malformed("its metadata cannot be carried: \(error)")
        }
    }

    private func write(
        _ note: Note, bodyByteCount: UInt64, in recordings: borrowing OpenDirectory,
        body: (borrowing OpenFile) throws(RecordingFailure) -> Checksums
    ) throws(RecordingFailure) -> (FileBox, UInt64, Seal) {
        let tailByteCount = UInt64(note.dictionary.count + Seal.byteCount)
        let (byteCount, overflow) = bodyByteCount.addingReportingOverflow(tailByteCount)
        guard !overflow else { throw .malformed("it is too large; split it") }
        let name = FileName.recording(note.id)
        let target: OpenFile
        do throws(FileSystemError) {
            // With less there would be no room for its copy in the spool, nor for the acks that free some.
            guard try hasRoom(for: byteCount, in: recordings) else {
                throw FileSystemError(.create, recordings.displayPath(of: name), .noSpace)
            }
            target = try fileSystem.createTemporary(for: name, in: recordings)
            others.add(byteCount: byteCount)
        } catch {
            throw .disk(error)
        }
        let sums = try body(target)
        let seal = Seal(
            kind: .note, bodyByteCount: bodyByteCount, bodyChecksums: sums, dictionary: note.dictionary,
            pairing: PairingID(rawValue: 0), fileExtension: note.fileExtension)
        do {
            try fileSystem.writeAll(target, at: bodyByteCount, note.dictionary + seal.bytes)
        } catch {
            throw .disk(error)
        }
        return (FileBox(target), byteCount, seal)
    }

    private func hasRoom(
        for byteCount: UInt64, in recordings: borrowing OpenDirectory
    ) throws(FileSystemError) -> Bool {
        let space = try fileSystem.space(of: recordings)
        if space.hasRoom(forRecordingOf: byteCount, beside: .most(on: space)) { return true }
        return try space.hasRoom(forRecordingOf: byteCount, beside: others.look(in: recordings))
    }

    // MARK: The body

    private func copy(
        _ file: borrowing OpenFile, _ byteCount: UInt64, to target: borrowing OpenFile
    ) throws(RecordingFailure) -> Checksums {
        let sums: Checksums?
        do {
            sums = try carrier.copy(file, to: target, byteCount: byteCount)
        } catch {
            throw .disk(error)
        }
        guard let sums else { throw .malformed("it became shorter while it was read; try again") }
        return sums
    }

    private func play(_ tone: ToneWAV, to target: borrowing OpenFile) throws(RecordingFailure) -> Checksums {
        var sums = Checksums.ofNothing
        var offset: UInt64 = 0
        while offset < tone.byteCount {
            if offset > 0, shouldStop() { throw .disk(FileSystemError(.write, target.displayPath, .stopped)) }
            let slice = tone.bytes(offset: offset, count: SliceCarrier.sliceByteCount)
            slice.withUnsafeBytes { sums.append($0) }
            do {
                try fileSystem.writeAll(target, at: offset, slice)
            } catch {
                throw .disk(error)
            }
            offset += UInt64(slice.count)
        }
        return sums
    }
}

/// What else `recordings/` holds: looked up once, and then counted as this recorder adds to it. A look at each recording
/// for every new one would make ten thousand of them cost fifty million calls. What other recorders make in the same moment is
/// not seen, so two of them may together take more than they should; then a person has to make room.
private final class OtherRecordings {
    private let fileSystem: any FileSystem
    private var known: RecordingsOnDisk?

    init(_ fileSystem: any FileSystem) { self.fileSystem = fileSystem }

    func look(in recordings: borrowing OpenDirectory) throws(FileSystemError) -> RecordingsOnDisk {
        if let known { return known }
        var names: [FileName] = []
        try fileSystem.forEachName(in: recordings) { name in
            names.append(name)
            return true
        }
        var found = RecordingsOnDisk()
        for name in names {
            do {
                found.add(byteCount: try fileSystem.status(of: name, in: recordings).byteCount)
            } catch  where error.reason == .notFound {
                // Acked and deleted in between.
                continue
            }
        }
        known = found
        return found
    }

    func add(byteCount: UInt64) {
        known?.add(byteCount: byteCount)
    }
}
