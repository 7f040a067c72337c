package import Spooling

// A fault that is put into the pair on purpose, to see that the bench finds it: a daemon that deletes too early, a disk that
// forgets to sync, a recovery that does too much. No fault is in here, and none is in the daemons; what a plant gets is two
// holds on a process of the virtual world: its way to the disk, and its mouth. With them it can do whatever wrong code in its
// place would have done, at the same moment and with the same words.

/// Which process of the virtual world.
package enum PlantedProcess: Hashable, Sendable {
    case watch, phone, recorder
}

/// What wrong code would do.
package protocol Plant: AnyObject {
    /// The way to the disk of a process that begins. Whatever it does not forward has not happened.
    func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem

    /// A process says that something happened, or is about to. Called before it is told to the judge; answers what is told
    /// instead, in order: `[event]` for nothing special. `disk` is the process's own way to the disk.
    func tells(_ event: PairEvent, by process: PlantedProcess, disk: any FileSystem) -> [PairEvent]
}
