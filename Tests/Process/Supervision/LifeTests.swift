import CivilTime
import EventLoop
import Files
import Glibc
import Support
import Testing

/// Start, stop, restart, `--once`, and the exit status.
@Suite(.timeLimit(.minutes(5))) struct LifeTests {
    @Test(arguments: [SIGINT, SIGTERM]) func aSignalEndsItWithinASecondAndChangesNoFile(
        _ signal: Int32
    ) throws {
        let loop = try EventLoop()
        var taken: [Duration] = []
        // A busy machine is late now and then.
        repeat {
            let daemon = try Daemon.running()
            let before = try daemon.folder.text(of: "run/shop/state.json")
            let start = loop.now.boot
            #expect(try daemon.stop(signal) == 0)
            taken.append(loop.now.boot - start)
            #expect(try daemon.folder.text(of: "run/shop/state.json") == before)
            #expect(try File.exists(daemon.folder("run/shop/open")))
        } while taken.count < 5 && taken.min() ?? .zero >= .seconds(1)
        #expect(taken.contains { $0 < .seconds(1) }, "\(taken)")
    }

    /// Once nested arrays of a megabyte made a state file of 68 MB, with a line for each array, and no
    /// later start could read it. A value as large as it may be makes a state file of that size.
    @Test func aLargeValueMakesAStateFileOfThatSizeWhichARestartCanRead() throws {
        // With a text in them, so that their values take no more than 12 times their size.
        let text = "\"\(String(repeating: "x", count: 500))\""
        let deep = String(repeating: "[", count: 62) + text + String(repeating: "]", count: 62)
        let list = "[" + Array(repeating: deep, count: 26).joined(separator: ",") + "]"
        let daemon = try Daemon(
            "\(Daemon.shop)\n[service.shop.values]\nv = { key = \"v\", type = \"json\" }",
            flags: #"{"service_end": "no", "v": \#(list)}"#)
        #expect(try daemon.run("--once").status == 0)
        let size = try File.attributes(of: daemon.folder("run/shop/state.json")).size
        #expect((list.utf8.count..<list.utf8.count + 2000).contains(size))
        let again = try daemon.run("--once")
        #expect(again.status == 0 && !again.errors.contains("state.json"))
        #expect(try daemon.control("is-open", "shop").status == 0)
    }

    @Test func aDirectoryInPlaceOfAStateFileIsAWarning() throws {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("run/backup/state.json"))
        try daemon.run("--once").expect(
            0, errors: "backup/state.json': is a directory; it is left as it is")
        #expect(try daemon.member("state") == "\"running\"")
    }

    @Test func aKilledDaemonDecidesAtOnceFromItsStoredFlags() throws {
        let daemon = try Daemon(flags: Daemon.flags("over")).start(waitingFor: "ended")
        let generation = try #require(try daemon.member("generation"))
        let since = try daemon.member("since")
        try daemon.stop(SIGKILL)
        try File.remove(daemon.folder("flags.json"))
        try File.remove(daemon.folder("run/shop/state.json"))
        try daemon.start(waitingFor: "ended")
        #expect(try daemon.member("reason") == "\"stored-flags\"")
        #expect(try daemon.member("generation") == generation)
        #expect(try daemon.member("since") == since)
    }

    @Test func flagsOfAnotherFileStayInForceUntilTheNewOneIsThere() throws {
        let daemon = try Daemon(flags: Daemon.flags("over")).start(waitingFor: "ended")
        try daemon.stop()
        let moved = Daemon.shop.replacing("flags.json", with: "elsewhere.json")
        try daemon.configure(moved)
        try daemon.start()
        try daemon.waitFor(line: "elsewhere.json': no such file")
        try daemon.expect("ended", "stored-flags")
        try daemon.setFlags("no", in: "elsewhere.json", waitingFor: "running")
    }

    @Test func damagedStoredFilesAreReportedAndKept() throws {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("state/flags"))
        try daemon.folder.write("nonsense", to: "state/flags/shop.json")
        try daemon.folder.write("{", to: "state/services.json")
        try daemon.start(waitingFor: "running")
        try daemon.waitFor(line: "over: ")
        let log = try daemon.log
        // The answer of the source has it set aside, and then it is over.
        #expect(log.lines(containing: "state/flags/shop.json': unexpected") == 2)
        #expect(log.lines(containing: "over: ") == 1)
        #expect(log.lines(containing: "state/services.json': unexpected") == 1)
        #expect(try daemon.folder.text(of: "state/services.json") == "{")
        let names = try Directory.list(daemon.folder("state/flags"))
        #expect(names.count == 2 && names.contains { $0.hasPrefix("shop.json.unreadable-") })
    }

    /// libcurl and the libraries that it brings take half of the time of a start.
    @Test func libcurlIsLoadedForSourcesInTheNetworkAlone() throws {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("lib"))
        try daemon.folder.write("no library", to: "lib/libcurl.so.4")
        func once() throws -> Program.Result {
            try Programs.run(
                "killswitchd", daemon.options + ["--once"],
                environment: ["LD_LIBRARY_PATH": daemon.folder("lib")])
        }
        try once().expect(0)
        try daemon.configure("[service.shop]\nsource = \"http://127.0.0.1/\"\nformat = \"switch\"")
        try once().expect(1, errors: "cannot start: \(daemon.folder("lib/libcurl.so.4")): ")
    }

    @Test func onceDecidesAndEndsWithoutAControlSocket() throws {
        let daemon = try Daemon()
        try daemon.run("--once").expect(0)
        #expect(try daemon.member("state") == "\"running\"")
        #expect(try !File.exists(daemon.folder("run/control.sock")))
    }

    @Test func onceWithoutAnAnswerDecidesByThePolicyAndSaysSo() throws {
        let daemon = try Daemon(Daemon.shop + "\nwhen_unknown = \"closed\"", flags: nil)
        try daemon.run("--once").expect(75)
        try daemon.expect("maintenance", "unknown-closed")
    }

    @Test func onceFailsIfItCannotWrite() throws {
        let daemon = try Daemon()
        try Directory.create(daemon.folder("run"))
        try daemon.folder.write("", to: "run/shop")
        try daemon.run("--once").expect(1, errors: "write the files of service 'shop': ")
    }

    @Test func checkPrintsEachSettingWithItsOrigin() throws {
        let daemon = try Daemon()
        let result = try daemon.run("--check").expect(0)
        let file = daemon.folder("killswitchd.toml")
        #expect(result.output.hasPrefix("read \(file)\n"))
        #expect(result.output.contains("service.shop.time_zone = \"Asia/Tokyo\"   (\(file):5)"))
        #expect(result.output.contains("service.shop.max_stale = \"never\"   (default)"))
        #expect(try !File.exists(daemon.folder("run")))
    }

    @Test(arguments: [["--check"], []]) func aBrokenConfigurationIsNamedByLine(_ more: [String])
        throws
    {
        let daemon = try Daemon(Daemon.shop + "\nfromat = \"status\"")
        try Programs.run(
            "killswitchd", daemon.options + more
        ).expect(
            78,
            errors: "\(daemon.folder("killswitchd.toml")):6:1: unknown key 'fromat' in "
                + "[service.shop]; did you mean 'format'?")
    }

    @Test(arguments: [["--check"], []]) func aMissingConfigurationIsNamed(_ more: [String]) throws {
        try Programs.run(
            "killswitchd", ["--config", "/nonexistent/k.toml"] + more,
            environment: ["HOME": "/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent"]
        ).expect(78, errors: "open '/nonexistent/k.toml': no such file or directory")
    }

    @Test(arguments: [["--nonsense"], ["--config"], ["word"], ["--once", "--gates"]])
    func aWrongCommandLineIsAUsageError(_ arguments: [String]) throws {
        let result = try Programs.run("killswitchd", arguments).expect(
            2, errors: "Try 'killswitchd --help'.")
        #expect(result.output == "")
    }

    @Test func helpHasUsageAndAnExample() throws {
        let result = try Programs.run("killswitchd", ["--help"]).expect(0)
        #expect(result.output.hasPrefix("usage: killswitchd "))
        #expect(result.output.contains("example: "))
    }

    @Test func theSameDirectoryForRuntimeAndStateIsAUsageError() throws {
        let daemon = try Daemon()
        try Programs.run(
            "killswitchd",
            [
                "--config", daemon.folder("killswitchd.toml"), "--runtime-directory",
                daemon.folder("x"), "--state-directory", daemon.folder("x"),
            ]
        ).expect(2, errors: "the runtime and the state directory are the same: ")
    }
}

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

/// What the daemon does when an invariant is broken.
@Suite(.timeLimit(.minutes(5))) struct BrokenInvariantTests {
    /// A preloaded library refuses the wall clock timer, which the kernel never does. An optimised build
    /// drops the message of Swift's `precondition`; this one has to stay.
    @Test func theDaemonSaysWhichInvariantIsBrokenAndEnds() throws {
        let timer = try Preload(
            "timer",
            """
            #include <errno.h>
            #include <sys/timerfd.h>
            int timerfd_settime(int timer, int flags, const struct itimerspec *new,
                                struct itimerspec *old) {
                errno = EPERM;
                return -1;
            }
            """)
        let daemon = try Daemon().start(["LD_PRELOAD": timer.path])
        let program = try #require(daemon.program)
        #expect(try program.wait() == 128 + 6)
        let sentence = "set the wall clock timer: operation not permitted"
        #expect(
            try program.errors.contains(
                "killswitchd: invariant broken: \(sentence) (EventLoop/Timers.swift:"))
    }
}
