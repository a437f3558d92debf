import CivilTime
import Decision
import Gates
import Support
import Testing

/// What the gate machine says of a gate in fact: `gate.json`.
struct GateStatusTests {
    private func settled(_ units: String...) throws -> GateTranscript {
        try GateTranscript.settled(
            units: units.reduce(into: [:]) { $0[$1] = UnitStatus(.active) }, showsGates: true)
    }

    /// systemd confirms the targets of the closed gate, and tells the units of the open one.
    private func confirm(_ gate: inout GateTranscript, at time: Double, _ units: String...) throws {
        try gate.at(time, inactive: [.open], active: [.closed, .ended])
        try gate.readMoved(time, from: .open, with: units, to: .closed, .ended)
    }

    private func refuse(_ gate: inout GateTranscript, at time: Double) throws {
        for kind in [GateTarget.Kind.closed, .ended] {
            gate.at(
                time,
                .jobAnswered(.start(try target(kind)), problem: .noPermission("Access denied")))
        }
    }

    @Test func aGateIsClosingUntilItsLastUnitIsDown() throws {
        var gate = try settled("app.service", "web.service").decided(1, .ended)
        try gate.at(1, started: .closed, .ended)
        try gate.at(2, "app.service", is: .inactive)
        try gate.at(3, "web.service", is: .inactive)
        try confirm(&gate, at: 3.1, "app.service", "web.service")
        let reports = gate.text.split(separator: "\n").filter { $0.contains("gate of shop") }
        #expect(
            reports == [
                "    gate of shop: closing 0/2", "    gate of shop: closing 1/2",
                "    gate of shop: closing 2/2", "    gate of shop: closed 2/2",
            ])
    }

    /// The unit runs on, but nobody has asked it to stop: it is not late.
    @Test func aGateThatPolkitDoesNotMoveIsStuckAndItsUnitsAreNotLate() throws {
        var gate = try settled("web.service").decided(1, .ended)
        try refuse(&gate, at: 1.1)
        gate.at(1.2, .systemStateRead(isStopping: false))
        #expect(
            gate.text.hasSuffix(
                """
                    gate of shop: stuck 0/1 (its gate cannot be moved: polkit does not permit it \
                (Access denied)) next try in 900 ms
                    log error: shop: start 'killswitch-ended@shop.target': polkit does not permit it \
                (Access denied); retrying

                """))
        gate.forget()
        for second in 2...200 {
            gate.at(Double(second), .woke)
            gate.at(Double(second), .systemStateRead(isStopping: false))
            try refuse(&gate, at: Double(second))
        }
        #expect(!gate.text.contains("has not stopped within"))
        #expect(gate.report(at: 200)?.units.problems == [:])
    }

    @Test func problemsHaveTheTimeAtWhichTheyWereSeenFirst() throws {
        var gate = try settled("web.service").decided(1, .ended)
        let refused = GateObstacle.noPermission("Access denied")
        for second in [1.1, 2.1, 4.1] {
            gate.at(second, .jobAnswered(.start(try target(.closed)), problem: refused))
            gate.at(second, .systemStateRead(isStopping: false))
        }
        let problems = gate.machine.overview.problems
        #expect(problems.map(\.sentence) == ["shop: \(refused.sentence)"])
        #expect(problems.map(\.since) == [Boottime(microseconds: 1_001_100_000)])
        let report = gate.report(at: 4.1)
        #expect(report?.problem?.advice == "see 'systemctl status polkit'")
    }

    @Test func aRefusedMoveIsAskedForAgainAsSoonAsPolkitIsBack() throws {
        var gate = try settled("web.service").decided(1, .ended)
        try refuse(&gate, at: 1.1)
        gate.at(1.2, .systemStateRead(isStopping: false))
        gate.forget()
        gate.at(1.3, .polkitAppeared)
        gate.at(1.3, .systemStateRead(isStopping: false))
        try gate.at(1.4, started: .ended)
        let lines = gate.text.split(separator: "\n").filter { !$0.contains("next try") }
        #expect(
            lines == [
                "1.3s polkit is on the bus", "    ask whether the system is stopping",
                "1.3s the system is up", "    start killswitch-ended@shop.target",
                "1.4s start killswitch-ended@shop.target: queued",
                "    gate of shop: closing 0/1",
            ])
    }

    @Test func polkitThatComesToTheBusMovesNoGateThatWasNotRefused() throws {
        var gate = try settled("web.service")
        gate.at(1, .polkitAppeared)
        #expect(gate.text == "1s polkit is on the bus\n")
    }

    @Test func aLostBusIsTheProblemOfEveryGateAndIsOpenedAsSoonAsItsSocketIsThere() throws {
        var gate = try settled("web.service")
        gate.at(1, .busLost(problem: "connect to the bus: Connection refused"))
        gate.decide(2, .ended)
        gate.at(2.1, .busAppeared)
        gate.at(2.2, .busLost(problem: "connect to the bus: Connection refused"))
        gate.at(2.45, .woke)
        let lines = gate.text.split(separator: "\n").filter { !$0.contains("log ") }
        let words = "(connect to the bus: Connection refused; the gate waits for the bus)"
        #expect(
            lines == [
                "1s lost: connect to the bus: Connection refused",
                "    gate of shop: open 1/1 \(words) next try in 1000 ms",
                "2s shop decided: closed ended",
                "    gate of shop: closing 0/1 \(words) next try in 0 ms",
                "2.1s the bus may be back", "    connect",
                "2.2s lost: connect to the bus: Connection refused",
                "    gate of shop: closing 0/1 \(words) next try in 250 ms", "2.45s woke",
                "    connect",
            ])
    }

    /// A reader that sees the verdict closed, and the report of an earlier closing, would believe it.
    @Test func aGateThatOpensForAMomentIsReportedAtOnce() throws {
        var gate = try settled("web.service").decided(1, .ended)
        try gate.at(1, started: .closed, .ended)
        try gate.at(1.01, "web.service", is: .inactive)
        try confirm(&gate, at: 1.02, "web.service")
        gate.forget()
        gate.decide(1.03, .running)
        #expect(gate.text.contains("    gate of shop: opening 0/1\n"))
        gate.forget()
        gate.decide(1.04, .ended)
        #expect(gate.text.contains("    gate of shop: closing 1/1\n"))
    }

    /// The unit that a gate wants has failed: the gate is open, and not every unit is up.
    @Test func anOpenGateCountsTheUnitsThatAreUp() throws {
        var gate = try settled("app.service", "web.service")
        try gate.at(1, "web.service", is: .failed)
        let failed = UnitSnapshot(UnitStatus(.failed), result: "exit-code")
        gate.at(2, .unitRead("web.service", failed))
        #expect(gate.text.contains("    gate of shop: open 1/2\n"))
        let report = gate.report(at: 2)
        #expect(report?.units.problems == ["web.service": .failed(result: "exit-code")])
    }

    @Test func anUndecidedServiceHasNoReport() throws {
        var gate = try GateTranscript(showsGates: true)
        gate.at(0, .started)
        gate.at(0, .targetsListed([:]))
        #expect(!gate.text.contains("gate of shop"))
    }

    @Test func aGateOfWhichSystemdTellsNothingIsStuckAfterTenSeconds() throws {
        var gate = try GateTranscript(showsGates: true)
        gate.at(0, .started)
        gate.decide(0, .ended)
        #expect(!gate.text.contains("gate of shop"))
        gate.at(10, .woke)
        #expect(
            gate.text.contains(
                "gate of shop: stuck (its gate cannot be moved: systemd does not answer)"))
    }
}

