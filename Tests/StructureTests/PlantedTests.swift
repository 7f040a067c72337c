import Testing

/// Each rule sees what it is for, and lets pass what it is not for.
struct PlantedTests {
    private func source(_ target: String, _ text: String) -> SourceFile {
        SourceFile("Sources/\(target)/X.swift", text)
    }

    @Test("every form of an import is seen")
    func importForms() {
        let text = """
            import A
            package import B; import C
            @testable import D
            @preconcurrency public import E
            import struct F.Inner
            \timport   func G.call  // import Z
            #if canImport(Darwin)
                import H
            #endif
            // import Z
            /* import Z
            import Z */
            let text = "import Z"
            importing(Z)
            @_exported import class I.J.K
            """
        #expect(imports(of: source("X", text)).map(\.module) == ["A", "B", "C", "D", "E", "F", "G", "H", "I"])
        #expect(imports(of: source("X", text)).map(\.line) == [1, 2, 2, 3, 4, 5, 6, 8, 15])
    }

    @Test(
        "a forbidden import is seen",
        arguments: [
            ("WatchSide", "PhoneSide"), ("PhoneSide", "WatchSide"), ("WireContract", "Spooling"),
            ("WireContract", "Foundation"), ("WireContract", "CZlib"), ("Spooling", "PhoneSide"),
            ("Spooling", "Simulation"), ("Spooling", "Foundation"), ("Spooling", "Glibc"), ("WatchSide", "Darwin"),
            ("WatchSide", "Foundation"), ("PhoneSide", "FoundationEssentials"), ("PhoneSide", "Dispatch"),
            ("PhoneSide", "DaemonRuntime"), ("Simulation", "DaemonRuntime"), ("Simulation", "Musl"),
            ("Simulation", "Foundation"), ("DaemonRuntime", "WatchSide"), ("DaemonRuntime", "PhoneSide"),
            ("LivePair", "WatchSide"), ("watch-sim", "PhoneSide"), ("phone-sim", "WatchSide"), ("watch-sim", "Glibc"),
            ("DaemonRuntime", "Foundation"), ("Monitors", "Dispatch"), ("PhoneSide", "CZlib"),
            ("Replay", "Simulation"), ("Replay", "WatchSide"), ("Replay", "Foundation"),
            ("LivePair", "PairInspection"), ("LivePair", "Simulation"),
            ("watch-sim", "PlantedFaults"), ("phone-sim", "PlantedFaults"), ("Simulation", "PlantedFaults"),
            ("PlantedFaults", "DaemonRuntime"),
        ])
    func forbiddenImports(target: String, module: String) {
        for form in ["import \(module)", "  package import \(module)", "@testable import struct \(module).X"] {
            #expect(importBreaches(in: source(target, "import Swift\n\(form)\n")).map(\.line).contains(2), "\(form)")
        }
        let manifest = """
            .target(name: "Other"),
            .executableTarget(
                name: "\(target)", dependencies: ["WireContract", "\(module)"])
            """
        let found = manifestBreaches(in: SourceFile("Package.swift", manifest))
        #expect(found.contains { $0.line == 3 })
    }

