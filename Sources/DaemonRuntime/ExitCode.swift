package import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// How every executable of the pair ends. The numbers from 64 on are those of `sysexits.h`.
package enum ExitCode: Int32, Sendable {
    /// It held, or it was done.
    case held = 0
    /// The promise was violated.
    case violated = 1
    /// Time ran out before everything had drained.
    case undecided = 2
    case usage = 64
    /// A file of the user's is malformed.
    case malformedInput = 65
    /// A bug of ours.
    case internalFault = 70
    case cannotCreate = 73
    case inputOutput = 74
    /// Another daemon holds this home, or something else that passes.
    case tryAgain = 75
    /// 128 and the signal's number: SIGHUP, SIGINT, SIGTERM.
    case hungUp = 129
    case interrupted = 130
    case terminated = 143

    /// What a failed call to the disk means for a command that cannot go on without it.
    package init(_ error: FileSystemError) {
        self =
            switch error.operation {
            case .openRoot, .makeDirectory, .create: .cannotCreate
            case .openDirectory, .openSource, .open, .status, .list, .read, .write, .truncate, .sync, .syncDirectory,
                .syncAll, .publish, .unlink, .lock, .space:
                .inputOutput
            }
    }

    /// Ends this process. Nothing is buffered here that would need writing first.
    package func exit() -> Never {
        #if canImport(Darwin)
            Darwin.exit(rawValue)
        #else
            Glibc.exit(rawValue)
        #endif
    }
}

/// A signal that asks a daemon to stop.
package enum StopSignal: Int32, Sendable, CaseIterable, CustomStringConvertible {
    // POSIX gives these three the same numbers everywhere (kill(1), XSI).
    case hangUp = 1
    case interrupt = 2
    case terminate = 15

    package var exitCode: ExitCode {
        switch self {
        case .hangUp: .hungUp
        case .interrupt: .interrupted
        case .terminate: .terminated
        }
    }

    package var description: String {
        switch self {
        case .hangUp: "SIGHUP"
        case .interrupt: "SIGINT"
        case .terminate: "SIGTERM"
        }
    }
}
