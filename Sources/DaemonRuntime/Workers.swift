#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// Several things at once, each on a thread of its own: runs of a scenario share nothing. Threads and not tasks, because a
// live run waits in system calls, and a task that does so keeps everybody else from running.

package enum Workers {
    /// As many as this machine runs at once. Asked once: the C library opens a file for it.
    package static let processorCount = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// Calls `body` for each of `indices`, up to `jobs` at a time, in no particular order; returns when all are done.
    package static func each(_ indices: Range<Int>, jobs: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let work = Work(indices, body)
        let count = min(max(1, jobs), max(1, indices.count))
        // This thread is one of them: one less to wake, which counts where two calls wait for a disk.
        let errands = (1..<count).map { _ in Crew.shared.post { work.run() } }
        work.run()
        for errand in errands { Crew.shared.finish(errand) }
    }

    /// Runs `first` on another thread and `second` on this one; returns when both are done.
    package static func beside(_ first: @escaping @Sendable () -> Void, _ second: () -> Void) {
        let errand = Crew.shared.post(first)
        second()
        Crew.shared.finish(errand)
    }

    /// How many threads were started so far.
    static var threadCount: Int { Crew.shared.threadCount }

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
}

/// The threads. Each is started when there is more to do than threads that wait, and waits from then on for more, until the
/// process ends: a daemon has two calls at once for every note, and a thread that is started for one of them, with its stack,
/// takes as long as the disk.
private final class Crew: @unchecked Sendable {
    static let shared = Crew()

    /// One thing to do. All of it but `body` belongs to the crew's lock.
    final class Errand: @unchecked Sendable {
        fileprivate enum State {
            case waiting, underWay, done
        }
        fileprivate var state = State.waiting
        private var body: (@Sendable () -> Void)?

        fileprivate init(_ body: @escaping @Sendable () -> Void) { self.body = body }

        /// Called once, by the thread that took it. Nothing holds `body` when it returns: it may be a closure that must not
        /// outlive the call that it was given to.
        @inline(never)
        fileprivate func run() {
            guard let body = body.take() else { preconditionFailure("an errand is run once: \(state)") }
            body()
        }
    }

    private let lock = Mutex()
    private let came = Condition()
    private let ended = Condition()
    private var waiting: [Errand] = []
    private var idleCount = 0
    private var startedCount = 0

    func post(_ body: @escaping @Sendable () -> Void) -> Errand {
        let errand = Errand(body)
        let isShort = lock.whileHeld {
            waiting.append(errand)
            guard waiting.count > idleCount else { return false }
            startedCount += 1
            return true
        }
        // Not before the lock is free: who is woken wants it.
        came.signal()
        if isShort { start() }
        return errand
    }

    /// Returns when it is done. What no thread has begun is done here: so nobody waits for a thread that waits for him, and
    /// it is done too where the machine gives no threads.
    func finish(_ errand: Errand) {
        let isOurs = lock.whileHeld {
            guard let place = waiting.firstIndex(where: { $0 === errand }) else { return false }
            waiting.remove(at: place)
            return true
        }
        if isOurs { return errand.run() }
        lock.whileHeld {
            while errand.state != .done { lock.wait(for: ended) }
        }
    }

    var threadCount: Int { lock.whileHeld { startedCount } }

    private func serve() -> Never {
        var ran: Errand?
        while true {
            let errand = lock.whileHeld {
                // Done and idle at once: who waited for it may have the next one at once, and needs no other thread for that.
                if let ran {
                    ran.state = .done
                    ended.broadcast()
                }
                idleCount += 1
                while waiting.isEmpty { lock.wait(for: came) }
                idleCount -= 1
                let errand = waiting.removeFirst()
                errand.state = .underWay
                return errand
            }
            errand.run()
            ran = errand
        }
    }

    /// Darwin's default of half a MiB is little for a parser of nested documents.
    private static let stackByteCount = 8 * 1_024 * 1_024

    private func start() {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, Self.stackByteCount)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        // When the machine gives none, `finish` does it.
        _ = pthread_create(&thread, &attributes, crewMain, nil)
    }

    fileprivate static func serve() -> Never { shared.serve() }
}

/// What a thread does. A function of its own: the compiler (6.3) does not get over a closure here.
private func crewMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    Crew.serve()
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

    /// While it is held: lets go of it, waits, and holds it again. May return for no reason.
    fileprivate func wait(for condition: Condition) {
        pthread_cond_wait(condition.condition, mutex)
    }
}

/// What threads wait for under a `Mutex`.
private final class Condition: @unchecked Sendable {
    fileprivate let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        let code = pthread_cond_init(condition, nil)
        precondition(code == 0, "a condition costs nothing that could be missing: errno \(code)")
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    func signal() { pthread_cond_signal(condition) }
    func broadcast() { pthread_cond_broadcast(condition) }
}
