import CivilTime
import Configuration
import Decision
import JSON
import SourceSettings
import Support
import Testing

@Test func theSmallestFileMakesASourceAndAServiceOfIt() throws {
    let settings = try load(
        """
        [service.shop]
        source = "file:/etc/killswitchd/shop.json"
        format = "status"
        """)

    let limits = FetchLimits(timeout: .seconds(30), maxBody: 1_048_576)
    #expect(settings.sources.map(\.kind) == [.file(path: "/etc/killswitchd/shop.json", limits)])
    #expect(settings.sources.map(\.origin) == [Origin(file: file, line: 2, column: 10)])
    var shop = Service(
        name: "shop", zone: .utc, switches: [Switch(source: "shop", format: .status(.whole))],
        policy: Policy(
            maxStale: nil, whenStale: .hold, whenUnknown: .open, firstTimeout: .seconds(30),
            atEnd: .ended, updateRequired: .closed, minClosed: .seconds(5)))
    shop.notifyBefore = [720, 168, 24, 1].map { .seconds($0 * 3600) }
    #expect(settings.services == [shop])
    #expect(settings.warnings.isEmpty)
    #expect(
        settings.plan
            == Plan(
                sources: [
                    SourcePlan(
                        name: "shop", interval: .seconds(60), timeout: .seconds(30),
                        maxBackoff: .seconds(300), tellsTime: false)
                ],
                services: settings.services))
}

@Test func aServiceTakesSeveralSwitchesOfOneSource() throws {
    let settings = try load(
        """
        [source.app]
        type = "file"
        path = "app.json"
        interval = "2s"
        timeout = "500ms"
        max_body = "512KiB"

        [service.shop]
        time_zone = "Asia/Tokyo"
        max_stale = "24h"
        when_stale = "closed"
        when_unknown = "closed"
        first_timeout = "5m"
        at_end = "keep"
        update_required = "open"
        min_closed = "0s"
        [[service.shop.switch]]
        source = "app"
        format = "service-end"
        [[service.shop.switch]]
        source = "app"
        format = "maintenance"
        key = "server_maintenance_config"
        """)

    let limits = FetchLimits(timeout: .milliseconds(500), maxBody: 524_288)
    #expect(settings.sources.map(\.kind) == [.file(path: "/etc/killswitchd/app.json", limits)])
    #expect(settings.sources.map(\.origin) == [Origin(file: file, line: 1, column: 1)])
    #expect(
        settings.plan.sources == [
            SourcePlan(
                name: "app", interval: .seconds(2), timeout: .milliseconds(500),
                maxBackoff: .seconds(10), tellsTime: false)
        ])
    let service = try #require(settings.services.first)
    #expect(
        service.switches == [
            Switch(
                source: "app",
                format: .serviceEnd(
                    endKeys: ["service_end", "is_service_end"], countdownKey: "service_countdown")),
            Switch(source: "app", format: .maintenance(.member("server_maintenance_config"))),
        ])
    #expect(
        service.policy
            == Policy(
                maxStale: .seconds(86_400), whenStale: .closed, whenUnknown: .closed,
                firstTimeout: .seconds(300), atEnd: .keep, updateRequired: .open,
                minClosed: .zero))
    #expect(settings.warnings.isEmpty)
}

@Test(arguments: [
    (
        "format = 'service-end'",
        Format.serviceEnd(
            endKeys: ["service_end", "is_service_end"], countdownKey: "service_countdown")
    ),
    (
        "format = 'service-end', key = 'end'",
        .serviceEnd(endKeys: ["end"], countdownKey: "service_countdown")
    ),
    (
        "format = 'service-end', countdown_key = 'until'",
        .serviceEnd(endKeys: ["service_end", "is_service_end"], countdownKey: "until")
    ),
    (
        "format = 'boolean', closed_when = true",
        .boolean(BooleanFlag(key: nil, closedWhen: true))
    ),
    (
        "format = 'boolean', key = 'on', closed_when = false, closed_state = 'ended'",
        .boolean(BooleanFlag(key: "on", closedWhen: false, closedState: .ended))
    ),
    ("format = 'status'", .status(.whole)),
    ("format = 'status', key = 'shop'", .status(.member("shop"))),
    ("format = 'maintenance'", .maintenance(.memberOrWhole("server_maintenance_config"))),
    ("format = 'maintenance', key = 'm'", .maintenance(.member("m"))),
])
func eachFormatHasItsKeys(_ text: String, _ format: Format) throws {
    let settings = try load("service.shop.switch = [{source = 'file:/a', \(text)}]")
    #expect(settings.services.first?.switches.map(\.format) == [format])
}

