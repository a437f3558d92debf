import CivilTime
import Decision
import Gates
import Testing

/// An attached unit whose start an assertion in its unit file refuses.
struct RefusedStartTests {
    /// systemd leaves a unit inactive if an assertion refuses its start: nothing else would tell that it
    /// does not run.
    @Test func aUnitWhoseStartAnAssertionHasRefusedIsSaid() throws {
        var gate = try GateTranscript.settled(.ended, units: ["web.service": UnitStatus(.inactive)])
        let web = try unit("web.service")
        let refused = UnitSnapshot(UnitStatus(.inactive), isStartRefused: true)
        // Refused while the gate was closed: as it should be.
        gate.at(0.5, .unitRead(web, refused))
        gate.decide(1, .running)
        try gate.at(1.1, started: .open)
        try gate.at(1.2, inactive: [.closed, .ended], active: [.open])
        try gate.read(1.3, .open, .active, [web])
        try gate.read(1.3, .closed, .inactive)
        gate.forget()
        gate.at(1.4, .unitRead(web, refused))
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
        let web = try unit("web.service")
        gate.decide(1, .running)
        try gate.at(1.1, started: .open)
        try gate.at(1.2, inactive: [.closed, .ended], active: [.open])
        try gate.read(1.3, .open, .active, [web])
        try gate.read(1.3, .closed, .inactive)
        gate.at(1.4, .unitRead(web, UnitSnapshot(UnitStatus(.inactive, hasJob: true))))
        gate.forget()
        try gate.at(1.5, "web.service", is: .inactive)
        gate.at(1.6, .unitRead(web, UnitSnapshot(UnitStatus(.inactive), isStartRefused: true)))
        let sentence = "an assertion in its unit file (Assert…=) has refused its start"
        #expect(
            gate.text == """
                1.5s web.service is inactive
                1.6s web.service read: inactive
                    log error: shop: unit 'web.service': \(sentence)
                    log notice: shop: gate opened in 600 ms; units started: web.service 600 ms

                """)
    }
}
