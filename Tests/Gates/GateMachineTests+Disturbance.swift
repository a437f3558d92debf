import CivilTime
import Decision
import Gates
import Testing

/// Administrators who move gates, a system that shuts down, and a lost bus.
extension GateMachineTests {
    @Test func aGateThatSomebodyElseMovedIsPutBack() throws {
        var gate = try GateTranscript.settled(.ended)
        try gate.at(1, .closed, is: .inactive)
        try gate.at(1.01, .open, is: .active)
        gate.at(1.1, .systemStateRead(isStopping: false))
        #expect(
            gate.text == """
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
        #expect(
            gate.text == """
                1s killswitch-open@shop.target is inactive
                    ask whether the system is stopping
                1.1s the system is stopping
                1.2s web.service is inactive
                1.3s shop decided: closed ended
                3s woke

                """)
    }

    @Test func aMoveThatAStoppingSystemRefusesIsNoAlarm() throws {
        var gate = try GateTranscript.settled()
        gate.decide(1, .ended)
        gate.forget()
        gate.at(1.1, taken: .start(try target(.ended)), problem: "Transaction is destructive.")
        gate.at(1.2, .systemStateRead(isStopping: true))
        #expect(
            gate.text == """
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
        #expect(
            gate.text == """
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
        #expect(
            gate.text == """
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
}
