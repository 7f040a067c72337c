// What Linux does in its own way: an exclusive rename, durability of one file and of a whole file system.
//
// Swift's Glibc module shows neither `renameat2` nor `syncfs` (they stand behind `_GNU_SOURCE`) and `syscall` is variadic,
// which Swift does not import. The functions are in the C library all the same, so they are looked up there, once.

#if os(Linux)

    import Glibc

    enum PlatformCalls {
        private typealias RenameAt2 =
            @Sendable @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
        private typealias SyncFS = @Sendable @convention(c) (Int32) -> Int32

        /// glibc has it since 2.28.
        private static let renameat2: RenameAt2? = symbol("renameat2").map { unsafeBitCast($0, to: RenameAt2.self) }
        /// glibc has it since 2.14. It reports write errors of the whole file system since Linux 5.8.
        private static let syncfs: SyncFS? = symbol("syncfs").map { unsafeBitCast($0, to: SyncFS.self) }

        /// `RENAME_NOREPLACE` of `<linux/fs.h>`.
        private static let renameNoReplace: UInt32 = 1

        /// A function of the C library by its name.
        static func symbol(_ name: String) -> UnsafeMutableRawPointer? {
            dlsym(nil, name)
        }

        /// Renames and never replaces. A file system without `RENAME_NOREPLACE` answers `EINVAL`, which has no other
        /// cause for a plain file; that becomes `ENOTSUP`. There is no way around it: `link` and `unlink` would for a
        /// moment give the recording a second name (law 4), and a look before a `rename` is a race.
        static func renameExclusively(
            _ source: Int32, _ name: UnsafePointer<CChar>, _ target: Int32, _ newName: UnsafePointer<CChar>
        ) -> CallResult {
            guard let renameat2 else { return .failure(errno: ENOSYS) }
            switch SystemCall.once({ renameat2(source, name, target, newName, renameNoReplace) }) {
            case .failure(errno: EINVAL): return .failure(errno: ENOTSUP)
            case let answer: return answer
            }
        }

        /// Content, length and (for a directory) names durable.
        /// Lets this process have as many open files as it may, up to `count`: a batch of notes is open at a time.
        static func allowDescriptors(_ count: UInt64) {
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < count else {
                return
            }
            limit.rlim_cur = min(limit.rlim_max, rlim_t(count))
            _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }

        static func sync(_ descriptor: Int32) -> CallResult {
            SystemCall.once { fsync(descriptor) }
        }

        private typealias SyncFileRange = @Sendable @convention(c) (Int32, Int64, Int64, UInt32) -> Int32
        private static let syncFileRange: SyncFileRange? = symbol("sync_file_range").map {
            unsafeBitCast($0, to: SyncFileRange.self)
        }
        /// `SYNC_FILE_RANGE_WRITE` of `<fcntl.h>`: begins to write, waits for nothing, promises nothing.
        private static let syncFileRangeWrite: UInt32 = 2

        static func startWriting(_ descriptor: Int32, at offset: UInt64, byteCount: Int) {
            _ = syncFileRange?(descriptor, Int64(clamping: offset), Int64(byteCount), syncFileRangeWrite)
        }

        static var hasSyncFileSystem: Bool { syncfs != nil }

        static func syncFileSystem(_ descriptor: Int32) -> CallResult {
            guard let syncfs else { return .failure(errno: ENOSYS) }
            return SystemCall.once { syncfs(descriptor) }
        }

        /// Up to 256 bytes from the kernel (getentropy(3)).
        static func fillRandomly(_ bytes: UnsafeMutableRawBufferPointer) {
            guard let start = bytes.baseAddress else { return }
            let answer = getentropy(start, bytes.count)
            precondition(answer == 0, "the kernel gives no randomness: errno \(errno)")
        }

        /// The path of the program that runs (`proc(5)`); `nil` where `/proc` is not mounted.
        static func executablePath() -> String? {
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink("/proc/self/exe", &buffer, buffer.count)
            let bytes = buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
            return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
        }
    }

#endif
