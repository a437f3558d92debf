import Decision
import SystemdUnits
import Testing

/// Object paths of units, as `busctl tree` shows them.
struct ObjectPathTests {
    @Test(arguments: [
        ("web.service", "web_2eservice"),
        ("killswitch-open@shop.target", "killswitch_2dopen_40shop_2etarget"),
        ("3com.service", "_33com_2eservice"),
        ("a_b:c.socket", "a_5fb_3ac_2esocket"),
        ("-.mount", "_2d_2emount"),
    ])
    func aUnitHasOneObject(_ name: String, _ object: String) throws {
        let unit = try #require(UnitName(name))
        #expect(ObjectPath.of(unit) == "/org/freedesktop/systemd1/unit/\(object)")
        #expect(ObjectPath.unit(ObjectPath.of(unit)) == unit)
    }

    @Test(arguments: [
        "", "/", "/org/freedesktop/systemd1", "/org/freedesktop/systemd1/unit/",
        "/org/freedesktop/systemd1/unit/web_2", "/org/freedesktop/systemd1/unit/web_zz",
        "/org/freedesktop/systemd1/job/1", "/org/freedesktop/systemd1/unit/web_00_2eservice",
    ])
    func anotherObjectIsNoUnit(_ path: String) {
        #expect(ObjectPath.unit(path) == nil)
    }
}
