/// Randomness from the kernel, for what nobody may guess or repeat: ids, nonces, pairing ids.
///
/// The standard library's generator asks `getrandom` on Linux and `arc4random` on Darwin, and has no seed.
package struct Entropy: Sendable {
    package init() {}

    package func next() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    package func bytes(count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }
}
