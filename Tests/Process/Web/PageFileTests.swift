import Files
import Glibc
import JSON
import Support
import Testing

/// `page.html`, its template and its neighbours, as the daemon keeps them.
@Suite(.timeLimit(.minutes(5))) struct PageFileTests {
    private static let configuration = """
        [service.shop]
        source = "file:flags.json"
        format = "switch"
        min_closed = "0s"
        page = "page.html"
        [service.shop.values]
        phone = { key = "phone", type = "string", default = "110" }
        """
    fileprivate static let closed = #"{"state": "maintenance"}"#

    private func daemon(_ template: String, flags: String = PageFileTests.closed) throws -> Daemon {
        let daemon = try Daemon(Self.configuration, flags: flags)
        try daemon.folder.write(template, to: "page.html")
        return daemon
    }

    /// Waits for the marker, which is written last.
    private func awaitClosed(_ daemon: Daemon) throws {
        try daemon.waitFor(file: "run/shop/closed")
    }

    private func page(of daemon: Daemon) throws -> String {
        try daemon.folder.text(of: "run/shop/page.html")
    }

    @Test func anEditedTemplateCountsAfterAReload() async throws {
        let daemon = try daemon("{{heading}} {{values.phone}}")
        try daemon.start()
        try awaitClosed(daemon)
        #expect(try page(of: daemon) == "Maintenance 110")
        try daemon.folder.write("new: {{heading}}", to: "page.html")
        try daemon.control("reload").expect(0)
        try daemon.waitUntil("the page is new") { try page(of: daemon) == "new: Maintenance" }
        try daemon.reload(
            Self.configuration.replacing("min_closed", with: "lang = \"ja\"\nmin_closed"))
        try daemon.waitUntil("the page is Japanese") { try page(of: daemon) == "new: メンテナンス中" }
        #expect(try daemon.warnings.isEmpty)
    }

    @Test func aBrokenTemplateChangesNothingAlsoAfterARestart() async throws {
        let daemon = try daemon("{{heading}}")
        try daemon.start()
        try awaitClosed(daemon)
        try daemon.folder.write("x\n{{titel}}", to: "page.html")
        let template = daemon.folder("page.html")
        try daemon.control("reload").expect(
            78, errors: "\(template):2:1: unknown field 'titel'; the fields are lang, ")
        #expect(try page(of: daemon) == "Maintenance")
        try daemon.stop()
        try daemon.start()
        try daemon.folder.write(#"{"state": "ended"}"#, to: "flags.json")
        try daemon.waitFor("ended")
        try daemon.waitUntil("the page is that of the end") {
            try page(of: daemon) == "This service has ended"
        }
        #expect(
            try daemon.folder.text(of: "run/configuration.refused").contains(
                "\(template):2:1: unknown field 'titel'"))
    }

    @Test func aBrokenTemplateWithoutAnEarlierOneIsAnErrorOfTheConfiguration() throws {
        let daemon = try daemon("{{#title}}")
        let problem = "\(daemon.folder("page.html")):1:1: section 'title' is not closed"
        for option in ["--once", "--check"] { try daemon.run(option).expect(78, errors: problem) }
        try File.remove(daemon.folder("page.html"))
        try daemon.run("--check").expect(
            78, errors: ":5:8: bad template 'page.html' for 'page' in [service.shop]: open '")
    }

    @Test func theCheckNamesTheTemplates() throws {
        try daemon("{{heading}}").run("--check").expect(
            0, output: "page.html\n", "read ", "service.shop.lang = \"en\"   (default)\n")
    }

    @Test func aCountdownHasOtherFiles() throws {
        let daemon = try daemon("{{heading}}")
        try daemon.start()
        try awaitClosed(daemon)
        try daemon.folder.write(
            #"{"state": "countdown", "ends_at": "2099-01-01T00:00:00Z"}"#, to: "flags.json")
        try daemon.waitFor("countdown")
        try daemon.waitFor(noFile: "run/shop/problem.json")
        #expect(try daemon.folder.text(of: "run/shop/sunset") == "Thu, 01 Jan 2099 00:00:00 GMT")
    }

    /// Texts that have broken pages, shells and terminals elsewhere.
    @Test(arguments: [
        "<script>alert(1)</script>", "{{state}}{{#closed}}", "${HOME} $(id) `id`", "\u{202E}evil",
        "a\0b", "\"'><img src=x onerror=y>", String(repeating: "ä<", count: 100),
    ]) func aHostileTextIsHarmlessInEveryFile(_ text: String) throws {
        let flags = JSON.Value.object([
            "state": "maintenance", "title": .string(text), "message": .string(text),
        ])
        let daemon = try daemon("<p title='{{title}}'>{{message}}</p>", flags: flags.serialized())
        try daemon.start()
        try awaitClosed(daemon)
        let page = try page(of: daemon)
        let inner = page.dropFirst("<p title='".count).dropLast("</p>".count)
        let parts = inner.split(separator: "'>", maxSplits: 1)
        #expect(page.hasPrefix("<p title='") && page.hasSuffix("</p>") && parts.count == 2)
        #expect(parts.allSatisfy { !$0.contains("<") && !$0.contains("'") && !$0.contains("\0") })
        #expect(!page.contains("\u{202E}"))
        let problem = try File.read(daemon.folder("run/shop/problem.json"), limit: 1 << 20)
        #expect(try JSON.Value.parse(problem).object?["status"] == 503)
        let shell = try Program.run(
            "/bin/sh",
            ["-c", ". \(daemon.folder("run/shop/state.env")); printf %s \"$KILLSWITCH_STATE\""])
        #expect(shell.output == "maintenance" && shell.errors.isEmpty)
    }

    /// The surrogate is in the document of the server, where it may stand alone.
    @Test func anUnpairedSurrogateIsHarmless() throws {
        let daemon = try daemon(
            "{{title}}|", flags: #"{"state": "maintenance", "title": "a\ud800b"}"#)
        try daemon.start()
        try daemon.waitFor(file: "run/shop/page.html")
        let page = try File.read(daemon.folder("run/shop/page.html"), limit: 1 << 16)
        #expect(String(validating: page, as: UTF8.self)?.hasSuffix("|") == true)
    }
}
