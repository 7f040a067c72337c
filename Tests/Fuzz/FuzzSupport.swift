// What every fuzz target shares. `Scripts/fuzz` compiles this file together with each of them.

import WireContract

/// Ends the process, which libFuzzer takes for a finding. Unlike `assert` it is there in an optimised build.
func check(_ condition: @autoclosure () -> Bool, _ what: @autoclosure () -> String) {
    if !condition() { fatalError("broken promise: \(what())") }
}

/// Runs `body`, which a promise says cannot throw.
func must<Result>(_ what: String, _ body: () throws -> Result) -> Result {
    do {
        return try body()
    } catch {
        fatalError("broken promise: \(what): \(error)")
    }
}

extension BinaryPropertyList.Limits {
    /// Room for what shared references become when they are written out: eight bytes for each reference, nine for each real,
    /// twice the text.
    static let writtenOut = BinaryPropertyList.Limits(
        byteCount: 4_194_304, depth: 32, objectCount: 65_536, valueCount: 65_536, contentByteCount: 1_048_576)
}

/// The dictionary that the bytes hold, or nil; checks on the way that what was read can be written and read again.
func decodedDictionary(_ bytes: UnsafeRawBufferPointer) -> PropertyListDictionary? {
    guard let value = try? BinaryPropertyList.decode(bytes) else { return nil }
    let written = must("a value that was read can be written") {
        try BinaryPropertyList.encode(value, limits: .writtenOut)
    }
    let again = must("a value that was written can be read") {
        try BinaryPropertyList.decode(written, limits: .writtenOut)
    }
    check(again == value.sorted(), "a value is the same after it was written and read")
    let twice = must("a value that was read twice can be written") {
        try BinaryPropertyList.encode(again, limits: .writtenOut)
    }
    check(twice == written, "one value has one spelling")
    // The bounds of the writer are the reader's.
    if let small = try? BinaryPropertyList.encode(value) {
        check(small == written, "bounds do not change the spelling")
        check((try? BinaryPropertyList.decode(small)) != nil, "what the writer lets pass, the reader lets pass")
    }
    guard case .dictionary(let dictionary) = value else { return nil }
    return dictionary
}
