#if os(Linux)

    import DaemonRuntime
    import LinkFaults
    import Simulation
    import Spooling
    import Testing

    // The models of a disk against real ones. A fixed sequence of calls runs on a real file system, and before every call a
    // copy is made of what has reached the medium; the same sequence runs on the simulated disk under its model. Each real
    // image must be one that the model allows there: one that is not means that the model is wrong, and with it all that the
    // sweeps over it have said.

    private func name(_ text: String) -> FileName {
        guard let name = FileName(text) else { preconditionFailure("no name: \(text)") }
        return name
    }

    /// What the pair does, in small: every protocol of Docs/Spool.md once, with a neighbour who syncs in between.
    private struct FixedSequence {
        let disk: any FileSystem

        private func write(_ count: Int, to file: borrowing OpenFile, at offset: UInt64 = 0) throws(FileSystemError) {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) | 1 }
            var result: Result<Int, FileSystemError> = .success(0)
            bytes.withUnsafeBytes { buffer in
                do throws(FileSystemError) {
                    result = .success(try disk.write(file, at: offset, from: buffer))
                } catch {
                    result = .failure(error)
                }
            }
            _ = try result.get()
        }

        private func put(
            _ text: String, _ count: Int, in directory: borrowing OpenDirectory, syncs: Bool = false
        ) throws(FileSystemError) {
            let file = try disk.create(name(text), in: directory)
            try write(count, to: file)
            if syncs { try disk.sync(file) }
        }

        func run(_ rootPath: String) throws(FileSystemError) {
            let root = try disk.openRoot(rootPath, create: true)
            let recordings = try disk.openDirectory(name("recordings"), in: root, create: true)
            let spool = try disk.openDirectory(name("spool"), in: root, create: true)
            let inbox = try disk.openDirectory(name("inbox"), in: root, create: true)
            let staging = try disk.openDirectory(name("staging"), in: root, create: true)
            let container = try disk.openDirectory(name("container"), in: root, create: true)
            try disk.syncAll(root)
            // Record.
            let recording = try disk.create(name("a.part"), in: recordings)
            try write(700, to: recording)
            try write(5_000, to: recording, at: 700)
            try disk.sync(recording)
            try disk.publish(name("a.part"), in: recordings, as: name("a.note"), in: recordings)
            try disk.sync(recordings)
            // Enqueue, unsynced; a neighbour's sync writes down the names.
            try put("e.part", 6_000, in: spool)
            try disk.publish(name("e.part"), in: spool, as: name("e"), in: spool)
            try put("neighbour", 100, in: root, syncs: true)
            // Take and receive, unsynced.
            try disk.publish(name("e"), in: spool, as: name("e"), in: inbox)
            try disk.publish(name("e"), in: inbox, as: name("e"), in: staging)
            try put("neighbour-2", 100, in: root, syncs: true)
            // Ingest.
            let note = try disk.open(name("e"), in: staging)
            let ledger = try disk.create(name("ledger"), in: root)
            try write(100, to: ledger)
            try disk.truncate(note, to: 5_000)
            try disk.sync(ledger)
            try disk.sync(note)
            try disk.publish(name("e"), in: staging, as: name("n"), in: container)
            try disk.sync(container)
            try disk.sync(staging)
            try write(120, to: ledger, at: 100)
            try disk.sync(ledger)
            // Ack, read by the watch; nothing synced.
            try put("k.part", 300, in: spool)
            try disk.publish(name("k.part"), in: spool, as: name("k"), in: spool)
            try disk.unlink(name("a.note"), in: recordings)
            try disk.unlink(name("k"), in: spool)
            try put("neighbour-3", 100, in: root, syncs: true)
            try disk.syncAll(root)
            // A batch, with one barrier.
            try put("b.part", 4_096, in: recordings)
            try put("c.part", 10_000, in: recordings)
            try disk.syncAll(root)
            try disk.publish(name("b.part"), in: recordings, as: name("b.note"), in: recordings)
            try disk.publish(name("c.part"), in: recordings, as: name("c.note"), in: recordings)
            try disk.sync(recordings)
            // A month that is made for a note: the folder itself is unsynced.
            let month = try disk.openDirectory(name("2026-11"), in: container, create: true)
            try disk.publish(name("b.note"), in: recordings, as: name("b"), in: month)
            try disk.sync(month)
            try disk.sync(recordings)
            try put("d", 200, in: month, syncs: true)
            try disk.unlink(name("d"), in: month)
            try disk.sync(month)
        }
    }

    /// Calls `before` in front of every call to `inner`, with its number from 1.
    private final class EveryCall {
        private(set) var disk: any FileSystem
        private(set) var count = 0

        init(_ inner: any FileSystem, before: @escaping (Int) -> Void) {
            disk = inner
            let steered = SteeredFileSystem(
                inner, side: .watch, atStart: Self.order(1), death: { [unowned self] in meet(before) })
            disk = steered
        }

        private func meet(_ before: (Int) -> Void) {
            count += 1
            before(count)
            (disk as? SteeredFileSystem)?.follow(Self.order(count + 1))
        }

        private static func order(_ number: Int) -> Steering {
            var steering = Steering()
            steering.die = DieOrder(side: .watch, number: number, isFresh: true, point: .beforeCall(1))
            return steering
        }
    }

    @Suite("Models of a disk against real ones", .timeLimit(.minutes(5)), .serialized)
    struct DiskModelRealityTests {
        private static let root = "/root"

        /// What the power may leave before each call, under a model.
        private static func allowed(_ model: DiskModel) throws -> [Set<Tree>] {
            let disk = SimulatedFileSystem(model: model)
            var images: [DiskImage] = []
            let calls = EveryCall(disk) { _ in images.append(disk.snapshot()) }
            try FixedSequence(disk: calls.disk).run(root)
            images.append(disk.snapshot())
            return images.map { image in
                let cut = PowerCut(image)
                let found = SimulatedFileSystem()
                return Set(
                    cut.choices().map { choice in
                        found.restore(cut.image(choice))
                        var tree = Tree()
                        for path in found.paths() where path.hasPrefix(root + "/") {
                            let isDirectory = found.status(path)?.kind == .directory
                            tree[isDirectory ? path + "/" : path] = isDirectory ? [] : found.content(path) ?? []
                        }
                        return tree
                    })
            }
        }

        private static let allowedByModel = DiskModel.allCases.map { model in (model, Result { try allowed(model) }) }

        /// What is on the disk before each call, and behind the last.
        private func images(_ kind: RealImages.Kind) throws -> [Tree] {
            let real = try RealImages(kind)
            defer { real.end() }
            var problems: [String] = []
            let calls = EveryCall(DiskFileSystem()) { number in
                do { try real.copy(number) } catch { problems.append("\(error)") }
            }
            try FixedSequence(disk: calls.disk).run(real.mount + Self.root)
            try real.copy(calls.count + 1)
            #expect(problems == [])
            let trees = try (1...calls.count + 1).map { try real.tree($0, below: Self.root) }
            // A disk on which nothing ever was would be allowed too.
            #expect(Set(trees).count > 10 && trees.last?["/root/container/2026-11/b"]?.count == 4_096)
            return trees
        }

        /// The images that a model does not allow, each in words.
        private func breaches(_ trees: [Tree], _ model: DiskModel) throws -> [String] {
            let found = try #require(Self.allowedByModel.first { $0.0 == model })
            let sets = try found.1.get()
            #expect(sets.count == trees.count)
            return zip(trees, sets).enumerated().filter { !$0.element.1.contains($0.element.0) }.map { index, found in
                """
                before call \(index + 1) \(model.rawValue) does not allow: \(words(found.0)); it allows \
                \(found.1.map(words).sorted().prefix(12).joined(separator: " | "))
                """
            }
        }

        private func compare(_ kind: RealImages.Kind, allows model: DiskModel, butNot wrong: DiskModel?) throws {
            let trees = try images(kind)
            #expect(try breaches(trees, model) == [])
            #expect(try breaches(trees, .posix) == [])
            // What was there later was not there before, and a model that is none of this file system is seen to be wrong.
            #expect(try !breaches(trees.reversed(), model).isEmpty)
            if let wrong { #expect(try !breaches(trees, wrong).isEmpty) }
        }

        private func words(_ tree: Tree) -> String {
            tree.keys.sorted().filter { !$0.hasSuffix("/") || $0.contains("2026") }.map { path in
                let bytes = tree[path] ?? []
                let zeros = bytes.count { $0 == 0 }
                return "\(path.dropFirst(Self.root.count + 1)) \(bytes.count)" + (zeros > 0 ? " (\(zeros) zeros)" : "")
            }.joined(separator: ", ")
        }

        @Test(
            "every image of ext4 is one that ordered metadata allows, and posix",
            .enabled(if: RealImages.kinds.contains(.ext4), RealImages.why))
        func ext4() throws { try compare(.ext4, allows: .orderedMetadata, butNot: .copyOnWrite) }

        @Test(
            "every image of xfs is one that ordered metadata allows, and posix",
            .enabled(if: RealImages.kinds.contains(.xfs), RealImages.why))
        func xfs() throws {
            // Its log and its bytes were in step each time, as in a checkpoint.
            try compare(.xfs, allows: .orderedMetadata, butNot: nil)
        }

        @Test(
            "every image of btrfs is one that copy-on-write allows, and posix",
            .enabled(if: RealImages.kinds.contains(.btrfs), RealImages.why))
        func btrfs() throws { try compare(.btrfs, allows: .copyOnWrite, butNot: .orderedMetadata) }
    }

#endif
