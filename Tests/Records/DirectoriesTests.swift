import Records
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

        init(
            _ name: String, option: String? = nil, isRoot: Bool = false,
            _ variables: [String: String] = [:], runtime: String? = nil, state: String? = nil
        ) {
            testDescription = name
            self.option = option
            self.isRoot = isRoot
            self.variables = variables
            self.runtime = runtime
            self.state = state
        }
    }

    @Test(arguments: [
        Case("root", isRoot: true, runtime: "/run/killswitchd", state: "/var/lib/killswitchd"),
        Case(
            "an option wins", option: "/x", ["RUNTIME_DIRECTORY": "/y"], runtime: "/x", state: "/x"),
        Case(
            "systemd says where", isRoot: true,
            ["RUNTIME_DIRECTORY": "/a:/b", "STATE_DIRECTORY": "/c"], runtime: "/a", state: "/c"),
        Case(
            "a user", ["XDG_RUNTIME_DIR": "/run/user/7", "XDG_STATE_HOME": "/s"],
            runtime: "/run/user/7/killswitchd", state: "/s/killswitchd"),
        Case(
            "a user without XDG_STATE_HOME", ["HOME": "/home/u", "XDG_STATE_HOME": ""],
            state: "/home/u/.local/state/killswitchd"),
        Case("a user of whom nothing is known"),
    ])
    func theDirectoriesAre(_ row: Case) {
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

    /// Whoever reads what the system's daemon publishes finds there what it has stored.
    @Test func whatIsStoredBelongsToWhatIsPublished() throws {
        let stored = { (option: String?, directory: String) in
            try Directories.stored(
                option: option, publishedIn: directory, isRoot: false,
                environment: { ["XDG_STATE_HOME": "/s"][$0] })
        }
        #expect(try stored(nil, "/run/killswitchd") == "/var/lib/killswitchd")
        #expect(try stored(nil, "/run/user/7/killswitchd") == "/s/killswitchd")
        #expect(try stored("/x", "/run/killswitchd") == "/x")
    }
}
