import LinkFaults
import Spooling
import WireContract

// The words that a scenario file has for the values of other modules.

extension Shape where Value == [Side] {
    static let sides = Shape<[Side]>.choice([[.watch], [.phone], [.watch, .phone]]) {
        $0.count == 2 ? "both" : $0[0].rawValue
    }
}

extension Shape where Value == Int {
    static let ordinal = Shape.integer(1...Scenario.mostRecordings)
    static let version = Shape.integer(1...1_000_000)
}

extension Shape where Value == [Int] {
    /// A note, or several.
    static let ordinals = Shape.either(
        Shape<Int>.ordinal.map { [$0] }, Shape<[Int]>.list(of: .ordinal, most: Scenario.mostSteps, least: 1))
}

extension Shape where Value == ClosedRange<Int> {
    private static let most = 1_000_000
    private static let atLeast = Field("atLeast", Shape<Int>.integer(0...most))

    /// `3`, `[1, 3]`, or `{ atLeast: 1 }`.
    static let times = Shape.either(
        .either(
            Shape<Int>.integer(0...most).map { $0...$0 },
            Shape<[Int]>.list(of: .integer(0...most), most: 2, least: 2).map { pair in
                pair[0] <= pair[1] ? pair[0]...pair[1] : nil
            }),
        Shape.object([atLeast.erased], required: ["atLeast"]) { members throws(ScenarioError) in
            try members.required(atLeast)...Int.max
        })
}

extension ClosedRange<Int> {
    /// As `times` reads it.
    var tree: JSONTree {
        if upperBound == .max { return ["atLeast": .integer(Int64(lowerBound))] }
        if lowerBound == upperBound { return .integer(Int64(lowerBound)) }
        return .array([.integer(Int64(lowerBound)), .integer(Int64(upperBound))])
    }
}

// MARK: Raw bytes

extension RawBytes {
    private static let hexField = Field("hex", Shape<[UInt8]>.hex)
    private static let textField = Field("text", Shape<String>.text(most: 100_000, accepts: "a text"))
    private static let dictionaryField = Field("dictionary", Shape<PropertyListDictionary>.propertyList)
    private static let sizeField = Field("size", Shape<Int>.integer(1...1_000_000))
    private static let unsupportedField = Field("unsupported", Shape<Bool>.mark)

    static let shape = Shape<RawBytes>.object(
        [hexField.erased, textField.erased, dictionaryField.erased, sizeField.erased, unsupportedField.erased],
        accepts: "one of { hex }, { text }, { dictionary }, { size }, { unsupported: true }"
    ) { members throws(ScenarioError) in
        var found: [RawBytes] = []
        if let bytes = try members[hexField] { found.append(.hex(bytes)) }
        if let words = try members[textField] { found.append(.text(words)) }
        if let entries = try members[dictionaryField] { found.append(.dictionary(entries)) }
        if let count = try members[sizeField] { found.append(.sized(count)) }
        if try members[unsupportedField] != nil { found.append(.unsupported) }
        guard found.count == 1 else {
            throw members.node.mistake(
                found: "\(found.count) of them", accepted: "one of hex, text, dictionary, size, unsupported")
        }
        return found[0]
    }

    var tree: JSONTree {
        switch self {
        case .hex(let bytes): ["hex": .string(bytes.hexText)]
        case .text(let text): ["text": .string(text)]
        case .dictionary(let dictionary): ["dictionary": PropertyListValue.dictionary(dictionary).tree]
        case .sized(let count): ["size": .integer(Int64(count))]
        case .unsupported: ["unsupported": .boolean(true)]
        }
    }
}

extension [UInt8] {
    fileprivate var hexText: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    fileprivate init?(hexText text: String) {
        let digits = text.utf8.map { UInt8(lowerHex: CollectionOfOne($0)) }
        guard digits.count % 2 == 0, !digits.contains(nil) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) }
    }
}

extension Shape where Value == [UInt8] {
    static let hex = Shape<String>.text(most: 200_000, accepts: "pairs of lower-case hexadecimal digits").map {
        [UInt8](hexText: $0)
    }
}

extension Shape where Value == PropertyListDictionary {
    /// Strings, numbers, booleans, lists and objects stand for themselves; `{ $real: 1 }`, `{ $data: "00ff" }` and
    /// `{ $date: 0 }` (seconds since 2001) for what JSON has no word for.
    static let propertyList = Shape(
        accepts: "an object", kinds: [.object], schema: ["type": .string("object")]
    ) { node throws(ScenarioError) in
        guard case .dictionary(let dictionary) = try PropertyListValue.read(node) else {
            throw node.mistake(accepted: "an object")
        }
        return dictionary
    }
}

extension PropertyListValue {
    fileprivate static func read(_ node: Node) throws(ScenarioError) -> PropertyListValue {
        switch node.tree {
        case .string(let text): return .string(text)
        case .integer(let number): return .integer(number)
        case .unsigned(let number): return .unsigned(number)
        case .real(let number): return .real(number)
        case .boolean(let flag): return .boolean(flag)
        case .null: throw node.mistake(accepted: "a value that a property list can hold")
        case .array(let trees):
            var values: [PropertyListValue] = []
            for (index, tree) in trees.enumerated() { values.append(try read(node.element(index, tree))) }
            return .array(values)
        case .object(let members):
            if members.count == 1, members[0].key.hasPrefix("$") {
                return try special(members[0], node.member(members[0].key, members[0].value))
            }
            var dictionary = PropertyListDictionary()
            for member in members { dictionary[member.key] = try read(node.member(member.key, member.value)) }
            return .dictionary(dictionary)
        }
    }

    private static func special(_ member: JSONTree.Member, _ node: Node) throws(ScenarioError) -> PropertyListValue {
        let number = Shape<Double>.number(-Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude)
        switch member.key {
        case "$real": return .real(try number.read(node))
        case "$date": return .date(secondsSinceReferenceDate: try number.read(node))
        case "$data": return .data(try Shape<[UInt8]>.hex.read(node))
        default: throw node.mistake(found: "the key \"\(member.key)\"", accepted: "$real, $date, $data")
        }
    }

    fileprivate var tree: JSONTree {
        switch self {
        case .string(let text): .string(text)
        case .integer(let number): .integer(number)
        case .unsigned(let number): .unsigned(number)
        case .real(let number): ["$real": .real(number)]
        case .boolean(let flag): .boolean(flag)
        case .date(let seconds): ["$date": .real(seconds)]
        case .data(let bytes): ["$data": .string(bytes.hexText)]
        case .array(let values): .array(values.map(\.tree))
        case .dictionary(let dictionary):
            .object(dictionary.entries.map { JSONTree.Member($0.key, $0.value.tree) })
        }
    }
}