    @Test("an allowed import passes")
    func allowedImports() {
        for (target, modules) in [
            ("Spooling", ["WireContract", "CZlib"]), ("WatchSide", ["WireContract", "Spooling"]),
            ("DaemonRuntime", ["Glibc", "Darwin", "Dispatch", "Spooling", "WireContract"]),
            ("LivePair", ["Glibc", "Replay"]),
            ("Simulation", ["Spooling", "WatchSide", "PhoneSide"]), ("watch-sim", ["WatchSide", "DaemonRuntime"]),
            ("transfer-lab", ["PlantedFaults"]), ("PlantedFaults", ["Simulation", "Scenarios"]),
        ] {
            for module in modules { #expect(importBreaches(in: source(target, "import \(module)")).isEmpty) }
        }
        let payload = SourceFile("Sources/WireContract/AudioNotePayload.swift", "public import Foundation")
        #expect(importBreaches(in: payload).isEmpty)
    }

    @Test("a package dependency is seen, also in a manifest that says in a comment that it has none")
    func packageDependencies() {
        let comment = "// .package(url: …) is not used here\n"
        #expect(manifestBreaches(in: SourceFile("Package.swift", comment)).isEmpty)
        let bad = comment + "dependencies: [\n.package(url: \"https://example.com/x\", from: \"1.0.0\")]"
        #expect(manifestBreaches(in: SourceFile("Package.swift", bad)).map(\.line) == [3])
        let spread = ".testTarget(\n  name: \"T\",\n  dependencies: [\n\"A\",\n\"B\"]), .target(name: \"C\")"
        let read = targets(ofManifest: spread)
        #expect(read.map(\.name) == ["T", "C"])
        #expect(read.map(\.dependencies) == [["A", "B"], []])
        #expect(read.map(\.isTest) == [true, false])
    }

    @Test("a file that is too long, a line that is too long")
    func sizes() {
        let line = "let x = 1\n"
        #expect(sizeBreaches(in: source("X", String(repeating: line, count: largestLineCount))).isEmpty)
        #expect(sizeBreaches(in: source("X", String(repeating: line, count: largestLineCount + 1))).count == 1)
        for (start, longest) in [("", longestCodeLine), ("  // ", longestOtherLine), ("\"", longestOtherLine)] {
            let fits = start + String(repeating: "é", count: longest - start.count)
            #expect(sizeBreaches(in: source("X", "a\n\(fits)\n")).isEmpty)
            #expect(sizeBreaches(in: source("X", "a\n\(fits)x\n")).map(\.line) == [2])
        }
    }

    // The words stand here in two halves, so that the rule does not find them in its own test.
    @Test("unfinished things, traps", arguments: ["TO" + "DO: later", "FIX" + "ME", "X" + "XX", "HA" + "CK: works"])
    func unfinished(word: String) {
        #expect(unfinishedBreaches(in: source("X", "let a = 1\n  // \(word)\n")).map(\.line) == [2])
        #expect(unfinishedBreaches(in: source("X", "let text = \"prefix\(word)\"")).isEmpty)
        for trap in ["fatal" + "Error(\"x\")", "try" + "! f()", "x as" + "! Y"] {
            #expect(trapBreaches(in: source("X", "a\n\(trap)\n")).map(\.line) == [2])
            #expect(trapBreaches(in: source("X", "// \(trap)\nlet text = \"\(trap)\"")).isEmpty)
        }
        let fuzz = "fatal" + "Error(\"broken promise\")"
        #expect(trapBreaches(in: SourceFile("Tests/Fuzz/FuzzX.swift", fuzz)).isEmpty)
        #expect(trapBreaches(in: SourceFile("Tests/Fuzz/FuzzX.swift", "try" + "! f()")).count == 1)
    }

    @Test("a default, where none is known; one more than are known")
    func defaults() {
        let text = "switch x {\ncase .a: 1\n    default: 2\n}"
        #expect(defaultBreaches(in: source("X", text)).map(\.line) == [3])
        #expect(defaultBreaches(in: source("X", "f(default: 1)\nx[y, default: 0]\n// default:")).isEmpty)
        #expect(defaultBreaches(in: SourceFile("Sources/Spooling/FileName.swift", text)).isEmpty)
        #expect(defaultBreaches(in: SourceFile("Sources/Spooling/FileName.swift", text + "\n" + text)).count == 2)
    }

    @Test("a clock or chance outside of DaemonRuntime is seen")
    func determinism() {
        for bad in [
            "Date()", "let now = Date.now", "SystemRandomNumberGenerator()", "Int.random(in: 0..<3)", "Bool.random()",
            "let x: UInt8 = .random(in: 0...1)", "ContinuousClock.now", "UUID()", "names.shuffled()",
            "a.randomElement()",
            "key.hashValue",
        ] {
            #expect(determinismBreaches(in: source("PhoneSide", "\n\(bad)")).map(\.line) == [2], "\(bad)")
            #expect(determinismBreaches(in: source("DaemonRuntime", bad)).isEmpty)
        }
        for good in [
            "Int.random(in: 0..<3, using: &generator)", "surroundings.random()", ".random(seed: 1)", "step(at: now)",
            "// Date()", "\"Date()\"", "names.shuffled(using: &generator)", "lastUpdate()",
        ] {
            #expect(determinismBreaches(in: source("PhoneSide", good)).isEmpty, "\(good)")
        }
    }

    @Test("strangers at the top, scripts without their bit, links that lead nowhere")
    func pagesAndScripts() {
        #expect(topLevelBreaches(["Docs", ".git", ".build", "pair"], ignored: "/.build/\n/pair/\n").isEmpty)
        #expect(topLevelBreaches(["Docs", "notes.txt", ".build"], ignored: "").map(\.path) == [".build", "notes.txt"])
        #expect(scriptBreaches("Scripts/demo", permissions: 0o644, firstBytes: "").count == 1)
        #expect(scriptBreaches("Docs/Audio/make", permissions: 0o644, firstBytes: "#!").count == 1)
        #expect(scriptBreaches("Scripts/demo", permissions: 0o755, firstBytes: "#!").isEmpty)
        #expect(scriptBreaches("Docs/Spool.md", permissions: 0o644, firstBytes: "# ").isEmpty)

        let there: Set<String> = ["README.md", "Docs/Spool.md", "Docs/Two words.md", "Scripts"]
        let page = """
            [a](Spool.md) and [b](../README.md#top), [c](#here), [d](https://example.com/x), [e](<Two%20words.md>)
            [f](../Scripts/) ![g](Spool.md "title")
            [bad](Missing.md) [good](Spool.md)
            ```
            [in code](Nowhere.md)
            ```
            [bad](../../outside.md)
            [bad](/Docs/Spool.md)
            [ref]: Lost.md
            [ref]: Spool.md
            """
        let found = linkBreaches(in: SourceFile("Docs/Page.md", page)) { there.contains($0) }
        #expect(found.map(\.line) == [3, 7, 8, 9])
    }
}
