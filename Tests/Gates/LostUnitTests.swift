import CivilTime
import Decision
import Gates
import Support
import Testing

/// Units whose file is gone or that are masked: systemd forgets their drop-ins, which name them still.
struct LostUnitTests {
    private let shop: ServiceName = "shop"
    private let web: UnitName = "web.service"

    private func status(_ active: ActiveState, _ load: UnitLoad) -> UnitStatus {
        var status = UnitStatus(active)
        status.load = load
        return status
    }

    /// A gate with the running unit, after systemd has read the units again and lost this one.
    private func lost(_ desired: DesiredGate, _ load: UnitLoad) throws -> GateTranscript {
        var gate = try GateTranscript.settled(
            desired, units: ["web.service": UnitStatus(.active)], showsGates: true)
        gate.at(0.5, .dropInsRead([try target(.open): [web]]))
        gate.at(0.5, .systemdReloaded)
        let active: [GateTarget.Kind] = desired == .running ? [.open] : [.closed, .ended]
        gate.at(
            0.6,
            .targetsListed(
                try active.reduce(into: [:]) { $0[try unit($1)] = UnitStatus(.active) }))
        gate.at(0.6, .unitsListed([web: status(.active, load)]))
        // It is not tied to the target any more.
        let open = UnitStatus(desired == .running ? .active : .inactive)
        gate.at(0.7, .unitRead(try unit(.open), UnitSnapshot(open, wants: [web])))
        return gate
    }

    @Test(arguments: [
        (UnitLoad.missing, "its unit file is gone"), (.masked, "it is masked"),
        (.other("bad-setting"), "systemd cannot use its unit file (bad-setting)"),
    ])
    func aUnitThatSystemdHasLostIsReportedAndStaysAttached(
        _ load: UnitLoad, _ words: String
    ) throws {
        var gate = try lost(.running, load)
        #expect(gate.text.contains("log warning: shop: unit 'web.service': \(words)\n"))
        gate.forget()
        gate.decide(1, .ended)
        #expect(gate.text.contains("gate of shop: closing 0/1"))
    }

    @Test func aUnitThatSystemdHasLostIsStoppedWithTheTargetAndNamedIfThatDoesNotHelp() throws {
        var gate = try lost(.running, .missing)
        gate.decide(1, .ended)
        try gate.at(1, started: .closed, .ended)
        try gate.at(1.1, inactive: [.open], active: [.closed])
        gate.forget()
        try gate.at(1.1, .ended, is: .active)
        for kind in [GateTarget.Kind.open, .closed, .ended] {
            let state: ActiveState = kind == .open ? .inactive : .active
            gate.at(
                1.2,
                .unitRead(
                    try unit(kind),
                    UnitSnapshot(UnitStatus(state), wants: kind == .open ? [web] : [])))
        }
        #expect(gate.text.contains("    stop killswitch-open@shop.target\n"))
        gate.forget()
        gate.at(1.3, taken: .stop(try target(.open)))
        gate.at(3, .woke)
        let words =
            "it still runs although the gate is closed: its unit file is gone"
        #expect(gate.text.contains("    stop killswitch-open@shop.target\n"))
        #expect(gate.text.contains("    log error: shop: unit 'web.service': \(words)\n"))
        #expect(
            gate.text.contains(
                "    gate of shop: stuck 0/1 (unit 'web.service': \(words))\n"))
        gate.forget()
        gate.at(3.1, taken: .stop(try target(.open)))
        try gate.at(4, "web.service", is: .inactive)
        #expect(gate.text.contains("    gate of shop: closed 1/1\n"))
    }

    @Test func aUnitWithoutADropInIsDetached() throws {
        var gate = try lost(.ended, .missing)
        gate.at(1, taken: .stop(try target(.open)))
        gate.forget()
        gate.at(2, .dropInsRead([:]))
        #expect(gate.problems.isEmpty)
        // The gate has asked for the stop again before.
        gate.at(2.1, taken: .stop(try target(.open)))
        #expect(gate.text.contains("gate of shop: closed"))
    }

    /// A daemon that starts finds the unit by its drop-in alone.
    @Test func aUnitThatWasLostBeforeTheDaemonStartedIsFollowedByName() throws {
        var gate = try GateTranscript(showsGates: true)
        gate.at(0, .started)
        gate.at(0, .dropInsRead([try target(.open): [web]]))
        gate.decide(0, .ended)
        let effects = try gate.list(0.1, .closed, .ended)
        #expect(effects.contains(.readUnit(web)))
        try gate.readMoved(0.2, from: .open, to: .closed, .ended)
        gate.at(0.3, .unitRead(web, UnitSnapshot(status(.active, .masked))))
        #expect(gate.text.contains("    stop killswitch-open@shop.target\n"))
        #expect(gate.text.contains("gate of shop: closing 0/1"))
        #expect(!gate.text.contains("gate of shop: closed"))
    }
}
