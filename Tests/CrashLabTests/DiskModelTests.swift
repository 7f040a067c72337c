import Simulation
import Spooling
import Testing

/// What the power leaves, model by model, in stories of a few calls.
@Suite struct DiskModelTests {
    /// Every state that a cut can leave: the bytes of each of `paths`, `nil` where nothing is.
    private func images(_ disk: SimulatedFileSystem, _ paths: [String]) -> Set<[[UInt8]?]> {
        let cut = PowerCut(disk.snapshot())
        let found = SimulatedFileSystem()
        return Set(
            cut.choices().map { choice in
                found.restore(cut.image(choice))
                return paths.map { found.content($0) }
            })
    }

    private let old = [UInt8](repeating: 1, count: 10)
    private let new = [UInt8](repeating: 2, count: 700)

    private func disk(_ model: DiskModel) throws -> SimulatedFileSystem {
        let disk = SimulatedFileSystem(model: model)
        try disk.plant("/a", kind: .directory, permissions: 0o700)
        try disk.plant("/b", kind: .directory, permissions: 0o700)
        try disk.plant("/a/old", bytes: old)
        return disk
    }

    @Test func posixMayLoseTheNewNameAndKeepTheRemovalOfTheOld() throws {
        let disk = try disk(.posix)
        try disk.move("/a/old", to: "/b/moved")
        #expect(images(disk, ["/a/old", "/b/moved"]) == [[old, nil], [nil, old], [nil, nil], [old, old]])
    }

    @Test(arguments: [DiskModel.orderedMetadata, .copyOnWrite])
    func aJournalMovesInOneStep(_ model: DiskModel) throws {
        let disk = try disk(model)
        try disk.move("/a/old", to: "/b/moved")
        #expect(images(disk, ["/a/old", "/b/moved"]) == [[old, nil], [nil, old]])
    }

    @Test func anUnsyncedFileIsPublishedWithZeroBytes() throws {
        for model in DiskModel.allCases {
            let disk = try disk(model)
            try disk.write(new, to: "/a/new.part")
            try disk.move("/a/new.part", to: "/a/new")
            let found = images(disk, ["/a/new.part", "/a/new"])
            #expect(found.contains([nil, []]), "\(model.rawValue)")
            #expect(found.contains([nil, new]), "\(model.rawValue)")
        }
    }

    @Test func aWriteIsTornAtASectorOnlyWhereItIsOverwrittenInPlace() throws {
        let head = Array(new[..<512])
        for (model, isTorn) in [(DiskModel.posix, true), (.copyOnWrite, false)] {
            let disk = try disk(model)
            try disk.write(new, to: "/a/new")
            #expect(images(disk, ["/a/new"]).contains([head]) == isTorn, "\(model.rawValue)")
        }
    }

    /// A later name without an earlier one: the journal forbids it, POSIX does not.
    @Test func namesComeInTheirOrder() throws {
        for model in DiskModel.allCases {
            let disk = try disk(model)
            try disk.write(old, to: "/a/first")
            try disk.write(old, to: "/b/second")
            let hasLaterAlone = images(disk, ["/a/first", "/b/second"]).contains([nil, old])
            #expect(hasLaterAlone == (model == .posix), "\(model.rawValue)")
        }
    }

    /// What a sync of one file brings with it.
    @Test(arguments: DiskModel.allCases)
    func aSyncOfOneFile(_ model: DiskModel) throws {
        let disk = try disk(model)
        try disk.write(old, to: "/a/first")
        try disk.write(old, to: "/b/second")
        let root = try disk.openRoot("/b", create: false)
        try disk.sync(try disk.open("second", in: root))
        let (first, second) = (disk.durableContent("/a/first"), disk.durableContent("/b/second"))
        switch model {
        case .posix: #expect(first == nil && second == nil, "bytes, and no name")
        case .orderedMetadata: #expect(first == [] && second == old, "all names until then, and its bytes")
        case .copyOnWrite: #expect(first == nil && second == old, "its name and its bytes")
        }
    }

    /// The digest says of an image what a walk over it would say.
    @Test(arguments: DiskModel.allCases)
    func theDigestIsThatOfTheImage(_ model: DiskModel) throws {
        let disk = try disk(model)
        try disk.write(new, to: "/a/new.part")
        try disk.move("/a/new.part", to: "/a/new")
        try disk.move("/a/old", to: "/b/old")
        try disk.write(old, to: "/a/new")
        try disk.move("/b/old", to: "/a/older")
        try disk.remove("/a/new")
        try disk.write(new, to: "/b/other")
        let cut = PowerCut(disk.snapshot())
        var digests: Set<UInt64> = []
        for choice in cut.choices() {
            let digest = cut.digest(choice)
            #expect(digest == cut.image(choice).readerDigest(), "\(choice)")
            digests.insert(digest)
        }
        #expect(digests.count > 5)
    }

    @Test func fewChangesAreTriedInEveryWay() throws {
        let disk = try disk(.posix)
        for index in 0..<6 { try disk.write([UInt8(index)], to: "/a/\(index)") }
        let cut = PowerCut(disk.snapshot())
        #expect(cut.unitCount == 12 && cut.isComplete)
        // A file is there or not, and full, empty, or as long as it was to be with a zero in it.
        #expect(Set(cut.choices().map(cut.digest)).count >= 729)
        try disk.write([], to: "/b/more")
        #expect(!PowerCut(disk.snapshot()).isComplete)
    }
}
