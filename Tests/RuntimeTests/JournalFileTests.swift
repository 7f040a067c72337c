import Foundation
import Testing

@testable import DaemonRuntime

@Suite("The journal") struct JournalFileTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func lines(_ name: String = "journal.jsonl", in home: String? = nil) throws -> [String] {
        let text = try String(contentsOfFile: "\(home ?? folder.path)/journal/\(name)", encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    private final class Said { var lines: [String] = [] }

    @Test("flushed lines are in the file while it is open; what was buffered comes when the journal ends")
    func flushes() throws {
        do {
            let journal = JournalFile(home: folder.path)
            journal.append(line: #"{"intends":"ingest","n":1}"#)
            #expect(try lines() == [])
            journal.flush()
            #expect(try lines() == [#"{"intends":"ingest","n":1}"#])
            journal.append(line: "{}")
        }
        #expect(try lines().count == 2)
        // A second start goes on behind the first.
        let journal = JournalFile(home: folder.path)
        journal.append(line: "{\"start\":2}")
        journal.flush()
        #expect(try lines().last == "{\"start\":2}")
        #expect(try lines().count == 3)
    }

    @Test("half a line that a kill left stands alone")
    func tornLine() throws {
        try FileManager.default.createDirectory(atPath: folder.file("journal"), withIntermediateDirectories: false)
        try Data("{\"whole\":1}\n{\"ha".utf8).write(to: URL(fileURLWithPath: folder.file("journal/journal.jsonl")))
        let journal = JournalFile(home: folder.path)
        journal.append(line: "{\"next\":2}")
        journal.flush()
        #expect(try lines() == ["{\"whole\":1}", "{\"ha", "{\"journal\":\"torn\"}", "{\"next\":2}"])
    }

    @Test("it rotates at its limit and keeps one old file")
    func rotates() throws {
        let journal = JournalFile(home: folder.path, byteLimit: 100)
        for number in 0..<30 {
            journal.append(line: #"{"n":\#(number)}"#)
            journal.flush()
        }
        let parts = try (lines("journal.1.jsonl"), lines())
        // Each file but the first begins with its number.
        let number = try #require(parts.1.first.flatMap { JournalFile.partNumber(ofLine: Array($0.utf8)[...]) })
        #expect(parts.0.first == "{\"journal\":\"part\",\"number\":\(number - 1)}" && number > 1)
        let (old, new) = (Array(parts.0.dropFirst()), Array(parts.1.dropFirst()))
        let first = 30 - old.count - new.count
        let expected = (first..<30).map { "{\"n\":\($0)}" }
        #expect(old + new == expected)
        #expect(!new.isEmpty && !old.isEmpty)
        for name in ["journal.jsonl", "journal.1.jsonl"] {
            let size = try FileManager.default.attributesOfItem(atPath: folder.file("journal/\(name)"))[.size] as? Int
            #expect(try #require(size) <= 100)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("journal")).count == 2)
        #expect(journal.lostLineCount == 0)
    }

    @Test(
        "a home that is not there, or a link in its place: lines are lost and counted, said once, and it goes on after")
    func recovers() throws {
        let said = Said()
        let home = folder.file("home")
        let journal = JournalFile(home: home) { said.lines.append($0) }
        for _ in 0..<3 {
            journal.append(line: "{}")
            journal.flush()
        }
        #expect(journal.lostLineCount == 3)
        #expect(said.lines.count == 1)
        #expect(said.lines.first?.contains(home) == true)

        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: home + "/journal", withDestinationPath: folder.path)
        journal.append(line: "{}")
        journal.flush()
        #expect(journal.lostLineCount == 4)

        try FileManager.default.removeItem(atPath: home + "/journal")
        journal.append(line: "{\"back\":true}")
        journal.flush()
        #expect(try lines(in: home) == [#"{"journal":"lost","lines":4}"#, #"{"back":true}"#])
        #expect(journal.lostLineCount == 4 && said.lines.count == 1)
    }

    @Test("a caller that never flushes holds a bounded buffer")
    func bounded() throws {
        let journal = JournalFile(home: folder.path)
        let line = String(repeating: "x", count: 1_000)
        for _ in 0..<1_100 { journal.append(line: line) }
        #expect(try lines().count > 1_000)
    }

    @Test(
        "a full disk loses lines and nothing else; with room again the journal says how many",
        .enabled(if: SmallDisk.canMount, "\(SmallDisk.why)"))
    func fullDisk() throws {
        let small = try SmallDisk(byteCount: 65_536)
        let said = Said()
        let journal = JournalFile(home: small.path) { said.lines.append($0) }
        let ballast = small.path + "/ballast"
        // A full disk makes this write fail; that is what it is for.
        _ = try? Data(count: 40_000).write(to: URL(fileURLWithPath: ballast))
        let line = "{\"x\":\"" + String(repeating: "x", count: 990) + "\"}"
        for _ in 0..<60 {
            journal.append(line: line)
            journal.flush()
        }
        let lost = journal.lostLineCount
        #expect(lost > 0 && lost < 60)
        #expect(said.lines.count == 1)
        #expect(said.lines.first?.contains("No space left") == true)

        try FileManager.default.removeItem(atPath: ballast)
        journal.append(line: "{\"after\":1}")
        journal.flush()
        let written = try lines(in: small.path)
        #expect(written.filter { $0 == line }.count == 60 - lost)
        #expect(written.suffix(2) == ["{\"journal\":\"lost\",\"lines\":\(lost)}", "{\"after\":1}"])
    }
}

@Suite("JSON lines") struct JSONTests {
    @Test("strings are escaped and come back through a strict reader")
    func strings() throws {
        let nasty = "q\" b\\ n\n r\r t\t nul\0 esc\u{1B} del\u{7F} c1\u{85} ls\u{2028}\u{2029} é \u{65}\u{301} 🎙 /"
        let object: JSONObject = ["k\"\n": JSONValue(nasty)]
        let line = object.line
        #expect(
            !line.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) || $0 == "\u{2028}" })
        #expect(line.contains(#"q\" b\\ n\n r\r t\t nul\u0000 esc\u001b del\u007f c1\u0085 ls\u2028\u2029"#))
        let read = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        #expect(read["k\"\n"].map { Array($0.unicodeScalars) } == Array(nasty.unicodeScalars))
    }

    @Test("numbers keep their value, members their order, and what JSON cannot say is null")
    func values() {
        var object: JSONObject = ["z": 1, "a": -2.5, "list": [true, nil, "x"], "m": .number(.nan)]
        object.add("u", UInt64.max)
        object.add("i", Int64.min)
        object.add("d", 1e-7)
        object.add("o", JSONObject())
        #expect(
            object.line
                == #"{"z":1,"a":-2.5,"list":[true,null,"x"],"m":null,"u":18446744073709551615,"#
                + #""i":-9223372036854775808,"d":1e-07,"o":{}}"#)
    }
}
