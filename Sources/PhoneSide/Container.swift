package import Spooling
package import WireContract

/// The durable library: `container/YYYY-MM/<id>.<ext>`, the month being the UTC one of the id. It stands for an iCloud
/// container, so others may wipe it, lock it, or put another one in its place at any time; every batch looks first
/// whether the path still means what is open here.
package final class Container {
    private let fileSystem: any FileSystem
    private var root: DirectoryBox
    /// The months used last, newest first.
    private var months: [(name: FileName, directory: DirectoryBox)] = []
    private static let mostOpenMonths = 8
    private var lastMonth: (day: UInt64, name: FileName)?
    /// Files that the ledger does not know (it was lost), by id: what the container holds counts.
    private var unknown: [ULID: FileExtension] = [:]
    private let isKnown: (ULID) -> Bool
    /// A look at what came in the place of something failed.
    private var mustLook = false

    /// `isKnown` says whether the ledger knows an id; what it does not is remembered here.
    package init(
        home: borrowing OpenDirectory, fileSystem: any FileSystem, isKnown: @escaping (ULID) -> Bool
    ) throws(FileSystemError) {
        self.fileSystem = fileSystem
        self.isKnown = isKnown
        root = DirectoryBox(try fileSystem.openOurDirectory("container", in: home, create: true))
        try findUnknown()
    }

    private func findUnknown() throws(FileSystemError) {
        var found: [ULID: FileExtension] = [:]
        try fileSystem.forEachHeld(in: root) { id, fileExtension in
            if !isKnown(id) { found[id] = fileExtension }
        }
        unknown = found
    }

    /// Opens anew what was exchanged or wiped behind our back, and looks at what came in its place.
    package func refresh(home: borrowing OpenDirectory) throws(FileSystemError) {
        var isOther = mustLook
        mustLook = true
        if try !isStill(root, named: "container", in: home) {
            let found = DirectoryBox(try fileSystem.openOurDirectory("container", in: home, create: true))
            // Before it is taken for ours: if this fails, the next look comes here again, and not past it with a
            // container whose own name is not durable.
            try fileSystem.sync(home)
            root = found
            months = []
            isOther = true
        }
        var current: [(name: FileName, directory: DirectoryBox)] = []
        for month in months where try isStill(month.directory, named: month.name, in: root.directory) {
            current.append(month)
        }
        if current.count < months.count { isOther = true }
        months = current
        if isOther { try findUnknown() }
        mustLook = false
    }

    private func isStill(
        _ box: DirectoryBox, named name: FileName, in parent: borrowing OpenDirectory
    ) throws(FileSystemError) -> Bool {
        do {
            let found = try fileSystem.status(of: name, in: parent)
            let open = try fileSystem.status(of: box.directory)
            return found.inode == open.inode && found.device == open.device
        } catch  where error.reason == .notFound {
            return false
        }
    }

    /// The extension under which the container holds an id that the ledger does not know.
    package func unknownExtension(of id: ULID) -> FileExtension? { unknown[id] }

    package static func fileName(of id: ULID, _ fileExtension: FileExtension) -> FileName {
        var bytes = id.utf8Bytes
        if fileExtension != .none {
            bytes.append(UInt8(ascii: "."))
            bytes += fileExtension.paddedBytes.prefix { $0 != 0 }
        }
        guard let name = FileName(bytes: bytes[...]) else {
            preconditionFailure("an id with an extension is a file name: \(id)")
        }
        return name
    }

    /// The directory of an id's month, made when missing.
    package func month(of id: ULID) throws(FileSystemError) -> DirectoryBox {
        let name = monthName(of: id)
        if let index = months.firstIndex(where: { $0.name == name }) { return months[index].directory }
        let directory = DirectoryBox(try fileSystem.openOurDirectory(name, in: root.directory, create: true))
        // Also when it was there: the one who made it may have been killed before it synced this.
        try fileSystem.sync(root.directory)
        months.insert((name, directory), at: 0)
        if months.count > Self.mostOpenMonths { months.removeLast() }
        return directory
    }

    /// Notes come in the order of time: it is nearly always the month of the one before.
    private func monthName(of id: ULID) -> FileName {
        let day = id.millisecondsSince1970 / 86_400_000
        if let lastMonth, lastMonth.day == day { return lastMonth.name }
        guard let name = FileName(id.monthBucket) else { preconditionFailure("a month is a file name: \(id)") }
        lastMonth = (day, name)
        return name
    }

    /// Whether anything lies under an id.
    package func holds(_ id: ULID, fileExtension: FileExtension) throws(FileSystemError) -> Bool {
        let month = try month(of: id)
        return try fileSystem.exists(Self.fileName(of: id, fileExtension), in: month.directory)
    }

    /// Makes content and name durable of what lies under an id already.
    package func sync(_ id: ULID, fileExtension: FileExtension) throws(FileSystemError) {
        let month = try month(of: id)
        let file = try fileSystem.open(Self.fileName(of: id, fileExtension), in: month.directory)
        try fileSystem.sync(file)
        try fileSystem.sync(month.directory)
    }

    /// Compares what lies under an id with a content: reads all of it.
    package func probe(
        _ id: ULID, fileExtension: FileExtension, content: NoteContent, carrier: SliceCarrier
    ) throws(FileSystemError) -> ContainerHolding {
        let month = try month(of: id)
        let name = Self.fileName(of: id, fileExtension)
        do {
            let status = try fileSystem.status(of: name, in: month.directory)
            guard status.kind == .regular, status.byteCount == content.byteCount else { return .other }
            let file = try fileSystem.open(name, in: month.directory)
            let sums = try carrier.checksums(of: file, from: 0, byteCount: content.byteCount)
            return sums == content.checksums ? .same : .other
        } catch  where error.reason == .notFound {
            return .missing
        }
    }

    /// Moves what lies under an id out of the way.
    package func setAside(
        _ id: ULID, fileExtension: FileExtension, into quarantine: Quarantine
    ) throws(FileSystemError) {
        let month = try month(of: id)
        try quarantine.take(
            Self.fileName(of: id, fileExtension), from: month.directory, reason: .containerAltered, subject: id)
        unknown[id] = nil
    }

    /// The note that a name in a month stands for; `nil` when no note has such a name.
    package static func note(named name: FileName) -> (id: ULID, fileExtension: FileExtension)? {
        guard let id = ULID(utf8: name.bytes.prefix(26)) else { return nil }
        let rest = name.bytes.dropFirst(26)
        if rest.isEmpty { return (id, .none) }
        guard rest.first == UInt8(ascii: "."), let found = FileExtension(utf8: rest.dropFirst()), found != .none else {
            return nil
        }
        return (id, found)
    }

    /// Something lies under this id that nobody knew of.
    package func noteUnknown(_ id: ULID, fileExtension: FileExtension) { unknown[id] = fileExtension }

    /// The ledger knows it now, or it is gone.
    package func forgetUnknown(_ id: ULID) { unknown[id] = nil }

    /// Unlinks a note durably, as the user wants it. A note that is gone already is fine.
    package func remove(_ id: ULID, fileExtension: FileExtension) throws(FileSystemError) {
        let month = try month(of: id)
        try fileSystem.unlinkIfThere(Self.fileName(of: id, fileExtension), in: month.directory)
        try fileSystem.sync(month.directory)
        unknown[id] = nil
    }
}

/// An open directory that several may hold.
package final class DirectoryBox {
    package let directory: OpenDirectory

    package init(_ directory: consuming OpenDirectory) {
        self.directory = directory
    }
}

extension FileSystem {
    /// Calls `body` for every `<id>.<ext>` in every month of a container.
    package func forEachHeld(
        in root: DirectoryBox, _ body: (ULID, FileExtension) -> Void
    ) throws(FileSystemError) {
        for monthName in try sortedNames(in: root.directory) {
            guard monthName.bytes.count >= 7, monthName.bytes.allSatisfy({ $0 == 0x2D || (0x30...0x39).contains($0) }),
                try status(of: monthName, in: root.directory).kind == .directory
            else { continue }
            let month = try openDirectory(monthName, in: root.directory, create: false)
            try forEachName(in: month) { name in
                if let note = Container.note(named: name) { body(note.id, note.fileExtension) }
                return true
            }
        }
    }
}
