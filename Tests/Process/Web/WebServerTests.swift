import Files
import Glibc
import JSON
import Support
import Testing

/// The web servers of Debian with the snippets of the package, and the files of a real daemon.
@Suite(.timeLimit(.minutes(5))) struct WebServerTests {
    private static let configuration = Daemon.service(
        format: "switch", #"min_closed = "0s""#, #"time_zone = "UTC""#)
    /// Apache once found the number for `Retry-After` in the text of such a message.
    private static let closed = #"""
        {"state": "maintenance", "title": "Inventory & <b>more</b>",
         "message": "Back {{soon}}, \"retry_after\": 7, xretry_afterx: 999999999999",
         "retry_after": 90}
        """#

    /// A daemon whose files the web servers may read: Apache's have a user of their own.
    private func daemon(_ flags: String) throws -> Daemon {
        let daemon = try Daemon(Self.configuration, flags: flags)
        unsafe chmod(daemon.folder.path, 0o755)
        try daemon.start()
        return daemon
    }

    /// Open, announced, closed, open: the server is never told anything.
    @Test(arguments: WebServerKind.allCases)
    func aServerAnswersAsTheSwitchSays(_ kind: WebServerKind) async throws {
        let daemon = try daemon(#"{"state": "running"}"#)
        try daemon.waitFor("running")
        let server = try await WebServer(kind, runtime: daemon.folder("run"))
        var answer = try server.get("/cart?id=1")
        #expect(answer.status == 200 && answer.body == "the shop")
        #expect(answer.headers["sunset"] == nil && answer.headers["cache-control"] == nil)
        #expect(try server.get("/cart", "--data", "a=b").status == 200)
        // What the back-end refuses is not ours.
        answer = try server.get("/busy")
        #expect(answer.status == 503 && answer.body == "too busy")

        try daemon.folder.write(
            #"{"state": "countdown", "ends_at": "2099-12-31T23:59:59Z"}"#, to: "flags.json")
        try await daemon.awaitState("countdown")
        // Written after state.json.
        try await waitUntil("the end is announced") {
            try server.get("/").headers["sunset"] != nil
        }
        answer = try server.get("/")
        #expect(answer.status == 200 && answer.body == "the shop")
        #expect(answer.headers["sunset"] == "Thu, 31 Dec 2099 23:59:59 GMT")
        // Whatever a client asks, the answer is that of the back-end.
        for options in [["--range", "0-3"], ["--header", "If-None-Match: *"], ["--data", "a=b"]] {
            answer = try server.get("/", options)
            #expect(answer.headers["sunset"] == "Thu, 31 Dec 2099 23:59:59 GMT")
        }

        try daemon.folder.write(Self.closed, to: "flags.json")
        try await daemon.awaitState("maintenance")
        try await daemon.awaitFile("run/shop/closed")
        try expectClosed(server, daemon)

        // However long the flags would have a client wait, the header is bounded as the record is.
        for (asked, reported) in [("0", "1"), ("86400", "3600"), ("5", "5")] {
            try daemon.folder.write(
                #"{"state": "maintenance", "retry_after": \#(asked)}"#, to: "flags.json")
            try await waitUntil("Retry-After is \(reported)") {
                try server.get("/").headers["retry-after"] == reported
            }
        }

        try daemon.folder.write(#"{"state": "running"}"#, to: "flags.json")
        try await daemon.awaitState("running")
        try await waitUntil("the service is open") { try server.get("/").status == 200 }
        answer = try server.get("/")
        #expect(answer.body == "the shop" && answer.headers["sunset"] == nil)
        // Without its back-end it has an error of its own, and not the page of a service that runs.
        try server.endBackend()
        answer = try server.get("/")
        #expect([502, 503].contains(answer.status) && !answer.body.contains("<main>"))
    }

    private func expectClosed(_ server: WebServer, _ daemon: Daemon) throws {
        let page = try daemon.folder.text(of: "run/shop/page.html")
        #expect(
            page.contains("Inventory &amp; &lt;b&gt;more&lt;/b&gt;") && page.contains("{{soon}}"))
        for (path, options) in [
            ("/", []), ("/cart/1", ["--data", "a=b"]), ("/cart/1", ["--request", "DELETE"]),
        ] {
            let answer = try server.get(path, options)
            #expect(answer.status == 503 && answer.body == page)
            #expect(answer.headers["content-type"] == "text/html; charset=utf-8")
            #expect(answer.headers["cache-control"] == "no-store")
            #expect(answer.headers["retry-after"] == "90")
            #expect(answer.headers["sunset"] == nil)
        }
        let head = try server.get("/", "--head")
        #expect(head.status == 503 && head.body.isEmpty)
        // A copy of the page that a client has must not make it an answer without a page.
        let again = try server.get(
            "/", "--header", "If-Modified-Since: Fri, 31 Dec 2100 00:00:00 GMT", "--range", "0-9")
        #expect(again.status == 503 && again.body == page)

        let problem = try daemon.folder.text(of: "run/shop/problem.json")
        for accept in ["application/json", "application/problem+json, */*"] {
            let answer = try server.get("/api", "--header", "Accept: \(accept)", "--data", "{}")
            #expect(answer.status == 503 && answer.body == problem)
            #expect(answer.headers["content-type"] == "application/problem+json")
            #expect(answer.headers["cache-control"] == "no-store")
            #expect(answer.headers["retry-after"] == "90")
        }
        #expect(try JSON.Value.parse(Array(problem.utf8)).object?["status"] == 503)
        let browser = "Accept: text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8"
        #expect(try server.get("/", "--header", browser).body == page)

        let health = try server.get("/healthz")
        #expect(health.status == 200 && health.body == "the shop")
        // Nobody can ask for other files of the service.
        for path in ["state.json", "sunset", "retry-after"].map({ "/.killswitchd/\($0)" }) {
            let answer = try server.get(path)
            #expect(answer.status == 404 || answer.body == page)
        }
    }

    /// A runtime directory with the marker of a closed service, and nothing else.
    private func closed() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        unsafe chmod(folder.path, 0o755)
        try Directory.create(folder("shop"))
        try folder.write("", to: "shop/unavailable")
        return folder
    }

    /// A request that finds the service closed gets the page, also if the service opens before the answer is sent.
    @Test(arguments: WebServerKind.allCases)
    func aServerLooksOnceForARequest(_ kind: WebServerKind) async throws {
        let folder = try closed()
        try folder.write("<main>closed</main>", to: "shop/page.html")
        let server = try await WebServer(kind, runtime: folder.path)
        let flips = try Program(
            "/usr/bin/python3",
            [
                "-c",
                """
                import itertools, os, sys, time
                os.chdir(sys.argv[1])
                for names in itertools.cycle([("unavailable", "other"), ("other", "unavailable")]):
                    os.rename(*names)
                    time.sleep(0.0001)
                """, folder("shop"),
            ])
        try await waitUntil("the marker is away") { try File.exists(folder("shop/other")) }
        let answers = try await server.get(times: 3_000)
        withExtendedLifetime(flips) {}
        #expect(answers.keys.sorted() == ["200 8", "503 19"], "\(answers)")
    }

    /// A file that is missing must not turn the answer into another one.
    @Test(arguments: WebServerKind.allCases)
    func aClosedServiceWithoutItsPageIsClosed(_ kind: WebServerKind) async throws {
        let folder = try closed()
        let server = try await WebServer(kind, runtime: folder.path)
        // The file of the number is missing; nginx tells that of a service that starts.
        let number = kind == .nginx ? "5" : nil
        for accept in ["text/html", "application/json"] {
            let answer = try server.get("/", "--header", "Accept: \(accept)")
            #expect(answer.status == 503 && answer.headers["retry-after"] == number)
        }
        // The page alone.
        try folder.write("<main>closed</main>", to: "shop/page.html")
        let answer = try server.get("/")
        #expect(answer.status == 503 && answer.body == "<main>closed</main>")
        #expect(answer.headers["retry-after"] == number)
        try File.remove(folder("shop/unavailable"))
        #expect(try server.get("/").status == 200)
    }
}
