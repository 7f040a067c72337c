import Spooling
import WireContract

@testable import PhoneSide
@testable import Simulation

// The judge of the pair: looks at the disk, and believes nothing that either side says of itself.
//
// What `record` told is the only thing it takes from the pair. From then on it checks, at the very call:
//
// - P1: a recording that was not final yet is durably on the watch, byte for byte (after every step, at every death)
// - P2: at the unlink of a recording, an ack of its id and of the spool's pairing lies in `to-watch`
// - P3: at the rename that shows an ack, that id is final *durably*: veto, row `deleted`, or row `ingested` and content
// - P4, P5: at the rename into the container, no other file has this id, and the bytes are those that were recorded
// - law 5 of P6: at the rename into `to-phone`, it is the only entry of its recording

enum PairPath {
    static let watch = "/pair/watch"
    static let phone = "/pair/phone"
    static let spool = "/pair/spool"
    static let recordings = "/pair/watch/recordings/"
    static let toPhone = "/pair/spool/to-phone/"
    static let toWatch = "/pair/spool/to-watch/"
    static let staging = "/pair/phone/staging/"
    static let inbox = "/pair/phone/inbox/"
    static let container = "/pair/phone/container/"
    static let ledger = "/pair/phone/ledger/"
    static let vetoes = "/pair/phone/vetoes/"

    static func recording(_ id: ULID) -> String { recordings + "\(id).note" }
    static func last(_ path: String) -> String {
        String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    }
}

extension SimulatedFileSystem {
    /// The paths directly in a directory, sorted. (`paths()` walks all of the disk, and is asked for much more often here
    /// than in a test of one side.)
    func paths(directlyIn directory: String, in view: DiskView = .written) -> [String] {
        guard let number = try? kernel.image.resolve(directory, in: view) else { return [] }
        let names = view == .written ? kernel.image[number].names : kernel.image[number].durableNames
        return names.keys.sorted().map { "\(directory)/\($0)" }
    }
}

final class PairMonitor {
    struct Told {
        let body: [UInt8]
        let fileExtension: String
        /// Written for a later build: stays in staging (P7), and outside P6 until such a build runs.
        var isOfTheFuture: Bool
    }

    let disk: SimulatedFileSystem
    private(set) var told: [ULID: Told] = [:]
    /// In the order of telling.
    private(set) var ids: [ULID] = []
    /// What was final, durably, at some moment.
    private(set) var finalOnce: Set<ULID> = []
    /// What the user vetoed or deleted: not in the container at the end.
    var unwanted: Set<ULID> = []
    /// What was final before somebody else wiped the phone, or a part of it.
    var mayBeAbsent: Set<ULID> = []
    /// Several spools that are or were this pair's: an ack may lie in one that was just moved away.
    var spoolPaths = [PairPath.spool]
    /// Entries that a cut of the power, or somebody, left with a second name: no side touches them, and none is a transfer any more.
    private var refusedEntries: Set<String> = []
    private(set) var violations: [String] = []
    private(set) var ackCount = 0

    init(_ disk: SimulatedFileSystem) { self.disk = disk }

    func violated(_ text: String) {
        if violations.count < 12 { violations.append(text) }
    }

    func tell(_ id: ULID, _ recording: Told) {
        if told[id] == nil { ids.append(id) }
        told[id] = recording
        check(after: "record returned")
    }

    /// A third party took it away: the pair answers for it no more.
    func excuse(_ id: ULID) {
        told[id] = nil
        ids.removeAll { $0 == id }
    }

    /// A third party wiped what the phone held, or put an older copy in its place. What was final was so once, and the
    /// watch need not have it any more.
    func phoneWasWiped() {
        mayBeAbsent.formUnion(finalOnce)
        mayBeAbsent.formUnion(unwanted)
        unwanted = []
    }

    /// A third party put an older copy of the watch in its place.
    func watchWasReplaced() {
        for id in ids where !finalOnce.contains(id) && disk.content(PairPath.recording(id)) == nil { excuse(id) }
    }

