import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// What a test looks at: names and bytes on the disk, and the journals. Never a daemon's own word alone.

enum Disk {
    /// Sorted; empty when the folder is missing.
    static func names(_ folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    static func bytes(_ path: String) throws -> Data {
        guard let data = FileManager.default.contents(atPath: path) else { throw Story("cannot read \(path)") }
        return data
    }

    static func write(_ data: Data, to path: String, mode: mode_t = 0o600) throws {
        guard FileManager.default.createFile(atPath: path, contents: data, attributes: [.posixPermissions: Int(mode)])
        else { throw Story("cannot write \(path)") }
        guard chmod(path, mode) == 0 else { throw Story("cannot chmod \(path)") }
    }

    static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// All that lies under a folder, relative and sorted, links not followed.
    static func tree(_ folder: String) -> [String] {
        var found: [String] = []
        var open = [""]
        while let next = open.popLast() {
            for name in names(folder + "/" + next) {
                let path = next.isEmpty ? name : next + "/" + name
                found.append(path)
                var status = stat()
                if lstat(folder + "/" + path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { open.append(path) }
            }
        }
        return found.sorted()
    }

    /// What a file is, in a line: kind, mode, owner, links, size, content or target. Equal lines mean untouched.
    static func portrait(_ path: String) -> String {
        var status = stat()
        guard lstat(path, &status) == 0 else { return "gone" }
        var line = "mode \(String(status.st_mode, radix: 8)) owner \(status.st_uid) links \(status.st_nlink)"
        line += " inode \(status.st_ino)"
        switch status.st_mode & S_IFMT {
        case S_IFLNK:
            line += " -> \((try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? "?")"
        case S_IFREG:
            line += " size \(status.st_size) content \(FileManager.default.contents(atPath: path)?.hashValue ?? 0)"
        default: break
        }
        return line
    }
}

extension TestPair {
    /// The notes that the watch keeps.
    var watchIDs: [String] {
        Disk.names(watchHome + "/recordings").filter { $0.hasSuffix(".note") }.map { String($0.dropLast(5)) }
    }

    /// What the container holds: id, then the paths of that id. More than one path is a violation of P4.
    var container: [String: [String]] {
        var found: [String: [String]] = [:]
        let folder = phoneHome + "/container"
        for month in Disk.names(folder) {
            for name in Disk.names(folder + "/" + month) {
                found[String(name.prefix(26)), default: []].append("\(folder)/\(month)/\(name)")
            }
        }
        return found
    }

    func ingestedBytes(_ id: String) throws -> Data {
        let paths = container[id] ?? []
        guard paths.count == 1 else { throw Story("the container holds \(id) \(paths.count) times: \(paths)") }
        return try Disk.bytes(paths[0])
    }

    var queueToPhone: [String] { Disk.names(spool + "/to-phone") }
    var queueToWatch: [String] { Disk.names(spool + "/to-watch") }

    func quarantine(_ tool: Tool) -> [String] { Disk.names(home(tool) + "/quarantine") }

    /// The bytes that a recording on the watch will be on the phone: the sealed file up to where its dictionary begins.
    func recordedBody(_ id: String) throws -> Data {
        let note = try Disk.bytes("\(watchHome)/recordings/\(id).note")
        return try body(ofNote: note)
    }

    func body(ofNote note: Data) throws -> Data {
        // The seal's first number, 64 bytes before the end, big-endian: how long the body is.
        guard note.count >= 64 else { throw Story("no seal") }
        let seal = note.suffix(64)
        let byteCount = seal.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard byteCount <= UInt64(note.count - 64) else { throw Story("no seal") }
        return note.prefix(Int(byteCount))
    }

    var temporaries: [String] { Disk.tree(root + "/pair").filter { $0.hasSuffix(".part") } }

    // MARK: Journal

    struct Line {
        let event: String
        let phase: String
        let id: String?
        let name: String?
        let detail: String?
    }

    /// The events of a side, in order. A line that does not parse is a failure, but for one that a SIGKILL tore.
    func journal(_ tool: Tool, tornLines: Int = 0) throws -> [Line] {
        let path = home(tool) + "/journal/journal.jsonl"
        guard let data = FileManager.default.contents(atPath: path) else { return [] }
        var lines: [Line] = []
        var torn = 0
        // A line that is being written right now has no end yet.
        for text in data.split(separator: UInt8(ascii: "\n")) {
            guard let object = try? JSONSerialization.jsonObject(with: text) as? [String: Any] else {
                torn += 1
                continue
            }
            // What the journal says about itself: a start that found half a line, a file that was put aside.
            if object["journal"] is String { continue }
            guard let event = object["event"] as? String, let phase = object["phase"] as? String,
                object["side"] as? String == (tool == .watch ? "watch" : "phone"), object["wallMs"] is NSNumber,
                object["monotonicNs"] is NSNumber
            else { throw Story("a journal line lacks what every line has: \(String(decoding: text, as: UTF8.self))") }
            lines.append(
                Line(
                    event: event, phase: phase, id: object["id"] as? String, name: object["name"] as? String,
                    detail: object["detail"] as? String))
        }
        guard torn <= tornLines else { throw Story("\(torn) lines of \(path) are no JSON") }
        return lines
    }

    /// How often something happened. While a daemon runs, its last line may be half written.
    func count(_ event: String, _ tool: Tool, id: String? = nil) throws -> Int {
        try journal(tool, tornLines: 1).count { $0.event == event && $0.phase == "did" && (id == nil || $0.id == id) }
    }
}
