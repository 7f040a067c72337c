// What a live run does to the real disk besides what the daemons do: folders that are made, copied and removed, files that
// are put into place whole. Everything lies below the run's own folder; no link is followed on the way down.

import DaemonRuntime
import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Why a live run could not be made: the lab's own trouble, never the pair's.
package struct LiveError: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ operation: String, _ path: String, errno code: Int32, remedy: String) {
        description = "cannot \(operation) \(path): \(String(cString: strerror(code))); \(remedy)"
    }

    init(_ error: FileSystemError) { description = error.description }

    private init(_ words: String) { description = words }

    /// Somebody asked for it: `LiveOptions.isGivenUp`.
    static let givenUp = LiveError("the run was given up")
}

enum LiveDisk {
    private static let roomRemedy = "see that there is room, and that the folder may be written to"
    private static let sliceByteCount = 1 << 20

    /// Makes a fresh folder below `parent` and answers its real path: the pair follows no links, and a Mac's temporary folder
    /// lies behind one.
    static func makeFolder(below parent: String) throws(LiveError) -> String {
        let template = "\(parent.hasSuffix("/") ? String(parent.dropLast()) : parent)/watchferry-live.XXXXXX"
        var bytes = Array(template.utf8CString)
        guard mkdtemp(&bytes) != nil, let real = realpath(bytes, nil) else {
            throw LiveError("make a folder like", template, errno: errno, remedy: "name a folder that is there")
        }
        defer { free(real) }
        return String(cString: real)
    }

    static func makeDirectory(_ path: String) throws(LiveError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw LiveError("make", path, errno: errno, remedy: roomRemedy)
        }
    }

    static func write(_ bytes: [UInt8], to path: String) throws(LiveError) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw LiveError("make", path, errno: errno, remedy: roomRemedy) }
        defer { close(file) }
        try write(bytes[...], to: file, path)
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to file: Int32, _ path: String) throws(LiveError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(file, $0.baseAddress!, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw LiveError("write", path, errno: errno, remedy: roomRemedy) }
            rest = rest.dropFirst(count)
        }
    }

    /// In one step, over whatever has the new name.
    static func rename(_ path: String, to newPath: String) throws(LiveError) {
        guard systemRename(path, newPath) == 0 else {
            throw LiveError("rename to \(newPath)", path, errno: errno, remedy: roomRemedy)
        }
    }

    static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    static func byteCount(_ path: String) -> Int {
        var status = stat()
        return lstat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    private static func kind(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Sorted; none when the folder is missing.
    static func names(_ folder: String) throws(LiveError) -> [FileName] {
        let disk = DiskFileSystem()
        do {
            return try disk.sortedNames(in: try disk.openRoot(folder, create: false))
        } catch {
            if error.reason == .notFound { return [] }
            throw LiveError(error)
        }
    }

    /// Of a file that a process wrote for people; empty when it cannot be read.
    static func text(_ path: String) -> String {
        let disk = DiskFileSystem()
        guard let file = try? disk.openSource(path), let byteCount = try? disk.status(of: file).byteCount else {
            return ""
        }
        let most = UInt64(1 << 20)
        let start = byteCount - min(byteCount, most)
        let bytes = try? disk.readAll(file, at: start, byteCount: Int(byteCount - start))
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    static func remove(_ path: String) throws(LiveError) {
        guard let kind = kind(path) else { return }
        if kind == S_IFDIR {
            for name in try names(path) { try remove("\(path)/\(try text(name))") }
            guard rmdir(path) == 0 || errno == ENOENT else {
                throw LiveError("remove", path, errno: errno, remedy: "remove it by hand")
            }
        } else if unlink(path) != 0, errno != ENOENT {
            throw LiveError("remove", path, errno: errno, remedy: "remove it by hand")
        }
    }

    /// Files and folders; nothing else is in a home.
    static func copy(_ path: String, to target: String) throws(LiveError) {
        switch kind(path) {
        case S_IFDIR:
            try makeDirectory(target)
            for name in try names(path) {
                let text = try text(name)
                try copy("\(path)/\(text)", to: "\(target)/\(text)")
            }
        case S_IFREG: try copyFile(path, to: target)
        case nil: break
        case _?: throw LiveError("copy", path, errno: EINVAL, remedy: "a home holds files and folders only")
        }
    }

    private static func copyFile(_ path: String, to target: String) throws(LiveError) {
        let source = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { throw LiveError("read", path, errno: errno, remedy: roomRemedy) }
        defer { close(source) }
        let file = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw LiveError("make", target, errno: errno, remedy: roomRemedy) }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: sliceByteCount)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(source, $0.baseAddress!, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw LiveError("read", path, errno: errno, remedy: roomRemedy) }
            if count == 0 { return }
            try write(buffer[..<count], to: file, target)
        }
    }

    /// A name as a path's component. The pair makes only names that are text.
    private static func text(_ name: FileName) throws(LiveError) -> String {
        let text = String(decoding: name.bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(name.bytes) else {
            throw LiveError("name", name.description, errno: EINVAL, remedy: "move it away")
        }
        return text
    }

    private static func systemWrite(_ file: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
        #if canImport(Darwin)
            Darwin.write(file, start, count)
        #else
            Glibc.write(file, start, count)
        #endif
    }

    private static func systemRename(_ path: String, _ newPath: String) -> Int32 {
        #if canImport(Darwin)
            Darwin.rename(path, newPath)
        #else
            Glibc.rename(path, newPath)
        #endif
    }
}
