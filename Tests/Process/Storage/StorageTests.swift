import CivilTime
import Files
import Glibc
import JSON
import Support
import Testing

/// Disks that are full, read-only or slow.
@Suite(.timeLimit(.minutes(5))) struct StorageTests {
    /// A daemon whose two directories are small file systems, in a mount namespace that ends with the daemon.
    private final class Mounted {
        let daemon: Daemon
        let program: Program

        /// `fill` is a shell command before the start.
        init(_ daemon: Daemon, filling fill: String = ":") throws {
            self.daemon = daemon
            try Directory.create(daemon.folder("run"))
            try Directory.create(daemon.folder("state"))
            let mount = ["run", "state"].map {
                "mount -t tmpfs -o size=256k tmpfs '\(daemon.folder($0))'"
            }.joined(separator: " && ")
            program = try Program(
                "/usr/bin/unshare",
                [
                    "--mount", "--propagation", "private", "/bin/sh", "-c",
                    mount + " && { \(fill); } && " + #"exec "$0" "$@""#,
                    try Programs.path(of: "killswitchd"),
                ]
                    + daemon.options)
        }

        /// A daemon that was mounted and has opened the shop.
        static func running(_ daemon: Daemon) throws -> Mounted {
            let mounted = try Mounted(daemon)
            try mounted.wait(for: "running")
            return mounted
        }

        /// Runs a shell command in the mount namespace of the daemon.
        func run(_ command: String) throws -> Program.Result {
            try Program.run(
                "/usr/bin/nsenter",
                [
                    "--target", "\(program.processID)", "--mount", "--", "/bin/sh", "-c",
                    "cd '\(daemon.folder.path)' && \(command)",
                ])
        }

        func control(_ command: String) throws -> Program.Result {
            let program = try Programs.path(of: "killswitchctl")
            return try run("\(program) \(command) --runtime-directory \"$PWD/run\"")
        }

        func state() throws -> String? {
            let result = try run("cat run/shop/state.json")
            guard result.status == 0 else { return nil }
            return try JSON.Value.parse(result.output).object?["state"]?.string
        }

        func wait(for expected: String) throws {
            try wait(until: "the shop is \(expected)") { [self] in try state() == expected }
        }

        func wait(forLine text: String) throws {
            try wait(until: "the log says '\(text)'") { [self] in
                try program.errors.contains(text)
            }
        }

        func wait(until what: String, _ condition: @escaping () throws -> Bool) throws {
            try daemon.waitUntil("\(what); log:\n\(program.errors)", condition)
        }
    }

    struct StorageProblem: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let begin: String
        let end: String
        let expected: String
        /// Whether the decision is published despite the problem.
        let isPublished: Bool

        /// The files that say open are removed, which makes room for the closing.
        static func full(_ directory: String) -> StorageProblem {
            StorageProblem(
                testDescription: "a full directory \(directory)",
                begin: "cat /dev/zero > \(directory)/filler || true",
                end: "rm \(directory)/filler", expected: "no space left on device; retrying",
                isPublished: true)
        }

        static func readOnly(_ directory: String, isPublished: Bool) -> StorageProblem {
            StorageProblem(
                testDescription: "a read-only directory \(directory)",
                // No sign of life can be given there: as if six minutes had passed since the last one.
                begin: """
                    until touch -d '6 minutes ago' run/alive && mount -o remount,ro \(directory)
                    do sleep 0.1; done
                    """,
                end: "mount -o remount,rw \(directory)",
                expected: "read-only file system; retrying", isPublished: isPublished)
        }
    }

    static let problems: [StorageProblem] = [
        .full("run"), .full("state"), .readOnly("run", isPublished: false),
        .readOnly("state", isPublished: true),
    ]

    @Test(.enabled(if: geteuid() == 0, "needs root"), arguments: problems)
    func aStorageProblemIsReportedAndTheWriteIsRetried(_ problem: StorageProblem) throws {
        let mounted = try Mounted.running(Daemon())
        try mounted.wait(until: "the gate is written too") {
            try mounted.run("ls run/shop").output.contains("gate.json")
        }
        let before = try mounted.run("cat run/shop/*").output
        _ = try mounted.run(problem.begin)
        try mounted.daemon.setFlags("over")
        try mounted.wait(forLine: problem.expected)
        if problem.isPublished {
            try mounted.wait(for: "ended")
        } else {
            #expect(try mounted.run("cat run/shop/*").output == before)
            // The files still say open, and the sign of life says that they are out of date.
            try mounted.control("is-open shop").expect(
                3, errors: "no sign of life from killswitchd for 6m")
            try mounted.control("wait shop --for open --timeout 300ms").expect(
                124, errors: "its state file is out of date")
            let ran = try mounted.run(
                "\(Programs.path(of: "killswitchctl")) run shop --timeout 300ms "
                    + "--runtime-directory \"$PWD/run\" -- echo it ran")
            #expect(ran.status == 124 && ran.output == "", "\(ran)")
        }
        _ = try mounted.run(problem.end)
        try mounted.wait(forLine: "over: ")
        #expect(try mounted.state() == "ended")
        let names = [
            "closed", "gate.json", "page.html", "problem.json", "retry-after", "state.env",
            "state.json", "unavailable",
        ]
        #expect(try mounted.run("ls run/shop").output == names.joined(separator: "\n") + "\n")
        #expect(try mounted.run("cat state/services.json").output.contains("\"ended\""))
    }

    /// The version of a signed document is on disk before it counts. Its space is reserved: a full disk keeps
    /// no closing out.
    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func aFullStateDirectoryKeepsNoSignedClosingOut() throws {
        let fleet = try Fleet()
        try fleet.publish("no", version: 8, by: fleet.alice)
        let mounted = try Mounted.running(fleet.daemon)
        _ = try mounted.run("cat /dev/zero > state/filler || true")
        #expect(try mounted.run("echo x > state/more").status != 0)
        try fleet.publish("yes", version: 9, by: fleet.alice)
        try mounted.wait(for: "ended")
        // The next documents too, and no older document.
        try fleet.publish("no", version: 10, by: fleet.alice)
        try mounted.wait(for: "running")
        try fleet.publish("yes", version: 9, by: fleet.alice)
        try mounted.wait(forLine: "its version 9 is lower than 10")
        let version = try mounted.run("cat state/flags/app.version | tr -d '\\0'").output
        #expect(version.contains(#""version": 10"#), "\(version)")
        _ = try mounted.run("rm state/filler")
    }

    /// Space that cannot be reserved is told at the start, before an order needs it.
    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func spaceThatCannotBeReservedIsAProblem() throws {
        let fleet = try Fleet()
        let mounted = try Mounted(
            fleet.daemon,
            filling: "cat /dev/zero > '\(fleet.daemon.folder("state/filler"))' || true")
        try mounted.wait(forLine: "reserve space for the highest version of source 'app'")
        #expect(try mounted.control("status --check").output.contains("no space left on device"))
        _ = try mounted.run("rm state/filler")
        try mounted.wait(until: "it is reserved") {
            try mounted.run("stat -c %s state/flags/app.version").output == "8192\n"
        }
    }

    /// Once only the marker said closed: is-open reported open, and neither `run` nor a script that
    /// sources state.env stopped.
    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func onAFullRuntimeDirectoryNoReaderFindsAClosedServiceOpen() throws {
        let mounted = try Mounted.running(Daemon())
        let control = try Programs.path(of: "killswitchctl")
        let run = try Program(
            "/usr/bin/nsenter",
            [
                "--target", "\(mounted.program.processID)", "--mount", "--", control, "run", "shop",
                "--runtime-directory", mounted.daemon.folder("run"), "--", "/bin/sh", "-c",
                "echo ready; exec sleep 60",
            ])
        try mounted.wait(until: "it runs") { try run.output == "ready\n" }
        // A hard link keeps the space of the files in use, also when they are removed.
        _ = try mounted.run(
            "ln run/shop/state.json run/a && ln run/shop/state.env run/b "
                + "&& cat /dev/zero > run/filler || true")
        try mounted.daemon.setFlags("over")
        #expect(try run.wait() == 128 + SIGTERM)
        try mounted.control("is-open shop").expect(1, errors: "its marker says closed")
        let wait = "wait shop --for closed --timeout 1s --runtime-directory \"$PWD/run\""
        #expect(try mounted.run("\(control) \(wait)").status == 0)
        #expect(try mounted.run(". ./run/shop/state.env && echo open").output == "")
        _ = try mounted.run("rm run/filler")
        try mounted.wait(for: "ended")
        #expect(
            try mounted.run(". ./run/shop/state.env && echo $KILLSWITCH_GATE").output == "closed\n")
    }

    @Test func onASlowDiskReadersSeeTheOldFileUntilTheNewOneIsWritten() async throws {
        let disk = try SlowDisk()
        let daemon = try Daemon().start(disk.environment, waitingFor: "running")
        // This line is logged last: afterwards nothing is being written.
        try daemon.waitFor(line: "shop: running")
        let before = try daemon.folder.text(of: "run/shop/state.json")
        try disk.hold()
        try daemon.setFlags("over")
        try daemon.waitUntil("the daemon is writing") {
            try Directory.list(daemon.folder("state/flags")).contains { $0.hasSuffix(".tmp") }
        }
        try await daemon.pause(for: .milliseconds(500))
        #expect(try daemon.folder.text(of: "run/shop/state.json") == before)
        #expect(try !File.exists(daemon.folder("run/shop/closed")))
        try disk.delay(sync: 0)
        try daemon.waitFor("ended")
        try daemon.waitFor(file: "run/shop/closed")
        #expect(try daemon.stop() == 0)
    }

    /// The files of many services of one source, which close nothing, keep no other service from closing.
    @Test func aClosingComesBeforeTheFilesThatCloseNothing() async throws {
        let many = (0..<20).map { "many\($0)" }
        let others = many.map { Daemon.service($0, on: "file:others.json") }.joined()
        let disk = try SlowDisk()
        let daemon = try Daemon(Daemon.shop + others)
        try daemon.folder.write(Daemon.flags("no"), to: "others.json")
        try daemon.start(disk.environment, waitingFor: "running")
        func counting() throws -> Int {
            try many.count {
                try daemon.folder.text(of: "run/\($0)/state.json").contains(#""countdown""#)
            }
        }
        for name in many { try daemon.waitFor(file: "run/\(name)/open") }
        try disk.delay(sync: 0, name: 50)
        try daemon.setFlags("countdown", in: "others.json")
        try daemon.waitUntil("the first files are written") { try counting() > 0 }
        try daemon.setFlags("over")
        try daemon.waitFor(file: "run/shop/closed")
        try disk.delay(sync: 0)
        try daemon.waitUntil("the other files are written") { try counting() == many.count }
        let last = try many.map {
            try File.modificationTime(of: daemon.folder("run/\($0)/state.json"))
        }.max()
        // A marker is renamed, and keeps its time.
        let closed = try File.modificationTime(of: daemon.folder("run/shop/state.json"))
        #expect(try closed < #require(last))
        #expect(try daemon.stop() == 0)
    }
}
