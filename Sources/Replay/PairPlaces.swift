/// Where the folders of one run lie, in either world: each watch has a home and a spool of its own, and there is one phone.
package struct PairPlaces: Hashable, Sendable {
    /// The folder that holds all of them.
    package var root: String

    package init(root: String) { self.root = root }

    package var phoneHome: String { root + "/phone" }

    /// The home of the watch with that number, from 1.
    package func watchHome(_ number: UInt8) -> String { root + "/watch" + Self.suffix(number) }

    /// The spool between that watch and the phone.
    package func spool(_ number: UInt8) -> String { root + "/spool" + Self.suffix(number) }

    private static func suffix(_ number: UInt8) -> String { number == 1 ? "" : "-\(number)" }
}
