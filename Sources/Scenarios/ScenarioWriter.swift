import LinkFaults
import Spooling
import WireContract

// A scenario written back: for what a soak saw and wants to keep, and for what a shrinker made smaller.

extension Scenario {
    /// Reads back to an equal scenario.
    package var text: String {
        JSONTree.object([
            "name": .string(name),
            "report": report.map { .string($0) },
            "shows": .string(shows),
            "seed": .unsigned(seed),
            "settings": settings.tree(seed: seed),
            "steps": .array(steps.map(\.tree)),
            "expect": expectations.isEmpty ? nil : .array(expectations.map(\.tree)),
        ]).text
    }
}

extension ScenarioSettings {
    /// Only what differs from the standard; `nil` when nothing does.
    fileprivate func tree(seed: UInt64) -> JSONTree? {
        let standard = ScenarioReader.defaults(seed: seed)
        if self == standard { return nil }
        func time(_ path: KeyPath<ScenarioSettings, Duration>) -> JSONTree? {
            self[keyPath: path] == standard[keyPath: path] ? nil : .string(quantityText(self[keyPath: path]))
        }
        func version(_ path: KeyPath<ScenarioSettings, Int>) -> JSONTree? {
            self[keyPath: path] == standard[keyPath: path] ? nil : .integer(Int64(self[keyPath: path]))
        }
        func size(_ byteCount: UInt64?) -> JSONTree? { byteCount.map { .string(quantityText(byteCount: $0)) } }
        return .object([
            "retryFirst": time(\.policy.first),
            "retryCap": time(\.policy.cap),
            "patience": time(\.policy.patience),
            "link": link == standard.link ? nil : link.tree,
            "payloadVersion": version(\.payloadVersion),
            "watchUnderstands": version(\.watchUnderstands),
            "phoneUnderstands": version(\.phoneUnderstands),
            "ackVersion": version(\.ackVersion),
            "watchDisk": size(watchCapacityByteCount),
            "phoneDisk": size(phoneCapacityByteCount),
            "stagingCap": size(stagingCapByteCount),
            "liveScale": liveScale == standard.liveScale ? nil : .real(liveScale),
            "drainWithin": drainWithin.map { .string(quantityText($0)) },
            "startsBoth": startsBoth ? nil : .boolean(false),
        ])
    }
}

extension TimedStep {
    fileprivate var tree: JSONTree {
        .object([.init("at", .string(quantityText(at)))] + step.members)
    }
}

extension Step {
    fileprivate var members: [JSONTree.Member] {
        func one(_ verb: String, _ value: JSONTree) -> [JSONTree.Member] { [.init(verb, value)] }
        func note(_ verb: String, _ ordinal: Int) -> [JSONTree.Member] { one(verb, .integer(Int64(ordinal))) }
        switch self {
        case .record(let count, let byteCount):
            return one(
                "record",
                [
                    "count": .integer(Int64(count)), "bytes": .string(quantityText(byteCount: UInt64(byteCount))),
                ])
        case .start(let side): return one("start", .string(side.rawValue))
        case .stop(let side): return one("stop", .string(side.rawValue))
        case .kill(let side, let point): return one("kill", .string(side.rawValue)) + point.members
        case .session(let state): return one("session", .string(state.rawValue))
        case .reachable(let flag): return one("reachable", .boolean(flag))
        case .handler(let handler): return one("handler", .string(handler.rawValue))
        case .rawMetadata(let bytes): return one("rawMetadata", bytes.tree)
        case .rawUserInfo(let bytes): return one("rawUserInfo", bytes.tree)
        case .build(let side, let understands, let writes):
            var members = one("build", .string(side.rawValue))
            if let understands { members.append(.init("understands", .integer(Int64(understands)))) }
            if let writes { members.append(.init("writes", .integer(Int64(writes)))) }
            return members
        case .link(let plan): return one("link", plan.tree)
        case .capacity(let side, let change):
            return one("capacity", .string(side.rawValue)) + one("to", change.tree)
        case .container(let state): return one("container", .string(state.rawValue))
        case .wipe(let part): return one("wipe", .string(part.rawValue))
        case .keepCopy(let side): return one("keepCopy", .string(side.rawValue))
        case .restoreCopy(let side): return one("restoreCopy", .string(side.rawValue))
        case .replacePhone: return one("replacePhone", .boolean(true))
        case .switchWatch(let number): return note("switchWatch", number)
        case .veto(let ordinal): return note("veto", ordinal)
        case .delete(let ordinal): return note("delete", ordinal)
        case .cancel(let ordinal): return note("cancel", ordinal)
        case .clock(let seconds):
            let length = quantityText(.seconds(seconds < 0 ? 0 - seconds : seconds))
            return one("clock", .string(seconds < 0 ? "-\(length)" : length))
        case .reboot(let reboot): return one("reboot", .string(reboot.rawValue))
        }
    }
}

extension Step.KillPoint {
    fileprivate var members: [JSONTree.Member] { point.map { [$0.member] } ?? [] }
}

extension Step.CapacityChange {
    fileprivate var tree: JSONTree {
        switch self {
        case .byteCount(let count): .string(quantityText(byteCount: count))
        case .full: .string("full")
        case .unlimited: .string("unlimited")
        }
    }
}
