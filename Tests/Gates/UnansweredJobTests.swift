import CivilTime
import Decision
import Gates
import Testing

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
        #expect(
            gate.text == """
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
