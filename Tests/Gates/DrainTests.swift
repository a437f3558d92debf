import CivilTime
import Decision
import Gates
import Support
import Testing

/// A drain: units run on for a while after the gate has closed.
struct DrainTests {
    private func running() throws -> GateTranscript {
        try .settled(units: ["app.service": UnitStatus(.active)], showsGates: true)
    }

    @Test func theTargetsMoveAfterTheDrain() throws {
        var gate = try running().decided(1, .maintenance, drainsUntil: 21)
        gate.at(20.9, .woke)
        gate.at(21, .woke)
        gate.expect(
            """
            1s shop decided: closed maintenance
                gate of shop: closing 0/1
            20.9s woke
            21s woke
                start killswitch-maintenance@shop.target
                gate of shop: closing 0/1
            """)
    }

    @Test func aGateThatOpensAgainHasNeverStoppedItsUnits() throws {
        var gate = try running().decided(1, .maintenance, drainsUntil: 21)
        gate.decide(5, .running)
        gate.at(21, .woke)
        #expect(!gate.text.contains("start "), "\(gate.text)")
    }

    /// On a read-only directory the marker stays closed, and the drain ended: it stopped units of an open service.
    @Test(arguments: [DesiredGate.running, .ended])
    func anOpeningThatCannotBeWrittenKeepsTheUnitsUp(_ next: DesiredGate) throws {
        var gate = try running().decided(1, .maintenance, drainsUntil: 21)
        gate.at(5, .openingDelayed("shop"))
        gate.at(21, .woke)
        #expect(!gate.text.contains("start "), "\(gate.text)")
        gate.decide(30, next)
        #expect(gate.text.contains("start killswitch-ended@shop.target") == (next == .ended))
    }

    /// It asked systemd again and again whether the system is stopping.
    @Test func aHeldGateThatSomebodyClosesIsClosed() throws {
        var gate = try running().decided(1, .maintenance, drainsUntil: 21)
        gate.at(5, .openingDelayed("shop"))
        try gate.at(6, .open, is: .inactive)
        try gate.at(6, .closed, is: .active)
        gate.forget()
        gate.at(6.1, .systemStateRead(isStopping: false))
        #expect(!gate.text.contains("ask whether"), "\(gate.text)")
        gate.decide(30, .running)
        #expect(gate.text.contains("start killswitch-open@shop.target"), "\(gate.text)")
    }

    @Test func anEmergencyDuringADrainStopsThemAtOnce() throws {
        var gate = try running().decided(1, .maintenance, drainsUntil: 21)
        gate.decide(5, .ended)
        #expect(gate.text.contains("start killswitch-ended@shop.target"), "\(gate.text)")
    }

    @Test func aClosedGateHasNothingToDrain() throws {
        let gate = try GateTranscript.settled(.maintenance).decided(1, .ended, drainsUntil: 21)
        #expect(gate.text.contains("start killswitch-ended@shop.target"), "\(gate.text)")
    }

    @Test func aDaemonThatStartsDuringADrainWaitsForItsEnd() throws {
        var gate = try GateTranscript.started(.open)
        gate.forget()
        gate.decide(1, .maintenance, drainsUntil: 3)
        gate.at(2, .woke)
        #expect(!gate.text.contains("start "), "\(gate.text)")
        gate.at(3, .woke)
        #expect(gate.text.contains("start killswitch-maintenance@shop.target"), "\(gate.text)")
    }

    // MARK: Units

