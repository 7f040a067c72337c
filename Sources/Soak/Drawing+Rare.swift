import LinkFaults
import Scenarios
import Spooling
import WireContract

// Meetings that chance alone brings about too seldom: they need two or three steps close together, in one order.
// Drawn from dice of their own, so that whatever is added here leaves the rest of a seed's scenario as it was.

extension Drawing {
    mutating func drawRareMeetings() {
        var own = Dice(seed: seed ^ 0x4A4E_3E77_0000_0001)
        if has(.killAtCall), has(.reboot), own.happens(0.3) { drawPowerCutInIngest(&own) }
        if has(.rawMetadata), own.happens(0.3) { drawReusedID(&own) }
    }

    /// The phone dies right behind a rename into the container, and then the power goes before anybody has synced it.
    private mutating func drawPowerCutInIngest(_ own: inout Dice) {
        for _ in 0..<own.number(1...3) {
            let at = own.one(of: recordedAt)
            add(.kill(.phone, .after(.publish, pathContaining: "container/")), at: at)
            let reboot = own.one(of: Step.Reboot.allCases)
            let later = at + own.scaled(.milliseconds(1)...(.seconds(20)))
            add(.reboot(reboot), at: later)
            add(.start(.phone), at: later + own.scaled(.milliseconds(1)...(.seconds(5))))
        }
    }

    /// Two payloads that the phone understands, under one id, with other bytes each.
    private mutating func drawReusedID(_ own: inout Dice) {
        let id = ULID(high: own.word() & 0x00FF_FFFF_FFFF_FFFF, low: own.word()).description
        var payload = PropertyListDictionary()
        payload["v"] = .integer(1)
        payload["id"] = .string(id)
        payload["recordedAt"] = .date(secondsSinceReferenceDate: Double(own.number(0...900_000_000)))
        payload["duration"] = .real(1)
        for _ in 0..<own.number(2...3) {
            add(.rawMetadata(.dictionary(payload.sorted())), at: own.moment(in: .zero...span))
        }
    }
}
