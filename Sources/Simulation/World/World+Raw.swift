import LinkFaults
import Monitors
import Replay
import Scenarios
import Spooling
import WireContract

// Bytes of somebody else: what another build, or anybody with a shell, puts into the spool.

extension World {
    /// A transfer to the phone with any bytes as its dictionary. What cannot be carried at all lies on the watch instead, as
    /// a recording whose transfer fails.
    func sendRawMetadata(_ raw: RawBytes) {
        rawCount += 1
        let entry = rawEnvelope(
            raw, kind: .note, pairing: PairingID(rawValue: 0), seed: scenario.seed, index: rawCount)
        guard entry.isCarriable else {
            let folder = "\(places.watchHome(servedWatch))/recordings"
            guard isThere(folder) else { return }
            let path = "\(folder)/\(FileName.recording(entry.nameID))"
            actOnDisk { () throws(FileSystemError) in try disk.plant(path, bytes: entry.bytes) }
            hasLostTrack = true
            tell(.entryPlanted(entry.nameID, checksums: entry.checksums, version: nil))
            return everybodyLooks()
        }
        guard isThere(folder(for: .note)) else { return }
        tell(.entryPlanted(entry.id, checksums: entry.checksums, version: entry.version))
        plant(entry)
    }

    func sendRawUserInfo(_ raw: RawBytes) {
        rawCount += 1
        let pairing = spoolPairing() ?? PairingID(rawValue: 0)
        let entry = rawEnvelope(raw, kind: .ack, pairing: pairing, seed: scenario.seed, index: rawCount)
        guard isThere(folder(for: .ack)) else { return }
        if let id = entry.id { tell(.ackPlanted(id, pairing)) }
        plant(entry)
    }

    private func folder(for kind: EnvelopeKind) -> String {
        "\(places.spool(servedWatch))/\(kind == .note ? "to-phone" : "to-watch")"
    }

    /// Where no daemon has made the folders yet, or not again since somebody wiped them, nobody can put anything.
    private func isThere(_ folder: String) -> Bool { disk.status(folder) != nil }

    private func plant(_ entry: RawEntry) {
        actOnDisk { () throws(FileSystemError) in
            try disk.plant("\(folder(for: entry.kind))/\(entry.entryName)", bytes: entry.bytes)
        }
        everybodyLooks()
    }

    private func spoolPairing() -> PairingID? {
        let view = disk.asProcess("somebody")
        defer { view.kill() }
        do throws(FileSystemError) {
            let root = try view.openRoot(places.spool(servedWatch), create: false)
            let directory = try view.openDirectory("pairing", in: root, create: false)
            return try NameRegister(in: directory, of: view).flatMap { PairingID(utf8: $0.value.utf8) }
        } catch {
            return nil
        }
    }
}
