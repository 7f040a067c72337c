import Foundation
import Monitors
import Spooling
import Testing
import WireContract

@testable import Replay

/// One event as a reader of the format sees it.
private struct Event {
    let phase: String
    let name: String
    let track: Int
    let ts: Double
    let object: [String: Any]

    init(_ object: [String: Any]) throws {
        self.object = object
        phase = try #require(object["ph"] as? String)
        name = try #require(object["name"] as? String)
        track = try #require(object["tid"] as? Int)
        ts = try #require(object["ts"] as? Double)
        #expect(object["pid"] as? Int == 1)
    }

    var id: String { object["id"] as? String ?? "none" }
    var category: String { object["cat"] as? String ?? "none" }
    var arguments: [String: Any] { object["args"] as? [String: Any] ?? [:] }
}

struct ChromeTraceTests {
    private func events(of entries: [HistoryEntry], title: String = "a run") throws -> [Event] {
        let text = ChromeTrace.text(of: entries, title: title)
        let file = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(file["displayTimeUnit"] as? String == "ms")
        return try #require(file["traceEvents"] as? [[String: Any]]).map(Event.init)
    }

    /// Losses, retries, a copy too many, a kill, and what never ends.
    private var busy: [HistoryEntry] {
        var run = Run()
        run.pace = .nanoseconds(300)
        run.now = Moment(nanoseconds: 5_000_000_123)
        run.start()
        for ordinal in 1...3 { run.record(ordinal) }
        for ordinal in 1...3 { run.enqueue(ordinal) }
        run.lose(.note, 1)
        run.finish(1)
        run.take(2)
        run.take(2)
        run.ingest(2)
        run.phone(PairEvent(.duplicate, id: Run.id(2)))
        run.ack(2, attempt: 1)
        run.ack(2, attempt: 2)
        run.lose(.ack, 2)
        run.world(.killed(.phone))
        run.world(.powerLost)
        run.pace = .milliseconds(7)
        run.start()
        run.receiveAck(2, attempt: 2)
        run.delete(2)
        run.watch(PairEvent(.strayAck, id: Run.id(2)))
        // A copy that was put back is sent once more: its arrow has come to its end.
        run.enqueue(2, attempt: 3)
        run.take(2, attempt: 3)
        run.watch(PairEvent(.requeued, id: Run.id(3), name: Run.entry(.note, 3, attempt: 2), attempt: 2))
        run.enqueue(1, attempt: 2)
        run.take(1, attempt: 2)
        run.phone(PairEvent(.setAside, id: Run.id(1), detail: "a \"quoted\" \\ path\n\u{7F}\u{1} – ü"))
        run.census(onWatch: [1, 3], inContainer: [2])
        return run.entries
    }

