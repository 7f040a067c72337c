// What Darwin does in its own way: an exclusive rename, durability of one file; it has no barrier for a file system.

#if canImport(Darwin)

    import Darwin

    enum PlatformCalls {
        /// Renames and never replaces (`renameatx_np`, `RENAME_EXCL`: APFS and HFS+). A volume without it answers
        /// `ENOTSUP`. There is no way around it: `link` and `unlink` would for a moment give the recording a second name
        /// (law 4), and a look before a `rename` is a race.
        static func renameExclusively(
            _ source: Int32, _ name: UnsafePointer<CChar>, _ target: Int32, _ newName: UnsafePointer<CChar>
        ) -> CallResult {
            switch SystemCall.once({ renameatx_np(source, name, target, newName, UInt32(RENAME_EXCL)) }) {
            case .failure(errno: EINVAL): return .failure(errno: ENOTSUP)
            case let answer: return answer
            }
        }

        /// Content, length and (for a directory) names durable. `fsync` on Darwin only hands them to the drive;
        /// `F_FULLFSYNC` makes the drive keep them (fcntl(2)). A volume that does not know it (some network ones) says
        /// so without having tried, and then `fsync` is all there is.
        /// Lets this process have as many open files as it may, up to `count`: a batch of notes is open at a time, and the usual
        /// limit here is 256 (`launchctl limit maxfiles`).
        static func allowDescriptors(_ count: UInt64) {
            var limit = rlimit()
            guard getrlimit(RLIMIT_NOFILE, &limit) == 0, limit.rlim_cur < count else { return }
            limit.rlim_cur = min(limit.rlim_max, rlim_t(count))
            _ = setrlimit(RLIMIT_NOFILE, &limit)
        }

        static func sync(_ descriptor: Int32) -> CallResult {
            switch SystemCall.once({ fcntl(descriptor, F_FULLFSYNC) }) {
            case .failure(errno: ENOTSUP), .failure(errno: EINVAL), .failure(errno: ENOTTY):
                return SystemCall.once { fsync(descriptor) }
            case let answer: return answer
            }
        }

        /// The kernel has no such call.
        static func startWriting(_ descriptor: Int32, at offset: UInt64, byteCount: Int) {}

        static var hasSyncFileSystem: Bool { false }

        static func syncFileSystem(_ descriptor: Int32) -> CallResult {
            .failure(errno: ENOTSUP)
        }

        /// arc4random(3), which is seeded by the kernel and never fails.
        static func fillRandomly(_ bytes: UnsafeMutableRawBufferPointer) {
            guard let start = bytes.baseAddress else { return }
            arc4random_buf(start, bytes.count)
        }

        /// The path of the program that runs (`dyld(3)`).
        static func executablePath() -> String? {
            var byteCount = UInt32(0)
            _NSGetExecutablePath(nil, &byteCount)
            var buffer = [CChar](repeating: 0, count: Int(byteCount) + 1)
            guard _NSGetExecutablePath(&buffer, &byteCount) == 0 else { return nil }
            return buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        }
    }

#endif
