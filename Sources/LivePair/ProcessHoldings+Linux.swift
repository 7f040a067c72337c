#if os(Linux)

    import Glibc

    let ownProcessID = getpid()

    /// From `/proc` (proc(5)); `nil` when the process has ended, or there is no `/proc`.
    func holdings(ofProcess pid: pid_t) -> ProcessHoldings? {
        guard let folder = opendir("/proc/\(pid)/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            // 0x2E: not "." and "..".
            if entry.pointee.d_name.0 != 0x2E { count += 1 }
        }
        // The descriptor that lists this process's own is one of them.
        if pid == ownProcessID { count -= 1 }
        let file = open("/proc/\(pid)/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let byteCount = read(file, &buffer, buffer.count)
        guard byteCount > 0 else { return nil }
        // Second field: resident pages.
        let fields = String(decoding: buffer[..<byteCount], as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = UInt64(fields[1]) else { return nil }
        return ProcessHoldings(
            descriptorCount: count, residentByteCount: pages * UInt64(max(0, sysconf(Int32(_SC_PAGESIZE)))))
    }

#endif
