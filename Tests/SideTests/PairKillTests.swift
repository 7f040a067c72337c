import Simulation
import Spooling
import Testing

/// kill -9 at every call of either side, and once more at every call of the recovery from that.
@Suite struct PairKillTests {
    /// How many calls the lives of the canonical run make: the first start of a side, and all that it does after.
    static func callCount(_ side: Side, _ image: DiskImage) throws -> Int {
        let world = PairWorld(image)
        try PairCanonical.play(world)
        let seat = side == .watch ? world.watch : world.phone
        return try #require(seat.instrument).callCount
    }

    /// The calls of that life, by number, of which one thing or another is true.
    static func calls(_ side: Side, where isWanted: (SeamCall) -> Bool) throws -> [Int] {
        let world = PairWorld()
        world.keepsTrace = true
        try PairCanonical.play(world)
        let seat = side == .watch ? world.watch : world.phone
        return try #require(seat.instrument).trace.filter(isWanted).map(\.number)
    }

    static func play(
        _ side: Side, _ image: DiskImage, _ plan: @escaping (Int) -> [Injection]
    ) throws -> PairWorld {
        let world = PairWorld(image)
        (side == .watch ? world.watch : world.phone).plan = plan
        try PairCanonical.play(world)
        return world
    }

    @Test(arguments: [Side.watch, .phone], PairDeath.allCases)
    func killedAtEveryCall(_ side: Side, _ death: PairDeath) throws {
        let count = try Self.callCount(side, .pairHome)
        #expect(count > 50)
        for call in 1...count {
            let world = try Self.play(side, .pairHome) { $0 == 1 ? [Injection(.call(call), death.effect)] : [] }
            let seat = side == .watch ? world.watch : world.phone
            #expect(seat.startCount == 2, "killed at call \(call) of \(count)")
            #expect(world.violations == [], "the \(side) dies \(death) call \(call) of \(count)")
            if !world.violations.isEmpty { return }
        }
    }

    @Test(arguments: [Side.watch, .phone])
    func killedAtEveryCallOfTheFirstStartOfAll(_ side: Side) throws {
        let count = try Self.callCount(side, .pairNothing)
        // Behind the start it is as in the test above.
        let starting = min(count, 160)
        for call in stride(from: 1, through: starting, by: 2) {
            let death: PairDeath = call % 4 == 1 ? .before : .after
            let world = try Self.play(side, .pairNothing) { $0 == 1 ? [Injection(.call(call), death.effect)] : [] }
            #expect(world.violations == [], "the \(side) dies \(death) call \(call) of \(starting)")
            if !world.violations.isEmpty { return }
        }
    }

    /// Every pair (a kill at a call, a kill at a call of the life behind it) is a candidate; so many are drawn.
    @Test(arguments: [Side.watch, .phone])
    func killedAgainInTheRecovery(_ side: Side) throws {
        let drawn = 100
        var generator = SplitMix64(seed: 2)
        let count = try Self.callCount(side, .pairHome)
        for _ in 0..<drawn {
            let first = Int(generator.next() % UInt64(count)) + 1
            // The second life has about as many calls. If it has fewer, it is not killed.
            let second = Int(generator.next() % UInt64(count)) + 1
            let death: PairDeath = generator.happens(1, in: 2) ? .before : .after
            let world = try Self.play(side, .pairHome) { start in
                switch start {
                case 1: [Injection(.call(first), .dieBefore)]
                case 2: [Injection(.call(second), death.effect)]
                default: []
                }
            }
            #expect(world.violations == [], "the \(side) at call \(first), then \(death) call \(second)")
            if !world.violations.isEmpty { return }
        }
        print("killed twice, \(side): \(drawn) of about \(count * count) pairs of calls")
    }

    /// Whoever records may be killed too: then it told nothing, and whatever it left stands in nobody's way.
    @Test(arguments: PairDeath.allCases)
    func theRecorderIsKilledAtEveryCall(_ death: PairDeath) throws {
        var count = 0
        let counted = PairWorld()
        try counted.record(counted.bytes(300), inspect: { count = $0.callCount })
        #expect(count > 10)
        for call in 1...count {
            let world = PairWorld()
            // A death behind the last call that matters comes too late to keep it from telling.
            _ = try? world.record(world.bytes(300), injections: [Injection(.call(call), death.effect)])
            world.start()
            try world.record(world.bytes(40))
            world.drain()
            world.checkTheEnd()
            #expect(world.violations == [], "record dies \(death) call \(call) of \(count)")
            #expect(world.leftTemporaries == [], "the start sweeps what record left at call \(call)")
        }
    }
}

enum PairDeath: CaseIterable {
    case before, after

    var effect: Injection.Effect {
        switch self {
        case .before: .dieBefore
        case .after: .dieAfter
        }
    }
}
