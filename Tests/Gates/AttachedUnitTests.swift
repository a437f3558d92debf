import CivilTime
import Decision
import Gates
import Support
import Testing

struct AttachedUnitTests {
    private func closing(_ units: [String: UnitStatus]) throws -> GateTranscript {
        var gate = try GateTranscript.settled(units: units).decided(1, .ended)
        try gate.at(1, started: .closed, .ended)
        gate.forget()
        return gate
    }

    @Test func aUnitThatIsUpPastItsStopLimitIsAnErrorThatNamesIt() throws {
        var gate = try closing(["web.service": UnitStatus(.active)])
        try gate.at(1.1, started: .closed, .ended)
        try gate.at(1.2, .closed, is: .inactive, hasJob: true)
        try gate.at(1.2, "web.service", is: .deactivating, hasJob: true)
        gate.forget()
        gate.at(12.9, .woke)
        gate.at(13, .woke)
        gate.at(14, .woke)
        gate.expect(
            """
            12.9s woke
            13s woke
                log error: shop: unit 'web.service': it has not stopped within its limit of 10 s
            14s woke
            """)
        #expect(
            gate.problems == [
                "unit 'web.service' of 'shop': it has not stopped within its limit of 10 s"
            ])
        try gate.at(20, "web.service", is: .inactive)
        #expect(gate.problems.isEmpty)
    }

    @Test func aUnitThatWasKilledAtItsLimitIsSaidToHaveBeen() throws {
        var gate = try closing(["web.service": UnitStatus(.active)])
        try gate.at(2, "web.service", is: .failed)
        gate.forget()
        try gate.read(2.1, "web.service", .failed, result: "timeout")
        gate.expect(
            """
            2.1s web.service read: failed
                log warning: shop: unit 'web.service': it did not stop within its stop limit, \
            and systemd killed it
            """)
    }

    /// It was stopped during ExecStartPre.
    @Test func aUnitThatFailedWhileItStoppedIsDown() throws {
        var gate = try closing(["web.service": UnitStatus(.activating)])
        try gate.at(2, "web.service", is: .failed)
        try gate.read(2.1, "web.service", .failed, result: "signal")
        #expect(gate.text == "2s web.service is failed\n2.1s web.service read: failed\n")
    }

    @Test func aUnitWithoutAStopLimitHasNinetySeconds() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        try gate.read(0, "web.service", .active)
        gate.decide(1, .ended)
        try gate.at(1, started: .ended)
        gate.forget()
        gate.at(92.9, .woke)
        gate.at(93, .woke)
        gate.expect(
            """
            92.9s woke
                ask whether the system is stopping
            93s woke
                log error: shop: unit 'web.service': it has not stopped within its limit of 90 s
            """)
    }

    @Test func aFailedUnitBehindAnOpenGateIsSaidOnceWithItsResult() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        try gate.at(1, "web.service", is: .failed)
        let failed = UnitSnapshot(UnitStatus(.failed), result: "exit-code")
        gate.at(1.1, .unitRead("web.service", failed))
        gate.at(1.2, .unitRead("web.service", failed))
        gate.expect(
            """
            1s web.service is failed
            1.1s web.service read: failed
                log error: shop: unit 'web.service': it failed with result 'exit-code'
            1.2s web.service read: failed
            """)
    }

    @Test func aUnitThatTheAdministratorStoppedIsLeftAlone() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        try gate.at(1, "web.service", is: .deactivating, hasJob: true)
        try gate.at(2, "web.service", is: .inactive)
        gate.at(60, .woke)
        gate.expect(
            """
            1s web.service is deactivating with a job
            2s web.service is inactive
            60s woke
            """)
    }

    @Test func aUnitThatRunsBehindAClosedGateIsStoppedByItsTarget() throws {
        var gate = try GateTranscript.settled(.ended, units: ["web.service": UnitStatus(.inactive)])
        try gate.at(1, "web.service", is: .active)
        gate.expect(
            """
            1s web.service is active
                stop killswitch-open@shop.target
                log warning: shop: unit 'web.service': it ran although the gate is closed; \
            killswitchd is stopping it
            """)
        gate.forget()
        gate.at(1.1, taken: .stop(try target(.open)))
        gate.at(1.2, .woke)
        gate.at(2, .woke)
        gate.expect(
            """
            1.1s stop killswitch-open@shop.target: queued
            1.2s woke
            2s woke
                stop killswitch-open@shop.target
            """)
    }

    /// An earlier failure does not matter: the opening starts the unit again.
    @Test func aUnitThatHadFailedBeforeTheGateOpensIsNoErrorOfTheOpening() throws {
        var gate = try GateTranscript.settled(.ended, units: ["web.service": UnitStatus(.failed)])
        try gate.read(0.5, "web.service", .failed, result: "timeout")
        gate.decide(1, .running)
        try gate.at(1.1, started: .open)
        gate.expect(
            """
            0.5s web.service read: failed
            1s shop decided: open running
                start killswitch-open@shop.target
            1.1s start killswitch-open@shop.target: queued
            """)
    }

    @Test func anOpeningIsDoneWhenItsUnitsHaveStarted() throws {
        var gate = try GateTranscript.settled(.ended, units: ["web.service": UnitStatus(.inactive)])
        gate.decide(1, .running)
        try gate.at(1.1, started: .open)
        try gate.at(1.2, inactive: [.closed, .ended], active: [.open])
        try gate.at(1.3, "web.service", is: .activating, hasJob: true)
        try gate.read(1.4, .open, .active, ["web.service"])
        try gate.read(1.4, .closed, .inactive)
        try gate.read(1.4, "web.service", .activating, hasJob: true)
        gate.forget()
        try gate.at(1.5, "web.service", is: .active)
        gate.expect(
            """
            1.5s web.service is active
                log notice: shop: gate opened in 500 ms; units started: web.service 500 \
            ms
            """)
    }

    @Test func aUnitThatCouldNotBeStartedIsNotSaidToBe() throws {
        var gate = try GateTranscript.settled(
            .ended,
            units: ["api.service": UnitStatus(.inactive), "web.timer": UnitStatus(.inactive)])
        gate.decide(1, .running)
        try gate.at(1.1, started: .open)
        try gate.at(1.2, inactive: [.closed, .ended], active: [.open])
        try gate.read(1.3, .open, .active, ["api.service", "web.timer"])
        try gate.read(1.3, .closed, .inactive)
        try gate.read(1.3, "api.service", .active)
        gate.forget()
        try gate.read(1.4, "web.timer", .failed, result: "start-limit-hit")
        gate.expect(
            """
            1.4s web.timer read: failed
                log error: shop: unit 'web.timer': it failed with result 'start-limit-hit'
                log notice: shop: gate opened in 400 ms; units started: api.service 300 ms
            """)
    }

    /// The signals of the stop come after the opening was ordered: a unit that was seen running may be down.
    @Test func anOpeningInTheMiddleOfAClosingWaitsForWhatIsReadAnew() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        gate.decide(1, .ended)
        gate.decide(1.1, .running)
        try gate.at(1.2, started: .closed, .ended, .open, .open)
        gate.at(1.2, taken: .stop(try target(.ended)))
        try gate.at(1.3, "web.service", is: .inactive)
        try gate.at(1.3, .open, is: .active)
        try gate.read(1.4, .open, .active, ["web.service"])
        try gate.read(1.4, .closed, .inactive)
        gate.forget()
        gate.at(1.5, .unitRead("web.service", UnitSnapshot(UnitStatus(.active))))
        #expect(gate.text.contains("gate opened in 400 ms; units started: web.service"))
    }

    /// The unit stays attached to another service, so that the machine still knows it, but not for this gate.
    @Test func aUnitThatIsDetachedInTheMiddleOfAMoveIsNotAwaitedByThatGate() throws {
        var gate = try GateTranscript.shared(with: "mail")
        gate.at(1, .decided("mail", .ended))
        for kind in [GateTarget.Kind.closed, .ended] {
            gate.at(1.1, taken: .start(GateTarget(service: "mail", kind: kind)))
            gate.at(1.1, .unitChanged(try unit(kind, of: "mail"), UnitStatus(.active)))
        }
        gate.at(1.1, .unitChanged(try unit(.open, of: "mail"), UnitStatus(.inactive)))
        gate.at(1.2, .unitRead(try unit(.closed, of: "mail"), UnitSnapshot(UnitStatus(.active))))
        gate.at(1.2, .unitRead(try unit(.ended, of: "mail"), UnitSnapshot(UnitStatus(.active))))
        gate.forget()
        gate.at(1.2, .unitRead(try unit(.open, of: "mail"), UnitSnapshot(UnitStatus(.inactive))))
        gate.expect(
            """
            1.2s killswitch-open@mail.target read: inactive
                log notice: mail: gate closed in 200 ms
            """)
    }
}
