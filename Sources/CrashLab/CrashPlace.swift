package import Simulation
package import Spooling

// Names of places, as a person reads them and pastes them: `phone:12:before` is before the twelfth call that the phone
// makes in the run, over all its lives.

/// Who makes calls.
package enum CrashActor: String, Hashable, Sendable, CaseIterable {
    case watch, phone, record

    init(_ process: PlantedProcess) {
        self =
            switch process {
            case .watch: .watch
            case .phone: .phone
            case .recorder: .record
            }
    }

    var index: Int {
        switch self {
        case .watch: 0
        case .phone: 1
        case .record: 2
        }
    }
}

/// Between two calls of one process.
package struct CrashPlace: Hashable, Sendable, CustomStringConvertible {
    package enum Edge: String, Hashable, Sendable { case before, after }

    package var actor: CrashActor
    /// From 1 on, over all lives of that side.
    package var call: Int
    package var edge: Edge

    package var description: String { "\(actor.rawValue):\(call):\(edge.rawValue)" }
}

/// What is injected into a call. In words as they stand on the command line.
package enum InjectedError: String, Hashable, Sendable, CaseIterable {
    case noSpace = "no-space"
    case inputOutput = "io"
    case interrupted
    case short
    case syncFailed = "sync-failed"

    /// Whether the call can fail so. What cannot happen to a call is no point.
    package func fits(_ operation: FileSystemError.Operation) -> Bool {
        switch self {
        case .interrupted: true
        // A sync that fails with it is `syncFailed`.
        case .inputOutput: !InjectedError.syncFailed.fits(operation)
        case .noSpace:
            switch operation {
            case .create, .write, .openRoot, .openDirectory, .makeDirectory, .publish, .truncate, .sync, .syncDirectory,
                .syncAll:
                true
            case .openSource, .open, .status, .list, .read, .unlink, .lock, .space: false
            }
        case .short: operation == .read || operation == .write
        case .syncFailed: operation == .sync || operation == .syncDirectory || operation == .syncAll
        }
    }

    var fate: CallFate {
        switch self {
        case .noSpace: .fail(.noSpace)
        case .inputOutput, .syncFailed: .fail(.inputOutput)
        case .interrupted: .fail(.interrupted)
        case .short: .short
        }
    }
}

/// Which one thing a run tries. Its text is what `--at` takes.
package enum CrashAttempt: Hashable, Sendable, CustomStringConvertible {
    /// Both daemons die there and start anew.
    case kill(CrashPlace)
    /// Only the one who makes the call dies; the other lives on, and so does the scenario.
    case killAlone(CrashPlace)
    /// The same as `kill`, and once more in the recovery, whose calls are counted anew.
    case pair(CrashPlace, CrashPlace)
    /// The power goes; the number is that of the image under the model.
    case power(DiskModel, CrashPlace, image: Int)
    case error(CrashActor, call: Int, InjectedError, lasting: Bool)

    package var description: String {
        switch self {
        case .kill(let place): "kill:\(place)"
        case .killAlone(let place): "alone:\(place)"
        case .pair(let first, let second): "pair:\(first):\(second)"
        case .power(let model, let place, let image): "power:\(model.word):\(place):\(image)"
        case .error(let actor, let call, let error, let lasting):
            "error:\(actor.rawValue):\(call):\(error.rawValue):\(lasting ? "lasting" : "once")"
        }
    }

    /// `nil` when the text is none of the above.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        func place(_ first: Int) -> CrashPlace? {
            guard parts.count >= first + 3, let actor = CrashActor(rawValue: parts[first]),
                let call = Int(parts[first + 1]), call > 0, let edge = CrashPlace.Edge(rawValue: parts[first + 2])
            else { return nil }
            return CrashPlace(actor: actor, call: call, edge: edge)
        }
        switch (parts.first, parts.count) {
        case ("kill", 4):
            guard let found = place(1) else { return nil }
            self = .kill(found)
        case ("alone", 4):
            guard let found = place(1) else { return nil }
            self = .killAlone(found)
        case ("pair", 7):
            guard let first = place(1), let second = place(4) else { return nil }
            self = .pair(first, second)
        case ("power", 6):
            guard let model = DiskModel(word: parts[1]), let found = place(2), let image = Int(parts[5]) else {
                return nil
            }
            self = .power(model, found, image: image)
        case ("error", 5):
            guard let actor = CrashActor(rawValue: parts[1]), let call = Int(parts[2]), call > 0,
                let error = InjectedError(rawValue: parts[3]), ["once", "lasting"].contains(parts[4])
            else { return nil }
            self = .error(actor, call: call, error, lasting: parts[4] == "lasting")
        case _: return nil
        }
    }
}

extension DiskModel {
    /// As it stands on the command line.
    package var word: String {
        switch self {
        case .posix: "posix"
        case .orderedMetadata: "ordered"
        case .copyOnWrite: "cow"
        }
    }

    package init?(word: String) {
        guard let found = DiskModel.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }
}
