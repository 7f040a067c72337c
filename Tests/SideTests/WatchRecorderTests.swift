import Simulation
import Spooling
import Testing
import WatchSide
import WireContract

@Suite struct WatchRecorderTests {
    @Test func nobodyIsToldBeforeContentAndNameAreDurable() throws {
        let world = try WatchWorld()
        let traced = InstrumentedFileSystem(world.disk.asProcess("record"))
        let ids = try world.record(100, on: traced)
        #expect(ids.count == 100)
        for id in ids {
            let path = "/watch/recordings/\(id).note"
            #expect(world.disk.durableContent(path) == world.disk.content(path))
            let part = "\(path).part"
            let written = traced.trace.last { $0.operation == .write && $0.paths == [part] }?.number ?? .max
            let synced = traced.trace.first { $0.operation == .syncAll && $0.number > written }?.number ?? .max
            let published = traced.trace.first { $0.operation == .publish && $0.paths.last == path }?.number ?? -1
            let named = traced.trace.first {
                $0.operation == .syncDirectory && $0.paths == ["/watch/recordings"] && $0.number > published
            }
            #expect(written < synced && synced < published && named != nil)
        }
        // Two batches: 64 and 36.
        #expect(traced.trace.count { $0.operation == .syncAll } == 2)
    }

    /// Of the audio alone, at both ends: without dictionary and seal.
    @Test func whatIsToldOfARecordingNamesItsAudio() throws {
        let world = try WatchWorld()
        try world.disk.makeDirectory("/user")
        try world.disk.plant("/user/b.opus", bytes: [9, 8, 7])
        let id = try world.record([.file(path: "/user/b.opus", durationSeconds: 2)]).compactMap { outcome in
            if case .recorded(let id, _) = outcome { id } else { nil }
        }
        let told = world.log.all(.recorded)
        #expect(told.map(\.id) == id && id.count == 1)
        #expect(told.map(\.byteCount) == [3])
        #expect(told.map(\.checksums) == [Checksums(of: [9, 8, 7])])
    }

    @Test func whatWasToldSurvivesAnyLossOfPower() throws {
        for seed in 0..<50 {
            let world = try WatchWorld()
            let ids = try world.record(7)
            let before = ids.map { world.disk.content("/watch/recordings/\($0).note") }
            world.disk.losePower(.random(seed: UInt64(seed)))
            #expect(ids.map { world.disk.content("/watch/recordings/\($0).note") } == before)
        }
    }

