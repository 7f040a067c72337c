import Foundation
import LinkFaults
import Monitors
import Replay
import Scenarios
import Simulation
import Spooling
import Testing

/// The package's own files, found from where this file stands.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The scenarios of the catalogue, by the names of their files.
    static let catalogue: [String] = {
        let folder = root.appending(path: "Scripts/Scenarios").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".json5") }.sorted()
    }()

    static func scenario(_ file: String) throws -> Scenario {
        try ScenarioReader.read(text: try text("Scripts/Scenarios/\(file)"), file: file)
    }
}

/// A scenario with quick retries around some steps and expectations.
func scenario(_ steps: String, expect: String = "", settings: String = "", seed: UInt64 = 1) throws -> Scenario {
    try ScenarioReader.read(
        text: """
            { name: 'x', shows: 'y', seed: \(seed),
              settings: { retryFirst: '1s', retryCap: '4s', patience: '5s', \(settings) },
              steps: [\(steps)], expect: [\(expect)] }
            """, file: "x.json5")
}

func play(_ scenario: Scenario) -> RunReport { World(scenario, keepsEntries: true).run() }

extension RunReport {
    func count(_ kind: PairEvent.Kind) -> Int {
        entries.count {
            if case .pair(let event) = $0.what { event.kind == kind && event.phase == .did } else { false }
        }
    }

    /// The moments at which something happened, in seconds.
    func seconds(_ kind: PairEvent.Kind) -> [Double] {
        entries.compactMap { entry in
            guard case .pair(let event) = entry.what, event.kind == kind, event.phase == .did else { return nil }
            return Double(entry.moment.nanoseconds) / 1e9
        }
    }

    func worldSeconds(_ event: WorldEvent) -> [Double] {
        entries.compactMap { entry in
            guard case .world(let told) = entry.what, told == event else { return nil }
            return Double(entry.moment.nanoseconds) / 1e9
        }
    }
}
