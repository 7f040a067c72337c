import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

@Suite("Phone: the ledger")
struct PhoneLedgerTests {
    private static func row(_ ordinal: Int, _ outcome: Outcome = .ingested, dictionaryByteCount: Int = 90) -> Ledger.Row
    {
        Ledger.Row(
            id: PhoneNote.id(ordinal), outcome: outcome,
            content: NoteContent(
                byteCount: UInt64(ordinal), checksums: Checksums(crc32: UInt32(ordinal), adler32: 7),
                fileExtension: .none), dictionaryBytes: PhoneNote.body(ordinal, byteCount: dictionaryByteCount))
    }

    private func open(_ fileSystem: any FileSystem) throws -> Ledger {
        let root = DirectoryBox(try fileSystem.openRoot("/", create: true))
        _ = try fileSystem.openOurDirectory("ledger", in: root.directory, create: true)
        try fileSystem.sync(root.directory)
        return try Ledger(home: root, fileSystem: fileSystem)
    }

    private func ledgerFiles(_ disk: SimulatedFileSystem) -> [String] {
        disk.paths().filter { $0.hasPrefix("/ledger/") }
    }

    @Test("5,000 rows come back, the last one of an id counts, lists are in order, dictionaries are as they came")
    func manyRows() throws {
        let disk = SimulatedFileSystem()
        do {
            let ledger = try open(disk.asProcess("first"))
            for start in stride(from: 5_000, to: 0, by: -100) {
                try ledger.append((start - 99...start).map { Self.row($0) })
            }
            try ledger.append([Self.row(17, .deleted), Self.row(18, .ingesting)])
        }
        disk.losePower(.durableOnly)
        let ledger = try open(disk.asProcess("second"))
        #expect(ledger.count == 5_000)
        #expect(ledger.unreadableByteCount == 0)
        #expect(ledger.ids(with: .deleted) == [PhoneNote.id(17)])
        #expect(ledger.ids(with: .ingesting) == [PhoneNote.id(18)])
        let ingested = ledger.ids(with: .ingested)
        #expect(ingested.count == 4_998 && ingested == ingested.sorted())
        for ordinal in [1, 17, 2_500, 5_000] {
            #expect(try ledger.dictionaryBytes(of: PhoneNote.id(ordinal)) == Self.row(ordinal).dictionaryBytes)
            #expect(ledger[PhoneNote.id(ordinal)]?.content == Self.row(ordinal).content)
        }
        #expect(ledgerFiles(disk) == ["/ledger/0000000002.ledger"])
    }

    @Test("a torn tail of every length costs the last row only")
    func tornTail() throws {
        let disk = SimulatedFileSystem()
        do {
            let ledger = try open(disk.asProcess("first"))
            try ledger.append((1...3).map { Self.row($0, dictionaryByteCount: 20) })
        }
        let whole = try #require(disk.content("/ledger/0000000001.ledger"))
        let rowByteCount = whole.count / 3
        for cut in 1...rowByteCount {
            disk.losePower(.everything)
            for path in ledgerFiles(disk) { try disk.remove(path) }
            try disk.write(Array(whole.dropLast(cut)), to: "/ledger/0000000001.ledger")
            let ledger = try open(disk.asProcess("next"))
            #expect(ledger.count == 2)
            #expect(ledger.unreadableByteCount == UInt64(rowByteCount - cut))
            // And it goes on behind what is whole.
            try ledger.append([Self.row(3)])
            #expect(try ledger.dictionaryBytes(of: PhoneNote.id(3)) == Self.row(3).dictionaryBytes)
        }
    }