    /// It has crashed, and its assertion has refused its start: the marker stands. The targets stand open all the
    /// time, so that nothing started it when the gate opened again.
    @Test(arguments: [DesiredGate.running, DesiredGate(gate: .open, state: .countdown)])
    func aUnitThatCameDownIsStartedWhenTheGateOpensAgain(_ desired: DesiredGate) throws {
        var gate = try running().decided(1, .maintenance, drainsUntil: 21)
        try crash(&gate, at: 3)
        gate.forget()
        gate.decide(5, desired)
        #expect(gate.text.contains("start killswitch-open@shop.target"), "\(gate.text)")
        #expect(gate.text.contains("gate of shop: opening 0/1"), "\(gate.text)")
        for kind in [GateTarget.Kind.open] + (desired == .running ? [] : [.countdown]) {
            try gate.at(5.1, started: kind)
            try gate.at(5.1, kind, is: .active)
        }
        if desired != .running { try gate.read(5.2, .countdown, .active) }
        try gate.read(5.2, .open, .active, ["app.service"])
        try gate.read(5.2, .closed, .inactive)
        try gate.read(5.2, "app.service", .inactive, hasJob: true)
        #expect(!gate.text.contains("gate opened in"), "\(gate.text)")
        try gate.at(5.4, "app.service", is: .active)
        #expect(gate.text.contains("log notice: shop: gate opened in"), "\(gate.text)")
        #expect(gate.text.contains("gate of shop: open 1/1"), "\(gate.text)")
        #expect(gate.problems.isEmpty)
    }

    @Test func aStartThatSystemdRefusesIsAskedForAgain() throws {
        var gate = try running().decided(1, .maintenance, drainsUntil: 21)
        try crash(&gate, at: 3)
        gate.decide(5, .running)
        gate.at(5.1, taken: .start(try target(.open)), problem: "not permitted")
        gate.at(5.1, .systemStateRead(isStopping: false))
        gate.forget()
        gate.at(6.2, .woke)
        gate.at(6.2, .systemStateRead(isStopping: false))
        #expect(gate.text.contains("start killswitch-open@shop.target"), "\(gate.text)")
    }

    /// The bus is lost while the gate opens again: the start is made up for.
    @Test func aStartIsMadeUpForOnceTheBusIsBack() throws {
        var gate = try running().decided(1, .maintenance, drainsUntil: 21)
        gate.at(3, .busLost(problem: "no bus"))
        gate.decide(5, .running)
        gate.forget()
        try gate.list(6, .open)
        #expect(gate.text.contains("start killswitch-open@shop.target"), "\(gate.text)")
    }

    @Test func aDaemonThatStartedDuringADrainStartsUnitsToo() throws {
        var gate = try GateTranscript.started(.open).decided(1, .maintenance, drainsUntil: 21)
        try gate.attach(["app.service": UnitStatus(.inactive)], isOpen: true)
        gate.forget()
        gate.decide(5, .running)
        #expect(gate.text.contains("start killswitch-open@shop.target"), "\(gate.text)")
    }

    @Test func aStartThatADrainRefusesIsNoProblem() throws {
        var gate = try running().decided(1, .maintenance, drainsUntil: 21)
        try crash(&gate, at: 3)
        #expect(!gate.text.contains("has refused its start"), "\(gate.text)")
        #expect(gate.problems.isEmpty)
        gate.at(21, .woke)
        #expect(!gate.text.contains("has refused its start"), "\(gate.text)")
    }

    @Test func whatHasStoppedAlreadyIsCounted() throws {
        var gate = try GateTranscript.settled(
            units: ["app.service": UnitStatus(.active), "web.service": UnitStatus(.active)],
            showsGates: true)
        gate.decide(1, .maintenance, drainsUntil: 21)
        try gate.at(5, "web.service", is: .inactive)
        gate.expect(
            """
            1s shop decided: closed maintenance
                gate of shop: closing 0/2
            5s web.service is inactive
                gate of shop: closing 1/2
            """)
    }

    /// A new daemon does not know the units yet.
    @Test func nothingIsSaidOfUnitsThatAreNotKnownYet() throws {
        var gate = try GateTranscript(showsGates: true)
        gate.at(0, .started)
        gate.decide(0, .maintenance, drainsUntil: 21)
        try gate.list(0.1, .open)
        #expect(!gate.text.contains("gate of shop"), "\(gate.text)")
        try gate.attach(["app.service": UnitStatus(.active)], isOpen: true)
        #expect(gate.text.contains("gate of shop: closing 0/1"), "\(gate.text)")
    }

