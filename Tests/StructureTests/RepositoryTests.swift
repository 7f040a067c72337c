import Foundation
import Testing

/// The repository as it lies there keeps its rules.
struct RepositoryTests {
    private static let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every file below `folders`, by its path from the top.
    private static func paths(_ folders: [String]) -> [String] {
        folders.flatMap { folder in
            let found = FileManager.default.enumerator(atPath: top.appendingPathComponent(folder).path)
            return (found?.compactMap { $0 as? String } ?? []).map { "\(folder)/\($0)" }
        }.sorted()
    }

    private static func file(_ path: String) throws -> SourceFile {
        SourceFile(path, try String(contentsOf: top.appendingPathComponent(path), encoding: .utf8))
    }

    private static func swiftFiles(_ folders: [String]) throws -> [SourceFile] {
        try paths(folders).filter { $0.hasSuffix(".swift") }.map(file)
    }

    private func expectNone(_ breaches: [Breach]) {
        for breach in breaches { Issue.record("\(breach)") }
    }

    @Test("who imports whom")
    func imports() throws {
        let files = try Self.swiftFiles(["Sources"])
        #expect(files.count > 50, "looked in the wrong place")
        #expect(files.flatMap { StructureTests.imports(of: $0) }.count > 50)
        expectNone(files.flatMap(importBreaches))
    }

    @Test("the manifest has no package dependencies, and its targets depend on what they may import")
    func manifest() throws {
        let manifest = try Self.file("Package.swift")
        let names = targets(ofManifest: manifest.text).map(\.name)
        #expect(names.contains("WatchSide") && names.contains("phone-sim") && names.contains("StructureTests"))
        expectNone(manifestBreaches(in: manifest))
        // A folder that no target claims would be kept to no rule.
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: Self.top.appendingPathComponent("Sources").path)
        #expect(Set(folders).subtracting(names) == ["CZlib"])
    }

    @Test("a target imports only what the manifest says that it depends on")
    func importsAreDeclared() throws {
        let declared = targets(ofManifest: try Self.file("Package.swift").text)
        let ours = Set(declared.map(\.name))
        for file in try Self.swiftFiles(["Sources"]) {
            let dependencies = declared.first { $0.name == file.target }?.dependencies ?? []
            for (module, line) in StructureTests.imports(of: file) where ours.contains(module) {
                #expect(dependencies.contains(module), "\(file.path):\(line): \(module)")
            }
        }
    }

    @Test("sizes, unfinished things, traps")
    func tidy() throws {
        let files = try Self.swiftFiles(["Sources", "Tests"])
        expectNone(files.flatMap(sizeBreaches))
        expectNone(files.flatMap(unfinishedBreaches))
        expectNone(files.flatMap(trapBreaches))
    }

    @Test("every switch names every case")
    func defaults() throws {
        expectNone(try Self.swiftFiles(["Sources"]).flatMap(defaultBreaches))
    }

    @Test("no wall clock and no chance outside of DaemonRuntime")
    func determinism() throws {
        expectNone(try Self.swiftFiles(["Sources"]).flatMap(determinismBreaches))
    }

    @Test("nothing but the known stands at the top, scripts can be run, links lead somewhere")
    func pagesAndScripts() throws {
        let manager = FileManager.default
        let names = try manager.contentsOfDirectory(atPath: Self.top.path)
        expectNone(topLevelBreaches(names, ignored: try Self.file(".gitignore").text))
        let paths = Self.paths(["Scripts", ".ci", "Docs", "Tests"]) + names
        #expect(paths.contains("Scripts/fuzz"))
        for path in paths {
            let attributes = try manager.attributesOfItem(atPath: Self.top.appendingPathComponent(path).path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            let handle = try FileHandle(forReadingFrom: Self.top.appendingPathComponent(path))
            let firstBytes = String(decoding: try handle.read(upToCount: 2) ?? Data(), as: UTF8.self)
            let permissions = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
            expectNone(scriptBreaches(path, permissions: permissions, firstBytes: firstBytes))
        }
        let pages = paths.filter { $0.hasSuffix(".md") }
        #expect(!pages.isEmpty)
        for path in pages {
            expectNone(
                linkBreaches(in: try Self.file(path)) {
                    manager.fileExists(atPath: Self.top.appendingPathComponent($0).path)
                })
        }
    }
}
