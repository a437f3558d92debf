import Files
import Support
import Testing

/// Who may read the files does not depend on the shell that started the daemon.
@Suite(.timeLimit(.minutes(5))) struct FileModeTests {
    /// The modes of the files and folders of a daemon that has closed a service: `run/motd` and `-rw-r--r--`.
    private func modes(underUmask umask: String) async throws -> [String: String] {
        let daemon = try Daemon(flags: Daemon.flags("over"))
        try daemon.start(through: ["/bin/sh", "-c", #"umask \#(umask); exec "$0" "$@""#])
        try await daemon.awaitState("ended")
        try await daemon.awaitUntil("the files of the host are there") {
            try File.exists(daemon.folder("run/host.json"))
                && File.exists(daemon.folder("run/motd"))
        }
        let list = #"find run state ! -name '.*' -printf '%p %M\n'"#
        let lines = try Program.run("/bin/sh", ["-c", "cd \(daemon.folder.path) && \(list)"])
            .output.split(separator: "\n")
        return lines.reduce(into: [:]) { modes, line in
            let words = line.split(separator: " ")
            modes[String(words[0])] = String(words[1])
        }
    }

    @Test func theModesOfTheFilesAreTheSameUnderEachUmask() async throws {
        let usual = try await modes(underUmask: "022")
        let always = [
            "run", "run/shop", "run/host.json", "run/motd", "run/shop/closed",
            "run/shop/state.json",
            "run/shop/page.html", "state", "state/services.json",
        ]
        #expect(usual["run/shop"] == "drwxr-xr-x" && usual["run/shop/closed"] == "-rw-r--r--")
        for umask in ["000", "077", "777"] {
            let modes = try await modes(underUmask: umask)
            #expect(always.allSatisfy { modes[$0] != nil }, "\(modes)")
            // One that comes later, such as the sign of life, may be there in one of them.
            for (path, mode) in modes where usual[path] != nil {
                #expect(mode == usual[path], "\(path) under umask \(umask)")
            }
        }
    }
}
