import Foundation

// Where the executables are: beside the test bundle that is running, whatever the configuration and the build folder.

enum Tool: String {
    case watch = "watch-sim"
    case phone = "phone-sim"

    /// Absolute.
    var executable: String { get throws { try Products.executable(rawValue) } }
}

enum Products {
    /// A missing one is a build that went wrong, and every test says so.
    static func executable(_ name: String) throws -> String {
        for folder in folders {
            let path = folder + "/" + name
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        throw Story("\(name) lies in none of \(folders): build it first (swift build)")
    }

    static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    static let audioFolder = repository + "/Docs/Audio"

    static let folders: [String] = {
        var folders: [String] = []
        // Linux: the bundle is the program that runs. Apple: a helper runs it and is given its path.
        for argument in CommandLine.arguments {
            guard let range = argument.range(of: ".xctest") else { continue }
            folders.append(
                URL(fileURLWithPath: String(argument[..<range.upperBound])).deletingLastPathComponent().path)
        }
        for bundle in Bundle.allBundles where bundle.bundlePath.hasSuffix(".xctest") {
            folders.append(bundle.bundleURL.deletingLastPathComponent().path)
        }
        return folders + [repository + "/.build/debug", repository + "/.build/release"]
    }()
}
