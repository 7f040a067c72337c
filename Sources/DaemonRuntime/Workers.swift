#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// Several things at once, each on a thread of its own: runs of a scenario share nothing. Threads and not tasks, because a
// live run waits in system calls, and a task that does so keeps everybody else from running.

package enum Workers {
    /// As many as this machine runs at once.
    package static var processorCount: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// Calls `body` for each of `indices`, up to `jobs` at a time, in no particular order; returns when all are done.
    package static func each(_ indices: Range<Int>, jobs: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let work = Work(indices, body)
        let count = min(max(1, jobs), max(1, indices.count))
        guard count > 1 else { return work.run() }
        // This thread is one of them: one less to start, which counts where two calls wait for a disk.
        let threads = (1..<count).compactMap { _ in start { work.run() } }
        work.run()
        for thread in threads { pthread_join(thread, nil) }
    }

    /// Runs `first` on a thread of its own and `second` on this one; returns when both are done.
    package static func beside(_ first: @escaping @Sendable () -> Void, _ second: () -> Void) {
        let thread = start(first)
        second()
        // Where the machine gives no threads, this one does the work.
        if let thread { pthread_join(thread, nil) } else { first() }
    }

    private final class Work: @unchecked Sendable {
        private let body: @Sendable (Int) -> Void
        private let lock = Mutex()
        private var next: Int
        private let end: Int

        init(_ indices: Range<Int>, _ body: @escaping @Sendable (Int) -> Void) {
            next = indices.lowerBound
            end = indices.upperBound
            self.body = body
        }

        func run() {
            while let index = take() { body(index) }
        }

        private func take() -> Int? {
            lock.whileHeld {
                guard next < end else { return nil }
                defer { next += 1 }
                return next
            }
        }
    }

    /// Darwin's default of half a MiB is little for a parser of nested documents.
    private static let stackByteCount = 8 * 1_024 * 1_024

    private static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackByteCount)
        let context = Unmanaged.passRetained(WorkerStart(body))
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = pthread_create(&thread, &attributes, workerMain, context.toOpaque())
        #else
            var thread = pthread_t()
            let code = pthread_create(&thread, &attributes, workerMain, context.toOpaque())
        #endif
        guard code == 0 else {
            context.release()
            return nil
        }
        return thread
    }
}

/// What a thread does first. A function of its own: the compiler (6.3) does not get over a closure here.
private func workerMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { preconditionFailure("a thread of ours is started with what it does") }
    Unmanaged<WorkerStart>.fromOpaque(context).takeRetainedValue().body()
    return nil
}

private final class WorkerStart: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// A lock for a few instructions.
package final class Mutex: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    package init() {
        let code = pthread_mutex_init(mutex, nil)
        precondition(code == 0, "a mutex costs nothing that could be missing: errno \(code)")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package func whileHeld<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
