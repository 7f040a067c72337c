// What posix_spawn's types are here: pointers that their init functions set.

#if canImport(Darwin)

    import Darwin

    typealias SpawnActions = posix_spawn_file_actions_t?
    typealias SpawnAttributes = posix_spawnattr_t?

    func emptySpawnActions() -> SpawnActions { nil }
    func emptySpawnAttributes() -> SpawnAttributes { nil }

    /// Nothing that the lab has open is wanted in a child.
    let spawnClosesAll = POSIX_SPAWN_CLOEXEC_DEFAULT

#endif
