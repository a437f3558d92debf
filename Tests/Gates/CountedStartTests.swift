import CivilTime
import Decision
import Gates
import Support
import Testing

struct CountedStartTests {
    private func refuse(
        _ gate: inout GateTranscript, at time: Double, job: UInt32, byAssertion: Bool = false
    ) throws {
        gate.at(time, .startFailed("web.service", job: job, isByAssertion: byAssertion))
    }

    /// A timer may try each second.
    @Test func aRefusedStartIsToldAtOnceAndThoseAfterItOnceAMinute() throws {
        var gate = try GateTranscript.settled(.ended, units: ["web.service": UnitStatus(.inactive)])
        for second in 1...150 { try refuse(&gate, at: Double(second), job: UInt32(second)) }
        gate.at(200, .woke)
        let logged = gate.text.split(separator: "\n").filter { $0.contains("log ") }
        #expect(
            logged == [
                "    log notice: shop: a start of unit 'web.service' refused: the gate is closed",
                "    log notice: shop: 60 more starts of unit 'web.service' refused: the gate is closed",
                "    log notice: shop: 60 more starts of unit 'web.service' refused: the gate is closed",
                "    log notice: shop: 29 more starts of unit 'web.service' refused: the gate is closed",
            ])
        #expect(gate.problems.isEmpty)
        let view = gate.machine.view(of: gate.shop, at: GateTranscript.time(200))
        #expect(view?.refusedStarts == 150)
    }

    @Test func theSentenceHasTheReasonAndWhoSigned() throws {
        var verdict = Verdict(state: .ended, gate: .closed, reason: .flags("app"))
        verdict.authors = ["alice"]
        let notice = GateLogMessage.startsRefused(
            "shop", "web.service", 1, isFirst: true, isOver: false, by: nil)
        #expect(
            notice.explained { _ in verdict }.sentence
                == "shop: a start of unit 'web.service' refused: the service is ended; set by the "
                + "flags of source 'app', signed by 'alice'")
    }

    @Test func aGateThatHasOpenedMeanwhileIsNotSaidToRefuse() throws {
        var gate = try GateTranscript.settled(.ended, units: ["web.service": UnitStatus(.inactive)])
        for job: UInt32 in 1...2 { try refuse(&gate, at: 1, job: job) }
        gate.decide(2, .running)
        gate.forget()
        gate.at(61, .woke)
        #expect(
            gate.text.contains(
                "shop: one more start of unit 'web.service' refused before the gate opened\n"),
            "\(gate.text)")
    }

    @Test func aStartOfAnOpenGateThatFailsByAnotherDependencyIsNotCounted() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.inactive)])
        try refuse(&gate, at: 1, job: 7)
        try refuse(&gate, at: 1, job: 8, byAssertion: true)
        #expect(!gate.text.contains("refused"), "\(gate.text)")
    }

    /// systemd has queued them before the gate was moved: in the boot, or by an opening.
    @Test func startsThatAreOlderThanTheMoveAreNotCounted() throws {
        var gate = try GateTranscript()
        gate.at(0, .started)
        gate.decide(0, .ended)
        gate.at(0, .targetsListed([:]))
        try gate.attach(["web.service": UnitStatus(.inactive, hasJob: true)], isOpen: false)
        try refuse(&gate, at: 0.1, job: 5)
        gate.at(0.2, taken: .start(try target(.closed)), number: 100)
        try refuse(&gate, at: 0.3, job: 6)
        #expect(!gate.text.contains("refused"), "\(gate.text)")
        try refuse(&gate, at: 0.4, job: 101)
        #expect(gate.text.contains("a start of unit 'web.service' refused"))
        // Another decision in the middle of the move that follows.
        gate.decide(1, .running)
        gate.at(1, taken: .start(try target(.open)), number: 110)
        gate.decide(1.1, .ended)
        gate.forget()
        try refuse(&gate, at: 62, job: 111, byAssertion: true)
        gate.at(62, taken: .start(try target(.closed)), number: 120)
        #expect(!gate.text.contains("refused"), "\(gate.text)")
    }

    /// The target is still up: the marker refuses, by the assertion of the drop-in.
    @Test func aStartDuringADrainIsCountedIfTheMarkerHasRefusedIt() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.inactive)])
        gate.decide(1, .ended, drainsUntil: 60)
        try refuse(&gate, at: 2, job: 7)
        #expect(!gate.text.contains("refused"), "\(gate.text)")
        try refuse(&gate, at: 3, job: 8, byAssertion: true)
        #expect(gate.text.contains("a start of unit 'web.service' refused"))
    }

    // MARK: Starts that wait

    @Test func aStartThatWaitsForAnotherUnitNamesIt() throws {
        var gate = try GateTranscript.settled(units: [
            "slow.service": UnitStatus(.active), "web.service": UnitStatus(.active),
        ])
        gate.decide(1, .ended)
        try gate.at(1, started: .closed)
        try gate.at(1.1, "slow.service", is: .deactivating, hasJob: true)
        // systemd tells of a stop in two steps, and the job in between is no start.
        try gate.at(1.1, "web.service", is: .inactive, hasJob: true)
        try gate.at(1.2, "web.service", is: .inactive)
        #expect(!gate.text.contains("a start of it waits"), "\(gate.text)")
        gate.forget()
        try gate.at(5, "web.service", is: .inactive, hasJob: true)
        let sentence =
            "a start of it waits until unit 'slow.service' has stopped, and is refused then"
        #expect(gate.text.contains("log warning: shop: unit 'web.service': \(sentence)\n"))
        #expect(gate.machine.overview.problems.map(\.isAlarm) == [false])
        try gate.at(9, "web.service", is: .inactive)
        #expect(gate.problems.isEmpty)
    }
}

