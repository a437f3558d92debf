import Storage
import Testing

/// Where the daemon writes and the command line reads.
@Suite struct DirectoriesTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var option: String?
        var isRoot = false
        var variables: [String: String] = [:]
        var runtime: String?
        var state: String?
    }

    @Test(arguments: [
        Case(
            testDescription: "root", isRoot: true, runtime: "/run/killswitchd",
            state: "/var/lib/killswitchd"),
        Case(
            testDescription: "an option wins", option: "/x",
            variables: ["RUNTIME_DIRECTORY": "/y"], runtime: "/x", state: "/x"),
        Case(
            testDescription: "systemd says where", isRoot: true,
            variables: ["RUNTIME_DIRECTORY": "/a:/b", "STATE_DIRECTORY": "/c"], runtime: "/a",
            state: "/c"),
        Case(
            testDescription: "a user",
            variables: ["XDG_RUNTIME_DIR": "/run/user/7", "XDG_STATE_HOME": "/s"],
            runtime: "/run/user/7/killswitchd", state: "/s/killswitchd"),
        Case(
            testDescription: "a user without XDG_STATE_HOME",
            variables: ["HOME": "/home/u", "XDG_STATE_HOME": ""],
            state: "/home/u/.local/state/killswitchd"),
        Case(testDescription: "a user of whom nothing is known"),
    ])
    func optionsWinOverVariablesAndVariablesOverDefaults(_ row: Case) {
        let runtime = Result {
            try Directories.runtime(
                option: row.option, isRoot: row.isRoot, environment: { row.variables[$0] })
        }
        let state = Result {
            try Directories.state(
                option: row.option, isRoot: row.isRoot, environment: { row.variables[$0] })
        }
        #expect((try? runtime.get()) == row.runtime)
        #expect((try? state.get()) == row.state)
    }

    struct Reader: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var option: String?
        var isRoot = false
        var variables: [String: String] = [:]
        /// The existing directories.
        var there: Set<String> = ["/run/killswitchd"]
        /// Those that hold a daemon's files.
        var filled: Set<String> = ["/run/killswitchd"]
        let reads: String?
    }

    /// In a unit with its own RuntimeDirectory= the commands once found no service there, and `run` waited forever.
    @Test(arguments: [
        Reader(testDescription: "root", isRoot: true, reads: "/run/killswitchd"),
        Reader(testDescription: "an option wins", option: "/x", reads: "/x"),
        Reader(
            testDescription: "a unit with a runtime directory of its own", isRoot: true,
            variables: ["RUNTIME_DIRECTORY": "/run/shop"],
            there: ["/run/killswitchd", "/run/shop"], reads: "/run/killswitchd"),
        Reader(
            testDescription: "the same of another user",
            variables: ["RUNTIME_DIRECTORY": "/run/shop"],
            there: ["/run/killswitchd", "/run/shop"], reads: "/run/killswitchd"),
        Reader(
            testDescription: "the unit of a daemon", isRoot: true,
            variables: ["RUNTIME_DIRECTORY": "/run/own:/run/more"],
            there: ["/run/killswitchd", "/run/own"], filled: ["/run/killswitchd", "/run/own"],
            reads: "/run/own"),
        Reader(
            testDescription: "a user with a daemon", variables: ["XDG_RUNTIME_DIR": "/run/user/7"],
            there: ["/run/killswitchd", "/run/user/7/killswitchd"],
            reads: "/run/user/7/killswitchd"),
        Reader(
            testDescription: "a user without one", variables: ["XDG_RUNTIME_DIR": "/run/user/7"],
            reads: "/run/killswitchd"),
        Reader(
            testDescription: "before any daemon", isRoot: true,
            variables: ["RUNTIME_DIRECTORY": "/run/shop"], there: ["/run/shop"], filled: [],
            reads: "/run/killswitchd"),
        Reader(testDescription: "nothing is known", there: [], filled: [], reads: nil),
    ])
    func aReaderUsesTheDirectoryInWhichADaemonHasFiles(_ row: Reader) {
        let directory = Result {
            try Directories.published(
                option: row.option, isRoot: row.isRoot, environment: { row.variables[$0] },
                exists: row.there.contains, holdsFiles: row.filled.contains)
        }
        #expect((try? directory.get()) == row.reads)
    }

    /// A reader of the system daemon's files finds that daemon's state directory, also as another user.
    @Test func theStateDirectoryIsThatOfThePublishingDaemon() throws {
        let stored = { (option: String?, directory: String) in
            try Directories.stored(
                option: option, publishedIn: directory, isRoot: false,
                environment: { ["XDG_STATE_HOME": "/s"][$0] })
        }
        #expect(try stored(nil, "/run/killswitchd") == "/var/lib/killswitchd")
        #expect(try stored(nil, "/run/user/7/killswitchd") == "/s/killswitchd")
        #expect(try stored("/x", "/run/killswitchd") == "/x")
    }

    @Test func aUnitsStateDirectoryCountsOnlyIfItsRuntimeDirectoryDoes() throws {
        let variables = [
            "RUNTIME_DIRECTORY": "/run/own", "STATE_DIRECTORY": "/var/lib/own", "HOME": "/h",
        ]
        let stored = { (directory: String) in
            try Directories.stored(
                option: nil, publishedIn: directory, isRoot: false, environment: { variables[$0] })
        }
        #expect(try stored("/run/own") == "/var/lib/own")
        #expect(try stored("/run/user/7/killswitchd") == "/h/.local/state/killswitchd")
    }
}
