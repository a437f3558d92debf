import Files
import Glibc
import Support
import Testing

/// Two daemons never work in the same directories, and nobody else decides whether one may.
@Suite(.timeLimit(.minutes(5))) struct LockTests {
    /// Everybody may open the runtime directory for reading, and with that take `flock(2)` on it: any user
    /// could keep the daemon from starting again after a crash or an upgrade.
    @Test func aLockOnTheDirectoriesKeepsNoDaemonFromStarting() throws {
        let daemon = try Daemon()
        for directory in ["run", "state"] { try Directory.create(daemon.folder(directory)) }
        let held = ["run", "state"].map { directory in
            unsafe open(daemon.folder(directory), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        defer { for descriptor in held { close(descriptor) } }
        for descriptor in held { #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0) }
        try daemon.start(waitingFor: "running")
        try daemon.stop(SIGKILL)
        try daemon.start()
        try daemon.waitUntilItAnswers()
    }

    /// What others may open is no lock: not for reading, not in the folder of a careless administrator.
    @Test func nobodyElseMayOpenTheLocks() throws {
        let daemon = try Daemon.running()
        for directory in ["run", "state"] {
            #expect(
                try File.attributes(of: daemon.folder("\(directory)/daemon.lock")).mode == 0o600)
        }
        #expect(try File.attributes(of: daemon.folder("state")).mode == 0o700)
    }

    @Test func aSecondDaemonIsToldWhichProcessHasTheDirectories() throws {
        let daemon = try Daemon.running()
        let first = try #require(daemon.program).processID
        try daemon.run().expect(
            1,
            errors:
                "lock '\(daemon.folder("state/daemon.lock"))': process \(first) (killswitchd) holds it"
        )
        #expect(try daemon.member("state") == "\"running\"")
    }

    /// Another state directory, the same files for everybody to read: both would write them.
    @Test func aSecondDaemonDoesNotGetTheRuntimeDirectoryAlone() throws {
        let daemon = try Daemon.running()
        let first = try #require(daemon.program).processID
        try Programs.run(
            "killswitchd",
            [
                "--config", daemon.folder("killswitchd.toml"), "--runtime-directory",
                daemon.folder("run"), "--state-directory", daemon.folder("another"), "--once",
            ]
        ).expect(
            1,
            errors:
                "lock '\(daemon.folder("run/daemon.lock"))': process \(first) (killswitchd) holds it"
        )
    }
}
