import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

// A phone on a simulated disk, a spool that "another program of the same user" writes into, and a clock that stands still
// until somebody moves it.

final class PhoneWorld {
    let disk: SimulatedFileSystem
    var settings: PhoneSettings
    let homePath = "/pair/phone"
    var spoolPath = "/pair/spool"
    private(set) var history = PhoneHistory()
    private(set) var instrument: InstrumentedFileSystem
    private(set) var view: ProcessView
    private(set) var engine: PhoneEngine?
    var now = Moment(nanoseconds: 1_000_000_000)
    var shouldStop = false
    private var random = SplitMix64(seed: 99)
    private var entryCounter: UInt64 = 0
    var requestNonce: UInt64 = 0
    /// What happens when an injection kills the phone. Without it, its process ends.
    var onDeath: ((PhoneWorld) -> Void)?

    /// How often a phone may ask to be called again at once before that counts as spinning.
    static let mostSteps = 6_000

    init(_ disk: SimulatedFileSystem = SimulatedFileSystem(), settings: PhoneSettings = PhoneSettings()) {
        self.disk = disk
        self.settings = settings
        view = disk.asProcess("phone")
        instrument = InstrumentedFileSystem(view)
    }

    /// A phone that was started once, is idle, and whose disk is wholly durable.
    static func started(
        _ disk: SimulatedFileSystem = SimulatedFileSystem(), settings: PhoneSettings = PhoneSettings()
    ) throws -> PhoneWorld {
        let world = PhoneWorld(disk, settings: settings)
        try world.start()
        world.run()
        return world
    }

    /// The disk of such a phone, at rest and without a process.
    static func freshImage() throws -> DiskImage {
        let world = try started()
        world.quit()
        world.disk.losePower(.everything)
        return world.disk.snapshot()
    }

    /// Starts the phone as a new process. What was running is gone.
    func start(injections: [Injection] = []) throws {
        engine = nil
        if view.isAlive { view.kill() }
        view = disk.asProcess("phone")
        let own = view
        instrument = InstrumentedFileSystem(view, injections: injections) { [weak self] in
            if let self, let onDeath = self.onDeath { onDeath(self) } else { own.kill() }
        }
        engine = try PhoneEngine(
            homePath: homePath, spoolPath: spoolPath, settings: settings,
            surroundings: Surroundings(
                fileSystem: instrument, history: history, random: { [unowned self] in self.random.next() },
                shouldStop: { [unowned self] in self.shouldStop }, holder: "test"))
    }

    /// Starts the phone; that it dies or fails in its start is fine.
    func startIfItCan(injections: [Injection] = []) {
        do { try start(injections: injections) } catch { engine = nil }
    }

    func quit() {
        engine = nil
        view.kill()
    }

    func forgetHistory() { history = PhoneHistory() }

    /// Steps until nothing is due in the next `seconds`; with 0, until the phone waits for a later moment.
    func run(seconds: Int = 0, sourceLocation: SourceLocation = #_sourceLocation) {
        let end = now + .seconds(seconds)
        var steps = 0
        while let engine, !instrument.isDead {
            let next = engine.step(at: now)
            if next > now {
                steps = 0
                if next > end { break }
                now = next
            } else {
                steps += 1
                if steps > Self.mostSteps {
                    Issue.record("the phone asks to be called again at once, for ever", sourceLocation: sourceLocation)
                    break
                }
            }
        }
        if end > now { now = end }
    }

    /// News from the kernel, then as `run`.
    func hearAndRun(seconds: Int = 0) {
        engine?.hear(.rescan, of: .toPhone)
        run(seconds: seconds)
    }

    // MARK: The other end

    func entryName(_ id: ULID, attempt: Int = 1, kind: EnvelopeKind = .note) -> String {
        entryCounter += 1
        guard let start = StartNumber(rawValue: 3) else { preconditionFailure("3 has ten digits at most") }
        return EntryName(
            kind: kind, start: start, counter: entryCounter, nonce: UInt32(truncatingIfNeeded: random.next()), id: id,
            attempt: attempt
        ).description
    }

