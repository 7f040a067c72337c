/// A mistake in a file that a person wrote: where it is, what stands there, and what could.
///
/// A program that meets one ends with exit code 65.
package struct ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file as the user named it.
    package var file: String
    /// The place inside it, e.g. `steps[3].link.toWatch.drop`; empty for the file as a whole.
    package var path: String
    package var found: String
    package var accepted: String

    package init(file: String, path: String, found: String, accepted: String) {
        self.file = file
        self.path = path
        self.found = found
        self.accepted = accepted
    }

    package var description: String {
        "\(file): \(path.isEmpty ? "" : "\(path): ")found \(found); accepted: \(accepted)"
    }
}
