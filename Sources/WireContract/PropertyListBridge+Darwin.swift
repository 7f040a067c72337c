#if canImport(Darwin)
    import Foundation

    /// Whether the number was made from a Bool: the two booleans are objects of a class of their own. The type `c` would
    /// not do, an Int8 has it too.
    func isBoolean(_ number: NSNumber) -> Bool {
        CFGetTypeID(number) == CFBooleanGetTypeID()
    }
#endif
