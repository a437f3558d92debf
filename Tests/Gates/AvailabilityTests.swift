import CivilTime
import Decision
import Gates
import Support
import Testing

/// Whether people see the page of a service while its gate opens: `unavailable`.
struct AvailabilityTests {
    /// A closed gate whose units are down.
    private func closed(_ units: String..., starts: Set<String>? = nil) throws -> GateTranscript {
        try GateTranscript.settled(
            .maintenance, units: units.reduce(into: [:]) { $0[$1] = UnitStatus(.inactive) },
            starts: starts)
    }

    private func isUnavailable(_ gate: GateTranscript, at seconds: Double) -> Bool? {
        gate.report(at: seconds)?.isUnavailable
    }

    /// The flags open the gate, and systemd moves the targets; then it tells the units of the open target.
    private func open(_ gate: inout GateTranscript, at time: Double, _ units: String...) throws {
        gate.decide(time, .running)
        gate.at(time, taken: .stop(try target(.maintenance)))
        try gate.at(time, started: .open)
        for name in units { try gate.at(time, name, is: .inactive, hasJob: true) }
        try gate.at(time, inactive: [.maintenance, .closed], active: [.open])
        let names = try units.map { try unitName($0) }
        try gate.read(time, .open, .active, names)
        try gate.read(time, .closed, .inactive)
    }

    private func read(
        _ gate: inout GateTranscript, at time: Double, _ name: String, _ seen: UnitStatus,
        startLimit: Duration? = nil
    ) throws {
        var properties = UnitSnapshot(
            seen, result: seen.active == .failed ? "exit-code" : "success",
            stopLimit: .seconds(10))
        properties.startLimit = startLimit
        gate.at(time, .unitRead(try unitName(name), properties))
    }

    @Test func thePageStaysUntilTheLastUnitIsUp() throws {
        var gate = try closed("app.service", "web.service")
        #expect(isUnavailable(gate, at: 0.5) == true)
        try open(&gate, at: 1, "app.service", "web.service")
        #expect(isUnavailable(gate, at: 1) == true)
        try read(&gate, at: 1.1, "app.service", UnitStatus(.active))
        try read(&gate, at: 1.1, "web.service", UnitStatus(.activating, hasJob: true))
        #expect(isUnavailable(gate, at: 1.1) == true)
        try gate.at(3, "web.service", is: .active)
        #expect(isUnavailable(gate, at: 3) == false)
        // From now on a unit that fails or restarts is what it is.
        try gate.at(4, "web.service", is: .activating, hasJob: true)
        #expect(isUnavailable(gate, at: 4) == false)
    }