    /// A phone build runs that understands everything.
    func theFutureHasCome() {
        for id in ids { told[id]?.isOfTheFuture = false }
    }

    func lookForSecondNames() {
        for path in disk.paths(directlyIn: "/pair/spool/to-phone") where (disk.status(path)?.linkCount ?? 1) > 1 {
            refusedEntries.insert(path)
        }
    }

    // MARK: P1

    func check(after what: @autoclosure () -> String) {
        for id in ids where !finalOnce.contains(id) {
            guard let recording = told[id] else { continue }
            guard let durable = disk.durableContent(PairPath.recording(id)) else {
                violated("P1: \(id) is neither durable on the watch nor was it final; after \(what())")
                finalOnce.insert(id)
                continue
            }
            if durable.count < recording.body.count + Seal.byteCount
                || Array(durable.prefix(recording.body.count)) != recording.body
            {
                violated("P1: the watch's copy of \(id) is not what was recorded; after \(what())")
            }
        }
    }

    // MARK: Finality

    /// `nil` when `id` is final durably; otherwise what is missing.
    func missingFinality(_ id: ULID) -> String? {
        if disk.durableContent(PairPath.vetoes + "\(id)") != nil { return nil }
        guard let row = durableRow(of: id) else { return "no durable row" }
        switch row.outcome {
        case .deleted: return nil
        case .ingesting: return "the durable row is `ingesting`"
        case .ingested: break
        }
        let held = heldPaths(of: id, in: .durable)
        guard let path = held.first, let durable = disk.durableContent(path) else {
            return "not durable in the container"
        }
        guard held.count == 1 else { return "durable \(held.count) times in the container" }
        guard row.content.byteCount == UInt64(durable.count), row.content.checksums == Checksums(of: durable) else {
            return "the container's durable bytes are not those of the row"
        }
        if let recording = told[id], durable != recording.body { return "other bytes than were recorded" }
        let inode = disk.status(path)?.inode
        for other in disk.paths(directlyIn: "/pair/phone/staging") where disk.status(other)?.inode == inode {
            return "\(other) shares its inode with the container"
        }
        return nil
    }

    func heldPaths(of id: ULID, in view: DiskView = .written) -> [String] {
        disk.paths(directlyIn: "/pair/phone/container", in: view).flatMap { month in
            disk.paths(directlyIn: month, in: view).filter { PairPath.last($0).hasPrefix(id.description) }
        }
    }

    private func durableRow(of id: ULID) -> LedgerRow? {
        let generations = disk.paths(directlyIn: "/pair/phone/ledger", in: .durable).filter { $0.hasSuffix(".ledger") }
        guard let last = generations.max(), let bytes = disk.durableContent(last) else { return nil }
        var found: LedgerRow?
        var position = 0
        while position < bytes.count {
            switch LedgerRow.read(bytes[position...]) {
            case .row(let row, let byteCount):
                if row.id == id { found = row }
                position += byteCount
            case .incomplete, .noRow: position += 1
            }
        }
        return found
    }

    // MARK: Acks

    /// Ids and pairings of the acks that these bytes are, in order; none when any of them is no ack.
    static func acks(_ bytes: [UInt8]) -> [(id: ULID, pairing: PairingID)] {
        var acks: [(id: ULID, pairing: PairingID)] = []
        var rest = bytes
        while !rest.isEmpty {
            guard rest.count >= Seal.byteCount else { return [] }
            var reader = BigEndianReader(rest.suffix(Seal.byteCount))
            let bodyByteCount: UInt64 = reader.next()
            let dictionaryByteCount: UInt32 = reader.next()
            let byteCount = Int(dictionaryByteCount) + Seal.byteCount
            guard bodyByteCount == 0, byteCount <= rest.count, let ack = ack(Array(rest.suffix(byteCount))) else {
                return []
            }
            acks.insert(ack, at: 0)
            rest.removeLast(byteCount)
        }
        return acks
    }

