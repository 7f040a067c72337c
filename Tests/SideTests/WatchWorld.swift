import Simulation
import Spooling
import WatchSide
import WireContract

/// Keeps what was recorded.
final class WatchLog: History {
    private(set) var events: [PairEvent] = []
    private(set) var commitCount = 0
    /// What somebody else does in the moment of an event.
    var onEvent: ((PairEvent) -> Void)?

    func record(_ event: PairEvent) {
        events.append(event)
        onEvent?(event)
    }

    func commit() { commitCount += 1 }

    func all(_ kind: PairEvent.Kind) -> [PairEvent] { events.filter { $0.kind == kind && $0.phase == .did } }
}

/// A watch on a simulated disk. The phone is played by the test, which reads and writes the spool.
final class WatchWorld {
    let disk: SimulatedFileSystem
    let log = WatchLog()
    var now = Moment(nanoseconds: 1_000_000_000)
    var policy = RetryPolicy(first: .seconds(10), cap: .seconds(160), patience: .seconds(60))
    var shouldStop = false
    private(set) var engine: WatchEngine?
    private(set) var process: ProcessView?
    private var randomness: UInt64 = 0
    private var wallMilliseconds: UInt64 = 1_790_000_000_000
    private var ackCount: UInt64 = 0

    static let pairing = PairingID(rawValue: 0xC0FFEE)

    init(capacityByteCount: UInt64? = nil, isPaired: Bool = true) throws {
        disk = SimulatedFileSystem(capacityByteCount: capacityByteCount)
        if isPaired { try pair(Self.pairing) }
    }

    func surroundings(_ fileSystem: any FileSystem) -> Surroundings {
        Surroundings(
            fileSystem: fileSystem, history: log,
            random: { [self] in
                randomness &+= 0x9E37_79B9_7F4A_7C15
                return randomness
            }, shouldStop: { [self] in shouldStop }, holder: "the test")
    }

    // MARK: The watch

    /// Records tones and answers the ids of those that are durable.
    @discardableResult
    func record(_ count: Int, seconds: Double = 0.06, on fileSystem: (any FileSystem)? = nil) throws -> [ULID] {
        guard let tone = ToneWAV(durationSeconds: seconds, frequencyHertz: 440) else { return [] }
        return try record([RecordingSource](repeating: .tone(tone), count: count), on: fileSystem)
            .compactMap {
                guard case .recorded(let id, _) = $0 else { return nil }
                return id
            }
    }

    /// Records sources; the outcomes in the order of the sources.
    func record(_ sources: [RecordingSource], on fileSystem: (any FileSystem)? = nil) throws -> [RecordingOutcome] {
        let recorder = try Recorder(
            home: "/watch", settings: RecorderSettings(payloadVersion: 1, timeZoneID: "Europe/Berlin"),
            surroundings: surroundings(fileSystem ?? disk.asProcess("record")),
            wallMilliseconds: { [self] in
                wallMilliseconds += 1
                return wallMilliseconds
            })
        var outcomes: [(Int, RecordingOutcome)] = []
        recorder.record(sources) { outcomes.append(($0, $1)) }
        return outcomes.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Starts a daemon, on `fileSystem` if one is given.
    func start(on fileSystem: (any FileSystem)? = nil) throws {
        let started = disk.asProcess("watch")
        engine = try WatchEngine(
            home: "/watch", spool: "/spool", settings: WatchSettings(policy: policy, understands: 1),
            surroundings: surroundings(fileSystem ?? started))
        process = started
    }

    func kill() {
        process?.kill()
        engine = nil
    }

    /// Steps until the watch wants to wait, and answers until when.
    @discardableResult
    func settle() -> Moment {
        guard let engine else { return now }
        for place in Place.allCases { engine.hear(.rescan, of: place) }
        for _ in 0..<10_000 {
            let next = engine.step(at: now)
            if next > now { return next }
        }
        preconditionFailure("it does not come to rest: \(log.events.suffix(3))")
    }

    /// Lets time pass, with the steps that the engine asks for.
    func pass(_ duration: Duration) {
        let end = now + duration
        while now < end {
            now = min(end, settle())
        }
        settle()
    }

    // MARK: What lies where

    private func names(_ directory: String) -> [FileName] {
        disk.paths().filter { $0.hasPrefix("\(directory)/") }
            .compactMap { FileName(String($0.dropFirst(directory.count + 1))) }
    }

    var recordings: [ULID] { names("/watch/recordings").compactMap(\.recordingID) }
    var entries: [EntryName] { names("/spool/to-phone").compactMap(EntryName.init) }
    var acks: [FileName] { names("/spool/to-watch") }
    var quarantine: [QuarantineItem] { names("/watch/quarantine").compactMap(QuarantineItem.init) }
    var temporaries: [String] { disk.paths().filter { $0.hasSuffix(".part") } }

    // MARK: The phone

    func pair(_ pairing: PairingID) throws {
        let phone = disk.asProcess("phone")
        let end = try SpoolEnd(at: "/spool", side: .phone, fileSystem: phone, holder: "phone", nonce: 1)
        try end.setPairing(pairing)
    }

    /// Takes every entry out of the spool.
    func takeAll() throws {
        for entry in entries { try disk.remove("/spool/to-phone/\(entry)") }
    }

    /// Acks as the phone does. `named` is the id in the ack's name, which nobody is to believe.
    @discardableResult
    func ack(
        _ id: ULID, pairing: PairingID = WatchWorld.pairing, version: Int = 1, named: ULID? = nil
    ) throws -> FileName {
        let bytes = Self.ack(IngestAck(id: id.description).dictionary(version: version), pairing: pairing)
        let name = ackName(named ?? id)
        try disk.write(bytes, to: "/spool/to-watch/\(name)")
        return name
    }

    /// Acks several in one file, as the phone does with what became final together.
    @discardableResult
    func ackTogether(_ ids: [ULID], pairings: [PairingID] = []) throws -> FileName {
        let bytes = ids.enumerated().flatMap { index, id in
            Self.ack(
                IngestAck(id: id.description).dictionary(version: 1),
                pairing: pairings.isEmpty ? WatchWorld.pairing : pairings[index])
        }
        let name = ackName(ids[0])
        try disk.write(bytes, to: "/spool/to-watch/\(name)")
        return name
    }

    func ackName(_ id: ULID) -> FileName {
        ackCount += 1
        guard let start = StartNumber(rawValue: 1) else { preconditionFailure("1 is a start number") }
        return EntryName(kind: .ack, start: start, counter: ackCount, nonce: 1, id: id, attempt: 1).fileName
    }

    static func ack(_ dictionary: PropertyListDictionary, pairing: PairingID) -> [UInt8] {
        guard let bytes = try? TransferLimit.encode(dictionary) else { preconditionFailure("an ack is small") }
        return bytes
            + Seal(
                kind: .ack, bodyByteCount: 0, bodyChecksums: .ofNothing, dictionary: bytes, pairing: pairing,
                fileExtension: .none
            ).bytes
    }
}
