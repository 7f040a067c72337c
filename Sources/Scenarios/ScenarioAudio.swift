import LinkFaults

/// The audio of a scenario's recordings: in both worlds the same bytes, whoever makes them.
package enum ScenarioAudio {
    /// Recorded with this extension, and with a duration of one second, because no header tells one.
    package static let fileExtension = "pcm"
    package static let durationSeconds = 1.0

    /// No known audio format begins so: a header must not tell a duration.
    private static let magic: [UInt8] = Array("scenario".utf8)
    private static let headByteCount = 64
    /// A prime, so that no block of any size comes twice in a row at the same place.
    private static let patternByteCount = 251

    /// The audio of the `ordinal`-th recording: a head that no other recording has, then a pattern. A function of its
    /// arguments; costs a copy of memory, whatever the size.
    package static func bytes(seed: UInt64, ordinal: Int, byteCount: Int) -> [UInt8] {
        var head = magic
        var draw = Draw(seed, UInt64(truncatingIfNeeded: ordinal), 0xA0D10)
        while head.count < headByteCount {
            let word = draw.next()
            for shift in stride(from: 56, through: 0, by: -8) { head.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        let pattern = (0..<patternByteCount).map { UInt8($0) }
        return [UInt8](unsafeUninitializedCapacity: max(0, byteCount)) { buffer, count in
            count = max(0, byteCount)
            guard let start = buffer.baseAddress else { return }
            head.withUnsafeBufferPointer { start.initialize(from: $0.baseAddress!, count: min(count, headByteCount)) }
            guard count > headByteCount else { return }
            let body = start + headByteCount
            var filled = min(count - headByteCount, patternByteCount)
            pattern.withUnsafeBufferPointer { body.initialize(from: $0.baseAddress!, count: filled) }
            // Doubled until it is full: whole patterns are copied behind whole patterns.
            while filled < count - headByteCount {
                let next = min(filled, count - headByteCount - filled)
                (body + filled).initialize(from: body, count: next)
                filled += next
            }
        }
    }
}
