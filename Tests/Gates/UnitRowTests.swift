import CivilTime
import Decision
import Gates
import Support
import Testing

/// The rows of units.json: what is wanted of each unit, and how often they are written.
@Suite struct UnitRowTests {
    @Test func aUnitOfTwoServicesMayRunWhenBothAreOpen() throws {
        var gate = try GateTranscript.shared(with: "mail", showsAll: true)
        #expect(gate.text.contains("publish mail web.service up active"))
        gate.forget()
        gate.at(1, .decided("mail", .ended))
        #expect(gate.text.contains("publish mail web.service down active"))
        gate.forget()
        try gate.at(2, "web.service", is: .inactive)
        #expect(gate.text.contains("publish shop web.service down inactive"))
    }

    /// systemd has read its units again and lists them, without their times.
    @Test func theTimeOfAUnitOutlastsAReloadOfSystemd() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        var seen = UnitStatus(.active)
        seen.since = Instant(microseconds: 1_000_000)
        gate.at(1, .unitRead("web.service", UnitSnapshot(seen)))
        var effects = gate.at(2, .unitsListed(["web.service": UnitStatus(.active)]))
        effects += gate.at(3, .woke)
        let rows = effects.filter { if case .publishUnits = $0 { true } else { false } }
        #expect(rows.isEmpty)
    }

    /// A oneshot that has ended well has nothing left to do, however long the gate stays open.
    @Test func aOneshotThatHasDoneItsWorkIsAsWanted() throws {
        var gate = try GateTranscript.settled(units: ["hook.service": UnitStatus(.inactive)])
        var done = UnitSnapshot(UnitStatus(.inactive), result: "success")
        done.isOneshot = true
        let rows = gate.at(1, .unitRead("hook.service", done)).compactMap { effect in
            if case .publishUnits(_, let rows) = effect { rows.map(\.isAsWanted) } else { nil }
        }
        #expect(rows == [[true]])
    }

    /// The gate only permits the unit; a trigger starts it.
    @Test func aUnitThatTheGateDoesNotStartIsNotWanted() throws {
        var gate = try GateTranscript.started(.open, showsAll: true).decided(0, .running)
        try gate.attach(["app.service": UnitStatus(.inactive)], starts: [], isOpen: true)
        #expect(gate.text.contains("publish shop app.service - "))
    }

    /// The stop of a hundred units at once leads to a few writes.
    @Test func rowsAreWrittenAtOnceAndThenFiveTimesASecondAtMost() throws {
        var units: [String: UnitStatus] = [:]
        for number in 100..<200 { units["u\(number).service"] = UnitStatus(.active) }
        var gate = try GateTranscript.settled(units: units)
        var writes = 0
        for effect in gate.decide(1, .ended) {
            if case .publishUnits = effect { writes += 1 }
        }
        for (index, name) in units.keys.sorted().enumerated() {
            let event = GateEvent.unitChanged(try unitName(name), UnitStatus(.inactive))
            for effect in gate.at(1.001 + Double(index) * 0.001, event) {
                if case .publishUnits = effect { writes += 1 }
            }
        }
        #expect(writes == 1)
        for effect in gate.at(1.2, .woke) {
            guard case .publishUnits(_, let rows) = effect else { continue }
            writes += 1
            #expect(rows.allSatisfy { $0.seen?.active == .inactive })
        }
        #expect(writes == 2)
    }

    @Test func rowsThatCouldNotBeWrittenAreWrittenLater() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        gate.at(1, .writeFailed(gate.shop, problem: "no space left on device"))
        gate.at(2, .writeFailed(gate.shop, problem: "no space left on device"))
        #expect(gate.text.split(separator: "\n").filter { $0.contains("log error") }.count == 1)
        let effects = gate.at(8, .woke)
        #expect(effects.contains { if case .publishUnits = $0 { true } else { false } })
    }
}

struct UnitNameTests {
    @Test(arguments: [
        "web.service", "worker@3.service", "a:b.service", "dev-sda1.device", "x-y_z.1.timer",
        "app@tenant\\x2done.socket", "-.mount",
    ])
    func aNameThatSystemdAcceptsIsAUnitName(_ name: String) {
        #expect(UnitName(name)?.text == name)
    }

    @Test(arguments: [
        "", "web", "web.servic", ".service", "@.service", "worker@.service", "my shop.service",
        "größe.service", "a/b.service", "../x.service", "web.service\n", "web\0.service",
        String(repeating: "a", count: 250) + ".service",
    ])
    func aNameThatSystemdRefusesIsNoUnitName(_ name: String) {
        #expect(UnitName(name) == nil)
    }

    @Test(arguments: [
        "killswitch-open@shop.target", "killswitch-closed@shop.target",
        "killswitch-update-required@a-b_c.target", "killswitch-variant@shop:v2.target",
    ])
    func aTargetOfOursIsReadAndWrittenAlike(_ name: String) throws {
        let unit = try #require(UnitName(name))
        #expect(GateTarget(unit)?.unit == unit)
    }

    @Test(arguments: [
        "killswitch-open@Shop.target", "killswitch-open@shop.service", "killswitch-x@shop.target",
        "killswitch-variant@shop.target", "killswitch-variant@shop:V.target",
        "killswitch-variant@shop:a:b.target", "multi-user.target", "xkillswitch-open@shop.target",
    ])
    func aUnitThatIsNoTemplateTargetIsNoGateTarget(_ name: String) throws {
        #expect(GateTarget(try #require(UnitName(name))) == nil)
    }

    /// A variant comes from a flag: a text that is no valid word has no target.
    @Test func aVariantThatIsNoWordHasNoUnit() throws {
        let target = GateTarget(service: "shop", kind: .variant("../x"))
        #expect(target.unit == nil)
    }
}
