import Foundation
import Spooling
import Testing

@testable import DaemonRuntime

@Suite("Tables, zones, clocks, exit codes") struct SmallPartsTests {
    @Test("a table is aligned by scalars, cuts spaces at ends of lines, and lets no control character out")
    func table() {
        var table = TextTable([.init("ID"), .init("BYTES", .right), .init("STATE")])
        #expect(table.isEmpty)
        table.add(["é🎙", "7", "ok"])
        table.add(["long-id", "123456", ""])
        table.add(["\u{1B}[2J", "0", "a\nb"])
        #expect(
            table.lines == [
                "ID        BYTES  STATE",
                "é🎙            7  ok",
                "long-id  123456",
                "\u{FFFD}[2J          0  a\u{FFFD}b",
            ])
    }

    @Test("the zone comes from TZ, else from the link, else from the file")
    func zones() {
        func find(_ variable: String?, _ link: String?, _ file: String?) -> String? {
            TimeZoneName.find(variable: variable, linkTarget: link, file: file)
        }
        #expect(find("Europe/Berlin", "/usr/share/zoneinfo/Asia/Tokyo", nil) == "Europe/Berlin")
        #expect(find(":America/Argentina/Buenos_Aires", nil, nil) == "America/Argentina/Buenos_Aires")
        #expect(find("/usr/share/zoneinfo/Asia/Tokyo", nil, nil) == "Asia/Tokyo")
        #expect(find("", nil, nil) == "UTC")
        // A rule has no name; the link does not apply then.
        #expect(find("CET-1CEST", "/usr/share/zoneinfo/Asia/Tokyo", nil) == nil)
        #expect(find("<+03>-3", nil, nil) == nil)
        #expect(find("/home/me/zone", nil, nil) == nil)
        #expect(find(nil, "../usr/share/zoneinfo/Etc/GMT+5", nil) == "Etc/GMT+5")
        #expect(find(nil, "/var/db/timezone/zoneinfo/Europe/Berlin", nil) == "Europe/Berlin")
        #expect(find(nil, "/usr/share/zoneinfo/posix/Europe/Berlin", nil) == "Europe/Berlin")
        #expect(find(nil, "/somewhere/else", "Europe/Paris\n") == "Europe/Paris")
        #expect(find(nil, nil, "EST5EDT") == "EST5EDT")
        for bad in ["../../etc/passwd", "a//b", "Europe/", "1abc", "é", String(repeating: "a", count: 65), "A B"] {
            #expect(TimeZoneName.validated(bad) == nil, "\(bad)")
        }
        if let current = TimeZoneName.current() { #expect(TimeZoneName.validated(current) == current) }
    }

    @Test("clocks move forward and agree with Foundation's; entropy does not repeat")
    func clocks() {
        let clock = MonotonicClock()
        let before = clock.now()
        usleep(2_000)
        #expect(clock.now().since(before) >= .milliseconds(2))
        let wall = Double(WallClock().millisecondsSince1970()) / 1_000
        #expect(abs(wall - Date().timeIntervalSince1970) < 60)
        // Over several answers of the kernel.
        let entropy = Entropy()
        #expect(Set((0..<100).map { _ in entropy.next() } + [Entropy().next()]).count == 101)
    }

    @Test("things done at once are done when the call returns, each once, also from within one another")
    func workers() {
        let tally = Tally()
        Workers.each(0..<40, jobs: 8) { number in
            Workers.beside(
                { tally.add(3 * number) },
                { Workers.each(1..<3, jobs: 4) { tally.add(3 * number + $0) } })
        }
        #expect(tally.sorted == Array(0..<120))
    }

    @Test("a thread waits for the next thing to do: many calls one after the other start next to none")
    func workersStay() {
        let tally = Tally()
        let before = Workers.threadCount
        for number in 0..<400 { Workers.beside({ tally.add(2 * number) }, { tally.add(2 * number + 1) }) }
        #expect(tally.sorted == Array(0..<800))
        // Other tests may start some at the same time.
        #expect(Workers.threadCount - before < 100)
    }

    private final class Tally: @unchecked Sendable {
        private let lock = Mutex()
        private var numbers: [Int] = []
        func add(_ number: Int) { lock.whileHeld { numbers.append(number) } }
        var sorted: [Int] { lock.whileHeld { numbers.sorted() } }
    }

    @Test("signals and failed calls map to exit codes")
    func exitCodes() {
        #expect(StopSignal.allCases.map(\.rawValue) == [SIGHUP, SIGINT, SIGTERM])
        #expect(StopSignal.allCases.map(\.exitCode.rawValue) == [129, 130, 143])
        #expect(ExitCode(FileSystemError(.makeDirectory, "x", .notPermitted)) == .cannotCreate)
        #expect(ExitCode(FileSystemError(.sync, "x", .inputOutput)) == .inputOutput)
    }
}
