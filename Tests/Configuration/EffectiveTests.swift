import CivilTime
import Configuration
import Decision
import Testing

/// What `--check` prints of a file.
private func effective(_ text: String) throws(ConfigurationError) -> String {
    try load(text).effective.map(\.description).joined(separator: "\n")
}

@Test func everySettingInForceIsListedWithItsPlace() throws {
    #expect(
        try effective(
            """
            [service.shop]
            source = "file:shop.json"
            format = "service-end"
            time_zone = "UTC"
            max_stale = "7d"
            min_closed = "1500ms"
            """)
                == """
                source.shop.type = "file"   (/etc/killswitchd/killswitchd.toml:2)
                source.shop.path = "/etc/killswitchd/shop.json"   (/etc/killswitchd/killswitchd.toml:2)
                source.shop.interval = "60s"   (default)
                source.shop.max_backoff = "5m"   (default)
                source.shop.timeout = "30s"   (default)
                source.shop.max_body = "1MiB"   (default)
                service.shop.source = "file:shop.json"   (/etc/killswitchd/killswitchd.toml:2)
                service.shop.format = "service-end"   (/etc/killswitchd/killswitchd.toml:3)
                service.shop.key = ["service_end", "is_service_end"]   (default)
                service.shop.countdown_key = "service_countdown"   (default)
                service.shop.time_zone = "UTC"   (/etc/killswitchd/killswitchd.toml:4)
                service.shop.max_stale = "7d"   (/etc/killswitchd/killswitchd.toml:5)
                service.shop.when_stale = "hold"   (default)
                service.shop.when_unknown = "open"   (default)
                service.shop.first_timeout = "30s"   (default)
                service.shop.at_end = "ended"   (default)
                service.shop.update_required = "closed"   (default)
                service.shop.min_closed = "1500ms"   (/etc/killswitchd/killswitchd.toml:6)
                service.shop.open_spread = "0s"   (default)
                service.shop.spread_at_boot = false   (default)
                service.shop.drain = "0s"   (default)
                service.shop.confirm_close = 1   (default)
                service.shop.confirm_open = 1   (default)
                service.shop.signatures_to_close = 1   (default)
                service.shop.signatures_to_open = 1   (default)
                service.shop.activation = "immediate"   (default)
                service.shop.enforce = true   (default)
                service.shop.notify_before = ["30d", "7d", "24h", "1h"]   (default)
                service.shop.units = []   (default)
                service.shop.on_change = []   (default)
                service.shop.lang = "en"   (default)
                """)
}

@Test func sourcesComeBeforeServicesAndSwitchesAreCounted() throws {
    let paths = try load(
        #"""
        [[service.shop.switch]]
        source = "file:a\"b\\c"
        format = "status"
        [[service.shop.switch]]
        source = "app"
        format = "maintenance"
        [source.app]
        type = "file"
        path = "/app"
        max_body = 1000
        """#
    ).effective.filter { $0.origin != nil || $0.path.hasSuffix("key") }
    #expect(
        paths.map { "\($0.path) = \($0.value)" } == [
            #"source.app.type = "file""#,
            #"source.app.path = "/app""#,
            #"source.app.max_body = "1000B""#,
            #"source.shop.type = "file""#,
            #"source.shop.path = "/etc/killswitchd/a\"b\\c""#,
            #"service.shop.switch[0].source = "file:a\"b\\c""#,
            #"service.shop.switch[0].format = "status""#,
            #"service.shop.switch[1].source = "app""#,
            #"service.shop.switch[1].format = "maintenance""#,
            #"service.shop.switch[1].key = "server_maintenance_config""#,
        ])
}

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
        try #require(machine.explanation(of: shop.name, at: now)), guards: settings.guards,
        sources: settings.sources, at: now.wall)
    #expect(form.lines.first { $0.label == "policy" }?.text == expected)
}

/// What a guard asks, as `killswitchctl explain` prints it: the address, and no part of it that may be a secret.
@Test(arguments: [
    ("url = 'https://ops.example.com/gate?token=secret'", "https://ops.example.com/gate?…"),
    (
        "url = 'http://localhost/gate'\nunix_socket = '/run/gate'",
        "http://localhost/gate by /run/gate"
    ),
    ("prometheus = 'http://[::1]:9090/team/'\nquery = 'up'", "http://[::1]:9090/team"),
]) func theExplainedGuardNamesTheAddressThatIsAsked(_ keys: String, _ address: String) throws {
    let settings = try load(
        "[service.shop]\nsource = 'file:/a'\nformat = 'switch'\nguard = 'errors'\n[guard.errors]\n"
            + keys)
    let now = Now(wall: Instant(seconds: 1_800_000_000), boot: Boottime(microseconds: 0))
    let machine = Machine(
        plan: settings.plan, memory: Memory(), bootID: "boot", clockFloor: Instant(seconds: 0),
        seed: 1, at: now)
    let form = ExplanationForm(
        try #require(machine.explanation(of: settings.services[0].name, at: now)),
        guards: settings.guards, sources: settings.sources, at: now.wall)
    let last = try #require(form.lines.last)
    #expect(last.label == "guard" && last.text == "'errors' at '\(address)'")
}
