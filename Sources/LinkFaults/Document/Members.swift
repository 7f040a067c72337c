// Objects: their keys are said once, as `Field`s; unknown ones are answered with the nearest known one.

/// A key of an object and what may stand there.
package struct Field<Value>: Sendable {
    package let key: String
    package let shape: Shape<Value>

    package init(_ key: String, _ shape: Shape<Value>) {
        self.key = key
        self.shape = shape
    }

    package var erased: AnyField { AnyField(key: key, schema: shape.schema) }
}

/// A field without the type of its value.
package struct AnyField: Sendable {
    package let key: String
    package let schema: JSONTree
}

/// The members of an object that was found to have known keys only.
package struct Members: Sendable {
    package let node: Node
    private let members: [JSONTree.Member]
    private let known: [AnyField]

    package init(_ node: Node, _ known: [AnyField], accepts: String) throws(ScenarioError) {
        guard case .object(let members) = node.tree else { throw node.mistake(accepted: accepts) }
        for member in members where !known.contains(where: { $0.key == member.key }) {
            let names = known.map(\.key)
            let near = nearest(to: member.key, among: names).map { " (did you mean \"\($0)\"?)" } ?? ""
            throw node.member(member.key, member.value).mistake(
                found: "the unknown key \"\(member.key.prefix(60))\"\(near)",
                accepted: names.joined(separator: ", "))
        }
        self.node = node
        self.members = members
        self.known = known
    }

    package func has(_ key: String) -> Bool { members.contains { $0.key == key } }

    /// The value of a field, read; `nil` when it is not there.
    package subscript<Value>(field: Field<Value>) -> Value? {
        get throws(ScenarioError) {
            precondition(known.contains { $0.key == field.key }, "\(field.key) is not among the known fields")
            guard let member = members.first(where: { $0.key == field.key }) else { return nil }
            return try field.shape.read(node.member(member.key, member.value))
        }
    }

    package func required<Value>(_ field: Field<Value>) throws(ScenarioError) -> Value {
        guard let value = try self[field] else {
            throw node.mistake(found: "no \"\(field.key)\"", accepted: "\(field.key): \(field.shape.accepts)")
        }
        return value
    }
}

extension Shape {
    /// An object of these fields, of which `required` must be there.
    package static func object(
        _ fields: [AnyField], required: [String] = [], accepts: String? = nil,
        read: @escaping @Sendable (Members) throws(ScenarioError) -> Value
    ) -> Shape {
        let accepts = accepts ?? "an object of \(fields.map(\.key).joined(separator: ", "))"
        return Shape(accepts: accepts, kinds: [.object], schema: objectSchema(fields, required: required)) {
            node throws(ScenarioError) in
            try read(try Members(node, fields, accepts: accepts))
        }
    }
}

/// The schema of an object with these fields and no others.
package func objectSchema(_ fields: [AnyField], required: [String]) -> JSONTree {
    var members: [JSONTree.Member] = [
        .init("type", .string("object")),
        .init("properties", .object(fields.map { .init($0.key, $0.schema) })),
    ]
    if !required.isEmpty { members.append(.init("required", .array(required.map { .string($0) }))) }
    members.append(.init("additionalProperties", .boolean(false)))
    return .object(members)
}
