import CivilTime
import Decision
import Gates
import Support
import Testing

/// Administrators who move gates, a system that shuts down, and a lost bus.
extension GateMachineTests {
    @Test func aGateThatSomebodyElseMovedIsPutBack() throws {
        var gate = try GateTranscript.settled(.ended)
        try gate.at(1, .closed, is: .inactive)
        try gate.at(1.01, .open, is: .active)
        gate.at(1.1, .systemStateRead(isStopping: false))
        gate.expect(
            """
            1s killswitch-closed@shop.target is inactive
                ask whether the system is stopping
            1.01s killswitch-open@shop.target is active
            1.1s the system is up
                start killswitch-closed@shop.target
                log warning: shop: somebody else has moved the gate; killswitchd moves it back to closed
            """)
    }

    /// As after `systemctl restart` of the target.
    @Test func aGateThatReturnsByItselfIsNotReported() throws {
        var gate = try GateTranscript.settled()
        try gate.at(1, .open, is: .inactive)
        try gate.at(1.1, .open, is: .active)
        gate.forget()
        gate.at(1.2, .systemStateRead(isStopping: false))
        #expect(gate.text == "1.2s the system is up\n")
    }

    @Test func aGateThatIsMovedRepeatedlyDoesNotFillTheJournal() throws {
        var gate = try GateTranscript.settled(.ended)
        for round in 1...20 {
            let second = Double(round)
            try gate.at(second, .closed, is: .inactive)
            gate.at(second, .systemStateRead(isStopping: false))
            gate.at(second, .woke)
            gate.at(second, .systemStateRead(isStopping: false))
            try gate.at(second, started: .closed)
            try gate.at(second, .closed, is: .active)
            try gate.readMoved(second, from: .open, to: .closed, .ended)
        }
        let logged = gate.text.split(separator: "\n").filter { $0.contains("somebody else") }
        #expect(logged.count == 3)
        let moves = gate.text.split(separator: "\n").filter { $0.hasPrefix("    start") }
        #expect(moves.count < 10)
    }

