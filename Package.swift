// swift-tools-version: 6.2
import PackageDescription

// Every target is Swift 6 with warnings as errors. There are no package dependencies: what the pair needs from outside
// is zlib, which the toolchain itself requires. Who may import whom stands in Docs/Architecture.md and is kept by
// Tests/StructureTests.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "WatchFerry",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "WireContract", targets: ["WireContract"]),
        .executable(name: "watch-sim", targets: ["watch-sim"]),
        .executable(name: "phone-sim", targets: ["phone-sim"]),
        .executable(name: "transfer-lab", targets: ["transfer-lab"]),
    ],
    targets: [
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "WireContract", swiftSettings: strict),
        .target(name: "Spooling", dependencies: ["WireContract", "CZlib"], swiftSettings: strict),
        .target(name: "LinkFaults", dependencies: ["WireContract", "Spooling"], swiftSettings: strict),
        .target(name: "WatchSide", dependencies: ["WireContract", "Spooling", "LinkFaults"], swiftSettings: strict),
        .target(name: "PhoneSide", dependencies: ["WireContract", "Spooling", "LinkFaults"], swiftSettings: strict),
        .target(name: "Scenarios", dependencies: ["WireContract", "Spooling", "LinkFaults"], swiftSettings: strict),
        .target(name: "Monitors", dependencies: ["WireContract", "Spooling"], swiftSettings: strict),
        .target(
            name: "Replay", dependencies: ["WireContract", "Spooling", "LinkFaults", "Scenarios", "Monitors"],
            swiftSettings: strict),
        .target(
            name: "PairInspection", dependencies: ["WireContract", "Spooling", "PhoneSide", "Monitors", "Replay"],
            swiftSettings: strict),
        .target(
            name: "Simulation",
            dependencies: [
                "WireContract", "Spooling", "LinkFaults", "WatchSide", "PhoneSide", "Scenarios", "Monitors", "Replay",
                "PairInspection",
            ], swiftSettings: strict),
        .target(
            name: "Soak",
            dependencies: [
                "WireContract", "Spooling", "LinkFaults", "Scenarios", "Monitors", "Replay", "Simulation",
            ], swiftSettings: strict),
        .target(
            name: "PlantedFaults",
            dependencies: [
                "WireContract", "Spooling", "LinkFaults", "Scenarios", "Monitors", "Simulation", "CrashLab",
            ], swiftSettings: strict),
        .target(
            name: "CrashLab",
            dependencies: [
                "WireContract", "Spooling", "LinkFaults", "Scenarios", "Monitors", "Replay", "PairInspection",
                "Simulation",
            ], swiftSettings: strict),
        .target(
            name: "DaemonRuntime", dependencies: ["WireContract", "Spooling", "LinkFaults"], swiftSettings: strict),
        .target(
            name: "LivePair",
            dependencies: [
                "WireContract", "Spooling", "LinkFaults", "Scenarios", "Monitors", "Replay", "DaemonRuntime",
            ], swiftSettings: strict),
        .executableTarget(
            name: "watch-sim", dependencies: ["WireContract", "Spooling", "LinkFaults", "WatchSide", "DaemonRuntime"],
            swiftSettings: strict),
        .executableTarget(
            name: "phone-sim", dependencies: ["WireContract", "Spooling", "LinkFaults", "PhoneSide", "DaemonRuntime"],
            swiftSettings: strict),
        .executableTarget(
            name: "transfer-lab",
            dependencies: [
                "WireContract", "Spooling", "LinkFaults", "WatchSide", "PhoneSide", "Scenarios", "Monitors", "Replay",
                "PairInspection", "Simulation", "Soak", "CrashLab", "PlantedFaults", "LivePair", "DaemonRuntime",
            ], swiftSettings: strict),

        .testTarget(
            name: "LinkFaultsTests", dependencies: ["LinkFaults", "Spooling", "WireContract"], swiftSettings: strict),
        .testTarget(
            name: "ScenariosTests", dependencies: ["Scenarios", "LinkFaults", "Spooling", "WireContract"],
            exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "MonitorsTests", dependencies: ["Monitors", "Spooling", "WireContract"], swiftSettings: strict),
        .testTarget(
            name: "ReplayTests",
            dependencies: ["Replay", "WireContract", "Spooling", "LinkFaults", "Scenarios", "Monitors"],
            swiftSettings: strict),
        .testTarget(
            name: "WorldTests",
            dependencies: ["Simulation", "Replay", "Scenarios", "Monitors", "LinkFaults", "Spooling"],
            swiftSettings: strict),
        .testTarget(
            name: "SoakTests",
            dependencies: [
                "Soak", "WireContract", "Spooling", "LinkFaults", "Scenarios", "Monitors", "Replay", "Simulation",
                "PlantedFaults", "LivePair", "transfer-lab",
            ], exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "PlantedFaultsTests", dependencies: ["PlantedFaults", "Monitors", "Replay", "Simulation"],
            swiftSettings: strict),
        .testTarget(name: "WireContractTests", dependencies: ["WireContract"], swiftSettings: strict),
        .testTarget(
            name: "SpoolingTests", dependencies: ["Spooling", "Simulation", "WireContract"], swiftSettings: strict),
        .testTarget(
            name: "SideTests",
            dependencies: ["WatchSide", "PhoneSide", "LinkFaults", "Spooling", "Simulation"],
            swiftSettings: strict),
        .testTarget(
            name: "RuntimeTests",
            dependencies: ["DaemonRuntime", "LinkFaults", "Spooling", "Simulation", "WireContract"],
            swiftSettings: strict),
        .testTarget(
            name: "CrashLabTests",
            dependencies: [
                "CrashLab", "PlantedFaults", "Simulation", "Scenarios", "Monitors", "Replay", "LinkFaults", "Spooling",
                "WireContract",
            ], swiftSettings: strict),
        .testTarget(name: "StructureTests", swiftSettings: strict),
        .testTarget(
            name: "LivePairTests",
            dependencies: [
                "LivePair", "PairInspection", "DaemonRuntime", "LinkFaults", "Scenarios", "Monitors", "Replay",
                "Spooling",
                "WireContract", "watch-sim", "phone-sim",
            ], swiftSettings: strict),
        .testTarget(
            name: "LiveTests", dependencies: ["watch-sim", "phone-sim", "transfer-lab", "LinkFaults", "WireContract"],
            swiftSettings: strict),
    ]
)
