import Spooling
import Testing

@testable import Simulation

/// The books that a disk image keeps (who refers to what, which places are free, which bytes are durable) are the same
/// as if they were made anew from what lies on it, whatever happened.
struct DiskImageTests {
    /// What is wrong with an image.
    private func faults(of image: DiskImage) -> [String] {
        var faults: [String] = []
        func check(_ holds: Bool, _ text: @autoclosure () -> String) {
            if !holds, faults.count < 10 { faults.append(text()) }
        }
        var nameCounts = [Int32](repeating: 0, count: image.places.count)
        var holdCounts = [Int32](repeating: 0, count: image.places.count)
        var used = image.devices.map { _ in UInt64(0) }
        var unsyncedCount = 0
        for mount in image.mounts { nameCounts[mount.root.place] = 1 }
        for number in image.places.compactMap(\.number) {
            let inode = image[number]
            used[image.mounts[inode.mount].device] += DiskImage.blockCount(inode.written.count)
            unsyncedCount += inode.unsynced.count
            for child in inode.unsynced.compactMap(\.child) { holdCounts[child.place] += 1 }
            for child in inode.durableNames.values { holdCounts[child.place] += 1 }
            for child in inode.names.values where !image.isMountRoot(child) { nameCounts[child.place] += 1 }
            check(
                image.isSettled(number) || image.suspects.contains(number),
                "\(number) has unsynced changes and nobody suspects it")

            // Durable plus the unsynced changes in their order gives written.
            var (bytes, names) = (inode.durable, inode.durableNames)
            for change in inode.unsynced {
                switch change.change {
                case .addName(let name, let child): names[name] = child
                case .removeName(let name, _): names[name] = nil
                case .rename(let name, let newName, let child):
                    names[name] = nil
                    names[newName] = child
                case .write(let offset, let part): bytes.put(part[...], at: Int(offset))
                case .truncate(let count): bytes.setLength(Int(count))
                }
            }
            let place = image.places[number.place]
            check(names == inode.names, "the names of \(number)")
            // What nobody can reach any more has given its blocks back.
            let isUnused = place.nameCount == 0 && place.openCount == 0
            check(inode.hasAbandoned || bytes == inode.written || isUnused, "the bytes of \(number)")
        }
        for (index, place) in image.places.enumerated() where place.number != nil {
            check(
                place.nameCount == nameCounts[index], "\(place.nameCount) names at \(index), not \(nameCounts[index])")
            check(
                place.holdCount == holdCounts[index], "\(place.holdCount) holds at \(index), not \(holdCounts[index])")
            check(
                place.nameCount + place.holdCount + place.openCount > 0,
                "nobody refers to what lies at \(index)")
        }
        check(unsyncedCount == image.unsyncedCount, "\(image.unsyncedCount) unsynced changes, not \(unsyncedCount)")
        check(used == image.devices.map(\.usedBlockCount), "\(image.devices) blocks, not \(used)")
        return faults
    }

    /// Does something that depends on the seed alone; what it cannot do is refused.
    private func act(on disk: SimulatedFileSystem, _ view: ProcessView, _ random: inout SplitMix64) {
        func pick(_ count: UInt64) -> Int { Int(random.next() % count) }
        let folders = ["/a", "/b", "/a/deep", "/other"]
        func name() -> FileName { FileName("file-\(pick(6))") ?? "file" }
        do {
            let folder = try view.openRoot(folders[pick(4)], create: false)
            let other = try view.openRoot(folders[pick(4)], create: false)
            switch pick(14) {
            case 0, 1, 2:
                let file = try view.create(name(), in: folder)
                try view.writeAll(file, at: 0, [UInt8](repeating: UInt8(pick(256)), count: pick(9_000)))
                if pick(2) == 0 { try view.sync(file) }
            case 3:
                let file = try view.open(name(), in: folder)
                try view.writeAll(file, at: UInt64(pick(9_000)), [UInt8](repeating: 1, count: pick(3_000) + 1))
                if pick(2) == 0 { try view.unlink(name(), in: folder) }
                try view.writeAll(file, at: 3, [1, 2, 3])
            case 4: try view.truncate(try view.open(name(), in: folder), to: UInt64(pick(9_000)))
            case 5, 6: try view.publish(name(), in: folder, as: name(), in: other)
            case 7: try view.publish(name(), in: folder, as: name(), in: folder)
            case 8: try view.unlink(name(), in: folder)
            case 9: try view.sync(folder)
            case 10: try view.syncAll(folder)
            case 11: try view.sync(try view.open(name(), in: folder))
            case 12: view.abandonUnsynced(try view.open(name(), in: folder))
            default:
                if pick(4) == 0 {
                    try disk.remove("/a/deep")
                } else if pick(2) == 0 {
                    try disk.makeDirectory("/a/deep")
                } else {
                    try disk.move("/a/deep", to: "/b/deep\(pick(3))")
                }
            }
        } catch {
            // Not everything can be done at any time.
        }
    }

