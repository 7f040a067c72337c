// Small things that every system call here needs: what errno means to the pair, paths as the kernel wants them, and
// repeating a call that a signal interrupted, where repeating it is sound.

import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What a system call answered: its value, or its errno.
enum CallResult: Equatable {
    case value(Int)
    case failure(errno: Int32)
}

enum SystemCall {
    /// Makes a call once. For calls that may have had their effect when a signal interrupts them (`rename`, `unlink`,
    /// exclusive creation on a network file system) or that must not be repeated (`fsync`).
    @inline(__always)
    static func once<Number: SignedInteger>(_ call: () -> Number) -> CallResult {
        let answer = call()
        return answer == -1 ? .failure(errno: errno) : .value(Int(answer))
    }

    /// Makes a call until no signal interrupts it. For calls that did nothing when they answer `EINTR`.
    @inline(__always)
    static func repeating<Number: SignedInteger>(_ call: () -> Number) -> CallResult {
        while true {
            switch once(call) {
            case .failure(errno: EINTR): continue
            case .failure(let code): return .failure(errno: code)
            case .value(let value): return .value(value)
            }
        }
    }
}

extension SystemCall {
    static func unlinkOnce(_ directory: Int32, _ name: FileName) -> CallResult {
        once { name.withTerminatedBytes { unlinkat(directory, $0, 0) } }
    }

    static func truncate(_ descriptor: Int32, to byteCount: UInt64) -> CallResult {
        guard let length = off_t(exactly: byteCount) else { return .failure(errno: EFBIG) }
        return repeating { ftruncate(descriptor, length) }
    }
}

extension FileSystemError.Reason {
    init(errno code: Int32) {
        self =
            switch code {
            case ENOENT: .notFound
            case EEXIST, ENOTEMPTY: .exists
            case ENOSPC, EDQUOT: .noSpace
            case EIO: .inputOutput
            case EACCES, EPERM: .notPermitted
            case ELOOP: .isLink
            case EISDIR: .isDirectory
            case ENOTDIR: .notDirectory
            case EXDEV: .crossDevice
            case EINTR: .interrupted
            case EROFS: .readOnly
            case EMFILE, ENFILE: .tooManyOpenFiles
            case EFBIG: .fileTooLarge
            case ENAMETOOLONG: .nameTooLong
            case ENOTSUP, EOPNOTSUPP, ENOSYS: .notSupported
            default: .other(code)
            }
    }
}

extension FileName {
    /// The name as the kernel wants it: its bytes and a NUL.
    func withTerminatedBytes<Answer>(_ body: (UnsafePointer<CChar>) -> Answer) -> Answer {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
            bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(buffer).copyMemory(from: $0) }
            buffer.initializeElement(at: bytes.count, to: 0)
            // `capacity` is at least one, so there is a base address.
            return body(UnsafePointer(buffer.baseAddress!))
        }
    }
}