    private static func ack(_ bytes: [UInt8]) -> (id: ULID, pairing: PairingID)? {
        guard let seal = try? Seal(bytes.suffix(Seal.byteCount), fileByteCount: UInt64(bytes.count)), seal.kind == .ack
        else { return nil }
        let dictionaryBytes = Array(bytes.dropLast(Seal.byteCount))
        guard Checksums(of: dictionaryBytes) == seal.dictionaryChecksums,
            case .dictionary(let dictionary)? = try? BinaryPropertyList.decode(dictionaryBytes),
            case .understood(_, let id, _) = IngestAck.read(dictionary, understands: .max)
        else { return nil }
        return (id, seal.pairing)
    }

    func pairing(of spoolPath: String) -> PairingID? {
        disk.paths(directlyIn: spoolPath + "/pairing").last.flatMap { PairingID(utf8: $0.utf8.suffix(16)) }
    }

    private func isAckVisible(of id: ULID) -> Bool {
        for spoolPath in spoolPaths {
            let pairing = pairing(of: spoolPath)
            for path in disk.paths(directlyIn: spoolPath + "/to-watch") where path.hasSuffix(".ack") {
                let acks = Self.acks(disk.content(path) ?? [])
                if acks.contains(where: { $0.id == id && $0.pairing == pairing }) { return true }
            }
        }
        return false
    }
}

extension PairMonitor: PairObserver {
    func willPublish(_ path: String, as newPath: String, by process: String) {
        guard newPath.hasPrefix(PairPath.toWatch), process == "phone" else { return }
        // Whoever writes it may have that spool open still, wherever it was moved to.
        let candidates = spoolPaths.map { $0 + "/to-watch/" + PairPath.last(path) }
        let acks = Self.acks(candidates.lazy.compactMap { self.disk.content($0) }.first ?? [])
        if acks.isEmpty { violated("\(newPath) becomes visible and is no ack") }
        for ack in acks {
            ackCount += 1
            if let missing = missingFinality(ack.id) {
                violated("P3: an ack of \(ack.id) becomes visible: \(missing)")
            } else {
                finalOnce.insert(ack.id)
            }
        }
    }

    func didPublish(_ path: String, as newPath: String, by process: String) {
        if newPath.hasPrefix(PairPath.toPhone) {
            guard let entry = FileName(PairPath.last(newPath)).flatMap({ EntryName($0) }) else { return }
            let others = disk.paths(directlyIn: "/pair/spool/to-phone").filter {
                !$0.hasSuffix(".part") && $0.contains(entry.id.description)
                    && !refusedEntries.contains($0)
            }
            if others.count > 1 { violated("\(others.count) entries of \(entry.id) lie in the spool: \(others)") }
        } else if newPath.hasPrefix(PairPath.container) {
            guard let id = ULID(String(PairPath.last(newPath).prefix(26))) else {
                violated("\(newPath) is in the container and names no id")
                return
            }
            let held = heldPaths(of: id)
            if held.count > 1 { violated("P4: \(id) is in the container \(held.count) times: \(held)") }
            guard let recording = told[id] else { return }
            if disk.content(newPath) != recording.body { violated("P5: \(newPath) is not what was recorded") }
            if recording.isOfTheFuture {
                violated("P7: \(newPath) was ingested by a build that does not understand it")
            }
        }
    }

    func willUnlink(_ path: String, by process: String) {
        guard path.hasPrefix(PairPath.recordings), path.hasSuffix(".note"),
            let id = ULID(String(PairPath.last(path).prefix(26))), told[id] != nil
        else { return }
        // It may be gone already: then nothing is deleted.
        guard disk.content(path) != nil else { return }
        if process != "watch" { violated("P2: \(process) deletes the recording \(id)") }
        if !isAckVisible(of: id) { violated("P2: \(id) is deleted and no ack of it is visible") }
        if !finalOnce.contains(id) { violated("P1: \(id) is deleted and never was final") }
    }

    func didUnlink(_ path: String, by process: String) {}
    func didCreate(_ path: String, by process: String) {}
}
