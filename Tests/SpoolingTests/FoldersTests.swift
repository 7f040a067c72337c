import Simulation
import Spooling
import Testing

/// Opening the folders of a pair: what they are, who holds them, and what was exchanged behind a daemon's back.
struct FoldersTests {
    private func open(
        _ kind: FolderKind, _ process: any FileSystem, nonce: UInt64 = 1, create: Bool = true
    ) throws -> OpenDirectory {
        try process.openFolder(kind, at: "/home", create: create, nonce: nonce)
    }

    @Test("a folder is made once and opened again; of another kind it is refused")
    func kinds() throws {
        let disk = SimulatedFileSystem()
        #expect(failure { _ = try open(.watch, disk, create: false) } == .notFound)
        #expect(disk.paths() == [])
        _ = try open(.watch, disk)
        #expect(disk.durableContent("/home/format") == Array("watchferry watch 1\n".utf8))
        _ = try open(.watch, disk, create: false)
        #expect(
            folderFailure { _ = try open(.phone, disk) }
                == .notThatFolder(path: "/home", wanted: .phone, found: "watchferry watch 1"))
        #expect(disk.paths() == ["/home", "/home/format"])
    }

    @Test("a folder with somebody's things in it does not become one of ours; one of ours that lost its format does")
    func somebodysFolder() throws {
        let disk = SimulatedFileSystem()
        try disk.makeDirectory("/home")
        try disk.write([1], to: "/home/thesis.txt")
        #expect(
            folderFailure { _ = try open(.watch, disk) }
                == .notThatFolder(path: "/home", wanted: .watch, found: "no format file, but thesis.txt"))
        #expect(disk.paths() == ["/home", "/home/thesis.txt"])
        try disk.move("/home/thesis.txt", to: "/home/recordings")
        try disk.makeDirectory("/home/lost+found")
        _ = try open(.watch, disk)
    }

    @Test("a newer format, and whatever is none of ours, is refused and not touched")
    func newerFormat() throws {
        for (text, isNewer) in [
            ("watchferry watch 2\n", true), ("watchferry watch 9223372036854775807\n", true),
            ("watchferry watch 99999999999999999999\n", false), ("watchferry watch 0\n", false),
            ("watchferry watch -1\n", false), ("watchferry watch +1\n", false), ("watchferry watch 01\n", false),
            ("watchferry watch\n", false), ("watchferry watch 1 2\n", false), ("Watchferry watch 1\n", false),
            ("", false), ("\u{1B}[2J\n", false), (String(repeating: "x", count: 100_000), false), ("\0\0\0\0", false),
        ] {
            let disk = SimulatedFileSystem()
            try disk.makeDirectory("/home")
            try disk.plant("/home/format", bytes: Array(text.utf8))
            let before = disk.snapshot()
            let error = try #require(folderFailure { _ = try open(.watch, disk) }, "\(text.debugDescription)")
            switch error {
            case .newerFormat: #expect(isNewer)
            case .notThatFolder: #expect(!isNewer)
            case .held, .disk: Issue.record("\(error)")
            }
            #expect(disk.snapshot() == before)
            // It goes to a terminal.
            let isPlain = error.description.unicodeScalars.allSatisfy { (0x20..<0x7F).contains($0.value) }
            #expect(isPlain && error.description.utf8.count < 400, "\(error.description.debugDescription)")
        }
    }

    @Test("a format that is a link, a FIFO, or open to others is refused")
    func strangeFormat() throws {
        let disk = SimulatedFileSystem()
        try disk.makeDirectory("/home")
        try disk.plant("/elsewhere", bytes: Array("watchferry watch 1\n".utf8))
        for kind in [FileKind.symbolicLink, .fifo, .directory, .device, .socket] {
            try disk.plant("/home/format", kind: kind, target: "/elsewhere")
            #expect(failure { _ = try open(.watch, disk) } == .refused(.notAPlainFile(kind)))
        }
        try disk.plant("/home/format", bytes: Array("watchferry watch 1\n".utf8), permissions: 0o666)
        #expect(failure { _ = try open(.watch, disk) } == .refused(.tooOpen(permissions: 0o666)))
        try disk.makeDirectory("/open", permissions: 0o777)
        #expect(
            failure { _ = try disk.openFolder(.watch, at: "/open", create: true, nonce: 1) }
                == .refused(.tooOpen(permissions: 0o777)))
        #expect(disk.paths().contains("/open/format") == false)
    }

    @Test("two processes make the format at once, at every call: both have the folder, and nothing is left over")
    func twoMakers() throws {
        let calls = try callCount { _ = try open(.spool, $0) }
        for call in 2...calls {
            let disk = SimulatedFileSystem()
            let rival = disk.asProcess("rival")
            let process = InstrumentedFileSystem(
                disk.asProcess("process"),
                injections: [
                    Injection(
                        .call(call), .before { #expect(throws: Never.self) { _ = try open(.spool, rival, nonce: 2) } })
                ])
            _ = try open(.spool, process, nonce: 3)
            #expect(disk.paths() == ["/home", "/home/format"])
            #expect(disk.content("/home/format") == Array("watchferry spool 1\n".utf8))
        }
    }

    @Test("two processes that want the folder for different things: one has it, the other is told")
    func twoKinds() throws {
        let calls = try callCount { _ = try open(.watch, $0) }
        for call in 2...calls {
            let disk = SimulatedFileSystem()
            let rival = disk.asProcess("rival")
            var rivalError: FolderError?
            let process = InstrumentedFileSystem(
                disk.asProcess("process"),
                injections: [
                    Injection(
                        .call(call), .before { rivalError = folderFailure { _ = try open(.phone, rival, nonce: 2) } })
                ])
            let error = folderFailure { _ = try open(.watch, process, nonce: 3) }
            #expect((error == nil) != (rivalError == nil), "call \(call): \(String(describing: error))")
            let owner = error == nil ? "watch" : "phone"
            #expect(disk.content("/home/format") == Array("watchferry \(owner) 1\n".utf8))
            #expect(disk.paths() == ["/home", "/home/format"])
        }
    }

    @Test("killed at any call while making a folder, it is made by the next start")
    func killedWhileMaking() throws {
        let calls = try callCount { _ = try open(.watch, $0) }
        for call in 1...calls {
            for effect in everyDeath {
                for loss in everyLoss {
                    let disk = SimulatedFileSystem()
                    let told = dying(at: call, effect, on: disk, loss: loss) { _ = try open(.watch, $0) }
                    if told { #expect(disk.content("/home/format") == Array("watchferry watch 1\n".utf8)) }
                    _ = try open(.watch, disk.asProcess("next"), nonce: 2)
                    #expect(disk.content("/home/format") == Array("watchferry watch 1\n".utf8))
                }
            }
        }
    }

    @Test("a lock says who holds it, dies with its holder, and forgets the text of the one before")
    func locks() throws {
        let disk = SimulatedFileSystem()
        let (first, second) = (disk.asProcess("first"), disk.asProcess("second"))
        let home = try open(.watch, first)
        let long = "watch-sim run, process 4711, home /home/me/pair/watch"
        let held = try first.takeLock("lock", in: home, holder: long)
        let secondHome = try open(.watch, second)
        #expect(
            folderFailure { _ = try second.takeLock("lock", in: secondHome, holder: "b") }
                == .held(path: "/home", holder: long))
        #expect(disk.content("/home/lock") == Array("\(long)\n".utf8))
        first.kill()
        let taken = try second.takeLock("lock", in: secondHome, holder: "b")
        #expect(disk.lockHolder("/home/lock") == "second")
        #expect(disk.content("/home/lock") == Array("b\n".utf8))
        _ = consume held
        _ = consume taken
        let third = try second.takeLock("lock", in: secondHome, holder: "c")
        #expect(try second.status(of: third).byteCount == 2)
    }

    @Test("whatever stands in a lock, what is said of its holder is one printable line")
    func holderText() throws {
        for (text, expected) in [
            ("", "unknown"), ("\n", "unknown"), ("a/b\nc", "a/b"), ("..", ".."), ("\u{1B}[2J\u{7}", #"\x1b[2J\x07"#),
            (String(repeating: "y", count: 1_000), String(repeating: "y", count: 200)),
        ] {
            let disk = SimulatedFileSystem()
            let (first, second) = (disk.asProcess("first"), disk.asProcess("second"))
            let home = try open(.watch, first)
            let held = try first.takeLock("lock", in: home, holder: "x")
            try disk.write(Array(text.utf8), to: "/home/lock")
            #expect(
                folderFailure { _ = try second.takeLock("lock", in: try open(.watch, second), holder: "b") }
                    == .held(path: "/home", holder: expected))
            _ = consume held
        }
    }

    @Test("a full disk does not keep a daemon from its lock; a strange lock does")
    func lockThroughTrouble() throws {
        let disk = SimulatedFileSystem()
        let home = try open(.watch, disk)
        try disk.setCapacity(of: "/home", byteCount: 0)
        let held = try disk.takeLock("lock", in: home, holder: "a")
        _ = consume held
        try disk.setCapacity(of: "/home", byteCount: nil)
        for kind in [FileKind.symbolicLink, .fifo, .directory] {
            try disk.plant("/home/lock", kind: kind, target: "/home/format")
            #expect(
                failure { _ = try disk.takeLock("lock", in: home, holder: "a") } == .refused(.notAPlainFile(kind)))
        }
        #expect(disk.content("/home/format") == Array("watchferry watch 1\n".utf8))
    }

    @Test("an end of the spool knows when its path leads elsewhere")
    func spoolEnd() throws {
        let disk = SimulatedFileSystem()
        func end(_ side: Side) throws -> SpoolEnd {
            try SpoolEnd(at: "/spool", side: side, fileSystem: disk, holder: "me", nonce: 1)
        }
        do {
            let (phone, watch) = (try end(.phone), try end(.watch))
            #expect(try phone.isCurrent() && watch.isCurrent())
            #expect(try watch.pairing() == nil)
            try phone.setPairing(PairingID(rawValue: 5))
            #expect(try watch.pairing() == PairingID(rawValue: 5))
            try phone.setPairing(PairingID(rawValue: 6))
            #expect(try watch.pairing() == PairingID(rawValue: 6))
            #expect(folderFailure { _ = try end(.phone) } == .held(path: "/spool", holder: "me"))

            for folder in ["to-phone", "to-watch", "pairing"] {
                try disk.move("/spool/\(folder)", to: "/aside")
                #expect(try !phone.isCurrent())
                try disk.makeDirectory("/spool/\(folder)")
                #expect(try !phone.isCurrent())
                try disk.remove("/spool/\(folder)")
                try disk.move("/aside", to: "/spool/\(folder)")
                #expect(try phone.isCurrent())
            }
            try disk.move("/spool", to: "/gone")
            #expect(try !watch.isCurrent())
            try disk.makeDirectory("/spool")
            #expect(try !watch.isCurrent())
            let next = try end(.watch)
            #expect(try next.isCurrent() && !watch.isCurrent())
            try disk.remove("/spool")
            try disk.plant("/spool", kind: .symbolicLink, target: "/gone")
            #expect(try !next.isCurrent() && phone.isCurrent())
        }
        #expect(disk.openHandleCount == 0)
    }

    @Test("an end that cannot be opened holds nothing afterwards")
    func spoolEndThroughErrors() throws {
        let disk = SimulatedFileSystem()
        try disk.makeDirectory("/spool")
        for folder in ["to-phone", "to-watch", "pairing"] {
            try disk.plant("/spool/\(folder)", kind: .symbolicLink, target: "/")
            #expect(
                failure {
                    _ = try SpoolEnd(at: "/spool", side: .phone, fileSystem: disk, holder: "me", nonce: 1)
                } == .notDirectory)
            try disk.plant("/spool/\(folder)", kind: .directory, permissions: 0o755)
            #expect(
                failure {
                    _ = try SpoolEnd(at: "/spool", side: .phone, fileSystem: disk, holder: "me", nonce: 1)
                } == .refused(.tooOpen(permissions: 0o755)))
            #expect(disk.openHandleCount == 0)
            #expect(disk.lockHolder("/spool/phone.lock") == nil)
            try disk.remove("/spool/\(folder)")
        }
    }

    @Test("a pairing that is none is not believed, and a new one can be set over it")
    func strangePairing() throws {
        let disk = SimulatedFileSystem()
        let end = try SpoolEnd(at: "/spool", side: .phone, fileSystem: disk, holder: "me", nonce: 1)
        for text in ["0000000003-", "0000000004-xyz", "0000000005-0123456789ABCDEF", "0000000006-0123456789abcdef0"] {
            try disk.plant("/spool/pairing/\(text)")
            #expect(try end.pairing() == nil)
        }
        try disk.plant("/spool/pairing/0000000007-0123456789abcdef", kind: .directory, permissions: 0o700)
        try end.setPairing(PairingID(rawValue: 9))
        #expect(try end.pairing() == PairingID(rawValue: 9))
    }
}