    @Test("every byte of a row in the middle damaged in turn: that row is lost and no other")
    func damagedRow() throws {
        let disk = SimulatedFileSystem()
        do {
            let ledger = try open(disk.asProcess("first"))
            try ledger.append((1...3).map { Self.row($0, dictionaryByteCount: 20) })
        }
        let whole = try #require(disk.content("/ledger/0000000001.ledger"))
        let rowByteCount = whole.count / 3
        for index in rowByteCount..<2 * rowByteCount {
            disk.losePower(.everything)
            for path in ledgerFiles(disk) { try disk.remove(path) }
            var damaged = whole
            damaged[index] ^= 0x55
            try disk.write(damaged, to: "/ledger/0000000001.ledger")
            let ledger = try open(disk.asProcess("next"))
            #expect(ledger.ids(with: .ingested) == [PhoneNote.id(1), PhoneNote.id(3)], "byte \(index)")
            #expect(
                try ledger.dictionaryBytes(of: PhoneNote.id(3)) == Self.row(3, dictionaryByteCount: 20).dictionaryBytes)
        }
    }

    @Test("a ledger of nothing but damage, or of another program, is an empty one")
    func garbage() throws {
        let disk = SimulatedFileSystem()
        try disk.makeDirectory("/ledger")
        try disk.write(PhoneNote.body(1, byteCount: 200_000), to: "/ledger/0000000007.ledger")
        try disk.write(Array(repeating: UInt8(ascii: "W"), count: 1_000), to: "/ledger/0000000006.ledger")
        let ledger = try open(disk.asProcess("first"))
        #expect(ledger.count == 0)
        #expect(ledger.unreadableByteCount == 200_000)
        #expect(ledgerFiles(disk) == ["/ledger/0000000008.ledger"])
    }

    @Test("rows of the largest dictionaries come through the window in which the file is read")
    func largeRows() throws {
        let disk = SimulatedFileSystem()
        do {
            let ledger = try open(disk.asProcess("first"))
            for ordinal in 1...40 { try ledger.append([Self.row(ordinal, dictionaryByteCount: 65_536)]) }
        }
        let ledger = try open(disk.asProcess("second"))
        #expect(ledger.count == 40 && ledger.unreadableByteCount == 0)
        #expect(
            try ledger.dictionaryBytes(of: PhoneNote.id(33))
                == Self.row(33, dictionaryByteCount: 65_536).dictionaryBytes)
    }

    @Test("killed or without power at every call of a start: no row is lost, and one generation is left in the end")
    func generations() throws {
        let disk = SimulatedFileSystem()
        do {
            let ledger = try open(disk.asProcess("first"))
            try ledger.append((1...5).map { Self.row($0) })
        }
        disk.losePower(.everything)
        let image = disk.snapshot()
        let counting = InstrumentedFileSystem(disk.asProcess("counting"))
        _ = try open(counting)
        for call in 1...counting.callCount {
            for loss in [nil, PowerLoss.durableOnly, .everything, .random(seed: UInt64(call)), .random(seed: 7)] {
                disk.restore(image)
                let view = disk.asProcess("dying")
                let dying = InstrumentedFileSystem(view, injections: [Injection(.call(call), .dieAfter)]) {
                    if let loss { disk.losePower(loss) } else { view.kill() }
                }
                #expect(throws: FileSystemError.self) { _ = try open(dying) }
                let ledger = try open(disk.asProcess("next"))
                #expect(ledger.ids(with: .ingested) == (1...5).map { PhoneNote.id($0) }, "\(call)")
                #expect(ledgerFiles(disk).count == 1)
            }
        }
    }

    /// The ledger's names when `ledger` has what it knew before, and row 2.
    private func expectTwoRows(_ disk: SimulatedFileSystem, _ ledger: Ledger, _ comment: Comment) throws {
        #expect(ledger.ids(with: .ingested) == [PhoneNote.id(1), PhoneNote.id(2)], comment)
        #expect(try ledger.dictionaryBytes(of: PhoneNote.id(1)) == Self.row(1).dictionaryBytes, comment)
        disk.losePower(.durableOnly)
        let next = try open(disk.asProcess("next"))
        #expect(next.ids(with: .ingested) == [PhoneNote.id(1), PhoneNote.id(2)], comment)
        #expect(try next.dictionaryBytes(of: PhoneNote.id(2)) == Self.row(2).dictionaryBytes, comment)
    }

    @Test("removed between write and barrier, or before acks: all that was known is durable again, or nobody is told")
    func removedWhileOpen() throws {
        for isPending in [true, false] {
            for path in ["/ledger", "/ledger/0000000001.ledger"] {
                let disk = SimulatedFileSystem()
                let ledger = try open(disk.asProcess("first"))
                try ledger.append([Self.row(1)])
                if isPending {
                    let pending = try ledger.write([Self.row(2)])
                    try disk.remove(path)
                    try ledger.settle(pending)
                } else {
                    try ledger.append([Self.row(2)])
                    try disk.remove(path)
                    try ledger.reassure()
                }
                try expectTwoRows(disk, ledger, "\(path), \(isPending)")
            }
        }
    }

    @Test("a disk that refuses the new generation: what was pending does not count, and the next try has the rest")
    func removedOnAFailingDisk() throws {
        let disk = SimulatedFileSystem()
        let failing = InstrumentedFileSystem(disk.asProcess("first"))
        let ledger = try open(failing)
        try ledger.append([Self.row(1)])
        let pending = try ledger.write([Self.row(2)])
        try disk.remove("/ledger")
        for operation in [FileSystemError.Operation.openDirectory, .syncDirectory, .create, .write, .sync, .publish] {
            failing.injections = [Injection(.every { found, _ in found == operation }, .fail(.inputOutput))]
            #expect(throws: FileSystemError.self) { try ledger.settle(pending) }
            #expect(throws: FileSystemError.self) { try ledger.reassure() }
            #expect(ledger[PhoneNote.id(2)] == nil)
        }
        failing.injections = []
        try ledger.append([Self.row(2)])
        try expectTwoRows(disk, ledger, "after all that")
    }

    @Test("a generation with the highest number there can be is forged: a clear error, and nothing is overwritten")
    func forgedNumber() throws {
        let disk = SimulatedFileSystem()
        try disk.makeDirectory("/ledger")
        try disk.write([1], to: "/ledger/9999999999.ledger")
        let error = #expect(throws: FileSystemError.self) { _ = try open(disk.asProcess("first")) }
        let words = error?.description ?? ""
        #expect(words.contains("/ledger/9999999999.ledger") && words.contains("remove this file"), "\(words)")
        #expect(ledgerFiles(disk) == ["/ledger/9999999999.ledger"])
    }

    @Test("rows count only once they are durable: what was written and given up is gone after a loss of power")
    func pending() throws {
        let disk = SimulatedFileSystem()
        let ledger = try open(disk.asProcess("first"))
        try ledger.append([Self.row(1)])
        let pending = try ledger.write([Self.row(2)])
        #expect(ledger[PhoneNote.id(2)] == nil)
        ledger.giveUp(pending)
        try ledger.append([Self.row(3)])
        #expect(ledger[PhoneNote.id(2)] == nil)
        #expect(ledgerFiles(disk) == ["/ledger/0000000002.ledger"])
        disk.losePower(.durableOnly)
        #expect(try open(disk.asProcess("next")).ids(with: .ingested) == [PhoneNote.id(1), PhoneNote.id(3)])
    }
}