    @Test func aUnitThatHasFailedDoesNotKeepPeopleFromTheOthers() throws {
        var gate = try closed("app.service", "web.service")
        try open(&gate, at: 1, "app.service", "web.service")
        try read(&gate, at: 1.1, "app.service", UnitStatus(.active))
        try read(&gate, at: 1.2, "web.service", UnitStatus(.failed))
        #expect(isUnavailable(gate, at: 1.2) == false)
        #expect(
            gate.text.contains(
                "log error: shop: unit 'web.service': it failed with result 'exit-code'"))
    }

    /// The time counts from the last unit that came up: one may wait for another.
    @Test func aUnitThatHangsKeepsThePageForItsStartLimit() throws {
        var gate = try closed("app.service", "web.service")
        try open(&gate, at: 1, "app.service", "web.service")
        let starting = UnitStatus(.activating, hasJob: true)
        try read(&gate, at: 1, "app.service", starting, startLimit: .seconds(20))
        try read(&gate, at: 1, "web.service", starting, startLimit: .seconds(20))
        try gate.at(15, "app.service", is: .active)
        gate.at(36.9, .woke)
        #expect(isUnavailable(gate, at: 36.9) == true)
        gate.forget()
        gate.at(37, .woke)
        #expect(isUnavailable(gate, at: 37) == false)
        gate.expect(
            """
            37s woke
                log warning: shop: not up after 22 s: web.service; web servers send requests to the \
            service from now on
            """)
        // It is told once, and the page does not come back.
        gate.at(60, .woke)
        try gate.at(61, "web.service", is: .inactive, hasJob: true)
        #expect(isUnavailable(gate, at: 61) == false && !gate.text.contains("61s say"))
        #expect(gate.report(at: 61)?.actual == .opening)
    }

    @Test func aUnitWithoutALimitHasTheTimeThatSystemdGivesOthers() throws {
        var gate = try closed("web.service")
        try open(&gate, at: 1, "web.service")
        try read(&gate, at: 1, "web.service", UnitStatus(.activating, hasJob: true))
        #expect(isUnavailable(gate, at: 92.9) == true)
        gate.at(93, .woke)
        #expect(isUnavailable(gate, at: 93) == false)
    }

    @Test func withoutUnitsPeopleAreLetInWithTheDecision() throws {
        let gate = try closed().decided(1, .running)
        #expect(isUnavailable(gate, at: 1) == false)
        var permitted = try closed("app.service", starts: [])
        permitted.decide(1, .running)
        #expect(isUnavailable(permitted, at: 1) == false)
    }

    @Test func aMoveThatSystemdRefusesLeavesThePage() throws {
        var gate = try closed("web.service").decided(1, .running)
        let refused = GateObstacle.noPermission("Access denied")
        gate.at(1, .jobAnswered(.start(try target(.open)), problem: refused))
        gate.at(1, .systemStateRead(isStopping: false))
        #expect(isUnavailable(gate, at: 1) == true)
        gate.at(200, .busLost(problem: "gone"))
        #expect(isUnavailable(gate, at: 200) == true)
    }

    /// Without a bus nobody knows the units: who attaches none has his page follow the decision.
    @Test func withoutABusAPageFollowsTheDecisionUnlessUnitsAreAttached() throws {
        var gate = try GateTranscript()
        gate.at(0, .started)
        gate.at(0, .busLost(problem: "no bus"))
        gate.decide(0, .running)
        #expect(isUnavailable(gate, at: 20) == false)
        gate.at(21, .dropInsRead([try target(.open): ["web.service"]]))
        let report = try #require(gate.report(at: 21))
        #expect(report.isUnavailable == nil)
    }

    /// The daemon is restarted while everything runs, or while a unit starts.
    @Test(arguments: [(ActiveState.active, false), (.activating, true)])
    func aNewDaemonFindsWhatIs(_ state: ActiveState, _ expected: Bool) throws {
        var gate = try GateTranscript()
        gate.at(0, .started)
        gate.decide(0, .running)
        gate.at(0.1, .dropInsRead([try target(.open): ["web.service"]]))
        #expect(isUnavailable(gate, at: 0.1) == nil)
        try gate.list(0.2, .open)
        #expect(isUnavailable(gate, at: 0.2) == nil)
        try gate.read(0.3, .open, .active, ["web.service"])
        try gate.read(0.3, .closed, .inactive)
        #expect(isUnavailable(gate, at: 0.3) != !expected)
        try read(&gate, at: 0.4, "web.service", UnitStatus(state, hasJob: expected))
        #expect(isUnavailable(gate, at: 0.4) == expected)
        try gate.at(5, "web.service", is: .active)
        #expect(isUnavailable(gate, at: 5) == false)
    }

    /// Files and markers say closed from the beginning of a drain on.
    @Test func aDrainShowsThePageAtOnce() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        #expect(isUnavailable(gate, at: 0.5) == false)
        gate.decide(1, .maintenance, drainsUntil: 60)
        #expect(isUnavailable(gate, at: 1) == true)
        gate.decide(2, .running)
        #expect(isUnavailable(gate, at: 2) == false)
    }

    /// The unit is not up although its gate is open: another one keeps it down.
    @Test func aUnitThatAnotherServiceKeepsDownKeepsThePage() throws {
        var gate = try GateTranscript.shared(with: "api")
        #expect(isUnavailable(gate, at: 0.5) == false)
        gate.at(1, .decided("api", .maintenance))
        try gate.at(1.1, "web.service", is: .inactive)
        #expect(isUnavailable(gate, at: 1.1) == true)
    }

    /// Variants of an open service take turns; only an opening waits for them.
    @Test func aVariantThatChangesDoesNotShowThePage() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        let variant = try target(.variant("v2"))
        gate.at(
            1,
            .unitRead(
                try #require(variant.unit),
                UnitSnapshot(
                    UnitStatus(.inactive), requisiteOf: ["blue.service"], wants: ["blue.service"])))
        try read(&gate, at: 1, "blue.service", UnitStatus(.inactive))
        gate.decide(2, DesiredGate(gate: .open, state: .running, variant: "v2"))
        try gate.at(2.1, "blue.service", is: .activating, hasJob: true)
        #expect(isUnavailable(gate, at: 2.1) == false)
    }
}
