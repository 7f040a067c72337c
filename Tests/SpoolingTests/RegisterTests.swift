import Simulation
import Spooling
import Testing

/// Values kept as names, and requests kept as names.
struct RegisterTests {
    private func read(_ process: any FileSystem) throws -> NameRegister? {
        try NameRegister(in: process.openRoot("/r", create: true), of: process)
    }

    private func set(_ value: String, _ process: any FileSystem) throws -> NameRegister {
        try NameRegister.set(value, in: process.openRoot("/r", create: true), of: process)
    }

    @Test("each value has a higher number, the last one counts, one name stays")
    func setAndRead() throws {
        let disk = SimulatedFileSystem()
        #expect(try read(disk) == nil)
        for (index, value) in ["a", "", "b", "b", "0123456789abcdef"].enumerated() {
            let written = try set(value, disk)
            #expect(written.number == UInt64(index) + 1 && written.value == value)
            #expect(try read(disk) == written)
        }
        #expect(disk.paths() == ["/r", "/r/0000000005-0123456789abcdef"])
    }

    @Test("two names after a crash: the higher one counts, and the next set takes both away")
    func twoNames() throws {
        let disk = SimulatedFileSystem()
        try disk.makeDirectory("/r")
        for text in [
            "0000000009-old", "0000000010-new", "0000000002-older", "strange", "0000000011_x", "0000000012-a.b",
        ] {
            try disk.plant("/r/\(text)")
        }
        #expect(try read(disk)?.value == "new")
        #expect(try set("next", disk).number == 11)
        #expect(disk.paths() == ["/r", "/r/0000000011-next", "/r/0000000011_x", "/r/0000000012-a.b", "/r/strange"])
    }

