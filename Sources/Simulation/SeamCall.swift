package import Spooling

/// One call of the seam, as a trace keeps it.
package struct SeamCall: Hashable, Sendable, CustomStringConvertible {
    package enum Outcome: Hashable, Sendable {
        /// Not back yet: a listing, while its body makes calls of its own.
        case running
        case returned
        case failed(FileSystemError.Reason)
        /// The process died in it.
        case died
    }

    /// From 1 on; closing a handle is no call.
    package let number: Int
    package let operation: FileSystemError.Operation
    /// As shown in messages. Of a publish: the old path, then the new one. A file keeps the path under which it was
    /// opened, also after it was renamed.
    package let paths: [String]
    package internal(set) var outcome: Outcome

    package init(number: Int, operation: FileSystemError.Operation, paths: [String], outcome: Outcome) {
        self.number = number
        self.operation = operation
        self.paths = paths
        self.outcome = outcome
    }

    package var description: String {
        "\(number) \(operation.rawValue) \(paths.joined(separator: " -> ")): \(outcome)"
    }
}

extension [SeamCall] {
    /// Where the first call that returned did this to a path; of a publish, to its new path.
    package func firstIndex(of operation: FileSystemError.Operation, _ path: String) -> Int? {
        firstIndex { $0.operation == operation && $0.paths.last == path && $0.outcome == .returned }
    }

    package func lastIndex(of operation: FileSystemError.Operation, _ path: String) -> Int? {
        lastIndex { $0.operation == operation && $0.paths.last == path && $0.outcome == .returned }
    }

    package func count(of operation: FileSystemError.Operation) -> Int {
        reduce(0) { $0 + ($1.operation == operation ? 1 : 0) }
    }
}