/// A systemd that does not answer, and a bus that is restarted: it is not known yet whether the gate can be moved.
struct UnansweredJobTests {
    /// polkit hangs: systemd asks it before it answers, and waits for 25 s.
    @Test func aJobWithoutAnAnswerForThreeSecondsIsAProblemThatNamesPolkit() throws {
        var gate = try GateTranscript.settled(
            units: ["web.service": UnitStatus(.active)], showsGates: true)
        gate.decide(1, .ended)
        gate.at(3.9, .woke)
        #expect(gate.problems.isEmpty)
        gate.forget()
        gate.at(4, .woke)
        let sentence = "systemd has not answered StartUnit within 3 s; polkitd may hang"
        gate.expect(
            """
            4s woke
                gate of shop: closing 0/1 (\(sentence)) next try in 900 ms
                log warning: \(sentence); gates move as soon as it answers
            """)
        #expect(gate.problems == ["shop: \(sentence)"])
        #expect(gate.machine.overview.problems.map(\.isAlarm) == [true])
        gate.forget()
        try gate.at(20, started: .closed, .ended)
        #expect(
            gate.text.contains("    log info: systemd answers again; gates are moved\n"),
            "\(gate.text)")
        #expect(gate.text.contains("gate of shop: closing 0/1\n"), "\(gate.text)")
        #expect(gate.problems.isEmpty)
    }

    /// systemd answers one job after the other: that takes time with a thousand gates.
    @Test func aLongQueueOfJobsIsNoSilence() throws {
        let names = (0..<20).map { "s\($0)" }
        var gate = try GateTranscript(names)
        gate.at(0, .started)
        gate.at(0, .targetsListed([:]))
        for name in names { gate.at(0, .decided(try named(name), .running)) }
        for (position, name) in names.enumerated() {
            let open = GateTarget(service: try named(name), kind: .open)
            gate.at(Double(position), taken: .start(open))
            gate.at(Double(position) + 0.5, .woke)
        }
        #expect(!gate.text.contains("polkit"), "\(gate.text)")
    }

    @Test func aBusThatIsRestartedDoesNotMakeAGateStuckAtOnce() throws {
        var gate = try GateTranscript.settled(
            units: ["web.service": UnitStatus(.active)], showsGates: true)
        gate.decide(1, .ended)
        try gate.at(1, started: .closed)
        gate.forget()
        gate.at(2, .busLost(problem: "the connection to the bus is gone"))
        #expect(
            gate.text.contains("gate of shop: closing 0/1 (the connection to the bus is gone; "))
        for second in 3...11 { gate.at(Double(second), .woke) }
        #expect(!gate.text.contains("stuck"), "\(gate.text)")
        gate.at(12, .woke)
        #expect(
            gate.text.contains(
                "gate of shop: stuck 0/1 (its gate cannot be moved: the connection to the bus is gone)"
            ),
            "\(gate.text)")
    }
}
