import Configuration
import Decision
import Pages
import Testing

@Suite struct PageSettingsTests {
    private static let head = """
        [service.shop]
        source = "file:/f.json"
        format = "status"

        """

    private func load(
        _ text: String, _ templates: [String: String] = [:]
    ) throws -> (settings: Settings, read: [String], sources: [String]) {
        var read: [String] = []
        let supply = Templates { path in
            read.append(path)
            guard let text = templates[path] else { throw Missing() }
            return Array(text.utf8)
        }
        let settings = try Settings(
            files: [("/etc/k/k.toml", Array(text.utf8))], zones: .known, templates: supply)
        return (settings, read, supply.sources.map(\.path))
    }

    private func errors(_ text: String, _ templates: [String: String] = [:]) -> String {
        do {
            _ = try load(text, templates)
            return ""
        } catch {
            return "\(error)"
        }
    }

    private struct Missing: Error, CustomStringConvertible {
        let description = "it is not there"
    }

    @Test func aServiceHasAPageInItsLanguage() throws {
        let loaded = try load(
            Self.head + "page = \"page.html\"\nlang = \"zh-TW\"", ["/etc/k/page.html": "{{title}}"])
        let page = try #require(loaded.settings.pages.first?.value)
        #expect(page.language == .chineseOfTaiwan)
        #expect(page.template == (try PageTemplate(Array("{{title}}".utf8))))
        #expect(loaded.sources == ["/etc/k/page.html"])
        #expect(
            loaded.settings.effective.map(\.description).contains(
                "service.shop.page = \"/etc/k/page.html\"   (/etc/k/k.toml:4)"))
    }

    @Test func withoutTheKeysAServiceHasThePageThatKillswitchdBrings() throws {
        let (settings, _, sources) = try load(Self.head)
        #expect(settings.pages.isEmpty && sources.isEmpty)
        #expect(
            settings.effective.map(\.description).contains("service.shop.lang = \"en\"   (default)")
        )
        let german = try load(Self.head + "lang = \"de\"").settings.pages
        #expect(german.values.map(\.language) == [.german])
        #expect(german.values.map(\.template) == [.standard])
    }

    /// However many services name it, a file is read once, and its error is told once.
    @Test func aTemplateIsReadOnce() throws {
        let text = ["a", "b", "c"].map {
            "[service.\($0)]\nsource = \"file:/f.json\"\nformat = \"status\"\npage = \"/p\"\n"
        }.joined()
        #expect(try load(text, ["/p": "x"]).read == ["/p"])
        #expect(
            errors(text, ["/p": "x\n  {{#title}}"])
                == "/p:2:3: section 'title' is not closed: '{{/title}}' is missing")
    }

    @Test(arguments: [
        (
            "lang = \"fr\"",
            "/etc/k/k.toml:4:8: bad value 'fr' for 'lang' in [service.shop]: expected 'en', 'ja', 'de' "
                + "or 'zh-TW'"
        ),
        (
            "page = \"/none\"",
            "/etc/k/k.toml:4:8: bad template '/none' for 'page' in [service.shop]: it is not there"
        ),
        ("page = \"\"", "/etc/k/k.toml:4:8: bad path '' for 'page' in [service.shop]: it is empty"),
        (
            "page = true",
            "/etc/k/k.toml:4:8: wrong type for 'page' in [service.shop]: expected a path, found a boolean"
        ),
        (
            "page = \"/value\"",
            "/value:1:1: unknown field 'values.phone' of service 'shop'; it has no values"
        ),
        (
            "page = \"/value\"\n[service.shop.values]\nfax = { key = \"fax\", type = \"string\" }",
            "/value:1:1: unknown field 'values.phone' of service 'shop'; its values are 'fax'"
        ),
    ]) func anErrorHasItsPlace(_ text: String, _ expected: String) {
        #expect(errors(Self.head + text, ["/value": "{{values.phone}}"]) == expected)
    }

    @Test func aValueThatTheServiceHasIsShown() throws {
        let settings = try load(
            Self.head + "page = \"/value\"\n"
                + "[service.shop.values]\nphone = { key = \"phone\", type = \"string\" }",
            ["/value": "{{values.phone}}"]
        ).settings
        #expect(settings.pages.count == 1)
    }

    /// The kept configuration brings its templates: the files may be broken or gone by then.
    @Test func keptTemplatesAreUsedInsteadOfTheFiles() throws {
        let files = ConfigurationFiles(
            [("/k.toml", Array((Self.head + "page = \"/p\"").utf8))],
            templates: [("/p", Array("old".utf8))])
        let loaded = try LoadedConfiguration(files, zones: .known)
        let pages = loaded.settings.pages
        #expect(pages.values.map(\.template) == [try PageTemplate(Array("old".utf8))])
        #expect(loaded.templates.map(\.path) == ["/p"])
        #expect(loaded.templates.map(\.bytes) == [Array("old".utf8)])
    }
}
