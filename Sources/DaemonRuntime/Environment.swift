#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Where this process finds things.
package enum Environment {
    /// `TMPDIR`, or `/tmp`.
    package static var temporaryFolder: String {
        guard let value = getenv("TMPDIR") else { return "/tmp" }
        let path = RootPath.withoutTrailingSlashes(String(cString: value))
        return path.isEmpty ? "/tmp" : path
    }

    /// The path of this program.
    package static var executable: String { PlatformCalls.executablePath() ?? CommandLine.arguments.first ?? "" }

    /// The path of another executable that lies in this one's folder.
    package static func sibling(_ name: String) -> String {
        let own = executable
        guard let slash = own.lastIndex(of: "/") else { return name }
        return String(own[...slash]) + name
    }
}