    @Test("killed at any call, with or without the power: told means kept, and no number is given twice")
    func killedEverywhere() throws {
        let calls = try callCount { _ = try set("b", $0) }
        for call in 1...calls + 2 {
            for effect in everyDeath {
                for loss in everyLoss {
                    let disk = SimulatedFileSystem()
                    _ = try set("a", disk)
                    let told = dying(at: call, effect, on: disk, loss: loss) { _ = try set("b", $0) }
                    let after = try #require(try read(disk.asProcess("next")))
                    #expect(after.value == "b" || (!told && after.value == "a"))
                    #expect(after.number == (after.value == "b" ? 2 : 1))
                    let next = try set("c", disk.asProcess("next"))
                    #expect(next.number == after.number + 1)
                    #expect(disk.paths().count == 2)
                }
            }
        }
        let instrument = InstrumentedFileSystem(SimulatedFileSystem())
        _ = try set("a", instrument)
        #expect(
            DurabilityOrder.violations(
                in: instrument.trace, of: "/r/0000000001-a", before: instrument.trace.count
            ).isEmpty)
    }

    @Test("a forged number at the end of the count is an error that a person reads, not a trap")
    func forgedNumber() throws {
        let disk = SimulatedFileSystem()
        try disk.makeDirectory("/r")
        try disk.plant("/r/9999999998-a")
        #expect(try set("last", disk).number == StartNumber.largest)
        let error = #expect(throws: FileSystemError.self) { _ = try set("over", disk) }
        let words = error?.description ?? ""
        #expect(words.contains("/r/9999999999-last") && words.contains("remove this file"), "\(words)")
        #expect(try read(disk)?.value == "last")
        try disk.plant("/r/99999999999-eleven")
        try disk.plant("/r/" + String(repeating: "9", count: 200))
        #expect(try read(disk)?.value == "last")
    }

    @Test("what cannot be taken away does not keep a value from being set")
    func leftovers() throws {
        let disk = SimulatedFileSystem()
        try disk.makeDirectory("/r")
        try disk.plant("/r/0000000001-a", kind: .directory, permissions: 0o700)
        try disk.plant("/r/0000000002-b", kind: .symbolicLink, target: "/")
        #expect(try set("c", disk).number == 3)
        #expect(try set("d", disk).number == 4)
        #expect(disk.paths() == ["/r", "/r/0000000001-a", "/r/0000000004-d"])
        // The count is durable before the old names go: an error there changes nothing either.
        let instrument = InstrumentedFileSystem(disk, injections: [Injection(.nth(1, .unlink), .fail(.inputOutput))])
        #expect(try set("e", instrument).value == "e")
        #expect(try read(disk)?.value == "e")
        // An error before that leaves the old value.
        for operation in [FileSystemError.Operation.create, .syncDirectory] {
            let broken = InstrumentedFileSystem(
                disk.asProcess("broken"), injections: [Injection(.nth(1, operation), .fail(.inputOutput))])
            #expect(failure { _ = try set("f", broken) } == .inputOutput)
        }
    }

    private func box(_ process: any FileSystem) throws -> RequestBox {
        RequestBox(directory: try process.openRoot("/q", create: true), fileSystem: process)
    }

    private func request(_ nonce: UInt64, _ verb: Request.Verb = .veto, _ subject: String = "x-1") throws -> Request {
        try #require(Request(nonce: nonce, verb: verb, subject: subject))
    }

    @Test("a command asks, the holder answers once, the command reads it once")
    func requests() throws {
        let disk = SimulatedFileSystem()
        let command = try box(disk.asProcess("command"))
        let holder = try box(disk.asProcess("holder"))
        var asked: [Request] = []
        for (index, verb) in Request.Verb.allCases.enumerated() {
            asked.append(try request(UInt64(index) &- 2, verb))
            try command.ask(asked[index])
        }
        #expect(failure { try command.ask(asked[0]) } == .exists)
        #expect(try holder.pending() == asked.sorted())
        for (request, answer) in zip(asked, Answer.allCases) {
            #expect(try command.answer(to: request) == nil)
            try holder.answer(request, answer)
            #expect(try command.answer(to: request) == answer)
            #expect(try command.answer(to: request) == nil)
            #expect(try !command.withdraw(request))
        }
        #expect(disk.paths() == ["/q"])
        try command.ask(asked[0])
        #expect(try command.withdraw(asked[0]))
        #expect(try holder.pending().isEmpty)
        for subject in ["", "a.b", "a/b", "a_b", "é", "a\0", String(repeating: "a", count: 65)] {
            #expect(Request(nonce: 1, verb: .drop, subject: subject) == nil)
        }
    }

    @Test("a holder that is killed at any call of its answer leaves the request or the answer, never neither")
    func holderKilled() throws {
        for call in 1...6 {
            for effect in everyDeath {
                let disk = SimulatedFileSystem()
                let command = try box(disk)
                let asked = try request(7)
                try command.ask(asked)
                let told = dying(at: call, effect, on: disk, loss: nil) { try box($0).answer(asked, .done) }
                let next = try box(disk.asProcess("next"))
                let pending = try next.pending()
                if told { #expect(pending.isEmpty) }
                for request in pending { try next.answer(request, .already) }
                let answer = try command.answer(to: asked)
                #expect(answer == .done || (!pending.isEmpty && answer == .already))
                try next.sweepAnswers()
                #expect(disk.paths() == ["/q"])
            }
        }
    }

    @Test("a box full of strange names and of more requests than one look takes")
    func fullBox() throws {
        let disk = SimulatedFileSystem()
        let holder = try box(disk)
        for number in 0..<300 {
            try disk.plant("/q/strange-\(number)")
            try holder.ask(request(UInt64(number)))
        }
        var rounds = 0
        while case let pending = try holder.pending(), !pending.isEmpty {
            #expect(pending.count <= 256)
            for request in pending { try holder.answer(request, .done) }
            rounds += 1
        }
        #expect(rounds == 2)
        try holder.sweepAnswers()
        #expect(disk.paths().count == 301)
    }
}
