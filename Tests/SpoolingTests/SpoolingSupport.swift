import Simulation
import Spooling
import WireContract

/// An id for tests; `number` tells them apart, and their order is that of the numbers.
func id(_ number: UInt64 = 1) -> ULID { ULID(high: 0x0190_0000_0000_0000, low: number) }

/// The start number, which tests never make too large.
func start(_ number: UInt64) -> StartNumber {
    guard let start = StartNumber(rawValue: number) else { preconditionFailure("start \(number)") }
    return start
}

func name(_ text: String) -> FileName {
    guard let name = FileName(text) else { preconditionFailure("not a name: \(text)") }
    return name
}

/// The reason with which a call failed, or `nil`.
func failure(_ body: () throws -> Void) -> FileSystemError.Reason? {
    do {
        try body()
        return nil
    } catch let error as FileSystemError {
        return error.reason
    } catch FolderError.disk(let error) {
        return error.reason
    } catch {
        return nil
    }
}

func folderFailure(_ body: () throws -> Void) -> FolderError? {
    do {
        try body()
        return nil
    } catch {
        return error as? FolderError
    }
}

extension SplitMix64 {
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}

/// The calls that `body` makes, counted on a disk of its own.
func callCount(_ body: (InstrumentedFileSystem) throws -> Void) rethrows -> Int {
    let counting = InstrumentedFileSystem(SimulatedFileSystem().asProcess("counting"))
    try body(counting)
    return counting.callCount
}

/// Runs `body` in a process that is killed before or after its call number `call`; the power goes too, if `loss` says how.
/// Whether `body` came through says whether it was told that all went well.
func dying(
    at call: Int, _ effect: Injection.Effect, on disk: SimulatedFileSystem, loss: PowerLoss?,
    _ body: (InstrumentedFileSystem) throws -> Void
) -> Bool {
    let instrument = InstrumentedFileSystem(disk.asProcess("victim"), injections: [Injection(.call(call), effect)])
    var cameThrough = false
    do {
        try body(instrument)
        cameThrough = true
    } catch {
        // It met its own death, or a consequence of it; what counts is the disk.
    }
    if let loss { disk.losePower(loss) }
    return cameThrough
}

var everyDeath: [Injection.Effect] { [.dieBefore, .dieAfter] }
let everyLoss: [PowerLoss?] = [nil, .durableOnly, .everything, .random(seed: 1), .random(seed: 2), .random(seed: 3)]
