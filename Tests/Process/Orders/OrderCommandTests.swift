import CivilTime
import Decision
import EventLoop
import Files
import Glibc
import JSON
import Storage
import Support
import Testing

@Suite(.timeLimit(.minutes(5))) struct OrderCommandTests {
    @Test func forceClosesAtOnceAndSaysWhoWhyAndUntilWhen() throws {
        let daemon = try Daemon.running()
        let forced = try daemon.control(
            "close", "shop", "--reason", "disk swap", "--until",
            "2099-03-01T12:00:00Z")
        #expect(forced.status == 0 && forced.errors == "")
        #expect(
            forced.output == """
                shop: forced to maintenance by \(ownUser) until 2099-03-01T21:00:00+09:00; \
                its gate is closed
                then its flags decide; to end the order now, type 'killswitchctl release shop'

                """)
        #expect(try daemon.member("reason") == "\"override\"")
        let order = try #require(try JSON.Value.parse(try daemon.member("override") ?? "").object)
        #expect(order["author"]?.string == ownUser)
        #expect(order["reason"]?.string == "disk swap")
        #expect(order["until"]?.string == "2099-03-01T21:00:00+09:00")
        #expect(try File.exists(daemon.folder("run/shop/closed")))
        #expect(
            try daemon.log.contains(
                "shop: maintenance (was running): forced by '\(ownUser)' until "
                    + "2099-03-01T21:00:00+09:00: 'disk swap'"))
    }

    @Test func anOrderOutlivesARestartAndReleaseGivesTheServiceBackToItsFlags() throws {
        let daemon = try Daemon.running()
        try daemon.control("close", "shop", "--state", "ended", "--reason", "x", "--for", "1h")
            .expect(0)
        try daemon.stop(SIGKILL)
        try daemon.start()
        try daemon.waitUntil("the control socket is there") {
            try daemon.control("release", "shop").status != 69
        }
        try daemon.waitFor("running")
        let again = try daemon.control("release", "shop")
        #expect(
            again.output == """
                shop: it was not forced, nothing has changed
                shop: running, its gate is open: set by the flags of source 'shop'

                """)
        #expect(try daemon.log.contains("shop: released from ended by '\(ownUser)'"))
    }

    @Test func anOrderThatExpiresWhileTheDaemonIsDownIsOverWhenItComesBack() throws {
        let daemon = try Daemon.running()
        try daemon.control("close", "shop", "--state", "ended", "--reason", "x", "--for", "12s")
            .expect(0)
        let loop = try EventLoop()
        let end = loop.now.boot + .milliseconds(12_100)
        try daemon.stop()
        try daemon.waitUntil("its time is over") { loop.now.boot > end }
        try daemon.start(waitingFor: "running")
        #expect(try daemon.member("override") == "null")
        try daemon.waitUntil("it is said") {
            try daemon.log.contains("shop: the order of '\(ownUser)'")
        }
        #expect(try !daemon.folder.text(of: "state/overrides.json").contains("ended"))
    }

    /// Leave this host alone.
    @Test func anOrderUntilItIsReleasedHasNoEnd() throws {
        let daemon = try Daemon.running()
        try daemon.setFlags("over")
        try daemon.waitFor("ended")
        try daemon.control("open", "shop", "-m", "under test", "--until", "released").expect(
            0, output: "shop: forced to running by ", " until it is released; ",
            "'killswitchctl release shop'")
        try daemon.stop()
        try daemon.start(waitingFor: "running")
        let state = try JSON.Value.parse(try daemon.folder.text(of: "run/shop/state.json")).object
        #expect(state?["override"]?.object?["until"] == .null)
        #expect(try daemon.control("status").output.contains(" until it is released: under test"))
        // An earlier version keeps it too: for it the end is far away.
        let stored = try daemon.folder.text(of: "state/overrides.json")
        #expect(stored.contains("9999-01-01T00:00:00+00:00"), "\(stored)")
        try daemon.control("release", "shop").expect(0, output: "its flags keep it closed")
    }

    @Test func ofTwoOrdersAtOnceTheLaterIsInForceAndBothAreInTheJournal() throws {
        let daemon = try Daemon.running()
        let orders = try ["maintenance", "ended"].map { state in
            try daemon.startControl(
                ["close", "shop", "--state", state, "-m", "at once", "--for", "1h", "--json"])
        }
        for (order, state) in zip(orders, ["maintenance", "ended"]) {
            #expect(try order.wait() == 0)
            let answer = try #require(try JSON.Value.parse(try order.output).object)
            #expect(answer["service"]?.object?["state"]?.string == state)
            #expect(try daemon.log.contains("shop: \(state) (was "))
        }
        let override = try #require(try daemon.member("state"))
        #expect(try daemon.folder.text(of: "state/overrides.json").contains(override))
    }

    @Test func aRefreshPrintsTheOutcomeAndTheVerdict() throws {
        let daemon = try Daemon.running()
        let same = try daemon.control("refresh")
        #expect(same.output.hasPrefix("source 'shop': already read "), "\(same.output)")
        #expect(
            same.output.hasSuffix(
                " s ago\nshop: running, its gate is open: set by the flags of source 'shop'\n"),
            "\(same.output)")
        try File.remove(daemon.folder("flags.json"))
        try daemon.control("refresh", "shop").expect(
            1, output: "source 'shop': failed: ", "shop: running, its gate is open")
    }

    @Test func activatePutsWaitingFlagsInForce() throws {
        let daemon = try Daemon.running(Daemon.shop + "\nactivation = \"next-start\"\n")
        #expect(try daemon.control("activate").output.hasPrefix("no flags were waiting"))
        try daemon.setFlags("over")
        try daemon.control("refresh").expect(0)
        #expect(try daemon.member("state") == "\"running\"")
        let activated = try daemon.control("activate", "shop")
        #expect(
            activated.output == """
                in force now: the newest flags of shop
                shop: ended, its gate is closed: set by the flags of source 'shop'

                """)
    }

    @Test func aReloadFailsWithFileAndLineAndChangesNothing() throws {
        let daemon = try Daemon.running()
        try daemon.configure("[service.shop]\nsorce = 1\n")
        let refused = try daemon.control("reload").expect(78)
        let lines = refused.errors.split(separator: "\n")
        #expect(
            lines.first
                == "killswitchctl: configuration refused; the last accepted one stays in force:"
        )
        let mistake = daemon.folder("killswitchd.toml") + ":2:1: unknown key 'sorce'"
        #expect(lines.contains { $0.hasPrefix(mistake) })
        try daemon.control("is-open", "shop").expect(0)
        try daemon.configure(
            Daemon.shop + "\n" + Daemon.shop.replacing("service.shop", with: "service.web"))
        let accepted = try daemon.control("reload").expect(0)
        #expect(
            accepted.output
                == "the configuration is in force: 2 services (shop, web); 1 source (shop)\n")
    }

    /// It printed 204 names in a line.
    @Test func aReloadOfManyServicesNamesTheFirst() throws {
        let daemon = try Daemon.running()
        let services = (1...9).map { "\n" + Daemon.shop.replacing("shop]", with: "shop\($0)]") }
        try daemon.configure(Daemon.shop + services.joined())
        #expect(
            try daemon.control("reload").output
                == "the configuration is in force: 10 services (shop, shop1, shop2, shop3, shop4, "
                + "and 5 more); 1 source (shop)\n")
        let json = try JSON.Value.parse(try daemon.control("reload", "--json").output).object
        #expect(json?["services"]?.array?.count == 10)
    }

    @Test func forgetDropsTheStoredFlagsOfASource() throws {
        let daemon = try Daemon.running()
        #expect(try File.exists(daemon.folder("state/flags/shop.json")))
        // Without the flags file no new flags are stored.
        try File.remove(daemon.folder("flags.json"))
        try daemon.control("forget", "shop").expect(0)
        #expect(try !File.exists(daemon.folder("state/flags/shop.json")))
        #expect(try daemon.member("state") == "\"running\"")
        #expect(try daemon.log.contains("source 'shop': '\(ownUser)' deleted its stored flags"))
    }

    @Test func aRequestBeforeTheFirstVerdictIsHeldAndAnsweredAfterItOnce() throws {
        let daemon = try Daemon(flags: nil).start(waitingFor: "undecided")
        let waiting = try daemon.startControl(["release", "shop"])
        let leaving = try daemon.startControl(["release", "shop"])
        // `forget` needs no verdict: its answer shows that the daemon has read both calls before it.
        try daemon.control("forget", "shop").expect(0)
        #expect(try waiting.output == "" && leaving.output == "")
        leaving.send(SIGKILL)
        #expect(try leaving.wait() == 128 + SIGKILL)
        try daemon.setFlags("no")
        #expect(try waiting.wait() == 0)
        #expect(
            try waiting.output == """
                shop: it was not forced, nothing has changed
                shop: running, its gate is open: set by the flags of source 'shop'

                """)
    }

    @Test func aRejectedOrderHasItsExitStatusAndAHint() throws {
        let daemon = try Daemon.running()
        let service = try daemon.control("release", "shpo").expect(4)
        #expect(service.errors == "killswitchctl: no such service 'shpo'; did you mean 'shop'?\n")
        let source = try daemon.control("refresh", "shpo").expect(4)
        #expect(source.errors == "killswitchctl: no such source 'shpo'; did you mean 'shop'?\n")
        let past = try daemon.control(
            "close", "shop", "--state", "ended", "--reason", "x", "--until", "2001-01-01T00:00:00Z")
        #expect(past.status == 2 && past.errors.contains("give --for DURATION, such as 2h"))
    }

    @Test(arguments: [
        ["close", "shop", "--state", "ended", "--for", "1h", "--reason", "x"], ["release", "shop"],
        ["refresh"], ["activate"], ["reload"], ["forget", "shop"], ["confirm", "shop"],
    ]) func withoutADaemonAnOrderFailsWithAHint(_ arguments: [String]) throws {
        let daemon = try Daemon.decided()
        try daemon.control(arguments).expect(
            69, errors: "is killswitchd running? See 'systemctl status killswitchd'")
    }

    @Test func aReasonOverTheLimitIsRefusedBeforeItIsSent() throws {
        // No daemon runs here, so the order that is short enough reaches none.
        let folder = try TemporaryFolder()
        let arguments = { (count: Int) in
            [
                "close", "shop", "--state", "ended", "--for", "1h", "--reason",
                String(repeating: "é", count: count), "--runtime-directory", folder("run"),
            ]
        }
        let long = try Programs.run("killswitchctl", arguments(2049)).expect(2)
        #expect(
            long.errors.hasPrefix("killswitchctl: --reason has 4098 bytes; the limit is 4096\n"))
        #expect(try Programs.run("killswitchctl", arguments(2048)).status == 69)
    }

    @Test(arguments: [
        ["shop", "--reason", "x"], ["shop", "--for", "1h"], ["shop"],
        ["shop", "--reason", " ", "--for", "1h"],
        ["shop", "--reason", "x", "--for", "soon"],
        ["shop", "--reason", "x", "--for", "10ms"],
        ["shop", "--reason", "x", "--until", "tomorrow"],
        ["shop", "--reason", "x", "--for", "1h", "--until", "2099-01-01T00:00:00Z"],
        ["shop", "--reason", "x", "--for", "1h", "--until", "released"],
        ["shop", "--state", "undecided", "--reason", "x", "--for", "1h"],
        ["My Shop", "--reason", "x", "--for", "1h"],
    ]) func anOrderThatIsWrittenWronglyIsAUsageError(_ arguments: [String]) throws {
        let result = try Programs.run("killswitchctl", ["close"] + arguments).expect(2)
        #expect(result.output == "" && !result.errors.isEmpty)
    }
}