@Test func servicesAndSourcesKeepTheOrderOfTheFile() throws {
    let settings = try load(
        """
        [service.zoo]
        source = "two"
        format = "status"
        [source.two]
        type = "file"
        path = "/2"
        [service.ant]
        source = "one"
        format = "status"
        [source.one]
        type = "file"
        path = "/1"
        """)
    #expect(settings.services.map(\.name.text) == ["zoo", "ant"])
    #expect(settings.sources.map(\.name.text) == ["two", "one"])
}

@Test func theHostsLimitIsReadAndGoesIntoThePlan() throws {
    let text = """
        \(shopTable)

        """
    #expect(try load(text).plan.guardLimits == GuardLimits())
    let settings = try load(text + "[limits]\nclose_at_once = 3")
    #expect(settings.plan.guardLimits == GuardLimits(count: 3))
    let others = try load(text + "[limits]\nclose_within = \"5m\"\nnotice = \"2h\"")
    var limits = GuardLimits()
    (limits.within, limits.notice) = (.seconds(300), .seconds(7200))
    #expect(others.plan.guardLimits == limits)
    let defaults = settings.effective.filter { $0.path.hasPrefix("limits.") }.map {
        "\($0.path) = \($0.value)"
    }
    #expect(
        defaults == [
            "limits.close_at_once = 3", "limits.close_within = \"60s\"", "limits.notice = \"10m\"",
        ])
    #expect(settings.effective.contains { $0.path == "limits.close_at_once" && $0.value == "3" })
}

@Test func theHostsPartOfTheSlotsGoesIntoThePlan() throws {
    #expect(try load(shopTable + "\n[host]").plan.slots == .all)
    let settings = try load(shopTable + "\n[host]\nslots = \"12.5%-50.0%\"")
    #expect(settings.plan.slots.lower == 125_000 && settings.plan.slots.upper == 500_000)
    let shown = settings.effective.filter { $0.path.hasPrefix("host.") }
    #expect(shown.map { "\($0.path) = \($0.value)" } == [#"host.slots = "12.5%-50%""#])
}

@Test func drillEveryIsForPeopleAndDecidesNothing() throws {
    let settings = try load(shopTable + "\ndrill_every = \"30d\"")
    #expect(settings.drillIntervals == ["shop": .seconds(30 * 86_400)])
    #expect(try settings.plan == load(shopTable).plan)
    #expect(try load(shopTable).drillIntervals.isEmpty)
}

@Test func aRunbookMayNameAPartOfAPage() throws {
    let url = "https://wiki.example.com/shop#closed"
    let settings = try load(shopTable + "\nrunbook = \"\(url)\"")
    #expect(settings.services.first?.runbook == url)
    #expect(try load(shopTable).services.first?.runbook == nil)
    #expect(try load(shopTable).services.first?.isEnforced == true)
    let observed = try load(shopTable + "\nenforce = false\nunits = [\"web.service\"]")
    #expect(observed.services.first?.isEnforced == false)
    // The list stays for the time when it is enforced; its gate holds none of them.
    #expect(observed.units["shop"]?.count == 1 && observed.heldUnits["shop"] == nil)
}

@Test func aListOfAddressesIsASourceWithMirrors() throws {
    let text = """
        [source.app]
        type = "http"
        url = ["https://a.example.com/x?token=1", "https://b.example.com/x"]
        signers = "/s"
        audience = "prod"
        interval = "5s"
        [service.shop]
        source = "app"
        format = "status"
        """
    let settings = try load(text)
    let source = try #require(settings.plan.sources.first)
    #expect(source.mirrors == ["https://a.example.com/x?…", "https://b.example.com/x"])
    // A mirror that hangs keeps the others waiting for an interval at most.
    #expect(source.timeout == .seconds(5))
    guard case .http(let http) = settings.sources.first?.kind else {
        Issue.record("another kind")
        return
    }
    #expect(http.addresses.map(\.url) == http.mirrors && http.url == http.mirrors[0])
    #expect(http.addresses.allSatisfy { $0.mirrors.isEmpty })
    #expect(
        settings.effective.contains {
            $0.path == "source.app.url"
                && $0.value == #"["https://a.example.com/x?…", "https://b.example.com/x"]"#
        })
    // One address in a list is one address.
    let one = try load(text.replacing(/, "https:..b[^"]*"/, with: ""))
    #expect(one.plan.sources.first?.mirrors == [])
    #expect(one.plan.sources.first?.timeout == .seconds(30))
}

