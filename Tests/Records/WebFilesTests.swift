import CivilTime
import Decision
import Files
import Pages
import Records
import Support
import Testing

/// The files of a service for its web server, on a real disk.
@Suite struct WebFilesTests {
    let folder: TemporaryFolder
    private let directory: RuntimeDirectory

    init() throws {
        folder = try TemporaryFolder()
        directory = RuntimeDirectory(path: folder.path, bootID: "b-1")
    }

    private func publish(
        _ state: State, _ gate: Gate?, endsAt: String? = nil, title: String? = nil,
        page: Page = .standard
    ) throws {
        var verdict = Verdict(state: state, gate: gate, reason: .flags(try named("app")))
        verdict.endsAt = try endsAt.map { try Instant(rfc3339: $0) }
        verdict.title = title
        try directory.publish(try record(verdict), of: try service("shop"), page: page)
    }

    private func exists(_ name: String) throws -> Bool { try File.exists(folder("shop/\(name)")) }

    @Test func theProblemIsThereWhileTheGateIsClosed() throws {
        try publish(.running, .open)
        #expect(try exists("page.html") && !exists("problem.json"))
        try publish(.maintenance, .closed)
        #expect(try exists("page.html") && exists("problem.json"))
        try publish(.running, .open)
        #expect(try exists("page.html") && !exists("problem.json"))
        try publish(.undecided, nil)
        #expect(try exists("page.html") && !exists("problem.json"))
    }

    @Test func theSunsetIsThereDuringACountdownAndHasItsTime() throws {
        try publish(.countdown, .open, endsAt: "2027-03-31T08:00:00+09:00")
        #expect(try folder.text(of: "shop/sunset") == "Tue, 30 Mar 2027 23:00:00 GMT")
        let path = folder("shop/sunset")
        #expect(
            try File.modificationTime(of: path)
                == Instant(rfc3339: "2027-03-30T23:00:00Z").microseconds)
        #expect(try File.attributes(of: path).mode == 0o644)
        try publish(.countdown, .open, endsAt: "2027-04-30T08:00:00+09:00")
        #expect(
            try File.modificationTime(of: path)
                == Instant(rfc3339: "2027-04-29T23:00:00Z").microseconds)
        try publish(.ended, .closed, endsAt: "2027-04-30T08:00:00+09:00")
        #expect(try !exists("sunset"))
    }

    /// Most changes of a record, such as another reason, change nothing on the page.
    @Test func aPageThatSaysTheSameIsNotWrittenAgain() throws {
        try publish(.maintenance, .closed, title: "Inventory")
        let path = folder("shop/page.html")
        try File.make(path, modified: 1_000_000)
        try publish(.maintenance, .closed, title: "Inventory")
        #expect(try File.modificationTime(of: path) == 1_000_000)
        try publish(.maintenance, .closed, title: "Stocktaking")
        #expect(try File.modificationTime(of: path) != 1_000_000)
        #expect(try folder.text(of: "shop/page.html").contains("<h1 dir=\"auto\">Stocktaking</h1>"))
    }

    @Test func aServiceHasItsOwnTemplateAndLanguage() throws {
        let template = try PageTemplate(Array("<p>{{heading}}</p>".utf8))
        try publish(.ended, .closed, page: Page(template, in: .german))
        #expect(try folder.text(of: "shop/page.html") == "<p>Dieser Dienst wurde eingestellt</p>")
    }

    @Test func theyGoWithTheirService() throws {
        try publish(.ended, .closed)
        try directory.withdraw(try named("shop"))
        #expect(try Directory.list(folder.path) == [])
        try publish(.countdown, .open, endsAt: "2027-03-31T08:00:00+09:00")
        #expect(try directory.tidy(services: [], sources: []).isEmpty)
        #expect(try Directory.list(folder.path) == [])
    }

    @Test func itIsKnownWhichFilesAVerdictHas() throws {
        let closed = Verdict(state: .ended, gate: .closed, reason: .starting)
        let open = Verdict(state: .running, gate: .open, reason: .starting)
        #expect(RuntimeDirectory.expects("problem.json", with: closed))
        #expect(!RuntimeDirectory.expects("problem.json", with: open))
        #expect(!RuntimeDirectory.expects("sunset", with: closed))
        #expect(RuntimeDirectory.expects("page.html", with: open))
    }
}
