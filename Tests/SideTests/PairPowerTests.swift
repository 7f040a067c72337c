import Simulation
import Spooling
import Testing

/// The machine loses power in any call of either side, or of `record`.
@Suite struct PairPowerTests {
    /// The seeds differ from call to call: the chance with which a change survives is drawn once for each seed.
    static let losses: [PowerLoss] = [
        .durableOnly, .everything, .random(seed: 11_000), .random(seed: 12_000), .random(seed: 13_000),
    ]

    static func loss(_ loss: PowerLoss, at call: Int) -> PowerLoss {
        switch loss {
        case .durableOnly, .everything: loss
        case .random(let seed): .random(seed: seed + UInt64(call))
        }
    }

    /// Of the random ones, every third call for each seed.
    private static func stride(_ loss: PowerLoss) -> Int {
        switch loss {
        case .durableOnly, .everything: 1
        case .random: 3
        }
    }

    private static func first(_ loss: PowerLoss) -> Int {
        switch loss {
        case .durableOnly, .everything: 1
        case .random(let seed): Int(seed / 1_000 % 3) + 1
        }
    }

    static func play(_ side: Side, _ call: Int, _ loss: PowerLoss) throws -> PairWorld {
        let world = PairWorld()
        let seat = side == .watch ? world.watch : world.phone
        // The cut comes as something that happens before the call; the call itself then finds its process dead.
        seat.plan = { $0 == 1 ? [Injection(.call(call), .before({ [unowned world] in world.losePower(loss) }))] : [] }
        try PairCanonical.play(world)
        return world
    }

    @Test(arguments: [Side.watch, .phone], losses)
    func thePowerIsCutAtEveryCall(_ side: Side, _ loss: PowerLoss) throws {
        let count = try PairKillTests.callCount(side, .pairHome)
        for call in Swift.stride(from: Self.first(loss), through: count, by: Self.stride(loss)) {
            let world = try Self.play(side, call, Self.loss(loss, at: call))
            #expect(world.watch.startCount + world.phone.startCount >= 3, "cut at call \(call) of \(count)")
            #expect(world.violations == [], "power cut (\(loss)) at call \(call) of \(count) of the \(side)")
            if !world.violations.isEmpty { return }
        }
    }

    /// The two halves of a rename between directories are one step on the disks that people have.
    @Test(arguments: [Side.watch, .phone])
    func onAJournallingDisk(_ side: Side) throws {
        let count = try PairKillTests.callCount(side, .pairHome)
        for call in Swift.stride(from: 1, through: count, by: 3) {
            let world = PairWorld(.pairJournalled)
            let loss = PowerLoss.random(seed: UInt64(call))
            let seat = side == .watch ? world.watch : world.phone
            seat.plan = {
                $0 == 1 ? [Injection(.call(call), .before({ [unowned world] in world.losePower(loss) }))] : []
            }
            try PairCanonical.play(world)
            #expect(world.violations == [], "power cut (\(loss)) at call \(call) of \(count) of the \(side)")
            if !world.violations.isEmpty { return }
        }
    }

    @Test(arguments: losses)
    func thePowerIsCutWhileRecording(_ loss: PowerLoss) throws {
        var count = 0
        let counted = PairWorld()
        try counted.record(counted.bytes(300), inspect: { count = $0.callCount })
        for call in 1...count + 1 {
            let world = PairWorld()
            let first = try? world.record(
                world.bytes(300),
                injections: [
                    Injection(.call(call), .before({ [unowned world] in world.losePower(Self.loss(loss, at: call)) }))
                ])
            #expect((first != nil) == (call > count))
            // Behind the last call: `record` has returned.
            if call > count { world.losePower(loss) }
            world.start()
            try world.record(world.bytes(40))
            world.drain()
            world.checkTheEnd()
            #expect(world.violations == [], "power cut (\(loss)) at call \(call) of \(count) of record")
        }
    }
}
