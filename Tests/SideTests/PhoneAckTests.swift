import Testing
import WireContract

@testable import PhoneSide

@Suite("Acks as the phone lays them out")
struct PhoneAckTests {
    @Test("a patched ack is the ack that the codec writes, for every id and version")
    func isWhatTheCodecWrites() throws {
        for version in [1, 2, 300, 70_000] {
            let form = AckForm(version: version)
            for id in [
                ULID(high: 0, low: 0), ULID(high: .max, low: .max),
                ULID(high: 1_780_271_998_000 << 16, low: 0x0123_4567),
            ] {
                let written = try TransferLimit.encode(IngestAck(id: id.description).dictionary(version: version))
                #expect(form.dictionaryBytes(of: id) == written)
            }
        }
    }
}
