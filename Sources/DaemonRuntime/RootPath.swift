// Opening a folder that the user named, and making it with its missing parents.
//
// Each directory is made in the handle of its parent, and the parent is synced before the next one is made. A kill between
// the two leaves exactly one directory whose name is not durable: the deepest that exists. So opening with `create` also
// syncs the parent of the deepest directory that it finds; on a clean directory that costs nothing.

import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A path that came from the command line.
struct RootPath {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    static func withoutTrailingSlashes(_ path: String) -> String {
        var shown = path[...]
        while shown.utf8.count > 1, shown.hasSuffix("/") { shown.removeLast() }
        return String(shown)
    }

    /// Opens the directory and returns its descriptor. `onMade` is called with the descriptor of each directory made.
    func open(create: Bool, onMade: (Int32) -> Void) throws(FileSystemError) -> Int32 {
        guard !path.utf8.contains(0) else { throw FileSystemError(.openRoot, path, .other(EINVAL)) }
        let opened = Self.openDirectory(AT_FDCWD, path)
        switch opened {
        case .value(let descriptor):
            return create ? try settled(Int32(descriptor)) : Int32(descriptor)
        case .failure(errno: ENOENT) where create && !path.isEmpty:
            return try make(onMade)
        case .failure(let code):
            throw FileSystemError(.openRoot, path, .init(errno: code))
        }
    }

    private static func openDirectory(_ at: Int32, _ path: String) -> CallResult {
        SystemCall.repeating { path.withCString { openat(at, $0, DiskFileSystem.directoryFlags) } }
    }

    /// Makes what is missing, from the deepest directory that exists. Going up and not down: directories on the way need
    /// not be readable, only the one that something is made in.
    private func make(_ onMade: (Int32) -> Void) throws(FileSystemError) -> Int32 {
        let (start, missing) = try deepestExisting()
        var current = try settled(start)
        for component in missing {
            do throws(FileSystemError) {
                let next = try makeDirectory(component, in: current, onMade)
                _ = DiskFileSystem.closeDescriptor(current)
                current = next
            } catch {
                _ = DiskFileSystem.closeDescriptor(current)
                throw error
            }
        }
        return current
    }

    private func deepestExisting() throws(FileSystemError) -> (descriptor: Int32, missing: [String]) {
        let components = path.split(separator: "/").map(String.init)
        let base = path.hasPrefix("/") ? "/" : "./"
        var count = components.count
        while true {
            let prefix = base + components.prefix(count).joined(separator: "/")
            switch Self.openDirectory(AT_FDCWD, prefix) {
            case .value(let descriptor): return (Int32(descriptor), Array(components.dropFirst(count)))
            case .failure(errno: ENOENT) where count > 0: count -= 1
            case .failure(let code): throw FileSystemError(.openRoot, prefix, .init(errno: code))
            }
        }
    }

    private func makeDirectory(
        _ component: String, in parent: Int32, _ onMade: (Int32) -> Void
    ) throws(FileSystemError) -> Int32 {
        let made = SystemCall.once { component.withCString { mkdirat(parent, $0, 0o700) } }
        switch made {
        // When another process was faster, it may not have come to its sync; ours is as good.
        case .value, .failure(errno: EEXIST): break
        case .failure(let code): throw FileSystemError(.makeDirectory, path, .init(errno: code))
        }
        if case .failure(let code) = PlatformCalls.sync(parent) {
            throw FileSystemError(.syncDirectory, path, .init(errno: code))
        }
        switch Self.openDirectory(parent, component) {
        case .value(let descriptor):
            if case .value = made { onMade(Int32(descriptor)) }
            return Int32(descriptor)
        case .failure(let code):
            throw FileSystemError(.openRoot, path, .init(errno: code))
        }
    }

    /// Syncs the parent of an open directory, for the case that a run before us made it and was killed. A parent that we
    /// may not read, or that cannot be synced at all (`EINVAL`), is not one that the pair made anything in.
    private func settled(_ descriptor: Int32) throws(FileSystemError) -> Int32 {
        guard case .value(let parent) = Self.openDirectory(descriptor, "..") else { return descriptor }
        defer { _ = DiskFileSystem.closeDescriptor(Int32(parent)) }
        switch PlatformCalls.sync(Int32(parent)) {
        case .value, .failure(errno: EINVAL), .failure(errno: ENOTSUP): return descriptor
        case .failure(let code):
            _ = DiskFileSystem.closeDescriptor(descriptor)
            throw FileSystemError(.syncDirectory, path, .init(errno: code))
        }
    }
}
