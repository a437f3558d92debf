import CivilTime
import Decision
import Gates
import Support
import Testing

/// Units that the configuration lists: attached by a unit of root that the machine has started.
struct ListedUnitTests {
    private let shop: ServiceName = "shop"
    private let web: UnitName = "web.service"
    private let runner: UnitName = "killswitchd-attach.service"

    /// A closed gate without units, when a configuration takes force that lists one.
    private func listed() throws -> GateTranscript {
        var gate = try GateTranscript.settled(.ended, showsGates: true)
        gate.at(0.5, .dropInsRead([:]))
        gate.forget()
        gate.at(1, .unitsListedByConfiguration([shop: [web]]))
        return gate
    }

    /// The unit of root runs, and ends with this result.
    private func run(_ gate: inout GateTranscript, at time: Double, _ outcome: AttachmentOutcome) {
        gate.at(time, .attachAnswered(problem: nil))
        gate.at(time + 0.1, .unitChanged(runner, UnitStatus(.activating, hasJob: true)))
        gate.at(time + 0.2, .unitChanged(runner, UnitStatus(.inactive)))
        gate.at(time + 0.2, .attachEnded(outcome))
    }

    @Test func aGateIsNotClosedUntilItsListedUnitIsAttached() throws {
        var gate = try listed()
        gate.expect(
            """
            1s listed: shop=["web.service"]
                attach the listed units
                gate of shop: closing 0/1
            """)
        #expect(gate.machine.attachmentOutcome(at: Boottime(microseconds: 1_001_000_000)) == nil)
        #expect(gate.machine.overview.problems.map(\.isAlarm) == [false])
        gate.forget()
        gate.at(1.1, .attachAnswered(problem: nil))
        gate.at(1.2, .unitChanged(runner, UnitStatus(.activating, hasJob: true)))
        gate.at(1.3, .unitChanged(runner, UnitStatus(.inactive)))
        #expect(
            gate.text.hasSuffix(
                "1.3s killswitchd-attach.service is inactive\n    read what was attached\n"))
        gate.at(1.4, .dropInsRead([try target(.open): [web]], areOfConfiguration: true))
        gate.at(1.4, .attachEnded(AttachmentOutcome()))
        gate.forget()
        gate.at(1.5, .unitRead(web, UnitSnapshot(UnitStatus(.inactive))))
        #expect(gate.text.contains("gate of shop: closed 1/1"), "\(gate.text)")
        #expect(gate.problems.isEmpty)
    }

    @Test func aUnitThatCannotBeAttachedIsAProblemUntilItIs() throws {
        var gate = try listed()
        gate.forget()
        var outcome = AttachmentOutcome()
        outcome.refused[ListedUnit(service: shop, name: web)] = "there is no unit 'web.service'"
        run(&gate, at: 1.1, outcome)
        let problem =
            "the configuration lists it, and it is not attached: there is no unit 'web.service'"
        #expect(gate.text.contains("log error: shop: unit 'web.service': \(problem)\n"))
        #expect(gate.text.contains("gate of shop: stuck 0/1 (unit 'web.service': \(problem))"))
        #expect(gate.problems == ["unit 'web.service' of 'shop': \(problem)"])
        #expect(gate.machine.overview.problems.map(\.isAlarm) == [true])
        gate.forget()
        // systemd has read its units again, and there may be one of that name now.
        gate.at(2, .systemdReloaded)
        #expect(gate.text.contains("attach the listed units"))
        // The same result is no news.
        gate.forget()
        run(&gate, at: 2.1, outcome)
        #expect(!gate.text.contains("log"))
        gate.at(3, .unitsListedByConfiguration([:]))
        #expect(gate.problems.isEmpty)
        #expect(gate.text.contains("gate of shop: closed"))
    }

    /// The open gate stays open: no unit of it is up or down.
    @Test func behindAnOpenGateItIsAProblemToo() throws {
        var gate = try GateTranscript.settled(showsGates: true)
        gate.at(0.5, .dropInsRead([:]))
        gate.at(1, .unitsListedByConfiguration([shop: [web]]))
        gate.forget()
        var outcome = AttachmentOutcome()
        outcome.failure = "line 3: nonsense"
        run(&gate, at: 1.1, outcome)
        #expect(gate.text.contains("not attached: line 3: nonsense"))
        #expect(gate.text.contains("gate of shop: open 0/1\n"), "\(gate.text)")
    }

    /// polkit is not there yet at boot: the start is asked for again.
    @Test func aRefusedStartIsRepeated() throws {
        var gate = try listed()
        gate.forget()
        gate.at(1.1, .attachAnswered(problem: .noPermission("Access denied")))
        #expect(
            gate.text.contains(
                "'killswitchd-attach.service' cannot be started: polkit does not permit it (Access denied)"
            ))
        gate.forget()
        gate.at(1.5, .woke)
        #expect(!gate.text.contains("attach"))
        gate.at(2.1, .woke)
        #expect(gate.text.contains("attach the listed units"))
        gate.at(2.2, .attachAnswered(problem: .noPermission("Access denied")))
        gate.forget()
        gate.at(2.3, .polkitAppeared)
        #expect(gate.text.contains("attach the listed units"))
    }

    /// The run may have read the configuration before.
    @Test func aConfigurationThatComesDuringARunHasOneOfItsOwn() throws {
        var gate = try listed()
        gate.at(1.1, .attachAnswered(problem: nil))
        gate.at(1.2, .unitsListedByConfiguration([shop: ["app.service"]]))
        gate.forget()
        run(&gate, at: 1.3, AttachmentOutcome())
        #expect(gate.text.contains("attach has ended\n    attach the listed units"), "\(gate.text)")
    }

    @Test func aRunThatHangsIsSaidAfterTenSeconds() throws {
        var gate = try listed()
        gate.at(1.1, .attachAnswered(problem: nil))
        gate.forget()
        gate.at(10.9, .woke)
        #expect(gate.text == "10.9s woke\n")
        gate.at(11, .woke)
        #expect(gate.text.contains("'killswitchd-attach.service' has not ended yet"))
        #expect(gate.machine.attachmentOutcome(at: Boottime(microseconds: 1_011_000_000)) != nil)
    }

    @Test func aUnitThatIsListedByAnAliasIsAttachedByItsName() throws {
        var gate = try listed()
        var outcome = AttachmentOutcome()
        outcome.names[web] = "mariadb.service"
        gate.at(1.1, .attachAnswered(problem: nil))
        gate.at(1.2, .unitChanged(runner, UnitStatus(.inactive)))
        gate.at(
            1.2, .dropInsRead([try target(.open): ["mariadb.service"]], areOfConfiguration: true))
        gate.at(1.2, .attachEnded(outcome))
        #expect(gate.problems.isEmpty)
    }

    /// A host that lists no units has systemd start nothing; one that has listed some has them detached.
    @Test func withoutListedUnitsNothingIsStarted() throws {
        var gate = try GateTranscript.settled()
        gate.at(0.5, .dropInsRead([try target(.open): [web]]))
        gate.forget()
        gate.at(1, .unitsListedByConfiguration([:]))
        #expect(gate.text == "1s listed: \n")
        gate.at(2, .dropInsRead([try target(.open): [web]], areOfConfiguration: true))
        gate.forget()
        gate.at(3, .unitsListedByConfiguration([:]))
        #expect(gate.text.contains("attach the listed units"))
    }
}

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
        var gate = try lost(.running, .missing).decided(1, .ended)
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
        let words = "it still runs although the gate is closed: its unit file is gone"
        #expect(gate.text.contains("    stop killswitch-open@shop.target\n"))
        #expect(gate.text.contains("    log error: shop: unit 'web.service': \(words)\n"))
        #expect(gate.text.contains("    gate of shop: stuck 0/1 (unit 'web.service': \(words))\n"))
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