    private func freshDisk(_ renames: RenameAcrossDirectories) throws -> SimulatedFileSystem {
        let disk = SimulatedFileSystem(renameAcrossDirectories: renames)
        for folder in ["/a", "/b", "/a/deep"] { try disk.plant(folder, kind: .directory, permissions: 0o700) }
        try disk.mount("/other")
        return disk
    }

    @Test(
        "after every call, cut and return to a copy, the books are right",
        arguments: [RenameAcrossDirectories.twoHalves, .atomic], 1...40)
    func books(renames: RenameAcrossDirectories, seed: Int) throws {
        let disk = try freshDisk(renames)
        var random = SplitMix64(seed: UInt64(seed))
        for round in 0..<12 {
            let view = disk.asProcess("view")
            for step in 0..<25 {
                act(on: disk, view, &random)
                try #require(faults(of: disk.kernel.image) == [], "round \(round), step \(step)")
            }
            let before = disk.snapshot()
            try #require(faults(of: before) == [])
            let beforePaths = disk.paths()
            let losses: [PowerLoss] = [.durableOnly, .everything, .random(seed: random.next())]
            for loss in losses {
                disk.restore(before)
                disk.losePower(loss)
                try #require(faults(of: disk.kernel.image) == [], "round \(round), \(loss)")
                #expect(disk.unsyncedChanges().isEmpty)
                #expect(disk.paths() == disk.durablePaths())
                let after = disk.snapshot()
                disk.restore(before)
                // What became of one copy does not show in another.
                #expect(disk.paths() == beforePaths && disk.snapshot() == before)
                disk.losePower(loss)
                #expect(disk.snapshot() == after)
            }
        }
    }

    @Test("a listing is in the same scattered order whatever was made and removed before")
    func listing() throws {
        let number = InodeNumber(serial: 7, place: 3)
        let names = (0..<300).compactMap { FileName("name-\($0)") }
        var straight = NameTable(seed: 7)
        for name in names { straight[name, .written] = number }
        var roundabout = NameTable(seed: 7)
        for name in names.reversed() { roundabout[name, .durable] = number }
        for index in 0..<2_000 { roundabout[FileName("gone-\(index)") ?? "gone", .written] = number }
        for name in names { roundabout[name, .written] = number }
        for index in 0..<2_000 { roundabout[FileName("gone-\(index)") ?? "gone", .written] = nil }
        for name in names { roundabout[name, .durable] = nil }
        #expect(straight.names(in: .written) == roundabout.names(in: .written))
        #expect(straight == roundabout)
        #expect(straight.names(in: .written).sorted() == names.sorted())
        #expect(straight.names(in: .written) != names.sorted())
        #expect(straight.names(in: .durable) == [])
        var other = NameTable(seed: 8)
        for name in names { other[name, .written] = number }
        #expect(other.names(in: .written) != straight.names(in: .written))
        for name in names {
            #expect(straight[name, .written] == number)
            #expect(name.bytes.withUnsafeBytes { straight.find($0, in: .written) } == number)
        }
        #expect(straight["missing", .written] == nil)
    }

    @Test("a handle of a killed process, let go of late, closes nobody else's")
    func lateClose() throws {
        let disk = try freshDisk(.twoHalves)
        let first = disk.asProcess("first")
        let held = FileBox(try first.create("one", in: try first.openRoot("/a", create: false)))
        first.kill()
        let second = disk.asProcess("second")
        let folder = try second.openRoot("/a", create: false)
        var files: [FileBox] = []
        for index in 0..<200 {
            files.append(FileBox(try second.create(FileName("file-\(index)") ?? "file", in: folder)))
        }
        second.close(held.file.handle)
        for box in files { try second.writeAll(box.file, at: 0, [1]) }
        #expect(disk.openHandleCount == 201)
        files = []
        #expect(disk.openHandleCount == 1)
    }
}
