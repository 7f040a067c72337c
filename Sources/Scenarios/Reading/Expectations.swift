import LinkFaults
import Spooling

// What an item of `expect` may say: one or more expectations of one moment.

enum ExpectationFields {
    static let at = Field("at", Shape<Duration>.duration)
    private static let onWatch = Field("onWatch", Shape<ClosedRange<Int>>.times.named("times"))
    private static let ingested = Field("ingested", Shape<ClosedRange<Int>>.times.named("times"))
    private static let waiting = Field("waiting", Shape<ClosedRange<Int>>.times.named("times"))
    private static let setAside = Field("setAside", sides)
    private static let happened = Field("happened", Shape<PairEvent.Kind>.choice)
    private static let note = Field("note", Shape<Int>.ordinal)
    private static let times = Field("times", Shape<ClosedRange<Int>>.times.named("times"))
    private static let saying = Field("saying", Shape<String>.text(most: 255, accepts: "words of the event's detail"))
    private static let inOrder = Field("inOrder", Shape<Bool>.mark)
    private static let owes = Field("owes", Shape<Bool>.mark)

    static let all = [
        at.erased, onWatch.erased, ingested.erased, waiting.erased, setAside.erased, happened.erased, note.erased,
        times.erased, saying.erased, inOrder.erased, owes.erased,
    ]

    private static let watch = Field("watch", Shape<ClosedRange<Int>>.times.named("times"))
    private static let phone = Field("phone", Shape<ClosedRange<Int>>.times.named("times"))
    private static let sides = Shape<[Expectation]>.object([watch.erased, phone.erased]) {
        members throws(ScenarioError) in
        var found: [Expectation] = []
        if let count = try members[watch] { found.append(.setAside(.watch, count)) }
        if let count = try members[phone] { found.append(.setAside(.phone, count)) }
        guard !found.isEmpty else { throw members.node.mistake(accepted: "\"watch\", \"phone\", or both") }
        return found
    }

    static let shape = Shape<[TimedExpectation]>.object(all) { members throws(ScenarioError) in
        var found: [Expectation] = []
        if let count = try members[onWatch] { found.append(.onWatch(count)) }
        if let count = try members[ingested] { found.append(.ingested(count)) }
        if let count = try members[waiting] { found.append(.waiting(count)) }
        found += try members[setAside] ?? []
        if let kind = try members[happened] {
            found.append(try event(kind, members))
        } else if let stray = [note.key, times.key, saying.key].first(where: members.has) {
            throw members.node.mistake(found: "\"\(stray)\" without \"happened\"", accepted: "\"happened\" beside it")
        }
        if try members[inOrder] != nil { found.append(.inOrder) }
        if try members[owes] != nil { found.append(.owes) }
        guard !found.isEmpty else {
            throw members.node.mistake(
                found: "nothing that is expected",
                accepted: "one or more of onWatch, ingested, waiting, setAside, happened, inOrder, owes")
        }
        let at = try members[at]
        return found.map { TimedExpectation(at: at, $0) }
    }

    private static func event(_ kind: PairEvent.Kind, _ members: Members) throws(ScenarioError) -> Expectation {
        let count = try members[times] ?? 1...Int.max
        let ordinal = try members[note]
        if let words = try members[saying] { return .said(kind, words, ordinal: ordinal, count) }
        return .happened(kind, ordinal: ordinal, count)
    }
}

extension TimedExpectation {
    /// As `ExpectationFields.shape` reads it.
    var tree: JSONTree {
        var members: [JSONTree.Member] = []
        if let at { members.append(.init("at", .string(quantityText(at)))) }
        switch expectation {
        case .onWatch(let count): members.append(.init("onWatch", count.tree))
        case .ingested(let count): members.append(.init("ingested", count.tree))
        case .waiting(let count): members.append(.init("waiting", count.tree))
        case .setAside(let side, let count):
            members.append(.init("setAside", .object([.init(side.rawValue, count.tree)])))
        case .happened(let kind, let ordinal, let count): members += event(kind, nil, ordinal, count)
        case .said(let kind, let words, let ordinal, let count): members += event(kind, words, ordinal, count)
        case .inOrder: members.append(.init("inOrder", .boolean(true)))
        case .owes: members.append(.init("owes", .boolean(true)))
        }
        return .object(members)
    }

    private func event(
        _ kind: PairEvent.Kind, _ words: String?, _ ordinal: Int?, _ count: ClosedRange<Int>
    ) -> [JSONTree.Member] {
        var members = [JSONTree.Member("happened", .string(kind.rawValue))]
        if let words { members.append(.init("saying", .string(words))) }
        if let ordinal { members.append(.init("note", .integer(Int64(ordinal)))) }
        members.append(.init("times", count.tree))
        return members
    }
}