@Test func everyTableOfTheSchemaHasItsKeys() {
    let tables = Schema.tables.map { "\($0.table) \($0.keys.joined(separator: " "))" }
    #expect(
        tables == [
            "[source.NAME] type interval max_backoff timeout max_body defaults path signers audience url ca "
                + "client_certificate client_key bearer headers unix_socket allow_plain_http endpoints prefix user password context stream_hosts api_key project "
                + "app_id base_url realtime realtime_url installations_url credentials scope "
                + "randomization_id signals",
            "[service.NAME] source format key countdown_key closed_when closed_state switch time_zone max_stale when_stale "
                + "when_unknown first_timeout at_end update_required min_closed open_spread "
                + "spread_at_boot drain confirm_close "
                + "confirm_open signatures_to_close signatures_to_open installed_version installed_version_file activation enforce notify_before guard drill_every units on_change "
                + "runbook page lang "
                + "variant values",
            "[[service.NAME.switch]] source format key countdown_key closed_when closed_state",
            "[attached] unit state early on run_at_open allow only_by_gate",
            "[host] slots", "[limits] close_at_once close_within notice", "[metrics] textfile",
            "[report] url ca client_certificate client_key bearer headers unix_socket allow_plain_http "
                + "timeout etcd spread",
            "[fleet] prometheus inventory",
            "[guard.NAME] prometheus query timeout url ca client_certificate client_key bearer headers "
                + "unix_socket allow_plain_http",
            "[service.NAME.variant] source key map default",
            "[service.NAME.values] source key type default",
        ])
}

@Test func variantValuesActivationAndConfirmationsAreRead() throws {
    let settings = try load(
        """
        [source.app]
        type = "file"
        path = "/a"
        [source.app.defaults]
        end = "no"
        list = [1, 2.5, true, { k = "v" }]
        [source.plan]
        type = "file"
        path = "/b"
        [service.shop]
        confirm_close = 2
        confirm_open = 3
        activation = "next-start"
        installed_version_file = "VERSION"
        [[service.shop.switch]]
        source = "app"
        format = "switch"
        [[service.shop.switch]]
        source = "plan"
        format = "switch"
        key = "shop"
        [service.shop.variant]
        key = "layout"
        map = { "1" = "v1" }
        [service.shop.values]
        limit = { type = "integer", default = "10" }
        banner = { type = "string", key = "text", source = "plan" }
        """)
    let shop = try #require(settings.services.first)
    #expect(shop.policy.confirmClose == 2 && shop.policy.confirmOpen == 3)
    #expect(shop.activation == .nextStart)
    #expect(shop.installed == .file("/etc/killswitchd/VERSION"))
    #expect(
        shop.switches == [
            Switch(source: "app", format: .switchObject(.whole)),
            Switch(source: "plan", format: .switchObject(.member("shop"))),
        ])
    #expect(shop.variant?.type == .word(["1": "v1"]) && shop.variant?.fallback == nil)
    #expect(shop.values.map(\.name.text) == ["limit", "banner"])
    #expect(shop.values.map(\.key) == ["limit", "text"])
    #expect(shop.values.map(\.source) == ["app", "plan"])
    #expect(shop.values.map(\.fallback) == [.number(Number(10)), nil])
    let defaults = try #require(settings.plan.sources.first?.defaults)
    #expect(
        JSON.Value.object(defaults).serialized(.compact)
            == #"{"end":"no","list":[1,2.5,true,{"k":"v"}]}"#)
}

@Test func theInstalledVersionMayBeWritten() throws {
    let settings = try load(
        "[service.shop]\nsource = 'file:/a'\nformat = 'switch'\ninstalled_version = ' 1.2.3 '")
    #expect(settings.services.first?.installed == Version("1.2.3").map(InstalledVersion.version))
}
