// What posix_spawn's types are here: structures that their init functions fill.

#if os(Linux)

    import Glibc

    typealias SpawnActions = posix_spawn_file_actions_t
    typealias SpawnAttributes = posix_spawnattr_t

    func emptySpawnActions() -> SpawnActions { SpawnActions() }
    func emptySpawnAttributes() -> SpawnAttributes { SpawnAttributes() }

    /// Nothing that the lab has open is wanted in a child; here everything is opened with `O_CLOEXEC`.
    let spawnClosesAll: Int32 = 0

#endif
