// What may stand at a place of a file: said once, used twice. A `Shape` reads a value and is its own JSON Schema, so the
// reader and the schema that ships cannot differ.

/// A place in a file and what stands there.
package struct Node: Sendable {
    package let file: String
    /// E.g. `steps[3].link`; empty at the top.
    package let path: String
    package let tree: JSONTree

    package init(file: String, path: String = "", tree: JSONTree) {
        self.file = file
        self.path = path
        self.tree = tree
    }

    package func member(_ key: String, _ tree: JSONTree) -> Node {
        Node(file: file, path: path.isEmpty ? key : "\(path).\(key)", tree: tree)
    }

    package func element(_ index: Int, _ tree: JSONTree) -> Node {
        Node(file: file, path: "\(path)[\(index)]", tree: tree)
    }

    package func mistake(found: String? = nil, accepted: String) -> ScenarioError {
        ScenarioError(file: file, path: path, found: found ?? tree.described, accepted: accepted)
    }
}

/// The kinds of a value, as JSON Schema names them.
package enum JSONKind: Hashable, Sendable {
    case null, boolean, number, string, array, object

    init(_ tree: JSONTree) {
        self =
            switch tree {
            case .null: .null
            case .boolean: .boolean
            case .integer, .unsigned, .real: .number
            case .string: .string
            case .array: .array
            case .object: .object
            }
    }
}

/// What is accepted at a place.
package struct Shape<Value>: Sendable {
    /// For a person, after "accepted:".
    package let accepts: String
    /// Which kinds of values it looks at; decides which of two shapes is meant.
    let kinds: [JSONKind]
    package let schema: JSONTree
    package let read: @Sendable (Node) throws(ScenarioError) -> Value

    package init(
        accepts: String, kinds: [JSONKind], schema: JSONTree,
        read: @escaping @Sendable (Node) throws(ScenarioError) -> Value
    ) {
        self.accepts = accepts
        self.kinds = kinds
        self.schema = schema
        self.read = read
    }

    /// The same values as another type; `nil` refuses.
    package func map<Other>(_ transform: @escaping @Sendable (Value) -> Other?) -> Shape<Other> {
        let (accepts, read) = (accepts, read)
        return Shape<Other>(accepts: accepts, kinds: kinds, schema: schema) { node throws(ScenarioError) in
            guard let other = transform(try read(node)) else { throw node.mistake(accepted: accepts) }
            return other
        }
    }

    /// A name in the schema's `$defs`, where it stands once.
    package func named(_ name: String) -> Shape {
        Shape(accepts: accepts, kinds: kinds, schema: ["$ref": .string("#/$defs/\(name)")], read: read)
    }

    /// One or the other, told apart by the kind of the value; where both take that kind, the first one that can read it.
    package static func either(_ first: Shape, _ second: Shape) -> Shape {
        let accepts = "\(first.accepts), or \(second.accepts)"
        return Shape(
            accepts: accepts, kinds: first.kinds + second.kinds,
            schema: ["anyOf": .array([first.schema, second.schema])]
        ) { node throws(ScenarioError) in
            let kind = JSONKind(node.tree)
            switch (first.kinds.contains(kind), second.kinds.contains(kind)) {
            case (true, false): return try first.read(node)
            case (false, true): return try second.read(node)
            case (false, false): throw node.mistake(accepted: accepts)
            case (true, true):
                do throws(ScenarioError) {
                    return try first.read(node)
                } catch {
                    if let value = try? second.read(node) { return value }
                    var mistake = error
                    mistake.accepted = accepts
                    throw mistake
                }
            }
        }
    }
}

extension JSONTree: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONTree)...) {
        self = .object(elements.map { Member($0, $1) })
    }
}

// MARK: Scalars

extension Shape where Value == Bool {
    package static let boolean = Shape(
        accepts: "true or false", kinds: [.boolean], schema: ["type": .string("boolean")]
    ) {
        node throws(ScenarioError) in
        guard case .boolean(let value) = node.tree else { throw node.mistake(accepted: "true or false") }
        return value
    }

