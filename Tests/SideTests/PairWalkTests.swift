import Simulation
import Spooling
import Testing
import WireContract

@testable import PhoneSide

/// A random walk through everything that can happen to a pair, each named by its seed.
@Suite struct PairWalkTests {
    static let seedCount: UInt64 = 300
    static let actionCount = 60

    @Test(arguments: 0..<4)
    func everythingAtOnce(_ quarter: UInt64) throws {
        for seed in stride(from: quarter, to: Self.seedCount, by: 4) {
            let walk = PairWalk(seed: seed)
            try walk.play(Self.actionCount)
            #expect(walk.world.violations == [], "seed \(seed): \(walk.log.joined(separator: ", "))")
            if !walk.world.violations.isEmpty { return }
        }
    }
}

final class PairWalk {
    let world: PairWorld
    private(set) var log: [String] = []
    private var generator: SplitMix64
    /// Which fault is at large, of how many calls in 64 it strikes, and until when.
    private var fault: (index: Int, chances: UInt64, until: Moment)?
    private var watchCopy: PairWorld.FolderCopy?
    private var phoneCopy: PairWorld.FolderCopy?

    private static var effects: [(name: String, effect: Injection.Effect)] {
        [
            ("no space", .fail(.noSpace)), ("errors", .fail(.inputOutput)), ("late errors", .failAfter(.inputOutput)),
            ("interrupted", .fail(.interrupted)), ("not permitted", .fail(.notPermitted)), ("short", .short),
            ("dies before", .dieBefore), ("dies after", .dieAfter),
        ]
    }

    init(seed: UInt64) {
        world = PairWorld(seed.isMultiple(of: 2) ? .pairHome : .pairNothing, seed: seed &+ 1_000)
        generator = SplitMix64(seed: seed)
        for seat in world.seats {
            seat.plan = { [unowned self] _ in
                Self.effects.indices.map { index in
                    Injection(.every { [unowned self] _, _ in self.strikes(index) }, Self.effects[index].effect)
                }
            }
        }
    }

    private func strikes(_ index: Int) -> Bool {
        guard let fault, fault.index == index, world.now < fault.until else { return false }
        return generator.happens(fault.chances, in: 64)
    }

    private func below(_ bound: UInt64) -> Int { Int(generator.next() % bound) }

    func play(_ count: Int) throws {
        world.start()
        for _ in 0..<count {
            let word = try act()
            log.append(word)
            world.run(for: .milliseconds(Int64(below(3_000))))
        }
        try heal()
        world.drain()
        world.checkTheEnd()
    }

    private func heal() throws {
        fault = nil
        world.hasNews = true
        world.afterStep = nil
        try world.disk.setCapacity(of: "/", byteCount: nil)
        world.phoneSettings.understands = 2
        world.monitor.theFutureHasCome()
        // The build that runs now is another one.
        world.kill(world.phone)
    }

    private func act() throws -> String {
        switch below(30) {
        case 0...6:
            let isOfTheFuture = generator.happens(1, in: 8)
            let id = try? world.record(world.bytes(below(600) + 1), payloadVersion: isOfTheFuture ? 2 : 1)
            return "record\(isOfTheFuture ? " 2" : "")\(id == nil ? " refused" : "")"
        case 7:
            world.kill(world.watch)
            return "kill the watch"
        case 8:
            world.kill(world.phone)
            return "kill the phone"
        case 9:
            let loss: PowerLoss = [.durableOnly, .everything, .random(seed: generator.next())][below(3)]
            world.losePower(loss)
            return "power \(loss)"
        case 10, 11, 12:
            let index = below(UInt64(Self.effects.count))
            fault = (index, UInt64(1 + below(8)), world.now + .seconds(Int64(below(20))))
            return Self.effects[index].name
        case 13:
            world.run(for: .seconds(Int64(below(60))))
            return "time"
        case 14:
            world.hasNews.toggle()
            return "news \(world.hasNews)"
        case 15:
            let isFull = generator.happens(1, in: 2)
            try world.disk.setCapacity(of: "/", byteCount: isFull ? 0 : nil)
            return isFull ? "full" : "room"
        default: return try actOnFolders()
        }
    }

    private func actOnFolders() throws -> String {
        switch below(16) {
        case 0, 1:
            try world.removeAcks()
            return "lost acks"
        case 2:
            try world.doubleAcks()
            return "doubled acks"
        case 3, 4:
            try world.removeEntries()
            return "lost entries"
        case 5, 6:
            let alteration = PairWorld.Alteration.allCases[below(UInt64(PairWorld.Alteration.allCases.count))]
            try world.alterEntries(alteration)
            return "\(alteration)"
        case 7:
            try? world.disk.remove(PairPath.spool)
            return "the spool goes"
        case 8:
            world.monitor.phoneWasWiped()
            try? world.disk.remove(PairPath.phone + "/container")
            return "the container goes"
        case 9:
            world.kill(world.phone)
            world.monitor.phoneWasWiped()
            try? world.disk.remove(PairPath.phone + (generator.happens(1, in: 2) ? "/ledger" : ""))
            return "the phone is wiped"
        case 10:
            if let watchCopy {
                world.kill(world.watch)
                try world.put(watchCopy, at: PairPath.watch)
                world.monitor.watchWasReplaced()
                self.watchCopy = nil
                return "an older watch"
            }
            watchCopy = world.copy(of: PairPath.watch)
            return "copy of the watch"
        case 11:
            if let phoneCopy {
                world.kill(world.phone)
                try world.put(phoneCopy, at: PairPath.phone)
                world.monitor.phoneWasWiped()
                self.phoneCopy = nil
                return "an older phone"
            }
            phoneCopy = world.copy(of: PairPath.phone)
            return "copy of the phone"
        case 12, 13: return ask(.veto)
        case 14: return ask(.delete)
        default:
            world.now = world.now + .seconds(86_400)
            return "a day"
        }
    }

    /// What the user asks of the phone, if it runs.
    private func ask(_ verb: Request.Verb) -> String {
        guard let phone = world.phoneEngine, let id = world.monitor.ids.randomElement(using: &generator),
            world.monitor.told[id]?.isOfTheFuture == false,
            let request = Request(nonce: generator.next(), verb: verb, subject: id.description)
        else { return "\(verb): nobody" }
        let answer = phone.perform(request)
        switch answer {
        case .done, .already: world.monitor.unwanted.insert(id)
        case .failed:
            // It may have happened all the same.
            world.monitor.mayBeAbsent.insert(id)
        case .refused, .unknown: break
        }
        return "\(verb) \(answer)"
    }
}
