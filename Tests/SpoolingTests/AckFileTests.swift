import Simulation
import Spooling
import Testing
import WireContract

/// What a file in `to-watch` is believed.
struct AckFileTests {
    private static let ids = (1...3).map { ULID(high: 0x0189_0000_0000_0000, low: UInt64($0)) }

    private static func ack(_ id: ULID, pairing: UInt64 = 7) throws -> [UInt8] {
        let dictionary = try TransferLimit.encode(IngestAck(id: id.description).dictionary(version: 1))
        let seal = Seal(
            kind: .ack, bodyByteCount: 0, bodyChecksums: .ofNothing, dictionary: dictionary,
            pairing: PairingID(rawValue: pairing), fileExtension: .none)
        return dictionary + seal.bytes
    }

    /// The ids that a reader acts on, or why on none.
    private static func read(_ bytes: [UInt8]) throws -> Result<[ULID], EnvelopeFault> {
        let disk = SimulatedFileSystem()
        let root = try disk.openRoot("/s", create: true)
        try disk.plant("/s/e", bytes: bytes)
        let own = try disk.openOurs("e", in: root)
        switch try disk.inspectAcks(own.file, byteCount: own.byteCount) {
        case .faulty(let fault): return .failure(fault)
        case .acks(let acks):
            return .success(
                acks.compactMap { ack in
                    guard case .understood(_, let id, _) = IngestAck.read(ack.dictionary, understands: 1) else {
                        return nil
                    }
                    return id
                })
        }
    }

    @Test("as many acks as a phone writes into one file read back, in their order")
    func roundTrip() throws {
        for count in [1, 2, AckFile.mostAcks] {
            let ids = (1...count).map { ULID(high: 0x0189_0000_0000_0000, low: UInt64($0)) }
            let bytes = try ids.flatMap { try Self.ack($0) }
            #expect(UInt64(bytes.count) <= AckFile.largestByteCount)
            #expect(try Self.read(bytes) == .success(ids))
        }
    }

    @Test("every flipped bit, in whichever ack, makes none of them count")
    func everyFlippedBit() throws {
        let sound = try Self.ids.flatMap { try Self.ack($0) }
        for index in sound.indices {
            for bit in 0..<8 {
                var bytes = sound
                bytes[index] ^= 1 << bit
                guard case .failure = try Self.read(bytes) else {
                    Issue.record("bit \(bit) of byte \(index) of \(sound.count)")
                    return
                }
            }
        }
    }

    @Test("cut anywhere, it acks nothing that it did not ack: at a border what is left is whole, elsewhere nothing is")
    func cut() throws {
        let acks = try Self.ids.map { try Self.ack($0) }
        let sound = acks.flatMap { $0 }
        let borders = [acks[0].count: 1, acks[0].count + acks[1].count: 2]
        for count in 0..<sound.count {
            let left = try Self.read(Array(sound.prefix(count)))
            if let whole = borders[count] {
                #expect(left == .success(Array(Self.ids.prefix(whole))))
            } else {
                guard case .failure = left else {
                    Issue.record("\(count) bytes of \(sound.count)")
                    return
                }
            }
        }
    }

    @Test("a note between acks, a body, garbage in front, and a file that is too long: none of it counts")
    func noAcks() throws {
        let ack = try Self.ack(Self.ids[0])
        let dictionary = Array(ack.dropLast(Seal.byteCount))
        func sealed(_ kind: EnvelopeKind, body: [UInt8]) -> [UInt8] {
            body + dictionary
                + Seal(
                    kind: kind, bodyByteCount: UInt64(body.count), bodyChecksums: Checksums(of: body),
                    dictionary: dictionary, pairing: PairingID(rawValue: 7), fileExtension: .none
                ).bytes
        }
        #expect(try Self.read(ack + sealed(.note, body: []) + ack) == .failure(.wrongKind))
        #expect(try Self.read(sealed(.ack, body: ack) + ack) == .failure(.wrongLength))
        #expect(try Self.read(sealed(.ack, body: ack)) == .failure(.wrongLength), "an ack as a body is not one")
        #expect(try Self.read([0] + ack) == .failure(.noSeal))
        #expect(try Self.read([UInt8](repeating: 0, count: ack.count) + ack) == .failure(.noSeal))
        #expect(try Self.read([]) == .failure(.empty))
        let many = [[UInt8]](repeating: ack, count: Int(AckFile.largestByteCount) / ack.count + 1).flatMap { $0 }
        #expect(try Self.read(many) == .failure(.wrongLength))
    }

    @Test("a lying length takes nothing from before the file")
    func lyingLength() throws {
        for length in [UInt32.max, 65_537, 65_536, 1_000] {
            var seal = Array(try Self.ack(Self.ids[0]).suffix(Seal.byteCount))
            withUnsafeBytes(of: length.bigEndian) { seal.replaceSubrange(8..<12, with: $0) }
            withUnsafeBytes(of: Checksums.crc32(of: seal[..<52]).bigEndian) { seal.replaceSubrange(52..<56, with: $0) }
            let fault: EnvelopeFault = length > 65_536 ? .dictionaryTooLarge : .wrongLength
            #expect(try Self.read(seal) == .failure(fault))
        }
    }
}
