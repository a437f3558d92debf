import CivilTime
import EventLoop
import Files
import Glibc
import JSON
import Support
import Testing

/// SIGKILL in the middle of writing: the next start finds a consistent state.
@Suite(.timeLimit(.minutes(15))) struct CrashTests {
    /// The files of the service on disk, and the state that each of them tells.
    private struct OnDisk {
        var stored: String?
        var ledger: String?
        var state: String?
        var environment: String?
        var marker: String?
        var generation = 0
        var isWriting = false

        init(_ folder: TemporaryFolder) throws {
            let open = try File.exists(folder("run/shop/open"))
            let closed = try File.exists(folder("run/shop/closed"))
            marker = open != closed ? (open ? "running" : "ended") : nil
            if try File.exists(folder("state/flags/shop.json")) {
                let lines = try folder.text(of: "state/flags/shop.json").split(
                    separator: "\n", maxSplits: 1)
                let stored = try JSON.Value.parse(String(lines[0])).object
                #expect(stored?["answers"]?.array?.first?.object?["etag"] == .some(.null))
                self.stored = ["running", "ended"].first { CrashTests.flags($0) + "\n" == lines[1] }
                #expect(self.stored != nil)
            }
            let entry = try Self.object(folder("state/services.json"))?["services"]?.object?["shop"]
            ledger = entry?.object?["state"]?.string
            let published = try Self.object(folder("run/shop/state.json"))
            state = published?["state"]?.string
            generation = Int(published?["generation"]?.number?.int64 ?? 0)
            if try File.exists(folder("run/shop/state.env")) {
                let text = try folder.text(of: "run/shop/state.env")
                environment = text.firstMatch(of: /KILLSWITCH_STATE="([a-z]+)"/).map {
                    String($0.1)
                }
            }
            for name in ["run/shop", "state", "state/flags"] {
                isWriting =
                    try isWriting || Directory.list(folder(name)).contains { $0.hasSuffix(".tmp") }
            }
        }

        var facts: [String?] { [stored, ledger, state, environment, marker] }

        /// Whether the daemon was between its first and its last write.
        var isTorn: Bool { isWriting || Set(facts).count > 1 }

        private static func object(_ path: String) throws -> JSON.Object? {
            guard try File.exists(path) else { return nil }
            return try JSON.Value.parse(try File.read(path, limit: 1 << 20)).object
        }
    }

    fileprivate static func flags(_ state: String) -> String {
        #"{"service_end": "\#(state == "running" ? "no" : "over")"}"#
    }

    @Test func afterAKillAtAnyMomentAllFilesAgreeOnceTheDaemonIsReady() throws {
        let disk = try SlowDisk()
        try disk.delay(sync: 1, name: 1)
        let watched = try WatchedDaemon(flags: Self.flags("running"))
        let (daemon, folder) = (watched.daemon, watched.daemon.folder)
        try watched.start(disk.environment)
        try watched.waitUntilReady()
        try daemon.waitFor("running")
        var (rounds, inside, generation) = (0, 0, 0)
        var torn: Set<[String?]> = []
        while inside < 200 {
            rounds += 1
            try #require(rounds < 1500, "only \(inside) kills fell inside")
            let isRunning = try OnDisk(folder).state == "running"
            let wanted = isRunning ? "ended" : "running"
            try folder.write(Self.flags(wanted), to: "flags.json")
            try daemon.spin(for: .microseconds(Int64.random(in: 0...16_000)))
            try daemon.stop(SIGKILL)
            while try watched.next(within: 0) != nil {}

            let left = try OnDisk(folder)
            #expect(left.generation >= generation)
            generation = left.generation
            if left.isTorn {
                inside += 1
                torn.insert(left.facts + [left.isWriting ? "writing" : nil])
            }

            // Without its flags file the daemon can decide only by the stored flags.
            try File.remove(folder("flags.json"))
            try watched.start(disk.environment)
            try watched.waitUntilReady()
            let found = try OnDisk(folder)
            #expect(Set(found.facts).count == 1, "\(left) became \(found)")
            #expect(found.generation >= generation)
            generation = found.generation
        }
        print(
            "of \(rounds) kills \(inside) fell inside the write window, in \(torn.count) different "
                + "states of the disk")
    }
}

/// A part of the table of `make faults`: one system call of the daemon fails once.
@Suite(.timeLimit(.minutes(10))) struct FaultTests {
    /// The faults of a list, which are the same on every machine.
    @Test(.enabled(if: Programs.areShipped))
    func aCallThatFailsOnceChangesNoDecision() async throws {
        let table = try await Program.finish(
            "/usr/bin/python3",
            [
                "-B", "\(Programs.project)/Tests/Faults/faults", "--program",
                try Programs.path(of: "killswitchd"), "--list",
                "\(Programs.project)/Tests/Faults/sample",
            ], limit: .seconds(540))
        #expect(table.status == 0, "\(table.output)\(table.errors)")
        #expect(table.output.contains(" 0 bad\n") || table.output.hasSuffix(", 0 bad\n"))
    }
}

