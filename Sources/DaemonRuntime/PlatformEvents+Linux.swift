// News from the Linux kernel: inotify for directories, signalfd for signals, poll for both.
//
// Publishing is a rename, so `IN_MOVED_TO` and `IN_MOVED_FROM` carry all of the pair's own traffic; `IN_DELETE` tells that the
// other side took something away. Not `IN_CREATE` or `IN_CLOSE_WRITE`: they fire for every temporary that is still written.
//
// A directory that is removed while somebody has it open does not tell so (`IN_DELETE_SELF` waits for the last
// handle, and the daemon has one). Therefore the parent is watched as well, for directories that leave it, and the handle
// that the watch keeps is asked whether its directory still has a name (`st_nlink` is 0 after `rmdir`).

#if os(Linux)

    import Glibc
    import Spooling

    final class PlatformEvents {
        typealias WatchID = Int32

        enum Event {
            case stop(StopSignal)
            /// News was lost, of any directory.
            case overflow
            /// Something happened to the directory, of which there is no name.
            case changed(WatchID)
            case name(FileName, WatchID)
        }

        private struct Watch {
            var id: WatchID
            /// Of our own, so that the owner of the directory may close his.
            var descriptor: Int32
            /// The kernel's id for the parent; -1 when it cannot be watched (it may not be readable for us).
            var parent: WatchID
            /// The names that are news of it. As somebody's parent it may be told of more.
            var nameMask: UInt32
            var isGone = false
        }

        private let inotify: Int32
        private let signals: Int32
        private var watches: [Watch] = []
        /// Room for some thousand events. One read takes what fits; the rest stays in the kernel's queue, which is bounded.
        private var buffer = [UInt8](repeating: 0, count: 65_536)
        /// The head of an event, and a name of 255 bytes with what fills it up (inotify(7): NAME_MAX + 1).
        private static let largestEventByteCount = MemoryLayout<inotify_event>.size + 256
        /// Reads in one wait, so that somebody who renames without end cannot keep the daemon here.
        private static let mostReads = 32

        private static let directoryMask = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_EXCL_UNLINK)
        private static func nameMask(_ interest: Interest) -> UInt32 {
            switch interest {
            case .arrivals: UInt32(IN_MOVED_TO)
            case .departures: UInt32(IN_MOVED_FROM | IN_DELETE)
            case .both: UInt32(IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)
            }
        }
        private static let parentMask = UInt32(IN_MOVED_FROM | IN_DELETE)

        private typealias SignalFD = @convention(c) (Int32, UnsafePointer<sigset_t>, Int32) -> Int32
        /// `sizeof(struct signalfd_siginfo)`, whose first field is the signal's number (signalfd(2)).
        private static let signalRecordByteCount = 128

        init() throws(EventLoopError) {
            signal(SIGPIPE, SIG_IGN)
            signal(SIGXFSZ, SIG_IGN)
            var mask = sigset_t()
            sigemptyset(&mask)
            for stop in StopSignal.allCases where !(stop == .hangUp && Self.isIgnored(stop.rawValue)) {
                sigaddset(&mask, stop.rawValue)
            }
            let blocked = pthread_sigmask(SIG_BLOCK, &mask, nil)
            precondition(blocked == 0, "cannot block signals: errno \(blocked)")

            // Swift's Glibc module has no `sys/signalfd.h`; the C library has the function. Its flags are those of `open`.
            guard let symbol = PlatformCalls.symbol("signalfd") else {
                throw EventLoopError(description: "this C library has no signalfd")
            }
            let signalFD = unsafeBitCast(symbol, to: SignalFD.self)
            signals = signalFD(-1, &mask, O_NONBLOCK | O_CLOEXEC)
            guard signals >= 0 else {
                throw EventLoopError(description: "cannot open a signalfd: \(Self.words(errno))")
            }
            inotify = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard inotify >= 0 else {
                // Everything is initialized by now, so `deinit` runs and closes the signalfd.
                let code = errno
                let remedy = code == EMFILE ? "; raise fs.inotify.max_user_instances or ulimit -n" : ""
                throw EventLoopError(description: "cannot open an inotify: \(Self.words(code))\(remedy)")
            }
        }

        deinit {
            for watch in watches { _ = close(watch.descriptor) }
            if inotify >= 0 { _ = close(inotify) }
            _ = close(signals)
        }

        func add(
            _ directory: Int32, for interest: Interest, displayPath: String
        ) throws(EventLoopError) -> WatchID {
            let nameMask = Self.nameMask(interest)
            // The handle's entry in /proc leads to the open directory itself, whatever its path leads to by now.
            let id = inotify_add_watch(
                inotify, "/proc/self/fd/\(directory)",
                Self.directoryMask | nameMask | UInt32(IN_ONLYDIR) | UInt32(IN_MASK_ADD))
            guard id >= 0 else {
                let code = errno
                let remedy = code == ENOSPC ? "; raise fs.inotify.max_user_watches" : ""
                throw EventLoopError(description: "cannot watch \(displayPath): \(Self.words(code))\(remedy)")
            }
            if let known = watches.firstIndex(where: { $0.id == id && !$0.isGone }) {
                watches[known].nameMask |= nameMask
                return id
            }
            let own = fcntl(directory, F_DUPFD_CLOEXEC, 0)
            guard own >= 0 else {
                let code = errno
                if !watches.contains(where: { $0.parent == id }) { inotify_rm_watch(inotify, id) }
                throw EventLoopError(description: "cannot watch \(displayPath): \(Self.words(code))")
            }
            if Self.isGone(own) {
                _ = close(own)
                throw EventLoopError(description: "cannot watch \(displayPath): it was deleted")
            }
            let parent = inotify_add_watch(
                inotify, "/proc/self/fd/\(directory)/..", Self.parentMask | UInt32(IN_ONLYDIR) | UInt32(IN_MASK_ADD))
            watches.append(Watch(id: id, descriptor: own, parent: parent, nameMask: nameMask))
            return id
        }

        func remove(_ id: WatchID) {
            guard let place = watches.firstIndex(where: { $0.id == id }) else { return }
            let watch = watches.remove(at: place)
            _ = close(watch.descriptor)
            // An id may still serve as somebody's parent, or the parent be watched for itself. What a watch that is kept
            // tells too much is dropped in `deliver`.
            for candidate in [watch.id, watch.parent] where candidate >= 0 {
                if !watches.contains(where: { $0.id == candidate || $0.parent == candidate }) {
                    inotify_rm_watch(inotify, candidate)
                }
            }
        }

        /// Waits once, and tells what there is. Returns early without news when a signal handler of somebody else's ran.
        func wait(milliseconds: Int32, _ tell: (Event) -> Void) {
            var descriptors = [
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: inotify, events: Int16(POLLIN), revents: 0),
            ]
            let ready = poll(&descriptors, nfds_t(descriptors.count), milliseconds)
            if descriptors[0].revents != 0, let stop = pendingStop() { tell(.stop(stop)) }
            if descriptors[1].revents != 0 { readNews(tell) }
            // Also when nobody told us: the parent may not be watched.
            if ready == 0, milliseconds != 0 { findTheGone(tell) }
        }

        func pendingStop() -> StopSignal? {
            var record = [UInt8](repeating: 0, count: Self.signalRecordByteCount)
            let count = record.withUnsafeMutableBytes { read(signals, $0.baseAddress, $0.count) }
            guard count == Self.signalRecordByteCount else { return nil }
            let number = record.withUnsafeBytes { $0.load(as: UInt32.self) }
            return StopSignal(rawValue: Int32(bitPattern: number))
        }

        private func readNews(_ tell: (Event) -> Void) {
            for _ in 0..<Self.mostReads {
                let answer = buffer.withUnsafeMutableBytes { bytes in
                    SystemCall.repeating { read(inotify, bytes.baseAddress, bytes.count) }
                }
                guard case .value(let count) = answer, count > 0 else { return }
                buffer.withUnsafeBytes { parse(UnsafeRawBufferPointer(rebasing: $0[..<count]), tell) }
                // Room was left for any event, so the queue was empty.
                if buffer.count - count >= Self.largestEventByteCount { return }
            }
        }

        /// `struct inotify_event`: watch id, mask, cookie, length of the name; then the name, filled up with NULs (inotify(7)).
        private func parse(_ bytes: UnsafeRawBufferPointer, _ tell: (Event) -> Void) {
            let headByteCount = MemoryLayout<inotify_event>.size
            var offset = 0
            while offset + headByteCount <= bytes.count {
                let head = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                let end = min(offset + headByteCount + Int(head.len), bytes.count)
                let field = UnsafeRawBufferPointer(rebasing: bytes[(offset + headByteCount)..<end])
                let name = UnsafeRawBufferPointer(rebasing: field[..<(field.firstIndex(of: 0) ?? field.count)])
                deliver(head.wd, head.mask, FileName(bytes: name), tell)
                offset = end
            }
        }

        private func deliver(_ id: WatchID, _ mask: UInt32, _ name: FileName?, _ tell: (Event) -> Void) {
            if mask & UInt32(IN_Q_OVERFLOW) != 0 {
                findTheGone(tell)
                return tell(.overflow)
            }
            // A directory left this one; it may be one that is watched for itself.
            if mask & UInt32(IN_ISDIR) != 0, watches.contains(where: { $0.parent == id }) { findTheGone(tell) }
            guard let place = watches.firstIndex(where: { $0.id == id }) else { return }
            if mask & UInt32(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) != 0 {
                if mask & UInt32(IN_IGNORED | IN_DELETE_SELF) != 0 { watches[place].isGone = true }
                tell(.changed(id))
            } else if let name, mask & watches[place].nameMask != 0 {
                tell(.name(name, id))
            }
        }

        private func findTheGone(_ tell: (Event) -> Void) {
            for place in watches.indices where !watches[place].isGone {
                guard Self.isGone(watches[place].descriptor) else { continue }
                watches[place].isGone = true
                tell(.changed(watches[place].id))
            }
        }

        private static func isGone(_ descriptor: Int32) -> Bool {
            var status = stat()
            return fstat(descriptor, &status) == 0 && status.st_nlink == 0
        }

        private static func isIgnored(_ number: Int32) -> Bool {
            var old = sigaction()
            guard sigaction(number, nil, &old) == 0 else { return false }
            // SIG_IGN is 1 in every ABI of Linux; function pointers cannot be compared.
            return unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == 1
        }

        private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
    }

#endif