    /// A mark that is there or not.
    package static let mark = Shape(
        accepts: "true, or leave it out", kinds: [.boolean], schema: ["const": .boolean(true)]
    ) {
        node throws(ScenarioError) in
        guard node.tree == .boolean(true) else { throw node.mistake(accepted: "true, or leave it out") }
        return true
    }
}

extension Shape where Value == String {
    package static func text(most: Int, accepts: String) -> Shape {
        Shape(
            accepts: accepts, kinds: [.string],
            schema: ["type": .string("string"), "maxLength": .integer(Int64(most))]
        ) { node throws(ScenarioError) in
            guard case .string(let text) = node.tree, text.unicodeScalars.count <= most else {
                throw node.mistake(accepted: accepts)
            }
            return text
        }
    }
}

extension Shape where Value == Int {
    package static func integer(_ range: ClosedRange<Int>) -> Shape {
        let accepts = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return Shape(
            accepts: accepts, kinds: [.number],
            schema: [
                "type": .string("integer"), "minimum": .integer(Int64(range.lowerBound)),
                "maximum": .integer(Int64(range.upperBound)),
            ]
        ) { node throws(ScenarioError) in
            guard case .integer(let value) = node.tree, let value = Int(exactly: value), range.contains(value) else {
                throw node.mistake(accepted: accepts)
            }
            return value
        }
    }
}

extension Shape where Value == UInt64 {
    /// Any 64 bits.
    package static let seed = Shape(
        accepts: "a whole number of at most 64 bits", kinds: [.number],
        schema: ["type": .string("integer"), "minimum": .integer(0), "maximum": .unsigned(.max)]
    ) { node throws(ScenarioError) in
        switch node.tree {
        case .integer(let value) where value >= 0: return UInt64(value)
        case .unsigned(let value): return value
        case .null, .boolean, .integer, .real, .string, .array, .object:
            throw node.mistake(accepted: "a whole number of at most 64 bits")
        }
    }

    /// `10KiB`, `16kB`, or a number of bytes.
    package static func byteCount(_ range: ClosedRange<UInt64>, suffix: String = "") -> Shape {
        let bounds = "from \(quantityText(byteCount: range.lowerBound)) to \(quantityText(byteCount: range.upperBound))"
        let accepts = "a size such as \"64KiB\(suffix)\" or \"16kB\(suffix)\", or a number of bytes, \(bounds)"
        return Shape(
            accepts: accepts, kinds: [.string, .number],
            schema: [
                "type": .array([.string("string"), .string("integer")]),
                "minimum": .integer(Int64(clamping: range.lowerBound)),
                "maximum": .integer(Int64(clamping: range.upperBound)),
                "pattern": .string("^[0-9]+(\\.[0-9]+)?(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)\(suffix)$"),
            ]
        ) { node throws(ScenarioError) in
            let value: UInt64? =
                switch node.tree {
                case .integer(let value): UInt64(exactly: value)
                case .string(let text):
                    text.hasSuffix(suffix) ? Quantity.byteCount(text.dropLast(suffix.count)) : nil
                case .null, .boolean, .unsigned, .real, .array, .object: nil
                }
            guard let value, range.contains(value) else { throw node.mistake(accepted: accepts) }
            return value
        }
    }
}

extension Shape where Value == Double {
    package static func number(_ range: ClosedRange<Double>) -> Shape {
        let accepts = "a number from \(range.lowerBound) to \(range.upperBound)"
        return Shape(
            accepts: accepts, kinds: [.number],
            schema: [
                "type": .string("number"), "minimum": .real(range.lowerBound), "maximum": .real(range.upperBound),
            ]
        ) { node throws(ScenarioError) in
            let value: Double? =
                switch node.tree {
                case .integer(let value): Double(value)
                case .real(let value): value
                case .null, .boolean, .unsigned, .string, .array, .object: nil
                }
            guard let value, range.contains(value) else { throw node.mistake(accepted: accepts) }
            return value
        }
    }
}

