import Simulation
import Spooling
import Testing

/// Every call of either side fails: once, or from then on for a while.
@Suite struct PairFaultTests {
    enum Fault: CaseIterable {
        case noSpace, inputOutput, interrupted, notPermitted
        /// A read or write that moves half of what was asked.
        case short

        var effect: Injection.Effect {
            switch self {
            case .noSpace: .fail(.noSpace)
            case .inputOutput: .fail(.inputOutput)
            case .interrupted: .fail(.interrupted)
            case .notPermitted: .fail(.notPermitted)
            case .short: .short
            }
        }

        /// The two that nobody treats alike at every call; of the two that all treat like an input/output error, every
        /// other call each.
        func isTried(at call: SeamCall) -> Bool {
            switch self {
            case .noSpace, .inputOutput: true
            case .interrupted: call.number % 2 == 0
            case .notPermitted: call.number % 2 == 1
            case .short: call.operation == .read || call.operation == .write
            }
        }
    }

    private static func hasEffect(_ operation: FileSystemError.Operation) -> Bool {
        switch operation {
        case .create, .write, .truncate, .sync, .syncDirectory, .syncAll, .publish, .unlink, .makeDirectory: true
        case .openRoot, .openDirectory, .openSource, .open, .status, .list, .read, .lock, .space: false
        }
    }

    /// A failing sync loses its pages (`SyncFailing`), so `inputOutput` at each sync is the failed sync of law 5.
    @Test(arguments: [Side.watch, .phone], Fault.allCases)
    func everyCallFailsOnce(_ side: Side, _ fault: Fault) throws {
        let calls = try PairKillTests.calls(side) { fault.isTried(at: $0) }
        #expect(calls.count > 10)
        for call in calls {
            let world = try PairKillTests.play(side, .pairHome) {
                $0 == 1 ? [Injection(.call(call), fault.effect)] : []
            }
            #expect(world.violations == [], "the \(side)'s call \(call) of \(calls.count) fails")
            if !world.violations.isEmpty { return }
        }
    }

    /// The call has its effect and says that it failed, as a server does that answers too late.
    @Test(arguments: [Side.watch, .phone], [FileSystemError.Reason.inputOutput, .interrupted])
    func everyCallFailsAfterItsEffect(_ side: Side, _ reason: FileSystemError.Reason) throws {
        let calls = try PairKillTests.calls(side) { Self.hasEffect($0.operation) }
            .filter { reason == .inputOutput || $0 % 2 == 0 }
        for call in calls {
            let world = try PairKillTests.play(side, .pairHome) {
                $0 == 1 ? [Injection(.call(call), .failAfter(reason))] : []
            }
            #expect(world.violations == [], "the \(side)'s call \(call) fails after its effect")
            if !world.violations.isEmpty { return }
        }
    }

    /// From a call on everything that changes the disk fails for a minute; then the disk is well again.
    @Test(arguments: [Side.watch, .phone], [FileSystemError.Reason.noSpace, .inputOutput, .notPermitted, .readOnly])
    func theDiskIsIllForAWhile(_ side: Side, _ reason: FileSystemError.Reason) throws {
        let count = try PairKillTests.callCount(side, .pairHome)
        for call in stride(from: 1, through: count, by: 20) {
            let world = PairWorld()
            let seat = side == .watch ? world.watch : world.phone
            var illUntil: Moment?
            let isIll = { [unowned world] (operation: FileSystemError.Operation, _: [String]) -> Bool in
                guard let illUntil, world.now < illUntil else { return false }
                return Self.hasEffect(operation)
            }
            seat.plan = { [unowned world] start in
                var plan = [Injection(.every(isIll), .fail(reason))]
                if start == 1 { plan.append(Injection(.call(call), .before({ illUntil = world.now + .seconds(60) }))) }
                return plan
            }
            try world.record(world.bytes(700))
            world.start()
            world.run(for: .seconds(1))
            try world.record(world.bytes(5_000))
            try world.record(world.bytes(1))
            world.run(for: .seconds(62))
            world.drain()
            world.checkTheEnd()
            #expect(world.violations == [], "the \(side)'s disk is ill from call \(call) of \(count) on")
            if !world.violations.isEmpty { return }
        }
    }

    /// A recording that could not be made was not told, and is made at the next try.
    @Test(arguments: Fault.allCases)
    func everyCallOfRecordFails(_ fault: Fault) throws {
        var count = 0
        let counted = PairWorld()
        try counted.record(counted.bytes(300), inspect: { count = $0.callCount })
        for call in 1...count {
            let world = PairWorld()
            let body = world.bytes(300)
            if (try? world.record(body, injections: [Injection(.call(call), fault.effect)])) == nil {
                try world.record(body)
            }
            world.start()
            world.drain()
            world.checkTheEnd()
            #expect(world.violations == [], "record's call \(call) of \(count)")
        }
    }
}
