import Foundation
import Testing

/// Where the lab is: beside the test bundle that is running.
enum Products {
    static func transferLab() throws -> String {
        let bundles = CommandLine.arguments + Bundle.allBundles.map(\.bundlePath)
        let folders = bundles.compactMap { text -> String? in
            guard let range = text.range(of: ".xctest") else { return nil }
            return URL(fileURLWithPath: String(text[..<range.upperBound])).deletingLastPathComponent().path
        }
        let paths = folders.map { $0 + "/transfer-lab" }
        return try #require(
            paths.first { FileManager.default.isExecutableFile(atPath: $0) },
            "none of \(paths) is there: build it first")
    }

    static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Fixtures"
}

/// A folder for `body`, which is gone afterwards.
func withFolder(_ body: (String) throws -> Void) throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("finding-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    try body(url.path)
}

func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

func write(_ text: String, to path: String) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
}
