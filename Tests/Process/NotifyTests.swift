import Glibc
import Support
import Testing

/// The exact words that a service manager hears, in their order. What passes by itself, ages and
/// waits, is shown as a dot.
@Suite(.timeLimit(.minutes(1))) struct NotifyTests {
    @Test func startAndStop() throws {
        let watched = try WatchedDaemon()
        try watched.start()
        #expect(try watched.next() == "STATUS=shop: undecided; shop: no flags yet, asking now")
        #expect(
            try watched.next() == "READY=1\nSTATUS=shop: running; shop: flags · old, next poll in ·"
        )
        #expect(try watched.daemon.stop() == 0)
        #expect(try watched.next() == "STOPPING=1\nSTATUS=stopping; no gate is moved by that")
        #expect(try watched.next(within: 0) == nil)
    }

    @Test func storedFlagsMakeItReadyAtOnce() throws {
        let watched = try WatchedDaemon()
        #expect(try watched.daemon.run("--once").status == 0)
        try watched.start()
        #expect(
            try watched.next() == "READY=1\nSTATUS=shop: running; shop: flags · old, asking now")
    }

    @Test func aSlowFirstAnswerGetsTheStartMoreTime() throws {
        let watched = try WatchedDaemon(Daemon.shop + "\nfirst_timeout = \"2m\"", flags: nil)
        try watched.start()
        #expect(
            try watched.next()
                == "EXTEND_TIMEOUT_USEC=30000000\n"
                + "STATUS=shop: undecided; shop: no flags yet, asking now")
        #expect(
            try watched.next()
                == "STATUS=source 'shop': open '/flags.json': no such file or directory; "
                + "shop: undecided; shop: no flags yet, next poll in ·")
        try watched.daemon.folder.write(#"{"service_end": "no"}"#, to: "flags.json")
        #expect(
            try watched.next() == "READY=1\nSTATUS=shop: running; shop: flags · old, next poll in ·"
        )
    }

    @Test func pingsGoOnWithTheWork() throws {
        let watched = try WatchedDaemon()
        try watched.start(["WATCHDOG_USEC": "200000"])
        _ = try watched.next()
        _ = try watched.next()
        for _ in 0..<3 {
            #expect(
                try watched.next()
                    == "STATUS=shop: running; shop: flags · old, next poll in ·\nWATCHDOG=1")
        }
    }

    @Test func theWatchdogOfAnotherProcessIsNotOurs() throws {
        let watched = try WatchedDaemon()
        try watched.start(["WATCHDOG_USEC": "100000", "WATCHDOG_PID": "1"])
        _ = try watched.next()
        _ = try watched.next()
        #expect(try watched.next(within: 300) == nil)
    }
}
