#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What this machine calls itself, for results that come from several.
package enum MachineName {
    package static var current: String {
        var buffer = [CChar](repeating: 0, count: 256)
        // A name that is too long is cut, and whether the cut one ends in a zero is open.
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "unnamed" }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(validating: bytes, as: UTF8.self) ?? "unnamed"
    }
}
