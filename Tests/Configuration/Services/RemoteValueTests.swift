import Configuration
import Decision
import JSON
import Testing

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
    let names = (app: try #require(SourceName("app")), plan: try #require(SourceName("plan")))
    #expect(shop.policy.confirmClose == 2 && shop.policy.confirmOpen == 3)
    #expect(shop.activation == .nextStart)
    #expect(shop.installed == .file("/etc/killswitchd/VERSION"))
    #expect(
        shop.switches == [
            Switch(source: names.app, format: .switchObject(.whole)),
            Switch(source: names.plan, format: .switchObject(.member("shop"))),
        ])
    #expect(shop.variant?.type == .word(["1": "v1"]) && shop.variant?.fallback == nil)
    #expect(shop.values.map(\.name.text) == ["limit", "banner"])
    #expect(shop.values.map(\.key) == ["limit", "text"])
    #expect(shop.values.map(\.source) == [names.app, names.plan])
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
