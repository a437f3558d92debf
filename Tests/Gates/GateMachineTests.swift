import CivilTime
import Decision
import Gates
import Support
import Testing

struct GateMachineTests {
    @Test func oneStartClosesAndTheConfirmedMoveIsReported() throws {
        var gate = try GateTranscript.settled(
            units: ["app.service": UnitStatus(.active), "web.service": UnitStatus(.active)])
        gate.decide(1, .maintenance)
        try gate.at(1.01, started: .maintenance)
        try gate.at(1.02, "app.service", is: .inactive)
        try gate.at(1.03, "web.service", is: .inactive)
        try gate.at(1.04, .open, is: .inactive)
        try gate.at(1.05, .closed, is: .active)
        try gate.at(1.06, .maintenance, is: .active)
        try gate.readMoved(
            1.07, from: .open, with: ["app.service", "web.service"], to: .closed, .maintenance)
        gate.expect(
            """
            1s shop decided: closed maintenance
                start killswitch-maintenance@shop.target
            1.01s start killswitch-maintenance@shop.target: queued
            1.02s app.service is inactive
            1.03s web.service is inactive
            1.04s killswitch-open@shop.target is inactive
            1.05s killswitch-closed@shop.target is active
            1.06s killswitch-maintenance@shop.target is active
            1.07s killswitch-open@shop.target read: inactive
            1.07s killswitch-closed@shop.target read: active
            1.07s killswitch-maintenance@shop.target read: active
                log notice: shop: gate closed in 70 ms; units stopped: app.service 20 \
            ms, web.service 30 ms
            """)
    }

    /// Starting an active target would also start units that the administrator has stopped.
    @Test func aGateThatStandsAsDecidedIsNotTouched() throws {
        var gate = try GateTranscript.started(.open)
        gate.forget()
        gate.decide(1, .running)
        #expect(gate.text == "1s shop decided: open running\n")
        #expect(gate.machine.overview.isReady)
    }

    @Test func aVerdictThatComesBeforeTheBusIsCarriedOutOnceTheBusIsThere() throws {
        var gate = try GateTranscript()
        gate.at(0, .started)
        gate.decide(0.1, .ended)
        #expect(!gate.machine.overview.isReady)
        gate.forget()
        try gate.list(0.2, .open)
        gate.expect(
            """
            0.2s listed killswitch-open@shop.target=active
                start killswitch-ended@shop.target
            """)
        #expect(!gate.machine.overview.isReady)
        try gate.at(0.3, started: .ended)
        #expect(gate.machine.overview.isReady)
    }

    @Test func readinessWaitsForABusThatHangsForTenSecondsAtMost() throws {
        var gate = try GateTranscript(showsAll: true)
        gate.at(0, .started)
        gate.decide(1, .running)
        #expect(gate.text.hasSuffix("    sleep 10000 ms\n"))
        gate.at(11, .woke)
        #expect(gate.machine.overview.isReady)
    }

    /// The first job stops units that the second verdict would have kept. It is not confirmed yet, so the
    /// machine starts the open target although it still looks active.
    @Test func aFlipInTheMiddleOfAMoveAsksForTheOtherWayAtOnce() throws {
        var gate = try GateTranscript.settled().decided(1, .ended)
        gate.forget()
        gate.decide(1.01, .running)
        gate.expect(
            """
            1.01s shop decided: open running
                start killswitch-open@shop.target
            """)
    }

    @Test func aStateThatTheGateDoesNotStopIsStoppedFirst() throws {
        var gate = try GateTranscript.started(.closed, .updateRequired)
        gate.decide(0, DesiredGate(gate: .closed, state: .updateRequired))
        gate.forget()
        gate.decide(1, .running)
        gate.expect(
            """
            1s shop decided: open running
                stop killswitch-update-required@shop.target
                start killswitch-open@shop.target
            """)
    }

    @Test func anotherVariantStopsTheOneBefore() throws {
        var gate = try GateTranscript.settled(DesiredGate(gate: .open, state: .running))
        gate.decide(1, DesiredGate(gate: .open, state: .running, variant: "v1"))
        try gate.at(1.1, .variant("v1"), is: .active)
        try gate.at(1.1, started: .variant("v1"))
        gate.forget()
        gate.decide(2, DesiredGate(gate: .open, state: .running, variant: "v2"))
        gate.expect(
            """
            2s shop decided: open running v2
                stop killswitch-variant@shop:v1.target
                start killswitch-variant@shop:v2.target
            """)
    }