    @Test func whileTheSystemIsStoppingNothingIsMovedAndNothingIsAnAlarm() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        try gate.at(1, .open, is: .inactive)
        gate.at(1.1, .systemStateRead(isStopping: true))
        try gate.at(1.2, "web.service", is: .inactive)
        gate.decide(1.3, .ended)
        gate.at(3, .woke)
        gate.expect(
            """
            1s killswitch-open@shop.target is inactive
                ask whether the system is stopping
            1.1s the system is stopping
            1.2s web.service is inactive
            1.3s shop decided: closed ended
            3s woke
            """)
    }

    @Test func aMoveThatAStoppingSystemRefusesIsNoAlarm() throws {
        var gate = try GateTranscript.settled().decided(1, .ended)
        gate.forget()
        gate.at(1.1, taken: .start(try target(.ended)), problem: "Transaction is destructive.")
        gate.at(1.2, .systemStateRead(isStopping: true))
        gate.expect(
            """
            1.1s start killswitch-ended@shop.target: Transaction is destructive.
                ask whether the system is stopping
            1.2s the system is stopping
            """)
        #expect(gate.problems.isEmpty)
    }

    @Test func aShutdownThatIsCalledOffIsNoticed() throws {
        var gate = try GateTranscript.settled()
        try gate.at(1, .open, is: .inactive)
        gate.at(1.1, .systemStateRead(isStopping: true))
        gate.forget()
        gate.at(6.1, .woke)
        gate.at(6.2, .systemStateRead(isStopping: false))
        gate.expect(
            """
            6.1s woke
                ask whether the system is stopping
            6.2s the system is up
                start killswitch-open@shop.target
            """)
    }

    @Test func aLostBusIsReportedOnceAndReconnected() throws {
        var gate = try GateTranscript.settled()
        gate.at(1, .busLost(problem: "connect to the bus: connection refused"))
        gate.at(1, .busLost(problem: "connect to the bus: connection refused"))
        gate.at(2, .woke)
        gate.at(2, .busLost(problem: "connect to the bus: connection refused"))
        gate.decide(3, .ended)
        gate.at(4, .woke)
        try gate.list(4.1, .open)
        gate.expect(
            """
            1s lost: connect to the bus: connection refused
                log warning: connect to the bus: connection refused; no gate is moved until the \
            bus is back; nothing else is affected
            1s lost: connect to the bus: connection refused
            2s woke
                connect
            2s lost: connect to the bus: connection refused
            3s shop decided: closed ended
            4s woke
                connect
            4.1s listed killswitch-open@shop.target=active
                start killswitch-ended@shop.target
                log info: the bus is back; gates are moved again
            """)
    }

    /// The gate said nothing for ever: its units were not known, and nobody asked again.
    @Test func aTargetThatCouldNotBeReadIsReadAgain() throws {
        var gate = try GateTranscript.started(.open, showsAll: true)
        gate.decide(0, .running)
        try gate.read(0, .closed, .inactive)
        gate.at(0, .unitRead(try unit(.open), nil))
        #expect(gate.report(at: 0)?.actual != .open)
        let again = gate.at(1, .woke)
        #expect(again.contains(.readUnit(try unit(.open))), "\(gate.text)")
        try gate.read(1, .open, .active)
        #expect(gate.report(at: 1)?.actual == .open)
    }

    /// The marker has refused the start of the unit, and the target stood open already when the flags opened it.
    @Test func aGateThatSomebodyOpenedWhileItWasClosedStartsItsUnits() throws {
        var gate = try GateTranscript.settled(.ended, units: ["web.service": UnitStatus(.inactive)])
        try gate.at(1, inactive: [.closed, .ended], active: [.open])
        gate.forget()
        gate.decide(1.1, .running)
        #expect(gate.text.contains("start killswitch-open@shop.target"), "\(gate.text)")
    }

    // MARK: - What reloads of systemd cost

    /// Hundreds of units that are attached one by one are hundreds of reloads. Everything was read anew at
    /// each of them, and a closing waited for that.
    @Test func reloadsThatFollowEachOtherCostOneListing() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        let listed: [UnitName: UnitStatus] = [try unit(.open): UnitStatus(.active)]
        let open = UnitSnapshot(
            UnitStatus(.active), requisiteOf: ["web.service"], wants: ["web.service"])
        gate.at(1, .systemdReloaded)
        for moment in [1.1, 1.2, 1.3] { gate.at(moment, .systemdReloaded) }
        gate.at(1.3, .targetsListed(listed))
        gate.at(1.3, .unitsListed(["web.service": UnitStatus(.active)]))
        gate.at(1.4, .systemdReloaded)
        gate.at(1.4, .unitRead(try unit(.open), open))
        try gate.read(1.5, .closed, .inactive)
        gate.at(1.9, .woke)
        gate.at(2, .woke)
        gate.expect(
            """
            1s reloaded
                list web.service
            1.1s reloaded
            1.2s reloaded
            1.3s reloaded
            1.3s listed killswitch-open@shop.target=active
            1.3s units listed web.service=active
            1.4s reloaded
            1.4s killswitch-open@shop.target read: active
            1.5s killswitch-closed@shop.target read: inactive
            1.9s woke
            2s woke
                list web.service
            """)
    }

    /// With a new connection signals were missed, and each unit is read. After a reload the listing is
    /// enough, but for the stop limit, which may be another now.
    @Test func aUnitIsReadAfterAReloadOnlyWhenItsLimitIsNeeded() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        gate.at(1, .systemdReloaded)
        let listed = try gate.list(1.1, .open)
        #expect(!listed.contains(.readUnit("web.service")))
        let closing = gate.decide(2, .ended)
        #expect(closing.contains(.readUnit("web.service")))
        try gate.at(2, started: .ended)
        gate.at(
            2.1,
            .unitRead(
                "web.service", UnitSnapshot(UnitStatus(.deactivating), stopLimit: .seconds(20))))
        gate.forget()
        gate.at(15, .woke)
        gate.at(24.1, .woke)
        gate.expect(
            """
            15s woke
                ask whether the system is stopping
            24.1s woke
                log error: shop: unit 'web.service': it has not stopped within its limit of 20 s
            """)
    }

    @Test func signalsAreSubscribedToOnceAndEndWithTheAttachment() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        let isSubscription = { (effect: GateEffect) in
            switch effect {
            case .subscribe, .unsubscribe: true
            default: false
            }
        }
        let none = gate.decide(1, .ended).filter(isSubscription)
        #expect(none.isEmpty)
        let detached = try gate.read(2, .open, .inactive).filter(isSubscription)
        #expect(detached == [.unsubscribe(["web.service"])])
        let again = gate.at(
            3,
            .unitRead(
                try unit(.open), UnitSnapshot(UnitStatus(.inactive), requisiteOf: ["web.service"]))
        ).filter(isSubscription)
        #expect(again == [.subscribe(["web.service"])])
        // A new connection follows nothing yet.
        gate.at(4, .busLost(problem: "gone"))
        let anew = gate.at(5, .targetsListed([:])).filter(isSubscription)
        guard case .subscribe(let units)? = anew.first else {
            throw InvalidFlag.missing(key: "all")
        }
        #expect(units.count == 7 && units.contains("web.service"))
    }
}
