// Reads a trace for the promise "durable before anyone is told": law 1 of the spool.
//
// Of a path that a `publish` made, it asks: was the content synced after its last write and before the publish, and the
// directory after the publish and before the moment at which somebody was told? It judges the calls, not the disk, so
// it holds on every file system; that the calls suffice is what the loss of power on the simulated disk shows.

import Spooling

package enum DurabilityOrder {
    /// What was not durable at `path` when call `index` of the trace was made. Empty when all was.
    ///
    /// - Parameters:
    ///   - path: the final path, as `publish` showed it, or that of a file made and written in place.
    ///   - index: the position in `trace` of the call that told somebody; `trace.count` for the end.
    ///   - syncAllCovers: whether a `syncAll` of this directory reaches that path; by default all is one file system.
    package static func violations(
        in trace: [SeamCall], of path: String, before index: Int,
        syncAllCovers: (_ directory: String, _ path: String) -> Bool = { _, _ in true }
    ) -> [String] {
        let calls = trace[..<index].filter { $0.outcome == .returned }
        guard let shown = calls.lastIndex(where: { makes($0, path) }) else {
            return ["\(path) was neither made nor published before call \(index)"]
        }
        var found: [String] = []
        var contentPath = path
        var contentEnd = calls.count
        if calls[shown].operation == .publish {
            contentPath = calls[shown].paths[0]
            contentEnd = shown
        }
        let begin = calls[..<shown].lastIndex { makes($0, contentPath) } ?? min(shown, contentEnd)
        let written = calls[begin..<max(begin, contentEnd)].lastIndex { isWrite($0) && $0.paths == [contentPath] }
        if let written {
            let isSynced = calls[written..<contentEnd].contains {
                covers($0, .sync, contentPath, contentPath, syncAllCovers)
            }
            if !isSynced {
                found.append("\(contentPath) was written in call \(calls[written].number) and not synced after it")
            }
        }
        // Whoever holds the file open still writes under the path that it was opened with.
        let late = calls[contentEnd...].lastIndex { isWrite($0) && ($0.paths == [contentPath] || $0.paths == [path]) }
        if let late, !calls[late...].contains(where: { $0.operation == .sync && $0.paths == calls[late].paths }) {
            found.append("\(path) was written in call \(calls[late].number), after it was published, and not synced")
        }
        let directory = parent(of: path)
        if !calls[shown...].contains(where: { covers($0, .syncDirectory, directory, path, syncAllCovers) }) {
            found.append("\(directory) was not synced after call \(calls[shown].number) made \(path)")
        }
        return found
    }

    private static func makes(_ call: SeamCall, _ path: String) -> Bool {
        (call.operation == .publish || call.operation == .create) && call.paths.last == path
    }

    private static func isWrite(_ call: SeamCall) -> Bool {
        call.operation == .write || call.operation == .truncate
    }

    private static func covers(
        _ call: SeamCall, _ operation: FileSystemError.Operation, _ synced: String, _ path: String,
        _ syncAllCovers: (String, String) -> Bool
    ) -> Bool {
        (call.operation == operation && call.paths == [synced])
            || (call.operation == .syncAll && syncAllCovers(call.paths[0], path))
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return String(path[..<slash])
    }
}
