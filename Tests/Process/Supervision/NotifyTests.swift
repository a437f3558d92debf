import Glibc
import Support
import Testing

/// The exact messages to the service manager, in their order. Ages and waits are shown as a dot.
@Suite(.timeLimit(.minutes(5))) struct NotifyTests {
    @Test func theStartSendsReadyAndTheStopStopping() throws {
        let watched = try WatchedDaemon()
        try watched.start()
        #expect(
            try watched.next() == "READY=1\nSTATUS=shop: running; shop: flags · old, next poll in ·"
        )
        #expect(try watched.daemon.stop() == 0)
        #expect(try watched.next() == "STOPPING=1\nSTATUS=stopping; gates stay as they are")
        #expect(try watched.next(within: 0) == nil)
    }

    @Test func storedFlagsMakeItReadyAtOnce() throws {
        let watched = try WatchedDaemon()
        #expect(try watched.daemon.run("--once").status == 0)
        try watched.start()
        #expect(
            try watched.next() == "READY=1\nSTATUS=shop: running; shop: flags · old, next poll in ·"
        )
    }

    @Test func aSlowFirstAnswerGetsTheStartMoreTime() throws {
        let watched = try WatchedDaemon(Daemon.shop + "\nfirst_timeout = \"2m\"", flags: nil)
        try watched.start()
        #expect(
            try watched.next()
                == "EXTEND_TIMEOUT_USEC=30000000\n"
                + "STATUS=source 'shop': open '/flags.json': no such file or directory; "
                + "no valid flags are known yet; shop: undecided; shop: no flags yet, next poll in ·"
        )
        try watched.daemon.setFlags("no")
        #expect(
            try watched.next() == "READY=1\nSTATUS=shop: running; shop: flags · old, next poll in ·"
        )
    }

    @Test func aReloadSendsReloadingAndReady() throws {
        let watched = try WatchedDaemon()
        try watched.start()
        try watched.waitUntilReady()
        try watched.daemon.configure(
            Daemon.shop + "\n[service.web]\nsource = \"file:web.json\"\nformat = \"status\"")
        watched.daemon.program?.send(SIGHUP)
        #expect(try watched.next() == "RELOADING=1\nMONOTONIC_USEC=·")
        #expect(
            try watched.next()
                == "READY=1\nSTATUS=shop: running; web: undecided; "
                + "shop: flags · old, next poll in ·; web: no flags yet, asking now")
        #expect(
            try watched.next()
                == "STATUS=source 'web': open '/web.json': no such file or directory; "
                + "no valid flags are known yet; shop: running; web: undecided; "
                + "shop: flags · old, next poll in ·; web: no flags yet, next poll in ·")
    }

    @Test func aRefusedReloadIsReportedInTheStatus() throws {
        let watched = try WatchedDaemon()
        try watched.start()
        try watched.waitUntilReady()
        try watched.daemon.configure("[service.shop")
        watched.daemon.program?.send(SIGHUP)
        #expect(try watched.next() == "RELOADING=1\nMONOTONIC_USEC=·")
        #expect(
            try watched.next().hasPrefix(
                "READY=1\nSTATUS=configuration refused; the last accepted one stays in force: "
                    + "/killswitchd.toml:1:14: syntax error"))
        #expect(try watched.next(within: 200) == nil)
        try watched.daemon.configure(Daemon.shop)
        watched.daemon.program?.send(SIGHUP)
        #expect(try watched.next() == "RELOADING=1\nMONOTONIC_USEC=·")
        #expect(
            try watched.next() == "READY=1\nSTATUS=shop: running; shop: flags · old, next poll in ·"
        )
    }

    /// A full notify socket delays neither the decision nor the loop, and READY is not lost.
    @Test func aBusyServiceManagerIsToldLater() throws {
        let watched = try WatchedDaemon()
        try watched.deafen()
        try watched.start()
        try watched.daemon.waitFor("running")
        var words = try watched.next()
        while words == "noise" { words = try watched.next() }
        #expect(words == "READY=1\nSTATUS=shop: running; shop: flags · old, next poll in ·")
    }

    @Test func watchdogPingsAreSentWhileTheDaemonWorks() throws {
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

    /// One change of many services is one status, and one short line.
    @Test func aChangeOfManyServicesIsOneStatus() throws {
        let names = (0..<300).map { "s\($0)" }
        let source = "[source.flags]\ntype = \"file\"\npath = \"flags.json\"\n"
        let services = names.map {
            "[service.\($0)]\nsource = \"flags\"\nformat = \"switch\"\nkey = \"\($0)\"\n"
        }
        let flags = { (state: String) in
            "{\(names.map { "\"\($0)\": {\"state\": \"\(state)\"}" }.joined(separator: ", "))}"
        }
        let watched = try WatchedDaemon(source + services.joined(), flags: flags("running"))
        try watched.start()
        let ready = try watched.next()
        #expect(ready.hasPrefix("READY=1\nSTATUS=300 services: 300 running; "))
        #expect(ready.utf8.count < 200)
        try watched.daemon.folder.write(flags("ended"), to: "flags.json")
        #expect(try watched.next().hasPrefix("STATUS=300 services: 300 ended; "))
        #expect(try watched.next(within: 1500) == nil)
    }

    @Test func aWatchdogForAnotherProcessGetsNoPings() throws {
        let watched = try WatchedDaemon()
        try watched.start(["WATCHDOG_USEC": "100000", "WATCHDOG_PID": "1"])
        _ = try watched.next()
        #expect(try watched.next(within: 300) == nil)
    }
}
