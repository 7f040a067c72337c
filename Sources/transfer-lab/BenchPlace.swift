import DaemonRuntime
import LivePair
import Spooling

// Where a benchmark works. ext4 without a journal avoids inodes that were deleted a short while ago, and every create in
// such a block group walks over them: a second run in the same folder is several times slower than the first. Below a folder
// with the attribute T ("top of a hierarchy") each new folder gets another group, and one is taken in which creates are
// quick.

final class BenchPlace {
    let base: String
    let machine: JSONObject
    let machineLine: String
    /// Why folders are not spread over block groups, if they are not.
    private(set) var warning: String?
    private var count = 0
    private var slowFolders = 0
    private let disk = DiskFileSystem()
    private let clock = MonotonicClock()

    private static let mostTries = 24
    private static let quickCreateSeconds = 60e-6

    init(below parent: String) throws(LiveError) {
        base = "\(parent)/watchferry-bench-\(MeasuringDisk.processNumber)"
        try MeasuringDisk.makeFolder(base)
        let mount = Self.mount(of: parent)
        let kernel = MeasuringDisk.kernelText("/proc/sys/kernel/osrelease").split(separator: "\n").first.map(
            String.init)
        let cpu = MeasuringDisk.kernelText("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
            .flatMap { $0.split(separator: ":").last }.map { $0.drop { $0 == " " } }.map(String.init)
        let journal = Self.journal(of: mount)
        machine = [
            "cpu": JSONValue(cpu ?? "unknown"), "processors": JSONValue(Workers.processorCount),
            "kernel": JSONValue(kernel ?? "unknown"), "fileSystem": JSONValue(mount.type),
            "device": JSONValue(mount.device), "journal": JSONValue(journal),
        ]
        machineLine =
            "\(cpu ?? "unknown processor"), \(Workers.processorCount) processors, kernel \(kernel ?? "unknown"), "
            + "\(mount.type) on \(mount.device), journal: \(journal)"
        if mount.type == "ext4" { spread() }
    }

    deinit { MeasuringDisk.remove(base) }

    private func spread() {
        guard let program = MeasuringDisk.program("chattr") else {
            warning = "no chattr here (e2fsprogs): folders may share block groups, and later runs may be slower"
            return
        }
        do throws(LiveError) {
            let end = try MeasuredProcess(program, ["+T", base], logs: "\(base)/chattr").end()
            if end.exitCode != 0 {
                warning = "chattr +T failed (\(end.talk)): folders may share block groups, and later runs may be slower"
            }
        } catch {
            warning = "chattr +T failed (\(error)): folders may share block groups, and later runs may be slower"
        }
    }

    private struct Mount {
        var device = "unknown"
        var type = "unknown"
    }

    /// The mount with the longest path that leads to `path`.
    private static func mount(of path: String) -> Mount {
        var best = Mount()
        var length = -1
        for line in MeasuringDisk.kernelText("/proc/mounts").split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 2 else { continue }
            let point = words[1] == "/" ? "" : String(words[1])
            guard path == point || path.hasPrefix(point + "/"), point.utf8.count >= length else { continue }
            length = point.utf8.count
            best = Mount(device: String(words[0]), type: String(words[2]))
        }
        return best
    }

    private static func journal(of mount: Mount) -> String {
        guard mount.type == "ext4", let device = mount.device.split(separator: "/").last else {
            return "does not apply"
        }
        let task = MeasuringDisk.kernelText("/sys/fs/ext4/\(device)/journal_task")
        return task.isEmpty ? "unknown" : task.hasPrefix("<none>") ? "none" : "yes"
    }

    /// A fresh folder, in which creates are quick where such a one is found.
    func folder(_ name: String) throws(LiveError) -> String {
        var path = ""
        for _ in 0..<Self.mostTries {
            count += 1
            path = "\(base)/\(name)-\(count)"
            try MeasuringDisk.makeFolder(path)
            if quickestCreate(in: path) < Self.quickCreateSeconds { return path }
        }
        slowFolders += 1
        warning = "\(slowFolders) folders with slow creates: the disk remembers deleted inodes everywhere"
        return path
    }

    private func quickestCreate(in path: String) -> Double {
        var best = 1.0
        guard let folder = try? disk.openRoot(path, create: false) else { return best }
        for number in 0..<12 {
            guard let name = FileName("probe\(number)") else { continue }
            let began = clock.now()
            guard (try? disk.create(name, in: folder)) != nil else { continue }
            best = min(best, clock.now().since(began).inSeconds)
        }
        return best
    }
}
