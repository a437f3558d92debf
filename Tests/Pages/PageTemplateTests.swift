import CivilTime
import Decision
import JSON
import Pages
import Testing

@Suite struct PageTemplateTests {
    @Test(arguments: [
        ("{{service}} is {{ state }}", "shop is maintenance"),
        ("{{#title}}<h1>{{title}}</h1>{{/title}}", "<h1>Inventory</h1>"),
        ("{{#title}}{{.}}{{/title}}", "Inventory"),
        ("{{^title}}none{{/title}}{{^message}}none{{/message}}", "none"),
        ("{{#closed}}{{#maintenance}}yes{{/maintenance}}{{^ended}}!{{/ended}}{{/closed}}", "yes!"),
        ("a{{! a comment }}b", "ab"),
        ("a {b} } {{state}}}", "a {b} } maintenance}"),
        ("", ""),
        ("no tags", "no tags"),
        ("{", "{"),
        ("a\n  {{#closed}}\nb\n  {{/closed}}  \r\nc", "a\nb\nc"),
        ("a\n{{! alone }}\nb", "a\nb"),
        ("a {{#closed}}b{{/closed}} c", "a b c"),
        ("{{#closed}}\nx\n{{/closed}}", "x\n"),
        ("{{\nstate\n}}", "maintenance"),
    ]) func aTemplateIsFilled(_ template: String, _ expected: String) throws {
        let closed = try record(.maintenance) { $0.texts.title = "Inventory" }
        #expect(try page(template, closed) == expected)
    }

    @Test(arguments: [
        (
            "a\n  {{titel}}",
            "2:3: unknown field 'titel'; the fields are lang, service, state, starting, running, "
                + "countdown, maintenance, update_required, ended, open, closed, heading, text, title, "
                + "message, days_left, days_text, ends_at, ends_label, ends_text, refresh, "
                + "refresh_text, variant, values.NAME"
        ),
        ("ä{{title", "1:2: the tag is not closed: '}}' is missing"),
        ("{{#title}}\nx", "1:1: section 'title' is not closed: '{{/title}}' is missing"),
        ("x{{/title}}", "1:2: '{{/title}}' closes a section that was not opened"),
        (
            "{{#title}}{{#text}}{{/title}}{{/text}}",
            "1:20: '{{/title}}' comes where '{{/text}}' is expected"
        ),
        ("{{{title}}}", "1:1: every field is escaped: write '{{title}}'"),
        ("{{&title}}", "1:1: every field is escaped: write '{{title}}'"),
        ("{{>head}}", "1:1: a template has no partials: write the text here"),
        ("{{=<% %>=}}", "1:1: the delimiters are always '{{' and '}}'"),
    ]) func anErrorHasItsPlace(_ template: String, _ expected: String) {
        #expect(problem(of: Array(template.utf8)) == expected)
    }

    @Test func aTemplateIsBoundedInDepthInTagsAndInSize() {
        let nested = { (depth: Int) in
            Array(
                (String(repeating: "{{#title}}", count: depth)
                    + String(repeating: "{{/title}}", count: depth)).utf8)
        }
        #expect(problem(of: nested(16)) == nil)
        #expect(problem(of: nested(17)) == "1:161: sections nested over 16 levels")
        let tags = { (count: Int) in Array(String(repeating: "{{title}}", count: count).utf8) }
        #expect(problem(of: tags(500)) == nil)
        #expect(problem(of: tags(501)) == "1:4501: more than 500 tags")
        let large = [UInt8](repeating: 0x20, count: 256 << 10)
        #expect(problem(of: large) == nil)
        #expect(problem(of: large + [0x20]) == "1:1: file of 262145 bytes: at most 262144 are read")
        #expect(problem(of: [0x61, 0xFF]) == "1:1: it is not UTF-8")
    }

    /// Any bytes give a template or an error, and never end the program.
    @Test func anyMixtureOfTagsIsReadOrRefused() {
        let parts = [
            "{{", "}}", "{", "}", "#", "/", "^", "!", "title", "\n", " ", "é", "{{title}}",
        ]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let length = Int.random(in: 0...12, using: &generator)
            let text = (0..<length).map { _ in parts.randomElement(using: &generator) ?? "" }
            _ = problem(of: Array(text.joined().utf8))
        }
    }

    @Test func aValueIsNamedWithItsPlace() throws {
        let template = try PageTemplate(Array("a\n{{#values.phone}}{{.}}{{/values.phone}}".utf8))
        #expect(template.values.map { "\($0.name) \($0.line):\($0.column)" } == ["phone 2:1"])
    }

    private func problem(of bytes: [UInt8]) -> String? {
        do {
            _ = try PageTemplate(bytes)
            return nil
        } catch {
            return error.description
        }
    }
}

func shop(values: [String] = []) throws -> Service {
    let source: SourceName = try name("app")
    var service = Service(
        name: try name("shop"), zone: .utc,
        switches: [Switch(source: source, format: .status(.whole))])
    service.values = try values.map {
        RemoteValue(name: try name($0), source: source, key: $0, type: .string)
    }
    return service
}

func name<Thing>(_ text: String) throws -> Name<Thing> {
    guard let name = Name<Thing>(text) else { throw NoName() }
    return name
}

private struct NoName: Error {}

/// A record as of 2027-03-01T12:00:00Z; a test changes the facts that matter.
func record(
    _ state: State, _ change: (inout Verdict) throws -> Void = { _ in }
) throws -> PublishedVerdict {
    let gate: Gate? =
        switch state {
        case .undecided: nil
        case .running, .countdown: .open
        case .maintenance, .updateRequired, .ended: .closed
        }
    var verdict = Verdict(state: state, gate: gate, reason: .flags(try name("app")))
    try change(&verdict)
    let now = try Instant(rfc3339: "2027-03-01T12:00:00Z")
    return PublishedVerdict(
        verdict: verdict, since: now, generation: 1, decidedAt: now,
        nextEdge: try Instant(rfc3339: "2027-03-02T00:00:00Z"))
}

func window(until: String) throws -> Reason {
    .window(try name("app"), until: Zone.utc.zoned(try Instant(rfc3339: until)))
}

func page(
    _ template: String, _ record: PublishedVerdict, in language: Language = .english,
    of service: Service? = nil
) throws -> String {
    let page = Page(try PageTemplate(Array(template.utf8)), in: language)
    let service = try service ?? shop()
    return String(decoding: page.bytes(of: record, for: service), as: UTF8.self)
}