    @Test func aLossOfPowerAtAnyCallLosesNothingThatWasTold() throws {
        let whole = try WatchWorld()
        let counted = InstrumentedFileSystem(whole.disk.asProcess("record"))
        // Two batches, so that ids were told when the power goes in the second one.
        let count = 66
        #expect(try whole.record(count, seconds: 0, on: counted).count == count)
        var toldCount = 0
        for number in stride(from: 1, through: counted.callCount, by: 3) {
            let world = try WatchWorld()
            let doomed = InstrumentedFileSystem(
                world.disk.asProcess("record"), injections: [Injection(.call(number), .dieAfter)],
                onDeath: { world.disk.losePower(.random(seed: UInt64(number))) })
            let ids = (try? world.record(count, seconds: 0, on: doomed)) ?? []
            toldCount += ids.count
            #expect(ids.allSatisfy { world.recordings.contains($0) }, "cut at call \(number)")
            // And whatever lies there under a final name is whole, or is noticed.
            try world.start()
            world.settle()
            for entry in world.entries {
                #expect(Self.isWhole(world.disk.content("/spool/to-phone/\(entry)") ?? []), "cut at call \(number)")
            }
            #expect(world.temporaries == [], "cut at call \(number)")
        }
        #expect(toldCount > 0)
    }

    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        guard let seal = try? Seal(bytes.suffix(Seal.byteCount), fileByteCount: UInt64(bytes.count)) else {
            return false
        }
        return Checksums(of: bytes.prefix(Int(seal.bodyByteCount))) == seal.bodyChecksums
    }

    @Test func aFailingSyncRecordsNothingAndTriesNothingTwice() throws {
        for operation in [FileSystemError.Operation.syncAll, .sync, .syncDirectory] {
            let count = operation == .sync ? 2 : 10
            let world = try WatchWorld()
            let faulty = InstrumentedFileSystem(
                world.disk.asProcess("record"),
                injections: [
                    Injection(
                        .every { $0 == operation && ($1.last?.hasPrefix("/watch/recordings") ?? false) },
                        .fail(.inputOutput))
                ])
            #expect(try world.record(count, on: faulty) == [])
            #expect(world.recordings == [] && world.temporaries == [])
            let tried = faulty.trace.count {
                $0.operation == operation && ($0.paths.last?.hasPrefix("/watch/recordings") ?? false)
            }
            #expect(tried == (operation == .sync ? count : 1))
        }
    }

    @Test func sourcesThatAreNoneAreRefusedAndTheOthersAreRecorded() throws {
        let world = try WatchWorld()
        guard let tone = ToneWAV(durationSeconds: 0.5, frequencyHertz: 300) else { return }
        let wav = tone.bytes(offset: 0, count: 100_000)
        try world.disk.makeDirectory("/user")
        try world.disk.plant("/user/a.wav", bytes: wav)
        try world.disk.plant("/user/cut.wav", bytes: Array(wav.prefix(2_000)))
        try world.disk.plant("/user/empty.wav")
        try world.disk.plant("/user/fifo", kind: .fifo)
        try world.disk.plant("/user/b.opus", bytes: [9, 9, 9, 9, 9])
        try world.disk.plant("/user/secret.wav", bytes: wav, permissions: 0)
        func file(_ name: String, _ seconds: Double? = nil) -> RecordingSource {
            .file(path: "/user/\(name)", durationSeconds: seconds)
        }
        let outcomes = try world.record([
            file("a.wav"), file("cut.wav"), file("empty.wav"), file("fifo"), file("b.opus"), file("missing.wav"),
            file("secret.wav"), .file(path: "/user", durationSeconds: nil), file("b.opus", 3), file("a.wav"),
        ])
        let words = outcomes.map { outcome in
            switch outcome {
            case .recorded: "recorded"
            case .failed(.malformed): "malformed"
            case .failed(.disk(let error)): "\(error.reason)"
            }
        }
        #expect(
            words == [
                "recorded", "malformed", "malformed", "malformed", "malformed", "no such file or directory",
                "permission denied", "malformed", "recorded", "recorded",
            ])
        #expect(world.recordings.count == 3 && world.temporaries == [])
        let listed = try WatchInspection(home: "/watch", spool: "/spool", fileSystem: world.disk.asProcess("list"))
            .list()
        #expect(listed.map { $0.fileExtension?.description } == ["wav", "opus", "wav"])
        #expect(listed.map(\.durationSeconds) == [0.5, 3, 0.5])
        #expect(listed.map(\.timeZoneID) == ["Europe/Berlin", "Europe/Berlin", "Europe/Berlin"])
        #expect(listed.map(\.state) == [.recorded, .recorded, .recorded])
        // The body is the file.
        guard let first = listed.first?.name, let sealed = world.disk.content("/watch/recordings/\(first)") else {
            Issue.record("nothing is listed")
            return
        }
        #expect(Array(sealed.prefix(wav.count)) == wav)
    }

    @Test func aDiskThatIsNearlyFullRefusesARecordingAndKeepsRoomForAcks() throws {
        let world = try WatchWorld(capacityByteCount: 4 * 1_024 * 1_024)
        let outcomes = try world.record(5, seconds: 60)  // 960 kB each
        #expect(outcomes.count == 2)
        #expect(world.temporaries == [])
        let status = try WatchInspection(home: "/watch", spool: "/spool", fileSystem: world.disk.asProcess("status"))
            .status()
        #expect(status.homeSpace.freeByteCount >= status.homeSpace.reserveByteCount)
        #expect(status.recordingCount == 2 && status.holder == nil && status.startNumber == nil)
    }

    @Test func aRecorderNeedsNoDaemonAndDisturbsNone() throws {
        let world = try WatchWorld()
        try world.start()
        world.settle()
        let ids = try world.record(2)
        world.settle()
        #expect(world.entries.map(\.id) == ids)
        let inspection = WatchInspection(home: "/watch", spool: "/spool", fileSystem: world.disk.asProcess("list"))
        #expect(try inspection.status().holder == "the test")
        #expect(try inspection.list().map(\.state) == world.entries.map { .outstanding($0) })
        // Looking takes no lock away from anybody.
        world.kill()
        #expect(try inspection.status().holder == nil)
        try world.start()
    }

    @Test func anOddPathGivesNoExtension() throws {
        let world = try WatchWorld()
        try world.disk.makeDirectory("/user.dir")
        let names = ["plain", ".wav", "a.", "a.toolongext", "a.w v", "a.M4A"]
        for name in names { try world.disk.plant("/user.dir/\(name)", bytes: [1, 2, 3, 4, 5]) }
        _ = try world.record(names.map { .file(path: "/user.dir/\($0)", durationSeconds: 1) })
        let listed = try WatchInspection(home: "/watch", spool: "/spool", fileSystem: world.disk.asProcess("list"))
            .list()
        #expect(listed.map { $0.fileExtension?.description } == ["", "", "", "", "", "M4A"])
    }

    @Test func theHundredthRecordingLooksAtNoMoreThanTheSecond() throws {
        let disk = SimulatedFileSystem(capacityByteCount: 64 * 1_024 * 1_024)
        let process = InstrumentedFileSystem(disk.asProcess("record"))
        var draw = SplitMix64(seed: 1)
        let recorder = try Recorder(
            home: "/watch", settings: RecorderSettings(payloadVersion: 1, timeZoneID: nil),
            surroundings: Surroundings(
                fileSystem: process, history: WatchLog(), random: { draw.next() }, shouldStop: { false },
                holder: "record"),
            wallMilliseconds: { 1_700_000_000_000 })
        let tone = try #require(ToneWAV(durationSeconds: 0.06, frequencyHertz: 440))
        recorder.record([.tone(tone), .tone(tone)]) { _, _ in }
        let first = process.callCount
        recorder.record([.tone(tone), .tone(tone)]) { _, _ in }
        let second = process.callCount - first
        for _ in 0..<48 { recorder.record([.tone(tone), .tone(tone)]) { _, _ in } }
        let before = process.callCount
        recorder.record([.tone(tone), .tone(tone)]) { _, _ in }
        #expect(process.callCount - before == second)
    }
}
