import CivilTime
import EventLoop
import Files
import Glibc
import Support
import Testing

/// Somebody deletes files of the runtime directory: they come back at once, and not at the next poll, which is an
/// hour away here.
@Suite(.timeLimit(.minutes(5))) struct DeletedFilesTests {
    private static let configuration = Daemon.followingFile(interval: "1h")

    private func running() throws -> Daemon {
        let daemon = try Daemon(Self.configuration).start(waitingFor: "running")
        try daemon.waitUntilItAnswers()
        return daemon
    }

    @Test(arguments: [
        "shop/state.json", "shop/state.env", "shop/open", "source.app", "control.sock",
        "daemon.lock", "motd",
    ]) func aDeletedFileComesBack(_ name: String) throws {
        let daemon = try running()
        let path = daemon.folder("run/\(name)")
        try File.remove(path)
        try daemon.waitFor(file: "run/\(name)")
        #expect(
            try daemon.log.contains(
                "warning: somebody has deleted files in \(daemon.folder("run")): they are written again"
            ))
        #expect(try daemon.control("release", "shop").status == 0)
    }

    @Test func everythingComesBackAndOrdersWorkAgain() throws {
        let daemon = try running()
        for command in ["rm -rf \(daemon.folder("run"))/*", "rm -rf \(daemon.folder("run"))"] {
            _ = try Program.run("/bin/sh", ["-c", command])
            try daemon.waitUntil("it answers after '\(command)'") {
                try daemon.control("release", "shop").status == 0
                    && File.exists(daemon.folder("run/shop/state.json"))
                    && File.exists(daemon.folder("run/source.app"))
            }
        }
        try daemon.control("force", "shop", "ended", "--for", "1h", "--reason", "x").expect(0)
        #expect(try daemon.control("is-open", "shop").status == 1)
    }

    /// The mark tells when the source confirmed its flags, and not when the file was made.
    @Test func aDeletedMarkComesBackWithItsTime() throws {
        let daemon = try running()
        let mark = daemon.folder("run/source.app")
        let before = try File.modificationTime(of: mark)
        try File.remove(mark)
        try daemon.waitUntil("the mark is back") { try File.exists(mark) }
        let after = try File.modificationTime(of: mark)
        #expect(abs(after - before) < 100_000)
    }

    /// What the daemon removes itself is no deletion: its lines say nothing of it.
    @Test func aServiceThatIsNoLongerConfiguredIsNoDeletion() throws {
        let daemon = try running()
        try daemon.reload(Self.configuration.replacing("service.shop", with: "service.web"))
        try daemon.waitFor("running", of: "web")
        try daemon.waitFor(noFile: "run/shop")
        // The deletion of this file is told after the other one would have been.
        try File.remove(daemon.folder("run/web/state.env"))
        try daemon.waitFor(file: "run/web/state.env")
        #expect(try daemon.lines(with: "somebody has deleted").count == 1)
    }

    /// `status --check` stayed green, and a restart would have lost the order without a word.
    @Test func theStateDirectoryComesBackWithItsOrders() throws {
        let daemon = try running()
        try daemon.control("force", "shop", "ended", "--for", "1h", "--reason", "x").expect(0)
        let state = daemon.folder("state")
        let files = ["overrides.json", "services.json", "configuration.json", "flags/app.json"]
        for command in ["rm -rf \(state)", "rm -rf \(state)/*", "rm \(state)/flags/app.json"] {
            _ = try Program.run("/bin/sh", ["-c", command])
            try daemon.waitUntil("all is back after '\(command)'") {
                try files.allSatisfy { try File.exists("\(state)/\($0)") }
            }
        }
        #expect(
            try daemon.log.contains(
                "somebody has deleted files in \(state): they are written again"))
        try daemon.waitUntil("nothing is wrong") {
            try daemon.control("status", "--check").status == 0
        }
        // No second daemon gets the directory, and the order outlives a restart.
        #expect(try daemon.run("--once").status != 0)
        try daemon.stop(SIGKILL)
        try daemon.setFlags("no")
        try daemon.start(waitingFor: "ended")
    }

    /// On an installed host the daemon's user may not make the directory.
    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func aStateDirectoryThatCannotComeBackIsAProblemAtOnce() throws {
        let daemon = try running()
        let state = daemon.folder("state")
        // A file in its place: root could make a directory anywhere.
        _ = try Program.run("/bin/sh", ["-c", "rm -rf \(state) && touch \(state)"])
        try daemon.waitUntil("it is a problem") {
            try daemon.control("status", "--check").status == 1
        }
        let status = try daemon.control("status")
        #expect(
            status.errors.contains("Do not restart killswitchd before that: it would forget orders")
        )
        #expect(try daemon.control("is-open", "shop").status == 0)
        _ = try Program.run("/bin/sh", ["-c", "rm \(state) && mkdir \(state)"])
        try daemon.waitUntil("it is over") {
            try daemon.control("status", "--check").status == 0
        }
        #expect(try File.exists("\(state)/flags/app.json"))
    }
}
