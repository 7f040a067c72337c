import Foundation
import Spooling
import Testing
import WireContract

@testable import DaemonRuntime

@Suite("The journal, read back") struct JournalReaderTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/home", withIntermediateDirectories: false)
    }

    private var home: String { folder.file("home") }
    private var current: URL { URL(fileURLWithPath: home + "/journal/journal.jsonl") }
    private var old: URL { URL(fileURLWithPath: home + "/journal/journal.1.jsonl") }

    private func write(_ events: [PairEvent], as side: Side = .phone) {
        let history = DaemonHistory(side: side, isQuiet: true)
        history.attachJournal(home: home)
        for event in events { history.record(event) }
        history.commit()
    }

    private func add(_ text: String, to file: URL? = nil) throws {
        let handle = try FileHandle(forWritingTo: file ?? current)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    private func details() throws -> (details: [String?], isWhole: Bool) {
        let answer = try JournalReader.entries(home: home)
        return (answer.entries.map(\.event.detail), answer.isWhole)
    }

    @Test("every kind and every field comes back as it was, from both sides")
    func roundTrip() throws {
        let id = ULID(high: .max, low: 7)
        let nasty = "q\" b\\ n\n r\r t\t nul\0 c1\u{85} ls\u{2028} é \u{65}\u{301} 🎙 /"
        var events =
            PairEvent.Kind.allCases.map { PairEvent($0) }
            + PairEvent.Kind.allCases.map {
                PairEvent(
                    $0, phase: .intends, id: id, name: FileName(bytes: [0xFF, 0x5C, 0x20, 0x0A, 0x78]), byteCount: .max,
                    checksums: Checksums(crc32: 0x0011_2233, adler32: 0xAABB_CCDD),
                    pairing: PairingID(rawValue: 0xFEDC_BA98), attempt: .max, detail: nasty)
            }
        events.append(PairEvent(.acked, id: ULID(high: 0, low: 0), byteCount: 0, attempt: 0, detail: ""))
        events.append(PairEvent(.staged, checksums: .ofNothing, pairing: PairingID(rawValue: 0)))
        let before = MonotonicClock().now()
        write(events, as: .watch)
        write([PairEvent(.started)], as: .phone)
        let (entries, isWhole) = try JournalReader.entries(home: home)
        #expect(isWhole)
        #expect(entries.map(\.event) == events + [PairEvent(.started)])
        #expect(entries.dropLast().allSatisfy { $0.side == .watch } && entries.last?.side == .phone)
        #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.moment <= $1.moment })
        #expect(entries[0].moment >= before)
        let detail = try #require(entries.first { $0.event.phase == .intends }?.event.detail)
        #expect(Array(detail.unicodeScalars) == Array(nasty.unicodeScalars))
        let text = try String(contentsOf: current, encoding: .utf8)
        #expect(text.contains("\"checksums\":\"00112233aabbccdd\",\"pairing\":\"00000000fedcba98\""))
    }

    @Test("a line is spelled as it always was, byte for byte, whether the journal was there or came later")
    func spelling() throws {
        let history = DaemonHistory(side: .watch, isQuiet: true)
        let id = try #require(ULID("01HZXW5E3V9K2M4N6P8Q0R1S2T"))
        history.record(PairEvent(.started, pairing: PairingID(rawValue: 0xFE), detail: "start 7"))
        history.attachJournal(home: home)
        history.record(
            PairEvent(
                .ingested, phase: .intends, id: id, name: "0000000001-0000000002-0000abcd.note", byteCount: .max,
                checksums: Checksums(crc32: 0x0A, adler32: 0xAABB_CCDD), pairing: PairingID(rawValue: .max),
                attempt: 10, detail: "a/b \"c\" \\ \n\r\t\u{1}\u{7F}\u{9F}\u{2028}\u{2029} é\u{301} 🎙 \u{7E}\u{A0}"))
        history.record(PairEvent(.failed, name: FileName(bytes: [0xFF, 0x22, 0x5C, 0x20]), byteCount: 0, attempt: -1))
        history.record(PairEvent(.refused, name: "with \"quotes\"", byteCount: 1_000, detail: ""))
        history.commit()
        let escapes = #"a/b \"c\" \\ \n\r\t\u0001\u007f\u009f\u2028\u2029"#
        let expected: [String] = [
            #""side":"watch","event":"started","phase":"did","pairing":"00000000000000fe","detail":"start 7"}"#,
            #""side":"watch","event":"ingested","phase":"intends","id":"01HZXW5E3V9K2M4N6P8Q0R1S2T","#
                + #""name":"0000000001-0000000002-0000abcd.note","byteCount":18446744073709551615,"#
                + #""checksums":"0000000aaabbccdd","pairing":"ffffffffffffffff","attempt":10,"#
                + "\"detail\":\"\(escapes) é\u{301} 🎙 ~\u{A0}\"}",
            #""side":"watch","event":"failed","phase":"did","name":"\\xff\"\\\\ ","byteCount":0,"attempt":-1}"#,
            #""side":"watch","event":"refused","phase":"did","name":"with \"quotes\"","byteCount":1000,"detail":""}"#,
        ]
        let lines = try String(contentsOf: current, encoding: .utf8).split(separator: "\n").map { line in
            String(try #require(line.wholeMatch(of: /\{"wallMs":[0-9]{13},"monotonicNs":[0-9]+,(.*)/)).output.1)
        }
        // By their bytes: `==` of strings would call two spellings of one letter equal.
        #expect(lines.map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "\(lines)")
    }

    @Test("no home and no journal: nothing happened; a journal behind a link is not followed")
    func nothing() throws {
        #expect(try details() == ([], true))
        #expect(try JournalReader.entries(home: folder.file("none")).isWhole)
        try FileManager.default.createSymbolicLink(atPath: home + "/journal", withDestinationPath: folder.path)
        #expect(failure { _ = try JournalReader.entries(home: home) }?.operation == .openDirectory)
    }

    @Test("half a line at the end is a kill; so it is when the next start found it; anywhere else it is damage")
    func torn() throws {
        write([PairEvent(.started, detail: "1")])
        try add("{\"wallMs\":12,\"mono")
        #expect(try details() == (["1"], true))
        write([PairEvent(.started, detail: "2")])
        #expect(try details() == (["1", "2"], true))
        try add("{\"wallMs\":12,\"mono\n")
        write([PairEvent(.started, detail: "3")])
        #expect(try details() == (["1", "2", "3"], false))
    }

    @Test(
        "a line that no daemon writes is left out and told, and what stands around it is read",
        arguments: [
            "", "{}", "[]", "null", "{\"wallMs\":1}", "{\"journal\":\"lost\",\"lines\":3}", "{\"journal\":\"odd\"}",
            "{\"journal\":\"part\",\"number\":1}", "\u{0}\u{1}", "{\"a\":{\"a\":1}}",
            line(), line("\"event\":\"acked\"", "\"event\":\"eaten\""), line("\"side\":\"phone\"", "\"side\":7"),
            line("\"monotonicNs\":5", "\"monotonicNs\":-5"), line("\"monotonicNs\":5", "\"monotonicNs\":5.0"),
            line("\"monotonicNs\":5", "\"monotonicNs\":05"), line("\"monotonicNs\":5", "\"monotonicNs\":--5"),
            line("\"monotonicNs\":5", "\"monotonicNs\":18446744073709551616"), line("}", ",\"id\":\"u\"}"),
            line("}", ",\"name\":\"\"}"), line("}", ",\"name\":\"a/b\"}"), line("}", ",\"name\":\"\\\\x4\"}"),
            line("}", ",\"name\":\"\\\\x41\"}"), line("}", ",\"checksums\":\"00112233AABBCCDD\"}"),
            line("}", ",\"pairing\":\"1\"}"), line("}", ",\"attempt\":18446744073709551615}"),
            line("}", ",\"detail\":\"\\ud83c\"}"), line("}", ",\"detail\":\"\\q\"}"), line("}", ",\"other\":1}"),
            line("}", ",\"side\":\"phone\"}"), line("}", "} "), line("}", ",}"), line("}", ",\"detail\":[]}"),
        ])
    func damage(text: String) throws {
        write([PairEvent(.started, detail: "1")])
        try add(text + "\n")
        write([PairEvent(.started, detail: "2")])
        let isGood = text.isEmpty || text == Self.line()
        let (details, isWhole) = try details()
        #expect(isWhole == isGood)
        #expect(details == (text == Self.line() ? ["1", nil, "2"] : ["1", "2"]))
    }

    @Test("a line that is longer than any of ours is damage")
    func longLine() throws {
        write([PairEvent(.started, detail: "1"), PairEvent(.failed, detail: String(repeating: "x", count: 60_000))])
        #expect(try details().isWhole)
        let deep = String(repeating: "{\"a\":", count: 100_000)
        let long = Self.line("}", ",\"detail\":\"\(String(repeating: "x", count: JournalReader.mostLineByteCount))\"}")
        for text in [deep, long] {
            let before = try details().details.count
            try add(text + "\n")
            write([PairEvent(.started, detail: "2")])
            let (details, isWhole) = try details()
            #expect(!isWhole && details.count == before + 1)
        }
    }

    static func line(_ part: String = "", _ other: String = "") -> String {
        let line = #"{"wallMs":-1,"monotonicNs":5,"side":"phone","event":"acked","phase":"did"}"#
        return part.isEmpty ? line : line.replacingOccurrences(of: part, with: other)
    }

    @Test("two parts are one journal; with a third one the first is missing, and that is told")
    func rotation() throws {
        let line = Self.line("}", ",\"detail\":\"x\"}")
        let journal = JournalFile(home: home, byteLimit: 3 * line.utf8.count)
        func append(_ count: Int) {
            for _ in 0..<count {
                journal.append(line: line)
                journal.flush()
            }
        }
        append(3)
        #expect(FileManager.default.fileExists(atPath: old.path))
        #expect(try details() == (["x", "x", "x"], true))
        append(3)
        let later = try details()
        #expect(!later.isWhole && later.details.count < 6)
    }

    @Test("a part is missing: the first, one between, and the new one after a kill between putting aside and writing")
    func missingPart() throws {
        write([PairEvent(.started, detail: "1")])
        try FileManager.default.moveItem(at: current, to: old)
        #expect(try details() == (["1"], true))
        write([PairEvent(.started, detail: "2")])
        #expect(try details() == (["1", "2"], true))
        try FileManager.default.removeItem(at: old)
        #expect(try details() == (["2"], false))
        try Data((Self.line() + "\n").utf8).write(to: old)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: old.path)
        try Data("{\"journal\":\"part\",\"number\":2}\n".utf8).write(to: current)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: current.path)
        #expect(try details() == ([nil], false))
    }

    @Test("any bytes at all: no trap, and no entry of them")
    func noise() throws {
        var state: UInt64 = 1
        let good = Array(Self.line("}", ",\"detail\":\"a\\u0041\",\"name\":\"\\\\xff\"}").utf8)
        for round in 0..<20_000 {
            var bytes = good
            for _ in 0...(round % 3) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let place = Int(state >> 33) % bytes.count
                switch state >> 30 & 3 {
                case 0: bytes.remove(at: place)
                case 1: bytes.insert(UInt8(truncatingIfNeeded: state >> 40), at: place)
                case _: bytes[place] = UInt8(truncatingIfNeeded: state >> 40)
                }
            }
            _ = JSONLine(bytes[...])
            _ = JSONLine(bytes.prefix(round % bytes.count))
        }
        #expect(JSONLine(good[...]) != nil && JSONLine(good.dropLast()) == nil)
    }
}
