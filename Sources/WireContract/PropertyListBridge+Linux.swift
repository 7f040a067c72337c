#if os(Linux)
    import Foundation

    /// Whether the number was made from a Bool. swift-corelibs-foundation gives the type `c` to booleans only (an Int8 has
    /// `i`); a test keeps that.
    func isBoolean(_ number: NSNumber) -> Bool {
        UInt8(bitPattern: number.objCType.pointee) == UInt8(ascii: "c")
    }
#endif
