// The live history: what a daemon intended and did, one JSON object a line, in `<home>/journal/journal.jsonl`.
//
// The journal watches the pair and must never hold it up. So it has descriptors of its own and stays outside the seam (a
// fault that is injected into the disk does not hit it, and its writes are no places to kill), it throws nothing, it keeps no
// more than a bounded buffer, and when it cannot write it counts what it lost, says so once, and goes on trying.
//
// Lines reach the kernel in one `write` a flush, appended. A kill between two flushes loses what was not flushed; that is
// why the caller flushes on both sides of an effect. Nothing is synced: after a power cut the disk itself is the witness.
//
// A write that was cut short (a kill, a full disk) leaves half a line. The next write begins with a line end, so half a line
// stands alone and a reader throws away just that one. Notes of the journal's own tell `JournalReader` what is missing:
//
// | note | it stands | it says |
// |---|---|---|
// | `{"journal":"part","number":N}` | first in every file but the first one | so many files were put aside before |
// | `{"journal":"torn"}` | behind half a line | a start found it so: the one before was killed |
// | `{"journal":"lost","lines":N}` | where they should be | so many could not be written |

import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

package final class JournalFile {
    package static let standardByteLimit = 16 * 1_024 * 1_024
    /// A caller that never flushes holds this much at most.
    private static let bufferByteLimit = 1_024 * 1_024
    static let folderName: FileName = "journal"
    static let name: FileName = "journal.jsonl"
    static let oldName: FileName = "journal.1.jsonl"
    /// More than a note `part` takes.
    private static let noteByteCount = 64

    /// What the journal says about itself.
    enum Note: String {
        case part, torn, lost
    }

    /// `<home>/journal`, for messages.
    package let path: String
    private let byteLimit: Int
    private let say: (String) -> Void

    private var directory: Int32 = -1
    private var file: Int32 = -1
    private var fileByteCount = 0
    private var buffer: [UInt8] = []
    private var bufferedLineCount = 0
    /// Whether the file ends in the middle of a line.
    private var isTorn = false
    /// It ended so when it was opened.
    private var wasFoundTorn = false
    /// How many files were put aside before this one.
    private var part: UInt64 = 0
    private var lostSinceLastWrite = 0
    private var saidThatItFails = false

    /// Lines that never reached the file, since the start.
    package private(set) var lostLineCount = 0

    /// Opens the journal of a home, or fails to and tries again at each flush. `byteLimit` bounds each of the two files.
    /// `say` gets the one line that tells a person that the journal fails.
    package init(
        home: String, byteLimit: Int = JournalFile.standardByteLimit,
        say: @escaping (String) -> Void = { standardError($0) }
    ) {
        self.path = RootPath.withoutTrailingSlashes(home) + "/journal"
        self.byteLimit = byteLimit
        self.say = say
        if let problem = openIfNeeded() { complain(problem) }
    }

    deinit {
        flush()
        closeFile()
        if directory >= 0 { _ = DiskFileSystem.closeDescriptor(directory) }
    }

    /// Takes a line into the buffer: what `write` appends, one JSON object without a line end.
    package func append(_ write: (inout [UInt8]) -> Void) {
        write(&buffer)
        buffer.append(UInt8(ascii: "\n"))
        bufferedLineCount += 1
        if buffer.count >= Self.bufferByteLimit { flush() }
    }

    package func append(line: String) {
        append { $0.append(contentsOf: line.utf8) }
    }

    /// Hands the buffered lines to the kernel; after that they outlive this process.
    package func flush() {
        guard bufferedLineCount > 0 else { return }
        defer {
            buffer.removeAll(keepingCapacity: true)
            bufferedLineCount = 0
        }
        if let problem = openIfNeeded() ?? rotateIfNeeded() {
            lose(bufferedLineCount, problem)
            return
        }
        var head: [UInt8] = isTorn ? [UInt8(ascii: "\n")] : []
        if fileByteCount == 0, part > 0 { head += Self.bytes(of: .part, ["number": JSONValue(part)]) }
        if wasFoundTorn { head += Self.bytes(of: .torn) }
        if lostSinceLastWrite > 0 { head += Self.bytes(of: .lost, ["lines": JSONValue(lostSinceLastWrite)]) }
        if !head.isEmpty { buffer.insert(contentsOf: head, at: 0) }
        guard let short = LineWriter.write(buffer, to: file) else {
            fileByteCount += buffer.count
            isTorn = false
            wasFoundTorn = false
            lostSinceLastWrite = 0
            saidThatItFails = false
            return
        }
        fileByteCount += short.byteCount
        if short.byteCount > 0 { isTorn = buffer[short.byteCount - 1] != UInt8(ascii: "\n") }
        // The notes count as written only when all of them were.
        if short.byteCount >= head.count {
            wasFoundTorn = false
            lostSinceLastWrite = 0
        }
        let whole = buffer[..<short.byteCount].dropFirst(head.count).count { $0 == UInt8(ascii: "\n") }
        lose(bufferedLineCount - whole, "cannot write \(path)/\(Self.name): \(Self.words(short.errno))")
    }

    private static func bytes(of note: Note, _ more: KeyValuePairs<String, JSONValue> = [:]) -> [UInt8] {
        var object: JSONObject = ["journal": JSONValue(note.rawValue)]
        for (key, value) in more { object.add(key, value) }
        return Array(object.line.utf8) + [UInt8(ascii: "\n")]
    }

    /// The number in a note `part`; `nil` for every other line.
    static func partNumber(ofLine line: ArraySlice<UInt8>) -> UInt64? {
        guard let members = JSONLine(line), members.string("journal") == Note.part.rawValue,
            let number = members.unsigned("number"), number < .max
        else { return nil }
        return number
    }

    private func lose(_ count: Int, _ problem: String) {
        lostLineCount += count
        lostSinceLastWrite += count
        complain(problem)
    }

    private func complain(_ problem: String) {
        guard !saidThatItFails else { return }
        saidThatItFails = true
        say("\(problem); the journal loses lines until it can write again, the pair goes on")
    }

    // MARK: Files

    /// What went wrong, or `nil` when the file is open.
    private func openIfNeeded() -> String? {
        if file >= 0 { return nil }
        if directory < 0 {
            _ = mkdir(path, 0o700)
            let flags = DiskFileSystem.directoryFlags | O_NOFOLLOW
            switch SystemCall.repeating({ open(path, flags) }) {
            case .value(let descriptor): directory = Int32(descriptor)
            case .failure(let code): return "cannot open \(path): \(Self.words(code))"
            }
        }
        // Read as well, to see how the last line ends.
        let flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let opened = SystemCall.repeating {
            Self.name.withTerminatedBytes { openat(directory, $0, flags, mode_t(0o600)) }
        }
        guard case .value(let descriptor) = opened else {
            guard case .failure(let code) = opened else { return nil }
            return "cannot open \(path)/\(Self.name): \(Self.words(code))"
        }
        file = Int32(descriptor)
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_nlink == 1
        else {
            closeFile()
            return "\(path)/\(Self.name) is not a plain file of ours"
        }
        fileByteCount = Int(clamping: status.st_size)
        var last: UInt8 = 0
        isTorn = fileByteCount > 0 && pread(file, &last, 1, status.st_size - 1) == 1 && last != UInt8(ascii: "\n")
        wasFoundTorn = isTorn
        // Asked of the disk and not remembered: a kill may have come between putting aside and the first line.
        part = fileByteCount > 0 ? Self.partNumber(of: file) : partBehindOld()
        return nil
    }

    private static func partNumber(of descriptor: Int32) -> UInt64 {
        var bytes = [UInt8](repeating: 0, count: noteByteCount)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return partNumber(ofLine: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }) ?? 0
    }

    /// The number of the file that follows the one that was put aside; 0 when none was.
    private func partBehindOld() -> UInt64 {
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let opened = SystemCall.repeating { Self.oldName.withTerminatedBytes { openat(directory, $0, flags) } }
        guard case .value(let descriptor) = opened else { return 0 }
        defer { _ = DiskFileSystem.closeDescriptor(Int32(descriptor)) }
        return Self.partNumber(of: Int32(descriptor)) + 1
    }

    /// Puts a full file aside, over the one that was put aside before. When that fails nothing more is written: the
    /// journal must not grow without bound either.
    private func rotateIfNeeded() -> String? {
        guard fileByteCount > 0, fileByteCount + buffer.count > byteLimit else { return nil }
        let renamed = SystemCall.repeating {
            Self.name.withTerminatedBytes { name in
                Self.oldName.withTerminatedBytes { renameat(directory, name, directory, $0) }
            }
        }
        if case .failure(let code) = renamed,
            // Somebody took the file away; a new one is begun.
            code != ENOENT
        {
            return "cannot rotate \(path)/\(Self.name): \(Self.words(code))"
        }
        closeFile()
        return openIfNeeded()
    }

    private func closeFile() {
        if file >= 0 { _ = DiskFileSystem.closeDescriptor(file) }
        file = -1
    }

    private static func words(_ code: Int32) -> String {
        String(cString: strerror(code))
    }
}
