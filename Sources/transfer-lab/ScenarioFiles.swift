import DaemonRuntime
import LinkFaults
import Scenarios
import Spooling

/// Scenario files that the user named.
enum ScenarioFiles {
    private static let mostByteCount = 1_024 * 1_024

    /// Reads one. Throws with the file and the place in it that is wrong.
    static func read(_ path: String) throws(ScenarioError) -> Scenario {
        try ScenarioReader.read(text: try text(path), file: path)
    }

    /// The text of a file that the user named.
    static func text(_ path: String) throws(ScenarioError) -> String {
        let bytes: [UInt8]
        do throws(FileSystemError) {
            let disk = DiskFileSystem()
            let file = try disk.openSource(path)
            bytes = try disk.readAll(file, at: 0, byteCount: mostByteCount + 1)
        } catch {
            throw ScenarioError(file: path, path: "", found: error.description, accepted: "a file that can be read")
        }
        guard bytes.count <= mostByteCount else {
            throw ScenarioError(file: path, path: "", found: "more than 1 MiB", accepted: "at most 1 MiB")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
