import CivilTime
import EventLoop
import Files
import Glibc
import JSON
import Support
import Testing

/// SIGKILL in the middle of writing: the next start finds a consistent state.
@Suite(.timeLimit(.minutes(5))) struct CrashTests {
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
@Suite(.timeLimit(.minutes(5))) struct FaultTests {
    /// The faults of a list, which are the same on every machine.
    @Test(.enabled(if: Programs.areShipped))
    func aCallThatFailsOnceChangesNoDecision() async throws {
        let table = try await Program.finish(
            "/usr/bin/python3",
            [
                "-B", "\(Programs.project)/Tests/Faults/faults", "--program",
                try Programs.path(of: "killswitchd"), "--list",
                "\(Programs.project)/Tests/Faults/sample",
            ])
        #expect(table.status == 0, "\(table.output)\(table.errors)")
        #expect(table.output.contains(" 0 bad\n") || table.output.hasSuffix(", 0 bad\n"))
    }
}

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

    /// More changes in a folder than the kernel keeps. The daemon took its files for deleted and its socket for that of
    /// another program, and ended.
    @Test func lostEventsOfTheKernelEndNothing() throws {
        let daemon = try running()
        let program = try #require(daemon.program)
        let limit = try File.read("/proc/sys/fs/inotify/max_queued_events", limit: 20)
        let most = try #require(Int(String(decoding: limit.dropLast(), as: UTF8.self)))
        program.send(SIGSTOP)
        for _ in 0...most {
            try daemon.folder.write("", to: "busy")
            try File.remove(daemon.folder("busy"))
        }
        program.send(SIGCONT)
        try daemon.waitUntil("it has noticed") {
            try daemon.lines(with: "inotify has lost changes in \(daemon.folder("run"))").count == 1
        }
        #expect(try daemon.lines(with: "somebody has deleted").isEmpty)
        try daemon.setFlags("over")
        try daemon.waitFor("ended")
        try daemon.control("release", "shop").expect(0)
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

    /// The mark tells when the source confirmed its flags, and not when the file was made. On a busy machine the file
    /// of flags is read once more after the start, and confirmed meanwhile.
    @Test func aDeletedMarkComesBackWithItsTime() throws {
        let daemon = try running()
        let mark = daemon.folder("run/source.app")
        try daemon.waitUntil("the mark comes back as old as it was") {
            try daemon.folder.write("", to: "removal")
            let removal = try File.modificationTime(of: daemon.folder("removal"))
            try File.remove(mark)
            try daemon.waitUntil("the mark is back") { try File.exists(mark) }
            return try File.modificationTime(of: mark) < removal
        }
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

    /// The daemon could not take its own lock again, said after each write that another process had it, and that a
    /// restart would lose orders.
    @Test(arguments: ["flags/app.json", "services.json", "overrides.json"])
    func aDeletedStateFileComesBackWithoutAnotherWord(_ name: String) throws {
        let daemon = try running()
        try daemon.control("force", "shop", "ended", "--for", "1h", "--reason", "x").expect(0)
        try daemon.waitFor(file: "state/\(name)")
        try File.remove(daemon.folder("state/\(name)"))
        try daemon.waitFor(file: "state/\(name)")
        try daemon.control("release", "shop").expect(0)
        #expect(try daemon.lines(with: "somebody has deleted files").count == 1)
        #expect(try daemon.lines(with: "daemon.lock").isEmpty)
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
