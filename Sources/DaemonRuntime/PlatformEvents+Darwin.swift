// News from Darwin's kernel: a kqueue for directories (`EVFILT_VNODE`, which tells no names) and one inside it for signals
// (`EVFILT_SIGNAL`, which counts signals that are ignored too, so they are ignored and not blocked). Two, so that a look
// for a signal takes no directory's news away.

#if canImport(Darwin)

    import Darwin
    import Spooling

    final class PlatformEvents {
        /// The descriptor that the watch keeps.
        typealias WatchID = Int32

        enum Event {
            case stop(StopSignal)
            case overflow
            case changed(WatchID)
            case name(FileName, WatchID)
        }

        private let queue: Int32
        private let signals: Int32
        private var watched: [WatchID] = []

        init() throws(EventLoopError) {
            signal(SIGPIPE, SIG_IGN)
            signal(SIGXFSZ, SIG_IGN)
            (queue, signals) = (kqueue(), kqueue())
            guard queue >= 0, signals >= 0, Self.change(queue, UInt(signals), EVFILT_READ, EV_ADD, 0) else {
                throw EventLoopError(description: "cannot open a kqueue: \(Self.words(errno))")
            }
            for descriptor in [queue, signals] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
            for stop in StopSignal.allCases {
                var old = sigaction()
                let isIgnored =
                    sigaction(stop.rawValue, nil, &old) == 0
                    && unsafeBitCast(old.__sigaction_u.__sa_handler, to: Int.self) == 1
                if stop == .hangUp, isIgnored { continue }
                // Registered first: a signal that comes between the two ends the process, as it would have before.
                guard Self.change(signals, UInt(stop.rawValue), EVFILT_SIGNAL, EV_ADD, 0) else {
                    throw EventLoopError(description: "cannot wait for \(stop): \(Self.words(errno))")
                }
                signal(stop.rawValue, SIG_IGN)
            }
        }

        deinit {
            for descriptor in watched { _ = close(descriptor) }
            _ = close(queue)
            _ = close(signals)
        }

        /// There are no names, so there is no telling which of them are of `interest`.
        func add(_ directory: Int32, for interest: Interest, displayPath: String) throws(EventLoopError) -> WatchID {
            let own = fcntl(directory, F_DUPFD_CLOEXEC, 0)
            guard own >= 0 else {
                throw EventLoopError(description: "cannot watch \(displayPath): \(Self.words(errno))")
            }
            // NOTE_WRITE: a name came or went. NOTE_LINK: a directory came or went in it.
            let notes = NOTE_WRITE | NOTE_LINK | NOTE_DELETE | NOTE_RENAME | NOTE_REVOKE
            guard Self.change(queue, UInt(own), EVFILT_VNODE, EV_ADD | EV_CLEAR, UInt32(notes)) else {
                let code = errno
                _ = close(own)
                throw EventLoopError(description: "cannot watch \(displayPath): \(Self.words(code))")
            }
            watched.append(own)
            return own
        }

        func remove(_ id: WatchID) {
            guard let place = watched.firstIndex(of: id) else { return }
            watched.remove(at: place)
            // Closing takes the descriptor out of the queue (kqueue(2)).
            _ = close(id)
        }

        func wait(milliseconds: Int32, _ tell: (Event) -> Void) {
            for event in Self.take(queue, milliseconds) {
                if event.filter == Int16(EVFILT_READ) {
                    if let stop = pendingStop() { tell(.stop(stop)) }
                } else {
                    tell(.changed(WatchID(event.ident)))
                }
            }
        }

        func pendingStop() -> StopSignal? {
            Self.take(signals, 0).lazy.compactMap { StopSignal(rawValue: Int32($0.ident)) }.first
        }

        private static func take(_ queue: Int32, _ milliseconds: Int32) -> [Darwin.kevent] {
            var timeout = timespec(tv_sec: Int(milliseconds) / 1_000, tv_nsec: Int(milliseconds) % 1_000 * 1_000_000)
            var events = [Darwin.kevent](repeating: Darwin.kevent(), count: 64)
            let count = kevent(queue, nil, 0, &events, Int32(events.count), &timeout)
            return Array(events.prefix(max(0, Int(count))))
        }

        private static func change(
            _ queue: Int32, _ ident: UInt, _ filter: Int32, _ flags: Int32, _ notes: UInt32
        ) -> Bool {
            var change = Darwin.kevent(
                ident: ident, filter: Int16(filter), flags: UInt16(flags), fflags: notes, data: 0, udata: nil)
            return kevent(queue, &change, 1, nil, 0, nil) == 0
        }

        private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
    }

#endif
