import Foundation
import Scenarios
import Testing

/// The package's own files, found from where this file stands.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Every scenario of the catalogue, by name.
    static func catalogue() throws -> [(file: String, text: String)] {
        let folder = "Scripts/Scenarios"
        let names = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
        return try names.filter { $0.hasSuffix(".json5") }.sorted().map { ($0, try text("\(folder)/\($0)")) }
    }
}

/// A small scenario around some steps and expectations.
func wrapped(steps: String = "", expect: String = "", settings: String = "{}") -> String {
    "{ name: 'x', shows: 'y', settings: \(settings), steps: [\(steps)], expect: [\(expect)] }"
}

func read(_ text: String) throws -> Scenario { try ScenarioReader.read(text: text, file: "x.json5") }

/// The mistake in a text, as a person reads it.
func mistake(_ text: String) -> String {
    do {
        _ = try read(text)
        return "no mistake"
    } catch {
        return "\(error)"
    }
}
