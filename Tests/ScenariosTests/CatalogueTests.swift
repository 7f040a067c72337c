import Foundation
import LinkFaults
import Scenarios
import Testing

@Suite struct CatalogueTests {
    @Test func everyScenarioReadsAndWritesBackTheSame() throws {
        for (file, text) in try Repository.catalogue() {
            let scenario = try ScenarioReader.read(text: text, file: file)
            #expect(!scenario.expectations.isEmpty, "\(file) expects nothing")
            #expect(scenario.expectations.contains { $0.at == nil }, "\(file) says nothing about the end")
            #expect(try ScenarioReader.read(text: scenario.text, file: "\(file), written back") == scenario)
        }
    }

    /// Row n of the reports is the file that begins with n; each says where it comes from.
    @Test func everyReportHasItsScenario() throws {
        let catalogue = try Repository.catalogue()
        for row in 1...33 {
            let prefix = (row < 10 ? "0\(row)" : "\(row)") + "-"
            let item = try #require(catalogue.first { $0.file.hasPrefix(prefix) }, "no scenario for report \(row)")
            let scenario = try ScenarioReader.read(text: item.text, file: item.file)
            #expect(scenario.report?.hasPrefix("GH ") == true, "\(item.file) names no report")
        }
        let own = try catalogue.filter { item in
            try ScenarioReader.read(text: item.text, file: item.file).report == nil
        }
        #expect(own.count >= 12)
    }

    @Test func namesAndSeedsAreTheirOwn() throws {
        let scenarios = try Repository.catalogue().map { try ScenarioReader.read(text: $0.text, file: $0.file) }
        #expect(Set(scenarios.map(\.name)).count == scenarios.count)
        #expect(Set(scenarios.map(\.seed)).count == scenarios.count)
    }

    /// Live, the steps of the whole catalogue leave most of five minutes for starting, draining and judging.
    @Test func theCatalogueIsShortEnoughToRunLive() throws {
        var seconds = 0.0
        for (file, text) in try Repository.catalogue() {
            let scenario = try ScenarioReader.read(text: text, file: file)
            let last = (scenario.steps.map(\.at) + scenario.expectations.compactMap(\.at)).max() ?? .zero
            seconds += Double(last.components.seconds) / scenario.settings.liveScale
        }
        #expect(seconds < 200, "\(seconds) s")
    }
}

@Suite struct SchemaTests {
    /// After a change of the format: `UPDATE_SCHEMA=1 swift test --filter SchemaTests` writes it anew.
    @Test func theSchemaThatShipsIsTheReadersOwn() throws {
        if ProcessInfo.processInfo.environment["UPDATE_SCHEMA"] == "1" {
            try ScenarioSchema.text.write(
                to: Repository.root.appending(path: "Docs/scenario.schema.json"), atomically: false, encoding: .utf8)
        }
        #expect(try Repository.text("Docs/scenario.schema.json") == ScenarioSchema.text)
    }

    /// Not with the code that made the schema: by a small checker in Python.
    @Test func everyScenarioFitsTheSchema() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "schema-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (file, text) in try Repository.catalogue() {
            let plain = Data(try JSONTree.read(text, file: file).text.utf8)
            try plain.write(to: folder.appending(path: "\(file).json"))
        }
        // One that must not fit, so that the checker is known to look.
        try Data(#"{ "name": "x", "shows": "y", "steps": [{ "at": 0, "record": 1, "kill": "phone" }] }"#.utf8)
            .write(to: folder.appending(path: "bad.json"))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", Repository.root.appending(path: "Tests/ScenariosTests/Fixtures/check_schema.py").path,
            Repository.root.appending(path: "Docs/scenario.schema.json").path, folder.path,
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(output)")
        let count = try Repository.catalogue().count
        #expect(output.contains("bad.json: refused") && output.contains("\(count) fit"), "\(output)")
    }
}