    @Test func aRefusedMoveIsSaidOnceAndTriedAgainWithBackOff() throws {
        var gate = try GateTranscript.settled()
        gate.decide(1, DesiredGate(gate: .closed, state: .maintenance))
        gate.forget()
        gate.at(1.2, taken: .start(try target(.maintenance)), problem: "access denied")
        gate.at(1.3, .systemStateRead(isStopping: false))
        gate.at(2.3, .woke)
        gate.at(2.4, .systemStateRead(isStopping: false))
        gate.at(2.5, taken: .start(try target(.maintenance)), problem: "access denied")
        gate.at(2.6, .systemStateRead(isStopping: false))
        gate.expect(
            """
            1.2s start killswitch-maintenance@shop.target: access denied
                ask whether the system is stopping
            1.3s the system is up
                log error: shop: start 'killswitch-maintenance@shop.target': access denied; retrying
            2.3s woke
                ask whether the system is stopping
            2.4s the system is up
                start killswitch-maintenance@shop.target
            2.5s start killswitch-maintenance@shop.target: access denied
                ask whether the system is stopping
            2.6s the system is up
            """)
        #expect(gate.problems == ["shop: its gate cannot be moved: access denied"])
    }

    @Test func aMoveThatWasQueuedAndLeftNoTraceIsAskedForAgain() throws {
        var gate = try GateTranscript.settled().decided(1, .ended)
        try gate.at(1.1, started: .closed, .ended)
        gate.forget()
        gate.at(3, .woke)
        gate.at(3.1, .systemStateRead(isStopping: false))
        gate.expect(
            """
            3s woke
                ask whether the system is stopping
            3.1s the system is up
                start killswitch-closed@shop.target
                start killswitch-ended@shop.target
            """)
    }

    @Test func aJobThatWaitsForAUnitToStopIsLeftAlone() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        gate.decide(1, .ended)
        try gate.at(1.1, started: .closed, .ended)
        try gate.at(1.2, .closed, is: .inactive, hasJob: true)
        gate.forget()
        gate.at(3, .woke)
        gate.at(5, .woke)
        #expect(gate.text == "3s woke\n5s woke\n")
    }

    /// As after kill -9 between the two moves of one verdict: the machine compares the targets with the verdict.
    @Test func aDaemonThatWasKilledBetweenTwoMovesMakesTheSecond() throws {
        var gate = try GateTranscript.started(.closed)
        gate.forget()
        gate.decide(1, .ended)
        gate.expect(
            """
            1s shop decided: closed ended
                start killswitch-ended@shop.target
            """)
    }

    @Test func aServiceThatIsNotConfiguredAnyMoreMovesNothingAndItsUnitsAreNamed() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        gate.at(1, .withdrawn(gate.shop))
        try gate.at(2, .open, is: .inactive)
        try gate.at(2, "web.service", is: .inactive)
        gate.expect(
            """
            1s shop withdrawn
                log warning: service 'shop' is not configured, but units are attached to it: \
            web.service; its gate stays as it is
            2s killswitch-open@shop.target is inactive
            2s web.service is inactive
            """)
    }

    /// Anybody may have systemd load a target of any name. A million of them would fill the memory.
    @Test func aTargetThatNobodyNeedsLeavesNothing() throws {
        var gate = try GateTranscript.settled()
        let before = gate.machine
        let names = [
            "killswitch-open@other.target", "killswitch-closed@other.target",
            "killswitch-variant@other:blue.target", "killswitch-variant@shop:blue.target",
            "killswitch-notice@shop.target",
        ].compactMap { UnitName($0) }
        for name in names { gate.at(1, .unitChanged(name, UnitStatus(.inactive))) }
        gate.at(1, .unitChanged(names[0], UnitStatus(.active)))
        gate.at(1, .systemStateRead(isStopping: false))
        for name in names { gate.at(1, .unitRead(name, UnitSnapshot(UnitStatus(.inactive)))) }
        #expect(gate.machine == before)
        gate.at(
            2, .unitRead(names[0], UnitSnapshot(UnitStatus(.active), requisiteOf: ["a.service"])))
        #expect(gate.machine.isOrphan("other"))
    }

    /// Somebody has started the target of a variant before the service was configured.
    @Test func theTargetsOfANewServiceAreListed() throws {
        var gate = try GateTranscript.settled()
        let (open, blue) = (try unit(.open, of: "new"), try unit(.variant("blue"), of: "new"))
        gate.at(1, .decided("new", .running))
        for kind in [GateTarget.Kind.open, .closed] {
            let target = try unit(kind, of: "new")
            gate.at(
                1, .unitRead(target, UnitSnapshot(UnitStatus(kind == .open ? .active : .inactive))))
        }
        #expect(gate.text.contains("    list\n"))
        gate.at(
            1,
            .jobAnswered(.start(GateTarget(service: "new", kind: .open)), problem: nil, number: 1))
        gate.at(
            2,
            .targetsListed([
                try unit(.open): UnitStatus(.active), open: UnitStatus(.active),
                blue: UnitStatus(.active),
            ]))
        for second in [5.0, 60] {
            gate.at(second, .woke)
            gate.at(second, .systemStateRead(isStopping: false))
        }
        #expect(gate.text.contains("stop \(blue)"), "\(gate.text)")
    }

    @Test func aRepeatedVerdictMovesNothing() throws {
        let gate = try GateTranscript.settled().decided(1, .running)
        #expect(gate.text == "1s shop decided: open running\n")
    }
}
