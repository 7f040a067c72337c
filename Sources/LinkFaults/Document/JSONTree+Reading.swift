import Foundation

// The one place where Foundation reads: JSON5 that the user himself wrote. Nothing from the spool comes here.

extension JSONTree {
    /// Reads a JSON5 text. `file` is only named in errors.
    ///
    /// Bounded in bytes and depth. A key that stands twice in one object is a mistake: Foundation keeps one of the two and
    /// says nothing, and a step that silently vanished is the worst answer that a scenario can give.
    package static func read(_ text: String, file: String) throws(ScenarioError) -> JSONTree {
        guard text.utf8.count <= mostByteCount else {
            throw ScenarioError(
                file: file, path: "", found: "\(text.utf8.count) bytes", accepted: "at most \(mostByteCount) bytes")
        }
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        let tree: JSONTree
        do {
            tree = try decoder.decode(DecodedTree.self, from: Data(text.utf8)).tree
        } catch let error as DecodingError {
            throw ScenarioError(
                file: file, path: path(of: error), found: reason(of: error), accepted: "JSON5 (https://json5.org)")
        } catch {
            throw ScenarioError(
                file: file, path: "", found: "what cannot be read (\(error))", accepted: "JSON5 (https://json5.org)")
        }
        var scanner = DuplicateKeyScanner(text)
        if let duplicate = scanner.firstDuplicate() {
            throw ScenarioError(
                file: file, path: "", found: "the key \"\(duplicate.key)\" a second time in line \(duplicate.line)",
                accepted: "every key once in an object")
        }
        return tree
    }

    private static func path(of error: DecodingError) -> String {
        let keys: [any CodingKey] =
            switch error {
            case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
                .valueNotFound(_, let context):
                context.codingPath
            @unknown default: []
            }
        return keys.reduce("") { path, key in
            if let index = key.intValue { return "\(path)[\(index)]" }
            return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
        }
    }

    private static func reason(of error: DecodingError) -> String {
        guard case .dataCorrupted(let context) = error else { return "\(error)" }
        // What Foundation says about a syntax error ("Unexpected character … around line 3, column 5.") hides in here.
        let details = (context.underlyingError as NSError?)?.userInfo["NSDebugDescription"] as? String
        return details ?? context.debugDescription
    }
}

private struct DecodedTree: Decodable {
    var tree: JSONTree

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if decoder.codingPath.count > JSONTree.mostDepth {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "more than \(JSONTree.mostDepth) objects and lists inside each other"))
        }
        if let object = try? decoder.container(keyedBy: Key.self) {
            tree = .object(
                try object.allKeys.sorted { $0.stringValue < $1.stringValue }.map { key in
                    .init(key.stringValue, try object.decode(DecodedTree.self, forKey: key).tree)
                })
            return
        }
        if var list = try? decoder.unkeyedContainer() {
            var values: [JSONTree] = []
            while !list.isAtEnd { values.append(try list.decode(DecodedTree.self).tree) }
            tree = .array(values)
            return
        }
        tree = try Self.scalar(try decoder.singleValueContainer())
    }

    private static func scalar(_ value: any SingleValueDecodingContainer) throws -> JSONTree {
        if value.decodeNil() { return .null }
        if let text = try? value.decode(String.self) { return .string(text) }
        if let flag = try? value.decode(Bool.self) { return .boolean(flag) }
        if let number = try? value.decode(Int64.self) { return .integer(number) }
        if let number = try? value.decode(UInt64.self) { return .unsigned(number) }
        if let number = try? value.decode(Double.self) { return .real(number) }
        throw DecodingError.dataCorrupted(
            .init(codingPath: value.codingPath, debugDescription: "a number that nothing here can hold"))
    }
}