/// Somebody deletes files of the two directories: they are back after the next sign of life, in half a minute, and not
/// at the next poll, which is an hour away here.
@Suite(.timeLimit(.minutes(10))) struct DeletedFilesTests {
    /// Closed by an order, so that each kind of file is there.
    private func closed() async throws -> Daemon {
        let daemon = try await Daemon(Daemon.followingFile(interval: "1h")).start(
            awaiting: "running")
        try daemon.waitUntilItAnswers()
        try daemon.control("close", "shop", "--state", "ended", "--for", "1h", "--reason", "x")
            .expect(0)
        try await daemon.awaitUntil("all files are there") { try files(of: daemon).count == 20 }
        return daemon
    }

    private func files(of daemon: Daemon) throws -> [String] {
        let list = "find run state ! -type d ! -name '.*' ! -name '*.new' | sort"
        return try Program.run("/bin/sh", ["-c", "cd \(daemon.folder.path) && \(list)"])
            .output.split(separator: "\n").map(String.init)
    }

    /// Deletes files while the daemon stands still: it would find half of them gone, and write them again.
    private func delete(_ command: String, from daemon: Daemon) throws {
        daemon.program?.send(SIGSTOP)
        defer { daemon.program?.send(SIGCONT) }
        try shell("cd \(daemon.folder.path) && \(command)")
    }

    private func told(by daemon: Daemon) throws -> [Int] {
        try ["run", "state"].map { directory in
            let line =
                "warning: somebody has deleted files in \(daemon.folder(directory)): they are "
            return try daemon.lines(with: line + "written again").count
        }
    }

    @Test func eachFileComesBackWithItsMeaning() async throws {
        let daemon = try await closed()
        let before = try files(of: daemon)
        // The mark of a source tells when the source confirmed its flags, and not when the file was made.
        try daemon.folder.write("", to: "removal")
        let removal = try File.modificationTime(of: daemon.folder("removal"))
        try delete("find run state ! -type d -delete", from: daemon)
        try await daemon.awaitUntil("all are back", every: .milliseconds(200)) {
            try files(of: daemon) == before
        }
        #expect(try File.modificationTime(of: daemon.folder("run/source.app")) < removal)
        #expect(try told(by: daemon) == [1, 1])
        #expect(try daemon.lines(with: "error: ").isEmpty)
        try daemon.control("release", "shop").expect(0)
        try await daemon.awaitState("running")
        try await daemon.awaitUntil("nothing is wrong") {
            try daemon.control("status", "--check").status == 0
        }
    }

    /// `status --check` stayed green, and a restart would have lost the order without a word.
    @Test func bothDirectoriesComeBackWithTheOrders() async throws {
        let daemon = try await closed()
        let before = try files(of: daemon)
        try delete("rm -rf run state", from: daemon)
        try await daemon.awaitUntil("all are back", every: .milliseconds(200)) {
            try files(of: daemon) == before
        }
        #expect(try told(by: daemon) == [1, 1])
        // No second daemon gets the directories, and the order outlives a restart.
        #expect(try daemon.run("--once").status != 0)
        try daemon.stop(SIGKILL)
        try daemon.setFlags("no")
        try await daemon.start(awaiting: "ended")
    }

    /// On an installed host the daemon's user may not make the directory.
    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func aStateDirectoryThatCannotComeBackIsAProblem() async throws {
        let daemon = try await closed()
        let state = daemon.folder("state")
        // A file in its place: root could make a directory anywhere. The daemon may make one in between.
        try shell("until rm -rf \(state) && touch \(state) && test -f \(state); do :; done")
        try await daemon.awaitUntil("it is a problem", every: .milliseconds(200)) {
            try daemon.control("status", "--check").status == 1
        }
        let status = try daemon.control("status")
        #expect(
            status.errors.contains("Do not restart killswitchd before that: it would forget orders")
        )
        #expect(try daemon.control("is-open", "shop").status == 1)
        try shell("rm \(state) && mkdir -p \(state)")
        try await daemon.awaitUntil("it is over", every: .milliseconds(200)) {
            try daemon.control("status", "--check").status == 0
        }
        for name in ["flags/app.json", "overrides.json", "configuration.json"] {
            #expect(try File.exists("\(state)/\(name)"))
        }
    }
}
