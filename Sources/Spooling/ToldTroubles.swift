/// Troubles that were told already. What was said once need not be said again: a disk that stays full would fill the
/// journal, a line at each try, and hide what else happens.
///
/// Bounded: behind the bound those of one recording or name are kept silent.
package struct ToldTroubles {
    private struct Trouble: Hashable {
        var text: String
        /// What it is about, if that is one recording or one name.
        var subject: String?
    }

    /// Asked for membership only.
    private var told: Set<Trouble> = []
    private static let most = 1_024

    package init() {}

    /// Whether nobody was told of this since the last `clear`.
    package mutating func isNew(_ error: FileSystemError, of subject: String? = nil) -> Bool {
        isNew(error.withoutName, of: subject)
    }

    /// `text` must be the same at each try: without the name of a temporary.
    package mutating func isNew(_ text: String, of subject: String? = nil) -> Bool {
        guard told.count < (subject == nil ? 2 : 1) * Self.most else { return false }
        return told.insert(Trouble(text: text, subject: subject)).inserted
    }

    /// It went well: when it fails again, that is news.
    package mutating func clear() { told.removeAll() }
}

extension FileSystemError {
    /// What stays the same when the call is tried again: a temporary has another name each time, and so has an entry.
    fileprivate var withoutName: String {
        let path = path
        let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
        return "cannot \(operation.rawValue) something in \(folder): \(reason)"
    }
}
