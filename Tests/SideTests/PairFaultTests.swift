import Simulation
import Spooling
import Testing

/// Every call of either side fails: once, or from then on for a while.
@Suite struct PairFaultTests {
    struct Fault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let reason: FileSystemError.Reason?

        /// A read or write that moves half of what was asked.
        static let short = Fault(testDescription: "short", reason: nil)
        static func fails(_ reason: FileSystemError.Reason) -> Fault {
            Fault(testDescription: "\(reason)", reason: reason)
        }

        var effect: Injection.Effect { reason.map { .fail($0) } ?? .short }
    }

    static let faults: [Fault] = [
        .fails(.noSpace), .fails(.inputOutput), .fails(.interrupted), .fails(.notPermitted), .short,
    ]

    /// A failing sync loses its pages (`SyncFailing`), so `inputOutput` at each sync is the failed sync of law 5.
    @Test(arguments: [Side.watch, .phone], faults)
    func everyCallFailsOnce(_ side: Side, _ fault: Fault) throws {
        let count = try PairKillTests.callCount(side, .pairHome)
        for call in 1...count {
            let world = try PairKillTests.play(side, .pairHome) {
                $0 == 1 ? [Injection(.call(call), fault.effect)] : []
            }
            #expect(world.violations == [], "the \(side)'s call \(call) of \(count) fails")
            if !world.violations.isEmpty { return }
        }
    }

    /// The call has its effect and says that it failed, as a server does that answers too late.
    @Test(arguments: [Side.watch, .phone], [FileSystemError.Reason.inputOutput, .interrupted])
    func everyCallFailsAfterItsEffect(_ side: Side, _ reason: FileSystemError.Reason) throws {
        let count = try PairKillTests.callCount(side, .pairHome)
        for call in 1...count {
            let world = try PairKillTests.play(side, .pairHome) {
                $0 == 1 ? [Injection(.call(call), .failAfter(reason))] : []
            }
            #expect(world.violations == [], "the \(side)'s call \(call) of \(count) fails after its effect")
            if !world.violations.isEmpty { return }
        }
    }

    /// From a call on everything that changes the disk fails for a minute; then the disk is well again.
    @Test(arguments: [Side.watch, .phone], [FileSystemError.Reason.noSpace, .inputOutput, .notPermitted, .readOnly])
    func theDiskIsIllForAWhile(_ side: Side, _ reason: FileSystemError.Reason) throws {
        let count = try PairKillTests.callCount(side, .pairHome)
        for call in stride(from: 1, through: count, by: 5) {
            let world = PairWorld()
            let seat = side == .watch ? world.watch : world.phone
            var illUntil: Moment?
            let isIll = { [unowned world] (operation: FileSystemError.Operation, _: [String]) -> Bool in
                guard let illUntil, world.now < illUntil else { return false }
                switch operation {
                case .create, .write, .truncate, .sync, .syncDirectory, .syncAll, .publish, .unlink, .makeDirectory:
                    return true
                case .openRoot, .openDirectory, .openSource, .open, .status, .list, .read, .lock, .space: return false
                }
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
    @Test(arguments: faults)
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
