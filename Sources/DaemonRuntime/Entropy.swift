/// Randomness from the kernel, for what nobody may guess or repeat: ids, nonces, pairing ids. It has no seed.
///
/// Every name in the spool carries a nonce, so the kernel is asked for some dozens at a time. For one thread, in a process that
/// makes no copy of itself (`fork`): both copies would say the same.
package final class Entropy {
    /// What is left of the last answer. `getentropy` gives 256 bytes at most.
    private var words: [UInt64] = []
    private static let wordCount = 32

    package init() {}

    package func next() -> UInt64 {
        if words.isEmpty {
            words = Array(repeating: 0, count: Self.wordCount)
            words.withUnsafeMutableBytes { PlatformCalls.fillRandomly($0) }
        }
        return words.removeLast()
    }
}
