import Files
import Support
import Testing

/// Who may read the files does not depend on the shell that started the daemon.
@Suite(.timeLimit(.minutes(5))) struct FileModeTests {
    /// The files and folders of a daemon that has closed a service, with their modes: `-rw-r--r-- run/motd`.
    private func modes(underUmask umask: String) async throws -> [String] {
        let daemon = try Daemon(flags: Daemon.flags("over"))
        try daemon.start(through: ["/bin/sh", "-c", #"umask \#(umask); exec "$0" "$@""#])
        try await daemon.awaitState("ended")
        try await daemon.awaitUntil("the host's file is there") {
            try File.exists(daemon.folder("run/host.json"))
                && File.exists(daemon.folder("run/motd"))
        }
        let list = #"find run state ! -name '.*' -printf '%M %p\n' | sort -k 2"#
        return try Program.run("/bin/sh", ["-c", "cd \(daemon.folder.path) && \(list)"])
            .output.split(separator: "\n").map(String.init)
    }

    @Test func theModesOfTheFilesAreTheSameUnderEachUmask() async throws {
        let modes = try await modes(underUmask: "022")
        #expect(modes.contains("-rw-r--r-- run/shop/state.json"))
        #expect(modes.contains("-rw-r--r-- run/host.json"))
        for umask in ["000", "077", "777"] {
            #expect(try await self.modes(underUmask: umask) == modes)
        }
    }
}
