import CivilTime
import Decision
import Files
import Pages
import Storage
import Support
import Testing

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
        var verdict = try verdict(state, gate)
        verdict.endsAt = try endsAt.map { try Instant(rfc3339: $0) }
        verdict.texts.title = title
        try directory.publish(try record(verdict), of: try service("shop"), page: page)
    }

    private func exists(_ name: String) throws -> Bool { try File.exists(folder("shop/\(name)")) }

    /// What the gate machine tells of an open gate.
    private func publish(isUnavailable: Bool) throws {
        try directory.publish(
            isUnavailable: isUnavailable, try record(try verdict(.running, .open)),
            of: try service("shop"), page: .standard)
    }

    private var areShown: Bool {
        get throws {
            let shown = try ["unavailable", "problem.json", "retry-after"].map(exists)
            #expect(Set(shown).count == 1)
            return shown[0]
        }
    }

    private var page: String { get throws { try folder.text(of: "shop/page.html") } }

    @Test func theProblemIsThereUntilTheUnitsOfTheOpenGateAreUp() throws {
        try publish(.running, .open)
        #expect(try exists("page.html") && !areShown)
        try publish(.maintenance, .closed)
        #expect(try page.contains("Maintenance") && areShown)
        #expect(try folder.text(of: "shop/retry-after").count == 300)
        try publish(.running, .open)
        #expect(try page.contains("One moment, please") && areShown && exists("open"))
        #expect(try page.contains(#"<meta http-equiv="refresh" content="5">"#))
        #expect(try folder.text(of: "shop/problem.json").contains(#""state": "starting""#))
        #expect(try folder.text(of: "shop/retry-after") == "5    ")
        // Another record, and another daemon, change nothing in that.
        try publish(.countdown, .open, title: "Farewell")
        #expect(try page.contains("One moment, please") && !page.contains("Farewell") && areShown)
        try publish(.undecided, nil)
        #expect(try page.contains("One moment, please") && areShown)
        try publish(.running, .open)
        try publish(isUnavailable: false)
        #expect(try page.contains("This service is running") && !areShown)
        // Its units start once more, as after a boot.
        try publish(isUnavailable: true)
        #expect(try page.contains("One moment, please") && areShown)
        try publish(isUnavailable: false)
        try publish(.undecided, nil)
        #expect(try exists("page.html") && !areShown)
    }

    /// A size is a number of seconds, for servers that cannot read a file into a header.
    @Test(arguments: [(1, 1), (9, 9), (10, 10), (90, 90), (3_600, 3_600), (-5, 1), (86_400, 3_600)])
    func theSizeOfTheFileIsTheNumberInIt(_ wanted: Int64, _ reported: Int) throws {
        var verdict = try verdict(.ended, .closed)
        verdict.retryAfter = .seconds(wanted)
        try directory.publish(try record(verdict), of: try service("shop"), page: .standard)
        let text = try folder.text(of: "shop/retry-after")
        #expect(text.utf8.count == reported && text.prefix { $0 != " " } == "\(reported)")
    }

    @Test func theMarkerOfAnotherBootIsRemoved() throws {
        try publish(.maintenance, .closed)
        try RuntimeDirectory(path: folder.path, bootID: "b-1").tidy(services: ["shop"], sources: [])
            .forEach { throw $0 }
        #expect(try exists("unavailable"))
        try RuntimeDirectory(path: folder.path, bootID: "b-2").tidy(services: ["shop"], sources: [])
            .forEach { throw $0 }
        #expect(try !exists("unavailable"))
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
        try File.touch(path, modified: 1_000_000)
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
        try directory.withdraw("shop")
        #expect(try Directory.list(folder.path) == [])
        try publish(.countdown, .open, endsAt: "2027-03-31T08:00:00+09:00")
        #expect(try directory.tidy(services: [], sources: []).isEmpty)
        #expect(try Directory.list(folder.path) == [])
    }
}
