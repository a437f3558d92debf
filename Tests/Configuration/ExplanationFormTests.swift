import CivilTime
import Configuration
import Decision
import Testing

/// The policy of a service, as `killswitchctl explain` prints it: what is always told, and what is not usual.
@Test(arguments: [
    ("", "max_stale never, when_unknown open"),
    ("when_stale = 'closed'", "max_stale never, when_stale closed, when_unknown open"),
    (
        "max_stale = '24h'\nmin_closed = '0s'\nconfirm_open = 2\nactivation = 'next-start'",
        "max_stale 24h, when_stale hold, when_unknown open, min_closed 0s, confirm_open 2, "
            + "activation next-start"
    ),
]) func theExplainedPolicyNamesWhatIsNotUsual(_ keys: String, _ expected: String) throws {
    let settings = try load("[service.shop]\nsource = 'file:/a'\nformat = 'status'\n" + keys)
    let shop = try #require(settings.services.first)
    let now = Now(wall: Instant(seconds: 1_800_000_000), boot: Boottime(microseconds: 0))
    let machine = Machine(
        plan: settings.plan, memory: Memory(), bootID: "boot", clockFloor: Instant(seconds: 0),
        seed: 1, at: now)
    let form = ExplanationForm(
        try #require(machine.explanation(of: shop.name, at: now)), at: now.wall)
    #expect(form.lines.first { $0.label == "policy" }?.text == expected)
}
