import EventLoop
import Files
import Glibc
import Support
import Testing

/// A flags file as the source: each change reaches the published files at once.
@Suite(.timeLimit(.minutes(5))) struct FlagsFileTests {
    @Test func theDemoCountsDownAndFollowsEveryEdit() throws {
        let daemon = try Daemon(
            try Programs.text(of: "etc/demo/killswitchd.toml"),
            flags: try Programs.text(of: "etc/demo/flags.json"))
        try daemon.start(waitingFor: "countdown")
        let days = try #require(try daemon.member("days_left").flatMap { Int($0) })
        #expect(days > 0)
        let flags = try Programs.text(of: "etc/demo/flags.json")
        for state in ["ended", "maintenance", "countdown", "update-required"] {
            try daemon.folder.write(flags.replacing("countdown", with: state), to: "flags.json")
            try daemon.waitFor(state)
        }
        #expect(try daemon.stop(SIGINT) == 0)
    }

    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let make: @Sendable (TemporaryFolder) throws -> Void
    }

    private static let over = Daemon.flags("over")

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
        try daemon.setFlags("no", in: "current/flags.json")
        try daemon.start(waitingFor: "running")
        try change.make(daemon.folder)
        try daemon.waitFor("ended")
    }

    struct FileProblem: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The part of the log line that names the problem.
        let expected: String
        let make: @Sendable (TemporaryFolder) throws -> Void

        init(
            _ name: String, _ expected: String,
            make: @escaping @Sendable (TemporaryFolder) throws -> Void
        ) {
            (testDescription, self.expected, self.make) = (name, expected, make)
        }

        init(_ name: String, _ expected: String, text: String) {
            self.init(name, expected) { try $0.write(text, to: "flags.json") }
        }
    }

    /// Content that is no flags. None of it is an order.
    static let problems: [FileProblem] = [
        FileProblem("nothing", "flags.json': no such file or directory") {
            try File.remove($0("flags.json"))
        },
        FileProblem("an empty file", "the answer is empty", text: ""),
        FileProblem("a web page", "the answer is a web page, not JSON", text: "<html>"),
        FileProblem(
            "broken JSON", "the answer is not valid JSON: ", text: #"{"service_end": "over""#),
        FileProblem("a missing key", "key 'service_end' is missing", text: "{}"),
        FileProblem(
            "a wrong type", "key 'service_end' is a boolean, not a string",
            text: #"{"service_end": false}"#),
        FileProblem(
            "a file too large", "larger than",
            text: Daemon.flags(String(repeating: "x", count: 1 << 20))),
        FileProblem("a folder", "flags.json': ") {
            try File.remove($0("flags.json"))
            try Directory.create($0("flags.json"))
        },
        FileProblem("a FIFO, which nobody writes to", "flags.json': not a regular file") {
            try shell("mkfifo \($0("pipe")) && mv -f \($0("pipe")) \($0("flags.json"))")
        },
    ]

    @Test(arguments: problems) func theLastGoodFlagsStayInForceOn(_ problem: FileProblem) throws {
        let daemon = try Daemon.running()
        try problem.make(daemon.folder)
        try daemon.waitUntil("the log says '\(problem.expected)'") {
            try daemon.log.contains(problem.expected)
        }
        #expect(try daemon.member("state") == "\"running\"")
        #expect(try daemon.log.lines(containing: problem.expected) <= 2)
        try shell("rm -rf \(daemon.folder("flags.json"))")
        try daemon.setFlags("over", waitingFor: "ended")
    }

    @Test func aPollThatBringsNothingNewWritesNothing() throws {
        let daemon = try Daemon.running(Daemon.followingFile(interval: "100ms"))
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
func shell(_ line: String) throws { try Program.succeed("/bin/sh", ["-c", line]) }

extension String {
    func lines(containing text: String) -> Int {
        split(separator: "\n").count { $0.contains(text) }
    }
}
