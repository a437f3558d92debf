import EventLoop
import Files
import Glibc
import Support
import Testing

/// A flags file as the source: each change reaches the published files at once.
@Suite(.timeLimit(.minutes(5))) struct FlagsFileTests {
    @Test func theDemoCountsDownAndFollowsEveryEdit() throws {
        let demo = "\(Programs.project)/etc/demo"
        let daemon = try Daemon(
            String(
                decoding: try File.read("\(demo)/killswitchd.toml", limit: 1 << 20), as: UTF8.self),
            flags: String(
                decoding: try File.read("\(demo)/flags.json", limit: 1 << 20), as: UTF8.self))
        try daemon.start()
        try daemon.waitFor("countdown")
        let days = try #require(try daemon.member("days_left").flatMap { Int($0) })
        #expect(days > 0)
        for (word, state) in [
            ("no", "running"), ("over", "ended"), ("countdown", "countdown"), ("", "ended"),
        ] {
            try daemon.folder.write(
                """
                {"service_end": "\(word)", "service_countdown": "2030-12-31T23:59:59+0900"}
                """, to: "flags.json")
            try daemon.waitFor(state)
        }
        #expect(try daemon.stop(SIGINT) == 0)
    }

    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let make: @Sendable (TemporaryFolder) throws -> Void
    }

    private static let over = #"{"service_end": "over"}"#

    /// The ways in which a file may change. Its path leads through a link to a folder.
    static let changes: [Change] = [
        Change(testDescription: "written in place") { folder in
            try shell("printf '%s' '\(over)' > \(folder("current/flags.json"))")
        },
        Change(testDescription: "replaced by rename") { folder in
            try folder.write(over, to: "current/flags.json")
        },
        Change(testDescription: "deleted and made again") { folder in
            try File.remove(folder("current/flags.json"))
            try folder.write(over, to: "current/flags.json")
        },
        Change(testDescription: "the folder moved away and made again") { folder in
            try File.rename(folder("one"), to: folder("old"))
            try Directory.create(folder("one"))
            try folder.write(over, to: "one/flags.json")
        },
        Change(testDescription: "the link to the folder swapped") { folder in
            try Directory.create(folder("two"))
            try folder.write(over, to: "two/flags.json")
            try shell("ln -s two \(folder("next")) && mv -T \(folder("next")) \(folder("current"))")
        },
        Change(testDescription: "replaced by a link") { folder in
            try folder.write(over, to: "other.json")
            try shell("ln -sf ../other.json \(folder("one/flags.json"))")
        },
    ]

    @Test(arguments: changes) func aFileIsFollowedThroughEachKindOfChange(_ change: Change) throws {
        let daemon = try Daemon(
            Daemon.shop.replacing("flags.json", with: "current/flags.json"), flags: nil)
        try Directory.create(daemon.folder("one"))
        try shell("ln -s one \(daemon.folder("current"))")
        try daemon.folder.write(#"{"service_end": "no"}"#, to: "current/flags.json")
        try daemon.start()
        try daemon.waitFor("running")
        try change.make(daemon.folder)
        try daemon.waitFor("ended")
    }

    struct FileProblem: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let make: @Sendable (TemporaryFolder) throws -> Void
        /// The part of the log line that names the problem.
        let expected: String
    }

    /// Content that is no flags. None of it is an order.
    static let problems: [FileProblem] = [
        FileProblem(
            testDescription: "nothing", make: { try File.remove($0("flags.json")) },
            expected: "flags.json': no such file or directory"),
        FileProblem(
            testDescription: "an empty file", make: { try $0.write("", to: "flags.json") },
            expected: "the answer is empty"),
        FileProblem(
            testDescription: "a web page", make: { try $0.write("<html>", to: "flags.json") },
            expected: "the answer is a web page, not JSON"),
        FileProblem(
            testDescription: "broken JSON",
            make: { try $0.write(#"{"service_end": "over""#, to: "flags.json") },
            expected: "the answer is not valid JSON: "),
        FileProblem(
            testDescription: "a missing key", make: { try $0.write("{}", to: "flags.json") },
            expected: "key 'service_end' is missing"),
        FileProblem(
            testDescription: "a wrong type",
            make: { try $0.write(#"{"service_end": false}"#, to: "flags.json") },
            expected: "key 'service_end' is a boolean, not a string"),
        FileProblem(
            testDescription: "a file too large",
            make: {
                try $0.write(
                    #"{"service_end": "\#(String(repeating: "x", count: 1 << 20))"}"#,
                    to: "flags.json")
            }, expected: "larger than"),
        FileProblem(
            testDescription: "a folder",
            make: {
                try File.remove($0("flags.json"))
                try Directory.create($0("flags.json"))
            }, expected: "flags.json': "),
        FileProblem(
            testDescription: "a FIFO, which nobody writes to",
            make: { try shell("rm \($0("flags.json")) && mkfifo \($0("flags.json"))") },
            expected: "flags.json': not a regular file"),
    ]

    @Test(arguments: problems) func theLastGoodFlagsStayInForceOn(_ problem: FileProblem) throws {
        let daemon = try Daemon()
        try daemon.start()
        try daemon.waitFor("running")
        try problem.make(daemon.folder)
        try daemon.waitUntil("the log says '\(problem.expected)'") {
            try daemon.log.contains(problem.expected)
        }
        #expect(try daemon.member("state") == "\"running\"")
        #expect(try daemon.log.lines(containing: problem.expected) <= 2)
        try shell("rm -rf \(daemon.folder("flags.json"))")
        try daemon.folder.write(#"{"service_end": "over"}"#, to: "flags.json")
        try daemon.waitFor("ended")
    }

    @Test func aPollThatBringsNothingNewWritesNothing() throws {
        let daemon = try Daemon(
            """
            [source.app]
            type = "file"
            path = "flags.json"
            interval = "100ms"
            [service.shop]
            source = "app"
            format = "service-end"
            """)
        try daemon.start()
        try daemon.waitFor("running")
        let mark = daemon.folder("run/source.app")
        try daemon.waitUntil("the flags are confirmed") { try File.exists(mark) }
        let written = try File.modificationTime(of: daemon.folder("run/shop/state.json"))
        for _ in 0..<3 {
            let before = try File.modificationTime(of: mark)
            try daemon.waitUntil("a poll has confirmed the flags") {
                try File.modificationTime(of: mark) > before
            }
        }
        #expect(try File.modificationTime(of: daemon.folder("run/shop/state.json")) == written)
    }
}

/// Runs a line of sh; fails the test when that fails.
func shell(_ line: String) throws {
    let result = try Program.run("/bin/sh", ["-c", line])
    guard result.status == 0 else { throw TestFailure("\(line): \(result.errors)") }
}

extension String {
    /// How many lines contain `text`.
    func lines(containing text: String) -> Int {
        split(separator: "\n").count { $0.contains(text) }
    }
}
