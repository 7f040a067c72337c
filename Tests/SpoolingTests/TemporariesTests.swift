import Simulation
import Spooling
import Testing

/// Writers and sweepers of temporaries, as two processes on one disk.
struct TemporariesTests {
    private let disk = SimulatedFileSystem()

    private func writer(_ name: String = "writer") throws -> InstrumentedFileSystem {
        if disk.status("/d") == nil { try disk.makeDirectory("/d") }
        return InstrumentedFileSystem(disk.asProcess(name))
    }

    private func open(_ process: any FileSystem) throws -> OpenDirectory { try process.openRoot("/d", create: false) }

    /// Whether what `file` is open on still has its temporary name.
    private func isAlive(_ file: borrowing OpenFile, _ process: any FileSystem) throws -> Bool {
        try process.status(of: file).inode == disk.status("/d/x.part")?.inode
    }

    @Test("a sweeper comes before any call of a writer: what the writer holds in the end is its own, locked and named")
    func sweeperBetweenTheWritersCalls() throws {
        let sweeper = try writer("sweeper")
        for leftover in [false, true] {
            for call in 1...12 {
                if disk.status("/d/x.part") != nil { try disk.remove("/d/x.part") }
                let writer = try writer()
                let directory = try open(writer)
                if leftover { try disk.plant("/d/x.part", bytes: [1]) }
                writer.injections = [
                    Injection(
                        .call(call + 1),
                        .before {
                            #expect(throws: Never.self) {
                                let swept = try sweeper.sweepTemporaries(in: try open(sweeper))
                                #expect(swept <= 1)
                            }
                        })
                ]
                let file = try writer.createTemporary(for: "x", in: directory)
                #expect(try isAlive(file, writer))
                #expect(try writer.status(of: file).byteCount == 0)
                #expect(disk.lockHolder("/d/x.part") == "writer")
                #expect(try sweeper.sweepTemporaries(in: try open(sweeper)) == 0)
                #expect(try isAlive(file, writer))
            }
        }
    }

    @Test("a writer does all its work before any call of a sweeper: nothing that lives is swept")
    func writerBetweenTheSweepersCalls() throws {
        for dead in [false, true] {
            for call in 1...6 {
                let disk = SimulatedFileSystem()
                try disk.makeDirectory("/d")
                if dead { try disk.plant("/d/x.part", bytes: [9]) }
                let (writer, sweeping) = (disk.asProcess("writer"), disk.asProcess("sweeper"))
                var held: FileBox?
                let sweeper = InstrumentedFileSystem(
                    sweeping,
                    injections: [
                        Injection(
                            .call(call + 1),
                            .before {
                                // While the sweeper holds the lock of a dead writer's file, the writer has to come again.
                                held = try? FileBox(
                                    writer.createTemporary(for: "x", in: writer.openRoot("/d", create: false)))
                            })
                    ])
                _ = try? sweeper.sweepTemporary("x.part", in: sweeper.openRoot("/d", create: false))
                let directory = try writer.openRoot("/d", create: false)
                let mine = try held ?? FileBox(writer.createTemporary(for: "x", in: directory))
                #expect(try writer.status(of: mine.file).inode == disk.status("/d/x.part")?.inode, "call \(call)")
                #expect(disk.lockHolder("/d/x.part") == "writer")
            }
        }
    }

    @Test("a sweeper that stands still between its lock and its unlink keeps no writer from its name")
    func sweeperStandsStill() throws {
        let sweeper = try writer("sweeper")
        let writer = try writer()
        let directory = try open(writer)
        var held: FileBox?
        writer.injections = [
            Injection(
                .first { called, _ in called == .lock },
                .before {
                    guard held == nil, let directory = try? open(sweeper),
                        let own = try? sweeper.openOurs("x.part", in: directory), (try? sweeper.lock(own.file)) == true
                    else { return }
                    held = FileBox(own.intoFile())
                })
        ]
        let file = try writer.createTemporary(for: "x", in: directory)
        #expect(held != nil)
        #expect(try isAlive(file, writer))
        #expect(disk.lockHolder("/d/x.part") == "writer")
    }

    @Test("a name that was published and made anew after the sweeper opened it is not swept")
    func remadeName() throws {
        for operation in [FileSystemError.Operation.lock, .status] {
            let disk = SimulatedFileSystem()
            try disk.makeDirectory("/d")
            let writer = disk.asProcess("writer")
            let directory = try writer.openRoot("/d", create: false)
            var old: FileBox? = try FileBox(writer.createTemporary(for: "x", in: directory))
            var new: FileBox?
            var isOpen = false
            let sweeper = InstrumentedFileSystem(disk.asProcess("sweeper"))
            sweeper.injections = [
                Injection(
                    .first { called, _ in
                        if called == .open { isOpen = true }
                        return isOpen && called == operation
                    },
                    .before {
                        guard let directory = try? writer.openRoot("/d", create: false) else { return }
                        try? writer.publish("x.part", in: directory, as: "x", in: directory)
                        old = nil
                        new = try? FileBox(writer.createTemporary(for: "x", in: directory))
                    })
            ]
            #expect(try !sweeper.sweepTemporary("x.part", in: sweeper.openRoot("/d", create: false)))
            #expect(old == nil)
            let file = try #require(new)
            #expect(try writer.status(of: file.file).inode == disk.status("/d/x.part")?.inode)
            #expect(disk.paths() == ["/d", "/d/x", "/d/x.part"])
        }
    }

    @Test("a live rival keeps its temporary, a dead one's is taken over")
    func rivals() throws {
        let rival = try writer("rival")
        let writer = try writer()
        let directory = try open(writer)
        do {
            let held = try rival.createTemporary(for: "x", in: try open(rival))
            #expect(failure { _ = try writer.createTemporary(for: "x", in: directory) } == .exists)
            #expect(try isAlive(held, rival))
        }
        // Its owner let go of the file: nobody holds the lock.
        let file = try writer.createTemporary(for: "x", in: directory)
        #expect(try isAlive(file, writer))
        #expect(disk.lockHolder("/d/x.part") == "writer")
    }

    @Test("a sweep leaves alone what is not ours and goes on behind it")
    func sweepsAroundStrangers() throws {
        let sweeper = try writer("sweeper")
        try disk.plant("/d/a.part", kind: .symbolicLink, target: "/d/kept")
        try disk.plant("/d/b.part", kind: .directory, permissions: 0o700)
        try disk.plant("/d/c.part", kind: .fifo)
        try disk.plant("/d/d.part", isOurs: false)
        try disk.plant("/d/e.part", permissions: 0o644)
        try disk.plant("/d/f.part", linkCount: 2)
        try disk.plant("/d/kept", bytes: [1])
        for number in 0..<5 { try disk.plant("/d/g\(number).part", bytes: [1]) }
        #expect(try sweeper.sweepTemporaries(in: try open(sweeper)) == 5)
        #expect(disk.paths().count == 8)
        #expect(
            failure { _ = try sweeper.createTemporary(for: "a", in: try open(sweeper)) }
                == .refused(.notAPlainFile(.symbolicLink)))
        #expect(disk.status("/d/a.part")?.kind == .symbolicLink)
    }

    @Test("a small file is there whole or not at all, wherever its writer dies, and told means durable")
    func publishDurably() throws {
        func publish(_ process: InstrumentedFileSystem) throws {
            let directory = try process.openRoot("/d", create: true)
            try process.publishDurably([1, 2, 3], as: "x", temporary: "t", in: directory)
        }
        let calls = try callCount(publish)
        for call in 1...calls {
            for effect in everyDeath {
                for loss in everyLoss {
                    let disk = SimulatedFileSystem()
                    let told = dying(at: call, effect, on: disk, loss: loss, publish)
                    #expect(disk.content("/d/x").map { $0 == [1, 2, 3] } ?? !told)
                    let next = disk.asProcess("next")
                    _ = try next.sweepTemporaries(in: next.openRoot("/d", create: true))
                    #expect(disk.paths().allSatisfy { $0 == "/d" || $0 == "/d/x" })
                }
            }
        }
        let instrument = InstrumentedFileSystem(SimulatedFileSystem())
        try publish(instrument)
        #expect(
            DurabilityOrder.violations(in: instrument.trace, of: "/d/x", before: instrument.trace.count).isEmpty)
    }

    @Test("an error of any call leaves no temporary, and never another content")
    func publishThroughErrors() throws {
        for call in 2...9 {
            for effect in [Injection.Effect.fail(.noSpace), .failAfter(.inputOutput)] {
                let disk = SimulatedFileSystem()
                let writer = InstrumentedFileSystem(
                    disk.asProcess("writer"), injections: [Injection(.call(call), effect)])
                let directory = try writer.openRoot("/d", create: true)
                try? writer.publishDurably([1, 2, 3], as: "x", temporary: "t", in: directory)
                #expect(disk.content("/d/x") ?? [1, 2, 3] == [1, 2, 3])
                writer.injections = []
                _ = try writer.sweepTemporaries(in: directory)
                #expect(disk.status("/d/t.part") == nil)
                // It never replaces.
                try disk.write([4], to: "/d/y")
                #expect(
                    failure { try writer.publishDurably([1], as: "y", temporary: "t", in: directory) } == .exists)
                #expect(disk.content("/d/y") == [4])
                #expect(disk.status("/d/t.part") == nil)
            }
        }
    }

    @Test("a failed sync is answered for each file that it was for")
    func syncContents() throws {
        let writer = try writer()
        let directory = try open(writer)
        for count in [1, 4, 5, 20] {
            let files = try (0..<count).map { number in
                let box = FileBox(try writer.create(name("f\(count)-\(number)"), in: directory))
                try writer.writeAll(box.file, at: 0, [1])
                return box
            }
            writer.clearTrace()
            #expect(writer.syncContents(of: files, on: directory) == [FileSystemError?](repeating: nil, count: count))
            #expect(writer.trace.count(of: .sync) == (count <= 4 ? count : 0))
            #expect(writer.trace.count(of: .syncAll) == (count <= 4 ? 0 : 1))
            for number in 0..<count {
                #expect(
                    disk.unsyncedChanges().allSatisfy {
                        $0.inode.rawValue != disk.status("/d/f\(count)-\(number)")?.inode
                    })
            }
            writer.injections = [
                Injection(
                    .first { called, paths in called == .syncAll || paths == ["/d/f\(count)-0"] }, .fail(.inputOutput))
            ]
            let answers = writer.syncContents(of: files, on: directory)
            #expect(answers.filter { $0?.reason == .inputOutput }.count == (count <= 4 ? 1 : count))
            #expect(answers[0]?.reason == .inputOutput)
        }
    }
}
