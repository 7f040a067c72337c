package import Spooling

// Dying at a place, as a value: what a scenario's `kill` and the file of `--link` both say. Places are calls through the
// seam, since nothing that a reader after a crash could see happens between two of them.

/// At which call through the seam a process dies.
package enum DiePoint: Hashable, Sendable {
    /// The n-th call from when this is taken in, from 1.
    case beforeCall(Int)
    case afterCall(Int)
    /// The first call that does this to a path with this in it, e.g. publish, `container/`.
    case before(FileSystemError.Operation, pathContaining: String)
    case after(FileSystemError.Operation, pathContaining: String)
}

/// Tells the daemon of a side to kill itself, with SIGKILL and without a clean-up.
///
/// The number tells orders apart: they are numbered upwards, each is obeyed at most once by a process, and a file that is
/// read again with the same number does not start the counting anew. One that was taken in stays until it was obeyed or
/// a later one for the same side came, whatever else the file says by then.
package struct DieOrder: Hashable, Sendable {
    package var side: Side
    package var number: Int
    /// Whether a process that starts with this in its file obeys it too, counting from its first call. Otherwise it is
    /// for the one that ran when the order came.
    package var isFresh: Bool
    package var point: DiePoint

    package init(side: Side, number: Int, isFresh: Bool, point: DiePoint) {
        self.side = side
        self.number = number
        self.isFresh = isFresh
        self.point = point
    }
}

/// So much may lie under these folders together, in blocks of 4 KiB: a small disk, for a run that has none.
package struct DiskLimit: Hashable, Sendable {
    /// Absolute, without a slash at the end.
    package var paths: [String]
    /// 0 leaves no room at all.
    package var byteCount: UInt64

    package init(paths: [String], byteCount: UInt64) {
        self.paths = paths
        self.byteCount = byteCount
    }
}

// MARK: Reading

/// A call, by its number or by what it does; `before` and `after` make a point of it.
package enum SeamPlace: Hashable, Sendable {
    case call(Int)
    case operation(FileSystemError.Operation, pathContaining: String)

    private static let call = Field("call", Shape<Int>.integer(1...1_000_000))
    private static let operation = Field(
        "operation", Shape<FileSystemError.Operation>.choice(FileSystemError.Operation.named) { $0.name })
    private static let path = Field("path", Shape<String>.text(most: 255, accepts: "a part of a path"))

    package static let shape = Shape<SeamPlace>.object(
        [call.erased, operation.erased, path.erased], accepts: "{ call } or { operation, path }"
    ) { members throws(ScenarioError) in
        switch (try members[call], try members[operation], try members[path]) {
        case (let number?, nil, nil): return .call(number)
        case (nil, let operation?, let path): return .operation(operation, pathContaining: path ?? "")
        case (_?, _?, _), (_?, nil, _?), (nil, nil, _):
            throw members.node.mistake(accepted: "{ call } or { operation, path }")
        }
    }

    fileprivate var tree: JSONTree {
        switch self {
        case .call(let number): ["call": .integer(Int64(number))]
        case .operation(let operation, let path):
            .object(["operation": .string(operation.name), "path": path.isEmpty ? nil : .string(path)])
        }
    }
}

extension DiePoint {
    private static let before = Field("before", SeamPlace.shape)
    private static let after = Field("after", SeamPlace.shape)
    /// The members that say a point, in whatever object it stands.
    package static let fields = [before.erased, after.erased]

    /// The point that the members of an object say; `nil` when they say none.
    package static func read(_ members: Members) throws(ScenarioError) -> DiePoint? {
        switch (try members[before], try members[after]) {
        case (nil, nil): return nil
        case (.call(let number)?, nil): return .beforeCall(number)
        case (.operation(let operation, let path)?, nil): return .before(operation, pathContaining: path)
        case (nil, .call(let number)?): return .afterCall(number)
        case (nil, .operation(let operation, let path)?): return .after(operation, pathContaining: path)
        case (_?, _?):
            throw members.node.mistake(found: "both \"before\" and \"after\"", accepted: "at most one of them")
        }
    }

    /// Reads back to an equal point.
    package var member: JSONTree.Member {
        switch self {
        case .beforeCall(let number): .init("before", SeamPlace.call(number).tree)
        case .afterCall(let number): .init("after", SeamPlace.call(number).tree)
        case .before(let operation, let path):
            .init("before", SeamPlace.operation(operation, pathContaining: path).tree)
        case .after(let operation, let path):
            .init("after", SeamPlace.operation(operation, pathContaining: path).tree)
        }
    }
}

extension DieOrder {
    private static let side = Field("side", Shape<Side>.side)
    private static let number = Field("number", Shape<Int>.integer(1...1_000_000_000))
    private static let fresh = Field("fresh", Shape<Bool>.boolean)

    package static let shape = Shape<DieOrder>.object(
        [side.erased, number.erased, fresh.erased] + DiePoint.fields, required: ["side", "number"]
    ) { members throws(ScenarioError) in
        guard let point = try DiePoint.read(members) else {
            throw members.node.mistake(found: "no point to die at", accepted: "\"before\" or \"after\"")
        }
        return DieOrder(
            side: try members.required(side), number: try members.required(number),
            isFresh: try members[fresh] ?? false, point: point)
    }

    package var tree: JSONTree {
        .object([
            .init("side", .string(side.rawValue)), .init("number", .integer(Int64(number))),
            .init("fresh", .boolean(isFresh)), point.member,
        ])
    }
}

extension DiskLimit {
    private static let path = Shape<String>.text(most: 4_096, accepts: "an absolute path").map { path in
        path.hasPrefix("/") && (path == "/" || !path.hasSuffix("/")) && !path.utf8.contains(0) ? path : nil
    }
    private static let paths = Field("paths", Shape<[String]>.list(of: path, most: 16, least: 1))
    private static let bytes = Field("bytes", Shape<UInt64>.byteCount(0...(1 << 40)))

    package static let shape = Shape<DiskLimit>.object([paths.erased, bytes.erased], required: ["paths", "bytes"]) {
        members throws(ScenarioError) in
        DiskLimit(paths: try members.required(paths), byteCount: try members.required(bytes))
    }

    package var tree: JSONTree {
        ["paths": .array(paths.map { .string($0) }), "bytes": .string(quantityText(byteCount: byteCount))]
    }
}

extension Shape where Value == Side {
    package static let side = Shape<Side>.choice([.watch, .phone]) { $0.rawValue }
}

extension FileSystemError.Operation {
    /// Every call of the seam, by the name of its case.
    package static let named: [FileSystemError.Operation] = [
        .openRoot, .openDirectory, .makeDirectory, .openSource, .create, .open, .status, .list, .read, .write,
        .truncate, .sync, .syncDirectory, .syncAll, .publish, .unlink, .lock, .space,
    ]

    package var name: String {
        switch self {
        case .openRoot: "openRoot"
        case .openDirectory: "openDirectory"
        case .makeDirectory: "makeDirectory"
        case .openSource: "openSource"
        case .create: "create"
        case .open: "open"
        case .status: "status"
        case .list: "list"
        case .read: "read"
        case .write: "write"
        case .truncate: "truncate"
        case .sync: "sync"
        case .syncDirectory: "syncDirectory"
        case .syncAll: "syncAll"
        case .publish: "publish"
        case .unlink: "unlink"
        case .lock: "lock"
        case .space: "space"
        }
    }
}
