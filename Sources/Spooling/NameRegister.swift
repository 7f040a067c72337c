/// A durable value that is kept as the *name* of an empty file: `<ten digits>-<value>`; the highest number counts.
///
/// A name is made in one step and cannot be torn, so there is no content to sync and nothing to replace: setting a value
/// makes the next name, syncs the directory and unlinks the names before. A crash in between leaves two names, and the
/// higher one counts.
///
/// | names in the directory | value | who goes on |
/// |---|---|---|
/// | none | none yet | the next `set` |
/// | n | that of n | – |
/// | n, n+1 | that of n+1 | the next `set` unlinks n |
package struct NameRegister: Hashable, Sendable {
    /// What counts now.
    package private(set) var number: UInt64
    package private(set) var value: String

    /// Reads the register; `nil` when nothing was ever set. Names of another form are not ours and are left alone.
    package init?(
        in directory: borrowing OpenDirectory, of fileSystem: any FileSystem
    ) throws(FileSystemError) {
        var best: NameRegister?
        try fileSystem.forEachName(in: directory) { name in
            if let found = NameRegister(name), best.map({ $0.name < found.name }) ?? true { best = found }
            return true
        }
        guard let best else { return nil }
        self = best
    }

    private init?(_ name: FileName) {
        let bytes = name.bytes
        guard bytes.count >= 11, bytes[10] == UInt8(ascii: "-"), let number = UInt64(decimal: bytes.prefix(10)),
            bytes.dropFirst(11).allSatisfy(\.isASCIILetterOrDigit)
        else { return nil }
        self.number = number
        value = String(decoding: bytes.dropFirst(11), as: UTF8.self)
    }

    private init(number: UInt64, value: String) {
        self.number = number
        self.value = value
    }

    private var name: FileName {
        guard let name = FileName("\(number.decimal(digits: 10))-\(value)") else {
            preconditionFailure("a register's value is short: \(value)")
        }
        return name
    }

    /// Sets `value` durably under the next number and returns that.
    package static func set(
        _ value: String, in directory: borrowing OpenDirectory, of fileSystem: any FileSystem
    ) throws(FileSystemError) -> NameRegister {
        precondition(value.utf8.allSatisfy(\.isASCIILetterOrDigit), "not a register's value: \(value)")
        let before = try NameRegister(in: directory, of: fileSystem)
        let after = NameRegister(number: (before?.number ?? 0) + 1, value: value)
        if let before, after.number > StartNumber.largest {
            // Only a forged name gets here. Nothing is lost: the names before it are there still.
            throw FileSystemError(.create, directory.displayPath(of: before.name), .refused(.lastNumber))
        }
        do {
            _ = try fileSystem.create(after.name, in: directory)
        } catch  where error.reason == .exists {
            // Somebody without the lock made it. What counts is that it is there, and durable from here on.
        }
        try fileSystem.sync(directory)
        sweep(before: after.number, in: directory, of: fileSystem)
        return after
    }

    /// So many names are taken away at most at one `set`; a register of ours has one or two.
    private static let mostSwept = 64

    /// Takes the names away that no longer count. The value is durable by now, so nothing that goes wrong here is an
    /// error of `set`: a directory or a foreign file under such a name stays for ever, the rest until the next `set`.
    private static func sweep(
        before number: UInt64, in directory: borrowing OpenDirectory, of fileSystem: any FileSystem
    ) {
        var old: [FileName] = []
        try? fileSystem.forEachName(in: directory) { name in
            if let found = NameRegister(name), found.number < number { old.append(name) }
            return old.count < mostSwept
        }
        for name in old.sorted() { _ = try? fileSystem.unlinkIfThere(name, in: directory) }
    }
}
