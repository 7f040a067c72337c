#if canImport(Darwin)

    import Darwin

    let ownProcessID = getpid()

    /// From the kernel (`libproc.h`); `nil` when the process has ended.
    func holdings(ofProcess pid: pid_t) -> ProcessHoldings? {
        let byteCount = proc_pidinfo(pid, PROC_PIDLISTFDS, 0, nil, 0)
        guard byteCount > 0 else { return nil }
        // The first answer is room for what is there and some more; the second is what is there.
        var list = [proc_fdinfo](
            repeating: proc_fdinfo(), count: Int(byteCount) / MemoryLayout<proc_fdinfo>.stride + 16)
        let used = proc_pidinfo(
            pid, PROC_PIDLISTFDS, 0, &list, Int32(list.count * MemoryLayout<proc_fdinfo>.stride))
        var task = proc_taskinfo()
        let taskByteCount = Int32(MemoryLayout<proc_taskinfo>.size)
        guard used > 0, proc_pidinfo(pid, PROC_PIDTASKINFO, 0, &task, taskByteCount) == taskByteCount else {
            return nil
        }
        return ProcessHoldings(
            descriptorCount: Int(used) / MemoryLayout<proc_fdinfo>.stride, residentByteCount: task.pti_resident_size)
    }

#endif
