import Monitors
import PlantedFaults
import Replay
import Simulation
import Testing

/// The bench finds what is wrong, and accuses nobody else.
struct PlantedFaultsTests {
    @Test("a planted fault breaks its promise, and no other", arguments: PlantedFault.allCases)
    func isFound(_ fault: PlantedFault) {
        let report = World(fault.scenario, plant: fault.make()).run()
        guard case .violated(let violations) = report.verdict else {
            Issue.record("\(fault) is not found: \(report.verdict) \(report.complaints)")
            return
        }
        let broken = Promise.allCases.filter { promise in violations.contains { $0.promise == promise } }
        #expect(broken == fault.breaks, "\(report.complaints.joined(separator: "\n"))")
        #expect(report.troubles.isEmpty)
    }

    @Test("without the fault its scenario holds", arguments: PlantedFault.allCases)
    func healthyPairHolds(_ fault: PlantedFault) {
        let report = World(fault.scenario).run()
        #expect(report.outcome == .held, "\(report.complaints.joined(separator: "\n"))")
        #expect(report.recordedCount > 0)
    }

    @Test("a planted fault shows in the same way each time", arguments: PlantedFault.allCases)
    func isTheSameEachTime(_ fault: PlantedFault) {
        let digests = (0..<2).map { _ in World(fault.scenario, plant: fault.make()).run().digest }
        #expect(digests[0] == digests[1])
    }

    @Test("a plant that does nothing changes nothing", arguments: PlantedFault.allCases)
    func forwardingIsTransparent(_ fault: PlantedFault) {
        let planted = World(fault.scenario, plant: HarmlessPlant.nothing.make()).run()
        #expect(planted.outcome == .held)
        #expect(planted.digest == World(fault.scenario).run().digest)
    }

    @Test("a sync that fails, and that nobody tries again, costs nothing")
    func failedSyncIsSurvived() {
        let report = World(PlantedFault.failedSyncRetried.scenario, plant: HarmlessPlant.failingSync.make()).run()
        #expect(report.outcome == .held, "\(report.complaints.joined(separator: "\n"))")
        #expect(report.verifiedCount > 0)
    }

    @Test("there is one for every promise, at least four of every family, and each says what it is")
    func table() {
        #expect(PlantedFault.allCases.count >= 26)
        for promise in Promise.allCases {
            #expect(PlantedFault.allCases.contains { $0.breaks == [promise] }, "\(promise)")
        }
        for family in PlantedFault.Family.allCases {
            #expect(PlantedFault.allCases.count { $0.family == family } >= 4, "\(family)")
        }
        #expect(Set(PlantedFault.allCases.map(\.says)).count == PlantedFault.allCases.count)
    }
}
