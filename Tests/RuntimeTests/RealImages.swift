#if os(Linux)

    import Foundation
    import Glibc
    import Testing

    // A real file system on a loop device, and copies of what has reached its image: what a cut of the power would leave.
    // Why a copy is that is told at the head of Scripts/powercut. Linux, root; `Scripts/powercut --can` says whether.

    /// What lies in a folder: the bytes of every file by its path, and of every folder none, its path ending in a slash.
    typealias Tree = [String: [UInt8]]

    struct RealImageError: Error, CustomStringConvertible {
        let description: String
    }

    final class RealImages {
        enum Kind: String, CaseIterable {
            case ext4, xfs, btrfs

            var maker: [String] {
                switch self {
                case .ext4: ["mkfs.ext4", "-q", "-F", "-b", "4096"]
                case .xfs: ["mkfs.xfs", "-q", "-f", "-s", "size=4096"]
                case .btrfs: ["mkfs.btrfs", "-q", "-f"]
                }
            }

            /// A copy has the UUID of the file system that it was made of.
            var mountOptions: String { self == .xfs ? "nouuid" : "rw" }
        }

        static let why: Comment = "Scripts/powercut --can does not name it: takes root on Linux, loop devices, mkfs"
        /// Those that this machine can mount.
        static let kinds: [Kind] = {
            let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().path
            guard let said = try? output(["\(repository)/Scripts/powercut", "--can"]) else { return [] }
            return Kind.allCases.filter { said.contains($0.rawValue) }
        }()

        let kind: Kind
        /// Where the file system is mounted.
        let mount: String
        private let folder: String
        private let medium: String
        private let image: String

        init(_ kind: Kind) throws {
            var template = Array((NSTemporaryDirectory() + "/watchferry-images.XXXXXX").utf8CString)
            guard mkdtemp(&template) != nil, let real = realpath(template, nil) else {
                throw RealImageError(description: "cannot make a folder")
            }
            defer { free(real) }
            self.kind = kind
            folder = String(cString: real)
            medium = folder + "/medium"
            image = medium + "/image"
            mount = folder + "/mount"
            do {
                try make()
            } catch {
                end()
                throw error
            }
        }

        private func make() throws {
            for path in [medium, mount] { mkdir(path, 0o700) }
            try Self.run(["truncate", "-s", "2G", folder + "/backing"])
            try Self.run(["mkfs.xfs", "-q", "-m", "reflink=1", "-s", "size=4096", folder + "/backing"])
            try Self.run(["mount", "-o", "loop", folder + "/backing", medium])
            try Self.run(["truncate", "-s", "320M", image])
            try Self.run(kind.maker + [image])
            let device = try Self.output(
                ["losetup", "--direct-io=on", "--sector-size", "4096", "--show", "-f", image]
            ).trimmingCharacters(in: .whitespacesAndNewlines)
            // The mount holds it; it is let go of with that.
            defer { try? Self.run(["losetup", "-d", device]) }
            try Self.run(["mount", "-o", kind.mountOptions, device, mount])
        }

        /// Keeps what has reached the image by now.
        func copy(_ number: Int) throws {
            try Self.run(["cp", "--reflink=always", image, "\(medium)/copy-\(number)"])
        }

        /// Mounts a copy, which repairs it, and reads what lies below `path` in it.
        func tree(_ number: Int, below path: String) throws -> Tree {
            let place = folder + "/look"
            mkdir(place, 0o700)
            try Self.run(["mount", "-o", "loop,\(kind.mountOptions)", "\(medium)/copy-\(number)", place])
            defer { try? Self.run(["umount", place]) }
            var tree = Tree()
            func walk(_ folder: String) throws {
                for name in try FileManager.default.contentsOfDirectory(atPath: place + folder) {
                    let path = folder + "/" + name
                    var isDirectory: ObjCBool = false
                    guard FileManager.default.fileExists(atPath: place + path, isDirectory: &isDirectory) else {
                        continue
                    }
                    if isDirectory.boolValue {
                        tree[path + "/"] = []
                        try walk(path)
                    } else {
                        tree[path] = Array(FileManager.default.contents(atPath: place + path) ?? Data())
                    }
                }
            }
            if access(place + path, F_OK) == 0 { try walk(path) }
            return tree
        }

        /// Nothing is mounted any more and nothing is left when this returns.
        func end() {
            for path in [folder + "/look", mount, medium] where access(path, F_OK) == 0 {
                _ = try? Self.output(["umount", "-l", path])
            }
            try? FileManager.default.removeItem(atPath: folder)
        }

        private static func run(_ command: [String]) throws { _ = try output(command) }

        private static func output(_ command: [String]) throws -> String {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = command
            process.environment = ProcessInfo.processInfo.environment.merging(
                ["PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"]
            ) { own, more in own + ":" + more }
            let pipe = Pipe()
            let errors = Pipe()
            process.standardOutput = pipe
            process.standardError = errors
            try process.run()
            let said = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let problem = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw RealImageError(description: "\(command.joined(separator: " ")): \(problem)")
            }
            return said
        }
    }

#endif