struct RefusedStartTests {
    /// systemd leaves a unit inactive if an assertion refuses its start: nothing else would tell that it does not run.
    @Test func aUnitWhoseStartAnAssertionHasRefusedIsSaid() throws {
        var gate = try GateTranscript.settled(.ended, units: ["web.service": UnitStatus(.inactive)])
        let refused = UnitSnapshot(UnitStatus(.inactive), isStartRefused: true)
        // Refused while the gate was closed: as it should be.
        gate.at(0.5, .unitRead("web.service", refused))
        gate.decide(1, .running)
        try gate.at(1.1, started: .open)
        try gate.at(1.2, inactive: [.closed, .ended], active: [.open])
        try gate.read(1.3, .open, .active, ["web.service"])
        try gate.read(1.3, .closed, .inactive)
        gate.forget()
        gate.at(1.4, .unitRead("web.service", refused))
        let sentence = "an assertion in its unit file (Assert…=) has refused its start"
        #expect(gate.text.contains("log error: shop: unit 'web.service': \(sentence)\n"))
        #expect(gate.problems == ["unit 'web.service' of 'shop': \(sentence)"])
        try gate.at(2, "web.service", is: .active)
        #expect(gate.problems.isEmpty)
        // Stopped by hand after it ran: its last start was not refused.
        try gate.at(3, "web.service", is: .inactive)
        #expect(gate.problems.isEmpty)
    }

    /// A unit that is read before systemd comes to its start has not arrived: it is read once more.
    @Test func aStartThatIsRefusedAfterTheUnitWasReadIsSaidToo() throws {
        var gate = try GateTranscript.settled(.ended, units: ["web.service": UnitStatus(.inactive)])
        gate.decide(1, .running)
        try gate.at(1.1, started: .open)
        try gate.at(1.2, inactive: [.closed, .ended], active: [.open])
        try gate.read(1.3, .open, .active, ["web.service"])
        try gate.read(1.3, .closed, .inactive)
        gate.at(1.4, .unitRead("web.service", UnitSnapshot(UnitStatus(.inactive, hasJob: true))))
        gate.forget()
        try gate.at(1.5, "web.service", is: .inactive)
        gate.at(
            1.6, .unitRead("web.service", UnitSnapshot(UnitStatus(.inactive), isStartRefused: true))
        )
        let sentence = "an assertion in its unit file (Assert…=) has refused its start"
        gate.expect(
            """
            1.5s web.service is inactive
            1.6s web.service read: inactive
                log error: shop: unit 'web.service': \(sentence)
                log notice: shop: gate opened in 600 ms
            """)
    }
}