    // MARK: By hand

    /// The daemon once put the gate back: units were to run on behind a gate that somebody had closed, and that
    /// the flags close too.
    @Test(arguments: [false, true])
    func aGateThatSomebodyClosesDuringItsDrainStaysClosed(_ isStarted: Bool) throws {
        var gate = try running().decided(1, .maintenance, drainsUntil: 21)
        gate.forget()
        try gate.at(5, .open, is: .inactive)
        if isStarted { try gate.at(5, .closed, is: .active) }
        gate.at(5.1, .systemStateRead(isStopping: false))
        #expect(!gate.text.contains("start killswitch-open"), "\(gate.text)")
        #expect(gate.text.contains("start killswitch-maintenance@shop.target"), "\(gate.text)")
        #expect(!gate.text.contains("moves it back"), "\(gate.text)")
        gate.forget()
        // The same decision once more, as after a change of its texts.
        gate.decide(6, .maintenance, drainsUntil: 21)
        #expect(!gate.text.contains("start killswitch-open"), "\(gate.text)")
    }

    /// The same while the daemon had no bus.
    @Test func aGateThatSomebodyClosesWithoutABusStaysClosed() throws {
        var gate = try running().decided(1, .maintenance, drainsUntil: 21)
        gate.at(2, .busLost(problem: "no bus"))
        gate.forget()
        try gate.list(5, .closed)
        gate.at(5, .woke)
        #expect(!gate.text.contains("start killswitch-open"), "\(gate.text)")
        #expect(gate.text.contains("start killswitch-maintenance@shop.target"), "\(gate.text)")
    }

    /// systemd has refused to open the gate: no unit was started, and none is once the flags have closed it.
    @Test func aGateThatHasNeverOpenedHasNothingToDrain() throws {
        var gate = try GateTranscript.settled(.ended, units: ["app.service": UnitStatus(.inactive)])
        gate.decide(0.5, .running)
        gate.at(0.6, taken: .start(try target(.open)), problem: "not permitted")
        gate.forget()
        gate.decide(1, .maintenance, drainsUntil: 21)
        #expect(gate.text.contains("start killswitch-maintenance@shop.target"), "\(gate.text)")
        gate.at(3, .woke)
        #expect(!gate.text.contains("start killswitch-open"), "\(gate.text)")
    }

    /// Nobody has closed the gate by that.
    @Test func aTargetOfAStateThatSomebodyStopsIsPutBack() throws {
        var gate = try GateTranscript.settled()
        gate.decide(0.5, DesiredGate(gate: .open, state: .countdown))
        try gate.at(0.6, started: .countdown)
        try gate.at(0.6, .countdown, is: .active)
        try gate.readMoved(0.7, from: .closed, to: .open, .countdown)
        gate.decide(1, .maintenance, drainsUntil: 21)
        gate.forget()
        try gate.at(5, .countdown, is: .inactive)
        gate.at(5.1, .systemStateRead(isStopping: false))
        #expect(gate.text.contains("start killswitch-countdown@shop.target"), "\(gate.text)")
        #expect(!gate.text.contains("start killswitch-closed"), "\(gate.text)")
    }

    // MARK: The stage

    /// The unit crashes during the drain, and systemd refuses to start it again.
    private func crash(_ gate: inout GateTranscript, at seconds: Double) throws {
        try gate.at(seconds, "app.service", is: .inactive, hasJob: true)
        try gate.at(seconds, "app.service", is: .inactive)
        let refused = UnitSnapshot(UnitStatus(.inactive), isStartRefused: true)
        gate.at(seconds + 0.1, .unitRead("app.service", refused))
    }
}
