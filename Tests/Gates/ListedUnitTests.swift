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
        #expect(
            gate.text == """
                1s listed: shop=["web.service"]
                    attach the listed units
                    gate of shop: closing 0/1

                """)
        #expect(gate.machine.attachmentReport(at: Boottime(microseconds: 1_001_000_000)) == nil)
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
        #expect(
            gate.text.contains(
                "gate of shop: stuck 0/1 (unit 'web.service': \(problem))"))
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
        #expect(gate.machine.attachmentReport(at: Boottime(microseconds: 1_011_000_000)) != nil)
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
