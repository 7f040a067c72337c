import LinkFaults

/// The JSON Schema of a scenario file (draft 2020-12), made of the very shapes that read one.
///
/// It says the form. What it cannot say, the reader checks: that one verb stands in a step, that a note is recorded before
/// it is vetoed, that an outage ends after it begins.
package enum ScenarioSchema {
    /// What stands in `Docs/scenario.schema.json`.
    package static var text: String { tree.text }

    /// Names of verbs and of expectations, for whoever checks that each is documented.
    package static var stepVerbs: [String] { StepVerb.all.map(\.key) }
    package static var expectationKeys: [String] { ExpectationFields.all.map(\.key) }

    private static var tree: JSONTree {
        guard
            case .object(let members) = objectSchema(ScenarioFields.all, required: ["name", "shows", "steps"])
        else { preconditionFailure("a schema is an object") }
        return .object(
            [
                .init("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
                .init("title", .string("A scenario of WatchFerry; the file itself is JSON5")),
            ] + members + [
                .init(
                    "$defs",
                    [
                        "times": Shape<ClosedRange<Int>>.times.schema,
                        "link": LinkPlan.shape.schema,
                        "direction": DirectionPlan.shape.schema,
                    ])
            ])
    }
}