    /// Puts an envelope into the spool, as the watch does. Answers its path.
    @discardableResult
    func deliver(_ note: PhoneNote, attempt: Int = 1) throws -> String {
        try deliver(note.envelope, id: note.id, attempt: attempt)
    }

    @discardableResult
    func deliver(_ bytes: [UInt8], id: ULID, attempt: Int = 1) throws -> String {
        let path = "\(spoolPath)/to-phone/\(entryName(id, attempt: attempt))"
        try disk.write(bytes, to: path)
        return path
    }

    /// The ids of every ack in the spool, in the order of names. One that cannot be read is an issue.
    func acks() -> [ULID] { acks(among: disk.paths()) }

    func acks(among paths: [String]) -> [ULID] { ackEntries(among: paths).map(\.id) }

    struct AckEntry {
        let path: String
        let id: ULID
        let seal: Seal
        let dictionary: PropertyListDictionary
    }

    func ackEntries() -> [AckEntry] { ackEntries(among: disk.paths()) }

    private func ackEntries(among paths: [String]) -> [AckEntry] {
        let names = paths.names(in: "\(spoolPath)/to-watch").filter { $0.hasSuffix(".ack") }
        guard !names.isEmpty else { return [] }
        guard let directory = try? disk.openRoot("\(spoolPath)/to-watch", create: false) else {
            Issue.record("the spool cannot be opened")
            return []
        }
        var entries: [AckEntry] = []
        for name in names {
            guard let fileName = FileName(name), let own = try? disk.openOurs(fileName, in: directory),
                case .acks(let acks) = try? disk.inspectAcks(own.file, byteCount: own.byteCount),
                let entry = EntryName(fileName), entry.kind == .ack
            else {
                Issue.record("not a readable ack: \(name)")
                continue
            }
            for (index, ack) in acks.enumerated() {
                guard case .understood(_, let id, _) = IngestAck.read(ack.dictionary, understands: 9),
                    index > 0 || entry.id == id
                else {
                    Issue.record("the name says another id than the first ack: \(name)")
                    continue
                }
                entries.append(
                    AckEntry(
                        path: "\(spoolPath)/to-watch/\(name)", id: id, seal: ack.seal, dictionary: ack.dictionary))
            }
        }
        return entries
    }

    /// Takes the acks away, as the watch does.
    func takeAcks() throws {
        for name in names(in: "\(spoolPath)/to-watch") { try disk.remove("\(spoolPath)/to-watch/\(name)") }
    }

    // MARK: Looking

    func names(in directory: String) -> [String] { disk.paths().names(in: directory) }

    func phone(_ folder: String) -> [String] { names(in: "\(homePath)/\(folder)") }

    var inQuarantine: [QuarantineItem] {
        phone("quarantine").compactMap { FileName($0).flatMap(QuarantineItem.init) }.sorted()
    }

    var quarantineReasons: [String] { inQuarantine.map(\.reason.description) }

    /// Every file in the container, by path.
    var containerFiles: [String] { containerFiles(among: disk.paths()) }

    func containerFiles(among paths: [String]) -> [String] {
        paths.filter { $0.hasPrefix("\(homePath)/container/") && disk.status($0)?.kind == .regular }
    }

    func containerFiles(of id: ULID) -> [String] { containerFiles.filter { $0.contains(id.description) } }
}

// MARK: What a user asks for

extension PhoneWorld {
    /// As the command does it: publishes a request, waits until the holder took it up, reads the answer.
    func ask(_ verb: Request.Verb, _ subject: String) throws -> Answer? {
        requestNonce += 1
        let request = try #require(Request(nonce: requestNonce, verb: verb, subject: subject))
        let command = disk.asProcess("command")
        defer { command.kill() }
        let home = try command.openRoot(homePath, create: false)
        let box = RequestBox(
            directory: try command.openOurDirectory("requests", in: home, create: false), fileSystem: command)
        try box.ask(request)
        engine?.hear(.rescan, of: .requests)
        run()
        return try box.answer(to: request)
    }
}