    @Test("every event has the keys that its kind needs")
    func keys() throws {
        let events = try events(of: busy)
        for event in events {
            switch event.phase {
            case "M": #expect(!event.arguments.isEmpty)
            case "X": #expect(try #require(event.object["dur"] as? Double) >= 1)
            case "i": #expect(["t", "p", "g"].contains(event.object["s"] as? String))
            case "b", "e", "s", "t", "f": #expect(event.id != "none" && event.category != "none")
            case let other: Issue.record("an event of the kind \(other)")
            }
            #expect(event.ts >= 0)
        }
        let names = events.filter { $0.name == "thread_name" }.map { $0.arguments["name"] as? String }
        #expect(names == ["watch", "link", "phone", "world"])
        #expect(
            events.filter { $0.name == "thread_sort_index" }.map { $0.arguments["sort_index"] as? Int } == [1, 2, 3, 4])
        let power = try #require(events.first { $0.name == "power lost" })
        #expect(power.phase == "i" && power.object["s"] as? String == "g" && power.track == 4)
        let kill = try #require(events.first { $0.name == "killed phone" })
        #expect(kill.phase == "i" && kill.object["s"] as? String == "p" && kill.track == 4)
    }

    @Test("each span that begins ends, once and not before it")
    func spans() throws {
        var open: [String: Double] = [:]
        var seen: Set<String> = []
        let events = try events(of: busy)
        for event in events where event.phase == "b" {
            #expect(seen.insert(event.id).inserted, "\(event.name) \(event.id)")
        }
        for event in events {
            if event.phase == "b" { open[event.id] = event.ts }
            guard event.phase == "e" else { continue }
            let began = open.removeValue(forKey: event.id)
            #expect(try #require(began) <= event.ts)
        }
        #expect(open.isEmpty)
        let names = Set(events.filter { $0.phase == "b" }.map(\.name))
        #expect(
            names == [
                "watch runs", "phone runs", "recording on the watch", "entry in the spool", "note in the phone",
                "ack in the spool",
            ])
        // Two acks of one recording were under way at once: one is lost, the other is received.
        let acks = events.filter { $0.name == "ack in the spool" }
        #expect(acks.map(\.phase) == ["b", "b", "e", "e"])
    }

    @Test("each flow starts once, ends once, goes forward, and lies on slices")
    func flows() throws {
        let events = try events(of: busy)
        let slices = events.filter { $0.phase == "X" }
        let flows = Dictionary(grouping: events.filter { ["s", "t", "f"].contains($0.phase) }, by: \.id)
        #expect(flows.count == 3)
        for (id, flow) in flows {
            #expect(flow.first?.phase == "s" && flow.last?.phase == "f", "flow \(id)")
            #expect(flow.dropFirst().dropLast().allSatisfy { $0.phase == "t" })
            #expect(flow.allSatisfy { $0.name == "recording" && $0.category == "recording" })
            for (early, late) in zip(flow, flow.dropFirst()) { #expect(early.ts < late.ts) }
            for event in flow { #expect(slices.contains { $0.track == event.track && $0.ts == event.ts }) }
        }
        // The one that was deleted: across all the threads, with an ack that was lost.
        let whole = try #require(flows["2"])
        #expect(whole.map(\.track) == [4, 2, 3, 3, 3, 3, 3, 2, 1, 1])
    }

    @Test("slices do not overlap, and the file's moments go forward, however close the entries are")
    func nothingOverlaps() throws {
        let events = try events(of: busy)
        var end = 0.0
        for event in events where event.phase == "X" {
            #expect(event.ts >= end - 0.0001, "\(event.name)")
            end = event.ts + 1
        }
        var last = 0.0
        for event in events where !["s", "t", "f"].contains(event.phase) {
            #expect(event.ts >= last, "\(event.name)")
            last = event.ts
        }
        // What was moved says when it was.
        let moved = try #require(events.first { $0.arguments["momentNs"] != nil })
        #expect(try #require(moved.arguments["momentNs"] as? Double) < moved.ts * 1_000)
    }

    @Test("words of the field survive, whatever is in them")
    func escaping() throws {
        let events = try events(of: busy, title: "\"\u{0}\\\u{1F}é")
        let aside = try #require(events.first { $0.name == "setAside" })
        #expect(aside.arguments["detail"] as? String == "a \"quoted\" \\ path\n\u{7F}\u{1} – ü")
        #expect(aside.arguments["ordinal"] as? Int == 1)
        #expect(aside.arguments["id"] as? String == Run.id(1).description)
    }

    @Test("a recording of which only one moment is known has no arrow")
    func lonely() throws {
        var run = Run()
        run.delete(1)
        let events = try events(of: run.entries)
        #expect(!events.contains { ["s", "t", "f"].contains($0.phase) })
        #expect(try self.events(of: []).map(\.phase).allSatisfy { $0 == "M" })
    }

    @Test("a long history comes in pieces, which are the text")
    func pieces() {
        var run = Run()
        for ordinal in 1...400 { run.deliver(ordinal) }
        var pieces: [[UInt8]] = []
        ChromeTrace.write(run.entries, title: "x") { pieces.append(copy $0) }
        #expect(pieces.count > 5)
        #expect(pieces.allSatisfy { $0.count < 80_000 })
        #expect(String(decoding: pieces.flatMap { $0 }, as: UTF8.self) == ChromeTrace.text(of: run.entries, title: "x"))
    }

    @Test("a small history, to the last byte")
    func golden() {
        var run = Run()
        run.pace = .nanoseconds(1_500_250)
        run.record(1)
        run.enqueue(1)
        run.take(1)
        let id = Run.id(1)
        let name = Run.entry(.note, 1)
        #expect(
            ChromeTrace.text(of: run.entries, title: "small") == """
                {"displayTimeUnit":"ms","otherData":{"title":"small"},"traceEvents":[
                {"ph":"M","name":"process_name","pid":1,"tid":0,"ts":0,"args":{"name":"pair"}},
                {"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":0,"args":{"name":"watch"}},
                {"ph":"M","name":"thread_sort_index","pid":1,"tid":1,"ts":0,"args":{"sort_index":1}},
                {"ph":"M","name":"thread_name","pid":1,"tid":2,"ts":0,"args":{"name":"link"}},
                {"ph":"M","name":"thread_sort_index","pid":1,"tid":2,"ts":0,"args":{"sort_index":2}},
                {"ph":"M","name":"thread_name","pid":1,"tid":3,"ts":0,"args":{"name":"phone"}},
                {"ph":"M","name":"thread_sort_index","pid":1,"tid":3,"ts":0,"args":{"sort_index":3}},
                {"ph":"M","name":"thread_name","pid":1,"tid":4,"ts":0,"args":{"name":"world"}},
                {"ph":"M","name":"thread_sort_index","pid":1,"tid":4,"ts":0,"args":{"sort_index":4}},
                {"ph":"b","name":"recording on the watch","pid":1,"tid":1,"ts":0,"cat":"span","id":"1",\
                "args":{"id":"\(id)","ordinal":1,"byteCount":100,"version":1}},
                {"ph":"X","name":"record returned","pid":1,"tid":4,"ts":0,"dur":1,\
                "args":{"id":"\(id)","ordinal":1,"byteCount":100,"version":1}},
                {"ph":"b","name":"entry in the spool","pid":1,"tid":2,"ts":1500.250,"cat":"span","id":"2",\
                "args":{"id":"\(id)","ordinal":1,"toldBy":"watch","name":"\(name)","attempt":1}},
                {"ph":"X","name":"enqueued","pid":1,"tid":2,"ts":1500.250,"dur":1,\
                "args":{"id":"\(id)","ordinal":1,"toldBy":"watch","name":"\(name)","attempt":1}},
                {"ph":"s","name":"recording","pid":1,"tid":4,"ts":0,"cat":"recording","id":"1"},
                {"ph":"e","name":"entry in the spool","pid":1,"tid":2,"ts":3000.500,"cat":"span","id":"2"},
                {"ph":"b","name":"note in the phone","pid":1,"tid":3,"ts":3000.500,"cat":"span","id":"3",\
                "args":{"id":"\(id)","ordinal":1,"name":"\(name)","byteCount":300,"attempt":1}},
                {"ph":"X","name":"taken","pid":1,"tid":3,"ts":3000.500,"dur":1,\
                "args":{"id":"\(id)","ordinal":1,"name":"\(name)","byteCount":300,"attempt":1}},
                {"ph":"t","name":"recording","pid":1,"tid":2,"ts":1500.250,"cat":"recording","id":"1"},
                {"ph":"i","name":"staged","pid":1,"tid":3,"ts":4500.750,"s":"t","args":{"id":"\(id)","ordinal":1}},
                {"ph":"e","name":"recording on the watch","pid":1,"tid":1,"ts":4500.750,"cat":"span","id":"1"},
                {"ph":"e","name":"note in the phone","pid":1,"tid":3,"ts":4500.750,"cat":"span","id":"3"},
                {"ph":"f","name":"recording","pid":1,"tid":3,"ts":3000.500,"cat":"recording","id":"1","bp":"e"}
                ]}

                """)
    }
}
