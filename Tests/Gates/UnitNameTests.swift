import Decision
import Gates
import Support
import Testing

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
