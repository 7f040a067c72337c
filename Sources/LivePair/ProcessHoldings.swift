/// What a process holds at a moment: what must not grow, however long it runs.
package struct ProcessHoldings: Sendable, Equatable {
    /// Open descriptors.
    package var descriptorCount: Int
    /// Memory that is resident now.
    package var residentByteCount: UInt64

    package init(descriptorCount: Int, residentByteCount: UInt64) {
        self.descriptorCount = descriptorCount
        self.residentByteCount = residentByteCount
    }

    /// Of this process.
    package static var own: ProcessHoldings? { holdings(ofProcess: ownProcessID) }
}
