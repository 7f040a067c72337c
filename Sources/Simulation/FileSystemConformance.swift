// One sequence of calls with the answers that the seam promises, for every file system that carries it out.
//
// The simulated disk is worth what it has in common with the real one. So both run this, and both must give these
// answers. Where two kernels differ (Linux says "it is a directory" where Darwin says "not permitted"), each of their
// answers stands here. What needs a link, another owner or a full disk is not here: a test must prepare that, in a way
// that differs between the two.

package import Spooling

package enum FileSystemConformance {
    /// Runs the sequence in a directory `path`, which is missing before and has a parent, and says where an answer was
    /// not the promised one. Empty when all were.
    package static func run(on fileSystem: any FileSystem, at path: String) -> [String] {
        var check = Check()
        check.that("a folder that is missing cannot be opened", fails: .notFound) { () throws(FileSystemError) in
            _ = try fileSystem.openRoot(path, create: false)
        }
        do throws(FileSystemError) {
            let root = try fileSystem.openRoot("\(path)/deep", create: true)
            try directories(fileSystem, root, path, &check)
            try contents(fileSystem, root, path, &check)
            try names(fileSystem, root, &check)
            try locks(fileSystem, root, &check)
            try listing(fileSystem, root, &check)
            try barriers(fileSystem, root, &check)
        } catch {
            check.differences.append("the sequence ended early: \(error)")
        }
        return check.differences
    }

    private struct Check {
        var differences: [String] = []

        mutating func that(_ story: String, _ isSo: Bool) {
            if !isSo { differences.append(story) }
        }

        mutating func that<Value: Equatable>(_ story: String, _ value: Value, is wanted: Value) {
            if value != wanted { differences.append("\(story): \(value) instead of \(wanted)") }
        }

        mutating func that(
            _ story: String, fails reasons: FileSystemError.Reason..., by body: () throws(FileSystemError) -> Void
        ) {
            do throws(FileSystemError) {
                try body()
                differences.append("\(story): it did")
            } catch {
                if !reasons.contains(error.reason) { differences.append("\(story): \(error)") }
            }
        }
    }

    private static func directories(
        _ fileSystem: any FileSystem, _ root: borrowing OpenDirectory, _ path: String, _ check: inout Check
    ) throws(FileSystemError) {
        let status = try fileSystem.status(of: root)
        check.that("a folder is a directory", status.kind, is: .directory)
        check.that("a folder that was made is ours", status.isOurs)
        check.that("a folder that was made is closed to others", status.permissions, is: 0o700)
        check.that("a missing directory cannot be opened", fails: .notFound) { () throws(FileSystemError) in
            _ = try fileSystem.openDirectory("inner", in: root, create: false)
        }
        let inner = try fileSystem.openDirectory("inner", in: root, create: true)
        check.that("its path is shown", inner.displayPath, is: "\(path)/deep/inner")
        let again = try fileSystem.openDirectory("inner", in: root, create: true)
        let (first, second) = (try fileSystem.status(of: inner), try fileSystem.status(of: again))
        check.that("to make a directory that is there opens it", first.inode, is: second.inode)
        check.that("a directory that was made is closed to others", first.permissions, is: 0o700)
        check.that("both lie on one device", first.device, is: status.device)
        check.that(
            "the name has the status of the directory", try fileSystem.status(of: "inner", in: root).inode,
            is: first.inode)
        check.that("a directory is not opened as a file", fails: .isDirectory) { () throws(FileSystemError) in
            _ = try fileSystem.open("inner", in: root)
        }
        check.that("a directory is not unlinked", fails: .isDirectory, .notPermitted) { () throws(FileSystemError) in
            try fileSystem.unlink("inner", in: root)
        }
        check.that("a file is not made over a directory", fails: .exists) { () throws(FileSystemError) in
            _ = try fileSystem.create("inner", in: root)
        }
        check.that(
            "a folder that is there is opened", try fileSystem.openRoot("\(path)/deep", create: true).displayPath,
            is: "\(path)/deep")
    }

    private static func contents(
        _ fileSystem: any FileSystem, _ root: borrowing OpenDirectory, _ path: String, _ check: inout Check
    ) throws(FileSystemError) {
        let file = try fileSystem.create("note", in: root)
        let fresh = try fileSystem.status(of: file)
        check.that("a new file is plain", fresh.kind, is: .regular)
        check.that("a new file is empty", fresh.byteCount, is: 0)
        check.that("a new file is closed to others", fresh.permissions, is: 0o600)
        check.that("a new file has one name", fresh.linkCount, is: 1)
        check.that("an empty file has no bytes", try fileSystem.readAll(file, at: 0, byteCount: 10), is: [])
        try fileSystem.writeAll(file, at: 0, Array("hello".utf8))
        try fileSystem.writeAll(file, at: 8, Array("you".utf8))
        let expected = Array("hello\0\0\0you".utf8)
        check.that("a gap is zeros", try fileSystem.readAll(file, at: 0, byteCount: 100), is: expected)
        check.that("a read from the middle", try fileSystem.readAll(file, at: 8, byteCount: 2), is: Array("yo".utf8))
        check.that("there is nothing behind the end", try fileSystem.readAll(file, at: 500, byteCount: 2), is: [])
        try fileSystem.truncate(file, to: 4)
        try fileSystem.truncate(file, to: 6)
        check.that(
            "cut and made longer", try fileSystem.readAll(file, at: 0, byteCount: 100), is: Array("hell\0\0".utf8))
        check.that("the name knows the length", try fileSystem.status(of: "note", in: root).byteCount, is: 6)
        check.that("a name is made once", fails: .exists) { () throws(FileSystemError) in
            _ = try fileSystem.create("note", in: root)
        }
        check.that("a file is no directory", fails: .notDirectory) { () throws(FileSystemError) in
            _ = try fileSystem.openDirectory("note", in: root, create: true)
        }
        check.that("a file is no folder", fails: .notDirectory) { () throws(FileSystemError) in
            _ = try fileSystem.openRoot("\(path)/deep/note", create: false)
        }
        let source = try fileSystem.openSource("\(path)/deep/note")
        check.that("a source is read", try fileSystem.readAll(source, at: 0, byteCount: 4), is: Array("hell".utf8))
        check.that("a source is not written", fails: .other(9)) { () throws(FileSystemError) in  // EBADF
            try fileSystem.writeAll(source, at: 0, [1])
        }
        check.that("a missing source", fails: .notFound) { () throws(FileSystemError) in
            _ = try fileSystem.openSource("\(path)/deep/absent")
        }
        let opened = try fileSystem.open("note", in: root)
        try fileSystem.writeAll(opened, at: 0, Array("J".utf8))
        check.that("two handles, one file", try fileSystem.readAll(file, at: 0, byteCount: 1), is: Array("J".utf8))
        check.that("a plain file of ours is opened", try fileSystem.openOurs("note", in: root).byteCount, is: 6)
    }

    private static func names(
        _ fileSystem: any FileSystem, _ root: borrowing OpenDirectory, _ check: inout Check
    ) throws(FileSystemError) {
        let inner = try fileSystem.openDirectory("inner", in: root, create: true)
        let file = try fileSystem.open("note", in: root)
        let inode = try fileSystem.status(of: file).inode
        try fileSystem.writeAll(try fileSystem.create("taken", in: inner), at: 0, [1, 2, 3])
        check.that("a published file never replaces", fails: .exists) { () throws(FileSystemError) in
            try fileSystem.publish("note", in: root, as: "taken", in: inner)
        }
        check.that(
            "the name that was taken kept its bytes", try fileSystem.status(of: "taken", in: inner).byteCount, is: 3)
        check.that("the file kept its name", try fileSystem.exists("note", in: root))
        check.that("a file is not published over itself", fails: .exists) { () throws(FileSystemError) in
            try fileSystem.publish("note", in: root, as: "note", in: root)
        }
        check.that("what is missing is not published", fails: .notFound) { () throws(FileSystemError) in
            try fileSystem.publish("absent", in: root, as: "new", in: inner)
        }
        try fileSystem.publish("note", in: root, as: "moved", in: inner)
        check.that("the old name is gone", try fileSystem.exists("note", in: root), is: false)
        check.that("the new name is that file", try fileSystem.status(of: "moved", in: inner).inode, is: inode)
        try fileSystem.publish("moved", in: inner, as: "renamed", in: inner)
        check.that("it has one name still", try fileSystem.status(of: file).linkCount, is: 1)
        try fileSystem.unlink("renamed", in: inner)
        check.that("an unlinked file is readable while it is open", try fileSystem.status(of: file).byteCount, is: 6)
        check.that("it has no name", try fileSystem.status(of: file).linkCount, is: 0)
        check.that("what is gone is not opened", fails: .notFound) { () throws(FileSystemError) in
            _ = try fileSystem.open("renamed", in: inner)
        }
        check.that("what is gone has no status", fails: .notFound) { () throws(FileSystemError) in
            _ = try fileSystem.status(of: "renamed", in: inner)
        }
        check.that("what is gone is not unlinked", fails: .notFound) { () throws(FileSystemError) in
            try fileSystem.unlink("renamed", in: inner)
        }
        check.that("nor is it there", try fileSystem.unlinkIfThere("renamed", in: inner), is: false)
        try fileSystem.publish("inner", in: root, as: "moved directory", in: root)
        check.that("an open directory is found under its new name", try fileSystem.exists("taken", in: inner))
        try fileSystem.publish("moved directory", in: root, as: "inner", in: root)
    }

    private static func locks(
        _ fileSystem: any FileSystem, _ root: borrowing OpenDirectory, _ check: inout Check
    ) throws(FileSystemError) {
        let first = try fileSystem.create("lock", in: root)
        check.that("a free lock is taken", try fileSystem.lock(first))
        check.that("its holder may ask again", try fileSystem.lock(first))
        let second = try fileSystem.open("lock", in: root)
        check.that("a lock has one holder", try fileSystem.lock(second), is: false)
        try fileSystem.publish("lock", in: root, as: "lock moved", in: root)
        check.that("a lock is the file's, not the name's", try fileSystem.lock(second), is: false)
        try letGo(first)
        check.that("a lock goes with its handle", try fileSystem.lock(second))
    }

    private static func letGo(_ file: consuming OpenFile) throws(FileSystemError) {
        _ = consume file
    }

    private static func listing(
        _ fileSystem: any FileSystem, _ root: borrowing OpenDirectory, _ check: inout Check
    ) throws(FileSystemError) {
        let many = try fileSystem.openDirectory("many", in: root, create: true)
        check.that("an empty directory has no names", try fileSystem.sortedNames(in: many), is: [])
        var wanted: [FileName] = []
        for number in 100..<200 {
            guard let name = FileName("n\(number)") else { continue }
            _ = try fileSystem.create(name, in: many)
            wanted.append(name)
        }
        guard let odd = FileName(bytes: [0x6F, 0x64, 0x64, 0x0A]) else { return }
        _ = try fileSystem.create(odd, in: many)
        wanted.append(odd)
        check.that("every name is listed once", try fileSystem.sortedNames(in: many), is: wanted)
        check.that("and again from the start", try fileSystem.sortedNames(in: many), is: wanted)
        var seen = 0
        try fileSystem.forEachName(in: many) { _ in
            seen += 1
            return seen < 3
        }
        check.that("a listing ends when it is told", seen, is: 3)
    }

    private static func barriers(
        _ fileSystem: any FileSystem, _ root: borrowing OpenDirectory, _ check: inout Check
    ) throws(FileSystemError) {
        let file = try fileSystem.create("synced", in: root)
        try fileSystem.writeAll(file, at: 0, [UInt8](repeating: 7, count: 100_000))
        try fileSystem.sync(file)
        try fileSystem.sync(root)
        if fileSystem.hasSyncAll { try fileSystem.syncAll(root) }
        check.that("a sync changes no bytes", try fileSystem.status(of: file).byteCount, is: 100_000)
        let space = try fileSystem.space(of: root)
        check.that("a disk has a size", space.totalByteCount > 0)
        check.that("no more is free than there is", space.freeByteCount <= space.totalByteCount)
    }
}
