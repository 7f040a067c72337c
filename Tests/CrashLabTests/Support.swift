import CrashLab
import Foundation
import Replay
import Scenarios
import Simulation
import Spooling

enum Canonical {
    /// Read once: a test that cannot find it has nothing to say.
    static let scenario: Scenario = {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Scripts/Scenarios/canonical-crash.json5").path
        do {
            return try ScenarioReader.read(text: String(contentsOfFile: path, encoding: .utf8), file: path)
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    static func sweep(_ makePlant: @escaping @Sendable () -> (any Plant)? = { nil }) -> CrashSweep {
        CrashSweep(
            scenario, spread: { count, body in DispatchQueue.concurrentPerform(iterations: count, execute: body) },
            makePlant: makePlant)
    }
}

/// A phone whose syncs say that all is well and do nothing.
final class ForgetfulPhone: Plant {
    func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem {
        process == .phone ? SyncsNothing(inner) : inner
    }

    func tells(_ event: PairEvent, by process: PlantedProcess, disk: any FileSystem) -> [PairEvent] { [event] }
}

/// A watch that takes a finished transfer for a reason to delete.
final class HastyWatch: Plant {
    func fileSystem(_ inner: any FileSystem, of process: PlantedProcess) -> any FileSystem { inner }

    func tells(_ event: PairEvent, by process: PlantedProcess, disk: any FileSystem) -> [PairEvent] {
        guard process == .watch, event.kind == .transferFinished, let id = event.id else { return [event] }
        do {
            let home = try disk.openRoot(PairPlaces(root: "/pair").watchHome(1), create: false)
            let recordings = try disk.openDirectory("recordings", in: home, create: false)
            try disk.unlink(.recording(id), in: recordings)
        } catch {
            return [event]
        }
        return [event, PairEvent(.deleted, id: id)]
    }
}

private final class SyncsNothing: FileSystem {
    private let inner: any FileSystem

    init(_ inner: any FileSystem) { self.inner = inner }

    func sync(_ file: borrowing OpenFile) throws(FileSystemError) {}
    func sync(_ directory: borrowing OpenDirectory) throws(FileSystemError) {}
    func syncAll(_ directory: borrowing OpenDirectory) throws(FileSystemError) {}
    var hasSyncAll: Bool { inner.hasSyncAll }

    func openRoot(_ path: String, create: Bool) throws(FileSystemError) -> OpenDirectory {
        try inner.openRoot(path, create: create)
    }
    func openDirectory(
        _ name: FileName, in parent: borrowing OpenDirectory, create: Bool
    ) throws(FileSystemError) -> OpenDirectory {
        try inner.openDirectory(name, in: parent, create: create)
    }
    func openSource(_ path: String) throws(FileSystemError) -> OpenFile { try inner.openSource(path) }
    func create(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        try inner.create(name, in: directory)
    }
    func open(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> OpenFile {
        try inner.open(name, in: directory)
    }
    func status(of name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus {
        try inner.status(of: name, in: directory)
    }
    func status(of file: borrowing OpenFile) throws(FileSystemError) -> FileStatus { try inner.status(of: file) }
    func status(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FileStatus {
        try inner.status(of: directory)
    }
    func forEachName(in directory: borrowing OpenDirectory, _ body: (FileName) -> Bool) throws(FileSystemError) {
        try inner.forEachName(in: directory, body)
    }
    func read(
        _ file: borrowing OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try inner.read(file, at: offset, into: buffer)
    }
    func write(
        _ file: borrowing OpenFile, at offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws(FileSystemError) -> Int {
        try inner.write(file, at: offset, from: bytes)
    }
    func truncate(_ file: borrowing OpenFile, to byteCount: UInt64) throws(FileSystemError) {
        try inner.truncate(file, to: byteCount)
    }
    func publish(
        _ name: FileName, in source: borrowing OpenDirectory, as newName: FileName, in target: borrowing OpenDirectory
    ) throws(FileSystemError) {
        try inner.publish(name, in: source, as: newName, in: target)
    }
    func unlink(_ name: FileName, in directory: borrowing OpenDirectory) throws(FileSystemError) {
        try inner.unlink(name, in: directory)
    }
    func lock(_ file: borrowing OpenFile) throws(FileSystemError) -> Bool { try inner.lock(file) }
    func space(of directory: borrowing OpenDirectory) throws(FileSystemError) -> FreeSpace {
        try inner.space(of: directory)
    }
    func close(_ handle: HandleNumber) { inner.close(handle) }
}