private let durationAccepts =
    "a time such as \"90s\", \"250ms\", \"1.5h\" or \"8d\", or a number of seconds, up to 100 years"

extension Shape where Value == Duration {
    /// `90s`, `250ms`, `1.5h`, `8d`, or a number of seconds; not negative, at most a century.
    package static let duration = Shape(
        accepts: durationAccepts, kinds: [.string, .number],
        schema: [
            "type": .array([.string("string"), .string("number")]), "minimum": .integer(0),
            "pattern": .string("^[0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h|d)$"),
        ]
    ) { node throws(ScenarioError) in
        let value: Duration? =
            switch node.tree {
            case .string(let text): Quantity.duration(text)
            case .integer(let seconds): Quantity.duration(seconds: Double(seconds))
            case .real(let seconds): Quantity.duration(seconds: seconds)
            case .null, .boolean, .unsigned, .array, .object: nil
            }
        guard let value else { throw node.mistake(accepted: durationAccepts) }
        return value
    }

    package static let positiveDuration = Shape(
        accepts: durationAccepts + ", above 0", kinds: duration.kinds, schema: duration.schema
    ) { node throws(ScenarioError) in
        let value = try duration.read(node)
        guard value > .zero else { throw node.mistake(accepted: durationAccepts + ", above 0") }
        return value
    }
}

extension Shape where Value == Chance {
    package static let chance = Shape<Double>.number(0...1).map { Chance($0) }
}

extension Shape where Value: CaseIterable & RawRepresentable & Sendable, Value.RawValue == String {
    /// The names of an enum's cases.
    package static var choice: Shape { choice(Array(Value.allCases)) { $0.rawValue } }
}

extension Shape {
    /// One of some values, by name.
    package static func choice(_ values: [Value], name: @escaping @Sendable (Value) -> String) -> Shape
    where Value: Sendable {
        let names = values.map(name)
        let accepts = names.map { "\"\($0)\"" }.joined(separator: ", ")
        return Shape(accepts: accepts, kinds: [.string], schema: ["enum": .array(names.map { .string($0) })]) {
            node throws(ScenarioError) in
            guard case .string(let text) = node.tree, let index = names.firstIndex(of: text) else {
                var error = node.mistake(accepted: accepts)
                if case .string(let text) = node.tree, let near = nearest(to: text, among: names) {
                    error.found += " (did you mean \"\(near)\"?)"
                }
                throw error
            }
            return values[index]
        }
    }

    package static func list<Element>(of element: Shape<Element>, most: Int, least: Int = 0) -> Shape
    where Value == [Element] {
        let accepts = "a list of \(least == 0 ? "at most" : "\(least) to") \(most): \(element.accepts)"
        return Shape(
            accepts: accepts, kinds: [.array],
            schema: [
                "type": .string("array"), "minItems": .integer(Int64(least)), "maxItems": .integer(Int64(most)),
                "items": element.schema,
            ]
        ) { node throws(ScenarioError) in
            guard case .array(let trees) = node.tree, (least...most).contains(trees.count) else {
                throw node.mistake(accepted: accepts)
            }
            var values: [Element] = []
            values.reserveCapacity(trees.count)
            for (index, tree) in trees.enumerated() { values.append(try element.read(node.element(index, tree))) }
            return values
        }
    }
}

/// The name that somebody may have meant: at most two letters, or a third of them, are different.
package func nearest(to word: String, among names: [String]) -> String? {
    guard word.utf8.count <= 64 else { return nil }
    let best = names.map { ($0, editDistance(Array(word.lowercased().utf8), Array($0.lowercased().utf8))) }
        .min { $0.1 < $1.1 }
    guard let best, best.1 <= max(2, word.utf8.count / 3) else { return nil }
    return best.0
}

private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, b) in right.enumerated() {
            let above = row[j + 1]
            row[j + 1] = min(above + 1, row[j] + 1, diagonal + (a == b ? 0 : 1))
            diagonal = above
        }
    }
    return row[right.count]
}
