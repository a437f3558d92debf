import Support
import Testing

/// The file with the installed version of a service: the flags require 2.0.
@Suite(.timeLimit(.minutes(5))) struct VersionFileTests {
    private func running(_ prepare: String) throws -> Daemon {
        let daemon = try Daemon(
            """
            [service.shop]
            source = "file:flags.json"
            format = "switch"
            min_closed = "0s"
            installed_version_file = "VERSION"
            """, flags: #"{"state": "running", "minimum_version": "2.0"}"#)
        try shell("cd \(daemon.folder.path) && \(prepare)")
        return try daemon.start(waitingFor: "update-required")
    }

    @Test func anUpgradeOpensTheGate() throws {
        let daemon = try running("echo 1.9 > VERSION")
        try daemon.folder.write("2.0\n", to: "VERSION")
        try daemon.waitFor("running")
    }

    /// A link that leads to a name that is not UTF-8 stands for a host without a watch left: no event comes.
    @Test func aFileThatCannotBeWatchedIsReadAgain() throws {
        let name = "$(printf 'version\\377')"
        let daemon = try running("echo 1.9 > \(name) && ln -s \(name) VERSION")
        try shell("cd \(daemon.folder.path) && echo 2.0 > \(name)")
        try daemon.waitFor("running")
    }
}
