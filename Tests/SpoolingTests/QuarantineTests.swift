import Simulation
import Spooling
import Testing

/// What is set aside: within the caps, with its reason, through every crash.
struct QuarantineTests {
    private func quarantine(
        _ process: any FileSystem, start number: UInt64 = 1, bytes: UInt64 = 10_000, items: Int = 100
    ) throws -> Quarantine {
        try Quarantine(
            directory: process.openRoot("/quarantine", create: true), fileSystem: process, start: start(number),
            caps: QuarantineCaps(byteCount: bytes, itemCount: items))
    }

    private func list(_ disk: SimulatedFileSystem) throws -> [QuarantineItem] {
        try Quarantine.list(in: disk.openRoot("/quarantine", create: true), of: disk)
    }

    private func take(_ quarantine: Quarantine, _ name: FileName, _ disk: any FileSystem) throws {
        try quarantine.take(name, from: disk.openRoot("/s", create: true), reason: .strangeName, subject: nil)
    }

    @Test("bytes and reason come in together, in order, and a strange name gives its printable part")
    func takes() throws {
        let disk = SimulatedFileSystem()
        let quarantine = try quarantine(disk)
        let source = try disk.openRoot("/s", create: true)
        let strange = try #require(
            FileName(bytes: [0x1B, 0xFF] + Array("..x y".utf8) + [UInt8](repeating: 97, count: 200)))
        for name: FileName in ["a", strange] {
            let file = try disk.create(name, in: source)
            try disk.writeAll(file, at: 0, [1, 2, 3])
            try take(quarantine, name, disk)
        }
        try disk.plant("/s/b", bytes: [4])
        try quarantine.take("b", from: source, reason: QuarantineReason(.noSeal), subject: id())
        let items = try list(disk)
        #expect(items.map(\.number) == ["0000000001-0000000001", "0000000001-0000000002", "0000000001-0000000003"])
        #expect(items.map(\.reason.description) == ["strangeName", "strangeName", "noSeal"])
        #expect(items.map(\.subject) == ["a", "____x_y" + String(repeating: "a", count: 57), id().description])
        #expect(items.map(\.holdsBytes) == [true, true, true])
        #expect(failure { try take(quarantine, "not there", disk) } == .notFound)
        #expect(try list(disk).count == 3)
    }

    @Test("over the cap of bytes the oldest bytes go and the reasons stay; over the cap of items the oldest reasons go")
    func caps() throws {
        let disk = SimulatedFileSystem()
        let quarantine = try quarantine(disk, bytes: 250, items: 5)
        for number in 0..<8 {
            try disk.makeDirectoryIfMissing("/s")
            try disk.plant("/s/f\(number)", bytes: [UInt8](repeating: 1, count: 100))
            try take(quarantine, name("f\(number)"), disk)
        }
        let items = try list(disk)
        #expect(items.map(\.subject) == ["f3", "f4", "f5", "f6", "f7"])
        #expect(items.map(\.holdsBytes) == [false, false, false, true, true])
        // One that is larger than the cap stays until the next comes, so that it can be tried again.
        try disk.plant("/s/huge", bytes: [UInt8](repeating: 1, count: 1_000))
        try take(quarantine, "huge", disk)
        #expect(try list(disk).filter(\.holdsBytes).map(\.subject) == ["huge"])
        try disk.plant("/s/small", bytes: [1])
        try take(quarantine, "small", disk)
        #expect(try list(disk).filter(\.holdsBytes).map(\.subject) == ["small"])
        #expect(try list(disk).count == 5)
    }

    @Test("smaller caps count at the next start, over what lies there")
    func capsAtStart() throws {
        let disk = SimulatedFileSystem()
        do {
            let quarantine = try quarantine(disk)
            try disk.makeDirectory("/s")
            for number in 0..<6 {
                try disk.plant("/s/f\(number)", bytes: [UInt8](repeating: 1, count: 100))
                try take(quarantine, name("f\(number)"), disk)
            }
        }
        let later = try quarantine(disk, start: 2, bytes: 250, items: 4)
        #expect(try list(disk).map(\.holdsBytes) == [false, false, true, true])
        try disk.plant("/s/new", bytes: [1])
        try take(later, "new", disk)
        #expect(try list(disk).last?.number == "0000000002-0000000001")
    }

    @Test("an item can be released once, and dropped twice")
    func releaseAndDrop() throws {
        let disk = SimulatedFileSystem()
        let quarantine = try quarantine(disk, bytes: 5)
        try disk.makeDirectory("/s")
        for (name, bytes) in [("a", [1, 2, 3] as [UInt8]), ("b", [4, 5, 6])] {
            try disk.plant("/s/\(name)", bytes: bytes)
            try take(quarantine, FileName(name) ?? "x", disk)
        }
        let items = try list(disk)
        let target = try disk.openRoot("/s", create: false)
        #expect(try !quarantine.release(items[0], to: target, as: "back-a"))
        #expect(try quarantine.release(items[1], to: target, as: "back-b"))
        #expect(disk.content("/s/back-b") == [4, 5, 6])
        #expect(failure { _ = try quarantine.release(items[1], to: target, as: "again") } == .notFound)
        try quarantine.drop(items[0])
        try quarantine.drop(items[0])
        #expect(try list(disk).isEmpty)
        // What went no longer counts against the cap.
        for name in ["c", "d"] {
            try disk.plant("/s/\(name)", bytes: [1, 2])
            try take(quarantine, FileName(name) ?? "x", disk)
        }
        #expect(try list(disk).map(\.holdsBytes) == [true, true])
    }

    @Test("from another file system only the reason comes")
    func otherFileSystem() throws {
        let disk = SimulatedFileSystem()
        try disk.mount("/s")
        try disk.plant("/s/a", bytes: [1])
        let quarantine = try quarantine(disk)
        try take(quarantine, "a", disk)
        #expect(try list(disk).map(\.holdsBytes) == [false])
        #expect(disk.paths().contains("/s/a") == false)
    }

    @Test("killed at any call: the bytes are in one place, each item has one name, and the caps hold at the next start")
    func killedEverywhere() throws {
        let body: (InstrumentedFileSystem) throws -> Void = { process in
            let quarantine = try quarantine(process, start: 2, bytes: 150, items: 2)
            try take(quarantine, "b", process)
            try take(quarantine, "c", process)
        }
        for call in 1...30 {
            for effect in everyDeath {
                for itemsAtNextStart in [2, 100] {
                    let disk = SimulatedFileSystem()
                    for directory in ["/s", "/quarantine"] { try disk.makeDirectory(directory) }
                    for name in ["a", "b", "c"] {
                        try disk.plant("/s/\(name)", bytes: [UInt8](repeating: 1, count: 100))
                    }
                    try take(try quarantine(disk, bytes: 150, items: 2), "a", disk)
                    _ = dying(at: call, effect, on: disk, loss: nil, body)
                    let bytesAtNextStart: UInt64 = itemsAtNextStart == 2 ? 150 : 100_000
                    _ = try quarantine(
                        disk.asProcess("next"), start: 3, bytes: bytesAtNextStart, items: itemsAtNextStart)
                    let items = try list(disk)
                    #expect(Set(items.map(\.number)).count == items.count, "call \(call): \(items.map(\.fileName))")
                    #expect(items.count <= itemsAtNextStart)
                    if itemsAtNextStart == 2 { #expect(items.filter(\.holdsBytes).count <= 1) }
                    for name in ["b", "c"] {
                        let isInSource = disk.status("/s/\(name)") != nil
                        #expect(isInSource != items.contains { $0.subject == name })
                    }
                }
            }
        }
    }

    @Test("whatever lies in the folder, a daemon starts: names of any bytes, directories, links")
    func strangersInside() throws {
        let disk = SimulatedFileSystem()
        let directory = try disk.openRoot("/quarantine", create: true)
        let prefix = Array("0000000001-0000000001.noSeal.".utf8)
        for subject: [UInt8] in [
            [UInt8](repeating: 0xFF, count: 200), [0xC3], [0x1B], [], Array("é".utf8),
            [UInt8](repeating: 0x80, count: 100),
        ] {
            for ending in [".bytes", ".gone"] {
                let name = try #require(FileName(bytes: prefix + subject + Array(ending.utf8)))
                _ = try disk.create(name, in: directory)
            }
        }
        try disk.plant("/quarantine/0000000001-0000000002.noSeal.x.bytes", kind: .directory, permissions: 0o700)
        try disk.plant("/quarantine/0000000001-0000000003.noSeal.x.bytes", kind: .symbolicLink, target: "/")
        try disk.plant("/quarantine/0000000001-0000000004.noSeal.x.bytes", bytes: [1, 2, 3])
        try disk.plant("/quarantine/strange", bytes: [1, 2, 3])
        for start: UInt64 in 2...3 {
            let quarantine = try quarantine(disk, start: start, bytes: 2, items: 1)
            try disk.makeDirectoryIfMissing("/s")
            try disk.plant("/s/a", bytes: [1, 2, 3])
            try take(quarantine, "a", disk)
        }
        #expect(try list(disk).last?.number == "0000000003-0000000001")
        #expect(disk.status("/quarantine/0000000001-0000000002.noSeal.x.bytes")?.kind == .directory)
        #expect(disk.status("/quarantine/0000000001-0000000003.noSeal.x.bytes")?.kind == .symbolicLink)
        #expect(disk.status("/quarantine/0000000001-0000000004.noSeal.x.bytes") == nil)
        #expect(disk.content("/quarantine/strange") == [1, 2, 3])
    }
}

extension SimulatedFileSystem {
    fileprivate func makeDirectoryIfMissing(_ path: String) throws {
        if status(path) == nil { try makeDirectory(path) }
    }
}
