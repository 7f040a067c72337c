import Spooling
import WireContract

// A plan written back, so that it reads to the same plan: chances in their general form, because their order counts.

extension LinkPlan {
    /// As the format of `read(text:file:)`.
    package var text: String { tree.text }

    package var tree: JSONTree {
        .object([
            "seed": .unsigned(seed),
            "toPhone": toPhone.isClean ? nil : toPhone.tree,
            "toWatch": toWatch.isClean ? nil : toWatch.tree,
        ])
    }
}

extension DirectionPlan {
    fileprivate var tree: JSONTree {
        .object([
            "only": rules.isEmpty ? nil : .array(rules.map(\.tree)),
            "chances": chances.isEmpty ? nil : .array(chances.map(\.tree)),
            "burst": burst.map { burst in
                [
                    "slot": .string(quantityText(burst.slot)), "enter": .real(burst.enter.rawValue),
                    "leave": .real(burst.leave.rawValue), "loss": .real(burst.loss.rawValue),
                ]
            },
            "outages": outages.isEmpty
                ? nil
                : .array(
                    outages.map {
                        ["from": .string(quantityText($0.start)), "to": .string(quantityText($0.end))]
                    }),
            "stuckHead": stuckHead.map { .string($0.rawValue) },
            "bandwidth": bytesPerSecond.map { .string(quantityText(byteCount: $0) + "/s") },
        ])
    }
}

extension LinkFault {
    fileprivate var member: JSONTree.Member {
        switch self {
        case .drop: .init("drop", .boolean(true))
        case .forget: .init("forget", .boolean(true))
        case .fail(let error): .init("fail", .integer(Int64(error.rawValue)))
        case .failWithoutDetails: .init("failBare", .boolean(true))
        case .duplicate(let extraCopies): .init("duplicate", .integer(Int64(extraCopies)))
        case .damage(.truncated(let share)): .init("truncate", .real(share))
        case .damage(.altered): .init("alter", .boolean(true))
        case .silent: .init("silent", .boolean(true))
        case .delay(let delay): .init("delay", .string(quantityText(delay)))
        }
    }
}

extension FaultChance {
    fileprivate var tree: JSONTree {
        var members = [JSONTree.Member("chance", .real(chance.rawValue)), fault.member]
        if let longestDelay { members.append(.init("to", .string(quantityText(longestDelay)))) }
        return .object(members)
    }
}

extension LinkRule {
    fileprivate var tree: JSONTree {
        var members: [JSONTree.Member] = []
        if let ordinal { members.append(.init("note", .integer(Int64(ordinal)))) }
        if let attempts {
            members.append(
                .init("tries", .array([.integer(Int64(attempts.lowerBound)), .integer(Int64(attempts.upperBound))])))
        }
        members.append(fault.member)
        return .object(members)
    }
}
