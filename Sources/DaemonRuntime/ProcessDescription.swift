#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What stands in a lock about its holder.
package enum ProcessDescription {
    package static func current(_ toolName: String) -> String {
        "\(toolName), process \(getpid())"
    }
}
