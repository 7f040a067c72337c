// The machine's time zone by its IANA name, for a recording's `tz`. An unknown zone is absent, not guessed.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

package enum TimeZoneName {
    /// The IANA name of this machine's zone, e.g. `Europe/Berlin`, or `nil` when it cannot be told.
    package static func current() -> String? {
        find(
            variable: getenv("TZ").map { String(cString: $0) }, linkTarget: linkTarget("/etc/localtime"),
            file: firstBytes("/etc/timezone"))
    }

    /// The order of tzset(3): the variable decides when it is set, even to something that has no IANA name.
    static func find(variable: String?, linkTarget: String?, file: String?) -> String? {
        if let variable {
            let value = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
            // POSIX: set and empty is UTC.
            if value.isEmpty { return "UTC" }
            return value.hasPrefix("/") ? nameInPath(value) : validated(value)
        }
        if let linkTarget, let name = nameInPath(linkTarget) { return name }
        return file.flatMap { $0.split(whereSeparator: \.isWhitespace).first }.flatMap { validated(String($0)) }
    }

    private static func nameInPath(_ path: String) -> String? {
        // `zoneinfo/`, and Darwin's `zoneinfo.default/`.
        var components = path.split(separator: "/", omittingEmptySubsequences: true)[...]
        guard let start = components.lastIndex(where: { $0.hasPrefix("zoneinfo") }) else { return nil }
        components = components[(start + 1)...]
        if let first = components.first, first == "posix" || first == "right" { components = components.dropFirst() }
        return validated(components.joined(separator: "/"))
    }

    /// A name of the shape that the tz database gives (letters, digits, `+`, `-`, `_`, components by `/`), at most 64
    /// bytes. A POSIX rule such as `CET-1CEST` has that shape too; names of one component with a digit are therefore
    /// believed only when the tz database has them.
    static func validated(_ name: String) -> String? {
        let components = name.split(separator: "/", omittingEmptySubsequences: false)
        guard name.utf8.count <= 64, (1...4).contains(components.count) else { return nil }
        for component in components {
            guard let first = component.utf8.first, isLetter(first), component.utf8.allSatisfy(isNameByte) else {
                return nil
            }
        }
        if components.count == 1, name.utf8.contains(where: { isDigit($0) || $0 == UInt8(ascii: "+") }) {
            return zonesWithDigits.contains(name) ? name : nil
        }
        return name
    }

    private static let zonesWithDigits = ["EST5EDT", "CST6CDT", "MST7MDT", "PST8PDT", "GMT0", "GMT+0", "GMT-0"]

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || "+-_".utf8.contains(byte)
    }

    private static func linkTarget(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = buffer.withUnsafeMutableBytes { bytes in
            readlink(path, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer.prefix(count), as: UTF8.self)
    }

    private static func firstBytes(_ path: String) -> String? {
        guard case .value(let descriptor) = SystemCall.repeating({ open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) })
        else { return nil }
        defer { _ = DiskFileSystem.closeDescriptor(Int32(descriptor)) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let answer = buffer.withUnsafeMutableBytes { bytes in
            SystemCall.repeating { read(Int32(descriptor), bytes.baseAddress, bytes.count) }
        }
        guard case .value(let count) = answer else { return nil }
        return String(validating: buffer.prefix(count), as: UTF8.self)
    }
}
