package import Spooling

/// What goes wrong, and at which calls.
package struct Injection {
    package enum Trigger {
        case call(Int)
        case everyCall(from: Int)
        /// The `nth` call (from 1 on) of one operation, counted over the whole life of the instrument.
        case nth(Int, FileSystemError.Operation)
        /// Every call that this says yes to, given its operation and paths.
        case every((FileSystemError.Operation, [String]) -> Bool)
        /// The first call that this says yes to, and none after it.
        case first((FileSystemError.Operation, [String]) -> Bool)
    }

    package enum Effect {
        /// The call fails and has done nothing. A sync loses its pages in doing so (see `SyncFailing`).
        case fail(FileSystemError.Reason)
        /// The call has its effect, and fails all the same. (What is opened in it is closed again.)
        case failAfter(FileSystemError.Reason)
        /// A read or write moves half of what was asked, at least one byte. Nothing to other calls.
        case short
        /// The process dies before the call has an effect, or after: `onDeath` is called, this call and all later ones
        /// fail with `processIsDead`.
        case dieBefore
        case dieAfter
        /// Something happens to the world before the call: a rival moves a file, the disk fills up.
        case before(() -> Void)
    }

    package var trigger: Trigger
    package var effect: Effect

    package init(_ trigger: Trigger, _ effect: Effect) {
        self.trigger = trigger
        self.effect = effect
    }
}

extension FileSystemError.Operation {
    static let count = 18

    /// A place in an array. (To hash an operation is to hash its words.)
    var index: Int {
        switch self {
        case .openRoot: 0
        case .openDirectory: 1
        case .makeDirectory: 2
        case .openSource: 3
        case .create: 4
        case .open: 5
        case .status: 6
        case .list: 7
        case .read: 8
        case .write: 9
        case .truncate: 10
        case .sync: 11
        case .syncDirectory: 12
        case .syncAll: 13
        case .publish: 14
        case .unlink: 15
        case .lock: 16
        case .space: 17
        }
    }
}
