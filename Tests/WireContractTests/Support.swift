import Foundation
import Testing
import WireContract

/// SplitMix64: the tests' only randomness, from seeds that stand in the tests.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// Random property-list values of every kind, with the edges over-represented.
struct ValueMaker {
    var random: SplitMix

    init(seed: UInt64) { random = SplitMix(seed: seed) }

    static let strings = [
        "", "a", "note", "Grüße", "日本", "😀 pair", "e\u{301}", "é", "nul\0inside", "\u{FFFF}", "fourteen chars",
        "fifteen chars..", String(repeating: "x", count: 300), "\u{7F}", "\u{80}", "\u{D7FF}\u{E000}", "\u{10FFFF}",
    ]
    static let integers: [Int64] = [
        0, 1, -1, 127, 128, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, .max, .min, -129,
    ]
    static let reals: [Double] = [
        0, -0.0, 1, 0.1, .pi, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e300,
        // The plain NaN. Foundation does not keep the payload of another; our own codec does (see `edges`).
        .nan,
    ]
    /// Foundation's readers make dates of these without a trap.
    static let dates: [Double] = [0, -978_307_200, 756_864_000.123456789, 0.1, -0.1, 252_423_993_599.99]

    mutating func value(depth: Int) -> PropertyListValue {
        switch random.below(depth > 0 ? 10 : 8) {
        case 0: .string(Self.strings[random.below(Self.strings.count)])
        case 1: .integer(Self.integers[random.below(Self.integers.count)])
        case 2: .unsigned(UInt64.max - random.next() % 1_000)
        case 3: .real(Self.reals[random.below(Self.reals.count)])
        case 4: .boolean(random.below(2) == 0)
        case 5: .date(secondsSinceReferenceDate: Self.dates[random.below(Self.dates.count)])
        case 6: .data((0..<random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        case 7: .integer(Int64(bitPattern: random.next() >> UInt64(random.below(64))))
        case 8: .array((0..<random.below(20)).map { _ in value(depth: depth - 1) })
        default: .dictionary(dictionary(depth: depth - 1))
        }
    }

    mutating func dictionary(depth: Int) -> PropertyListDictionary {
        var dictionary = PropertyListDictionary()
        for index in 0..<random.below(20) {
            // Foundation on Linux makes Swift dictionaries, in which two spellings of one accent are one key.
            dictionary["\(Self.strings[random.below(Self.strings.count)])\(index)"] = value(depth: depth)
        }
        return dictionary
    }
}

extension PropertyListDictionary {
    /// A dictionary for a test, whose keys are known to differ.
    init(pairs: KeyValuePairs<String, PropertyListValue>) {
        self.init()
        for (key, value) in pairs { self[key] = value }
    }
}

/// Puts a binary property list together byte by byte, for lists that no writer would write.
struct RawList {
    var objects: [[UInt8]] = []
    var offsetWidth = 1
    var referenceWidth = 1
    var top: UInt64 = 0

    var bytes: [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for offset in offsets { bytes += Self.bigEndian(UInt64(offset), width: offsetWidth) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetWidth), UInt8(referenceWidth)]
        bytes += Self.bigEndian(UInt64(objects.count), width: 8) + Self.bigEndian(top, width: 8)
        return bytes + Self.bigEndian(UInt64(table), width: 8)
    }

    static func bigEndian(_ number: UInt64, width: Int) -> [UInt8] {
        (0..<width).reversed().map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) : 0 }
    }
}

/// Runs Python with the script and its standard input, and gives what it wrote. No Python is a failure, never a skip.
func python(_ script: String, input: [UInt8]) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script]
    // The input is a file: a pipe to a Python that is not there would end this process by SIGPIPE.
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("watchferry-\(UUID().uuidString)")
    try Data(input).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let (stdout, stderr) = (Pipe(), Pipe())
    process.standardInput = try FileHandle(forReadingFrom: file)
    process.standardOutput = stdout
    process.standardError = stderr
    try process.run()
    let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
    let complaint = try stderr.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(
        process.terminationStatus == 0,
        "python3 ended with \(process.terminationStatus) (127: it is not installed): \(String(decoding: complaint, as: UTF8.self))"
    )
    return [UInt8](output)
}
