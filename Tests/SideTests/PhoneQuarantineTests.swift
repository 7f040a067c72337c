import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

@Suite("Phone: the quarantine")
struct PhoneQuarantineTests {
    @Test(
        "over its bytes the oldest bytes go and their reasons stay; over its items the oldest reasons go; over restarts too"
    )
    func caps() throws {
        var settings = PhoneSettings()
        settings.quarantineCaps = QuarantineCaps(byteCount: 2_500, itemCount: 5)
        let world = try PhoneWorld.started(settings: settings)
        for index in 0..<4 {
            try world.disk.write(Array(repeating: 1, count: 1_000), to: "/pair/spool/to-phone/strange\(index)")
            world.hearAndRun()
        }
        #expect(world.inQuarantine.map(\.holdsBytes) == [false, false, true, true])
        #expect(world.inQuarantine.map(\.subject) == ["strange0", "strange1", "strange2", "strange3"])
        try world.start()
        world.run()
        for index in 4..<7 {
            try world.disk.write(Array(repeating: 1, count: 1_000), to: "/pair/spool/to-phone/strange\(index)")
            world.hearAndRun()
        }
        #expect(world.inQuarantine.map(\.subject) == ["strange2", "strange3", "strange4", "strange5", "strange6"])
        #expect(world.inQuarantine.map(\.holdsBytes) == [false, false, false, true, true])
        // One that is larger than the cap alone is kept, so that a person can look at it.
        try world.disk.write(Array(repeating: 1, count: 9_000), to: "/pair/spool/to-phone/strange7")
        world.hearAndRun()
        #expect(world.inQuarantine.map(\.holdsBytes) == [false, false, false, false, true])
    }

    @Test("killed at every call of setting aside over the caps: within them again after a start")
    func capsKilled() throws {
        var settings = PhoneSettings()
        settings.quarantineCaps = QuarantineCaps(byteCount: 2_500, itemCount: 3)
        let world = try PhoneWorld.started(settings: settings)
        for index in 0..<3 {
            try world.disk.write(Array(repeating: 1, count: 1_000), to: "/pair/spool/to-phone/strange\(index)")
        }
        world.hearAndRun()
        world.quit()
        world.disk.losePower(.everything)
        for index in 3..<5 {
            try world.disk.write(Array(repeating: 1, count: 1_000), to: "/pair/spool/to-phone/strange\(index)")
        }
        let image = world.disk.snapshot()
        try world.start()
        world.run()
        let calls = world.instrument.callCount
        for call in 1...calls {
            world.disk.restore(image)
            world.startIfItCan(injections: [Injection(.call(call), .dieAfter)])
            world.run()
            try world.start()
            world.run()
            #expect(world.inQuarantine.map(\.subject) == ["strange2", "strange3", "strange4"], "at \(call)")
            #expect(world.inQuarantine.map(\.holdsBytes) == [false, true, true], "at \(call)")
        }
    }

    @Test("retry hands a delivery over again: it goes through once its obstacle is gone, else it is set aside anew")
    func retry() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        let strange = "/pair/spool/to-phone/a-note-by-another-name"
        try world.disk.write(note.envelope, to: strange)
        world.hearAndRun()
        let item = try #require(world.inQuarantine.first)
        #expect(try world.ask(.retry, item.number) == .done)
        #expect(world.endFaults([note]) == [])
        #expect(world.inQuarantine.isEmpty)
        // Damaged bytes stay damaged.
        try world.deliver([1, 2, 3], id: note.id)
        world.hearAndRun()
        let damaged = try #require(world.inQuarantine.first)
        #expect(try world.ask(.retry, damaged.number) == .done)
        #expect(world.quarantineReasons == ["noSeal"])
        #expect(try world.ask(.retry, damaged.number) == .unknown, "it has another number now")
        #expect(world.phone("inbox").isEmpty)
    }

    @Test("retry of one whose bytes are gone is refused; drop takes bytes and reason; unknown numbers are unknown")
    func drop() throws {
        var settings = PhoneSettings()
        settings.quarantineCaps = QuarantineCaps(byteCount: 10, itemCount: 5)
        let world = try PhoneWorld.started(settings: settings)
        for index in 0..<2 {
            try world.disk.write(Array(repeating: 1, count: 1_000), to: "/pair/spool/to-phone/strange\(index)")
            world.hearAndRun()
        }
        let items = world.inQuarantine
        #expect(items.map(\.holdsBytes) == [false, true])
        #expect(try world.ask(.retry, items[0].number) == .refused)
        #expect(try world.ask(.drop, items[0].number) == .done)
        #expect(try world.ask(.drop, items[1].number) == .done)
        #expect(try world.ask(.drop, items[1].number) == .unknown)
        #expect(try world.ask(.retry, "0000000009-0000000009") == .unknown)
        #expect(world.phone("quarantine").isEmpty)
    }

    @Test("an idReused delivery that is tried again after the user's delete is acked and not ingested")
    func retryReused() throws {
        let world = try PhoneWorld.started()
        let note = PhoneNote(1)
        try world.deliver(note)
        try world.deliver(PhoneNote(1, body: [1, 2, 3]), attempt: 2)
        world.hearAndRun()
        let item = try #require(world.inQuarantine.first)
        #expect(try world.ask(.delete, note.id.description) == .done)
        #expect(try world.ask(.retry, item.number) == .done)
        #expect(world.containerFiles.isEmpty && world.inQuarantine.isEmpty && world.phone("staging").isEmpty)
    }
}
