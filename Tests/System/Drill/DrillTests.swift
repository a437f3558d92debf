import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    @Suite struct DrillTests {
        @Test func aDrillThatSucceedsTimesEachUnitAndLeavesEverythingAsItWas() throws {
            let host = try Host.having("t-web", "t-page")
            try host.unit(
                "t-app.service",
                """
                [Service]
                Type=oneshot
                RemainAfterExit=yes
                ExecStart=/bin/sleep 0.3
                ExecStop=/bin/sleep 0.2
                """)
            try host.start()
            try host.run("killswitchctl attach --run-at-open shop t-web t-app")
            try host.run("killswitchctl attach --state maintenance shop t-page")
            try host.run("systemctl start t-web t-app")
            try host.run("killswitchctl wait shop --for up --timeout 1m")
            try host.awaitOpen("t-web", "t-app")
            let (result, report) = try host.drill()
            #expect(result.status == 0, "\(result)")
            #expect(report["ok"] == true && report["problem"] == .null)
            #expect(report["service"] == "shop" && report["state"] == "maintenance")
            let closed = try #require(report["closed_for_ms"]?.number?.int64)
            #expect((200..<60_000).contains(closed))
            let web = try report.unit("t-web.service")
            #expect(web["kind"] == "attached" && web["was"] == "active")
            #expect(web["refused"] == true && web["ok"] == true && web["problem"] == .null)
            #expect(try (0...closed).contains(#require(web["stop_ms"]?.number?.int64)))
            let app = try report.unit("t-app.service")
            #expect(try (200...closed).contains(#require(app["stop_ms"]?.number?.int64)))
            #expect(try (300..<60_000).contains(#require(app["start_ms"]?.number?.int64)))
            let page = try report.unit("t-page.service")
            #expect(page["kind"] == "state" && page["was"] == "inactive")
            #expect(page["refused"] == .null && page["ok"] == true)
            // The page starts once the last of the other units is down.
            #expect(try (200...closed).contains(#require(page["start_ms"]?.number?.int64)))
            #expect(try (0..<60_000).contains(#require(page["stop_ms"]?.number?.int64)))
            try host.awaitOpen("t-web", "t-app")
            #expect(try host.property("ActiveState", of: "t-page") == "inactive")
            #expect(try host.journal(of: .released).count == 1)
        }

        @Test func theTableNamesEachUnitInEightyColumns() throws {
            let host = try Host.having("t-web")
            try host.open("t-web")
            let text = try host.run("killswitchctl drill shop --for 1m 2>/dev/null")
            let lines = text.split(separator: "\n")
            #expect(
                try lines.first?.wholeMatch(
                    of: Regex("UNIT +KIND +WAS +STOP +BY HAND +START +RESULT")) != nil)
            #expect(
                try lines.dropFirst().first?.wholeMatch(
                    of: Regex(
                        "t-web.service +attached +active +[0-9]+ ms +refused +[0-9]+ ms +ok"))
                    != nil)
            #expect(lines.last?.hasPrefix("'shop' was closed for ") == true)
            #expect(lines.allSatisfy { $0.count <= 80 })
        }

        @Test func aUnitThatDoesNotStopIsNamedAndTheGateOpensInTime() throws {
            let host = try Host()
            try host.deafService(limit: "20s")
            try host.services("t-web")
            try host.open("t-deaf t-web")
            let (result, report) = try host.drill("--for 2s")
            #expect(result.status == 1)
            #expect(result.errors.contains("waiting for t-deaf.service (deactivating)\n"))
            #expect(result.errors.hasSuffix("the drill of 'shop' has failed: t-deaf.service\n"))
            let deaf = try report.unit("t-deaf.service")
            #expect(deaf["problem"] == "still running after 2 s")
            #expect(deaf["refused"] == .null)
            #expect(deaf["stop_ms"] == .null)
            #expect(try report.unit("t-web.service")["ok"] == true)
            #expect(try (2000..<20_000).contains(#require(report["closed_for_ms"]?.number?.int64)))
            try host.awaitOpen("t-deaf", "t-web")
        }

        @Test func aUnitThatHasToBeKilledHasFailed() throws {
            let host = try Host()
            try host.deafService(limit: "1s")
            try host.open("t-deaf")
            let (result, report) = try host.drill()
            #expect(result.status == 1)
            let deaf = try report.unit("t-deaf.service")
            #expect(
                deaf["problem"]
                    == "it did not stop within its stop limit, and systemd killed it")
            #expect(deaf["refused"] == true && deaf["start_ms"] != .null)
            try host.awaitOpen("t-deaf")
        }

        @Test func aDependentThatDoesNotComeBackIsNamedWithTheCommandToAttachIt() throws {
            let host = try Host.having("t-web")
            try host.needyService()
            try host.open("t-web")
            try host.run("systemctl start t-needy")
            let (result, report) = try host.drill()
            #expect(result.status == 1)
            #expect(result.errors.hasSuffix("failed: t-needy.service\n"))
            let needy = try report.unit("t-needy.service")
            #expect(needy["kind"] == "dependent")
            #expect(needy["stop_ms"] == .null && needy["start_ms"] == .null)
            #expect(
                needy["problem"]?.string
                    == "stopped with t-web.service and was not started again; attach it too: "
                    + "killswitchctl attach shop t-needy.service")
            #expect(try report.unit("t-web.service")["ok"] == true)
            try host.run("killswitchctl attach shop t-needy.service; systemctl start t-needy")
            #expect(try host.drill().0.status == 0)
            try host.awaitOpen("t-web", "t-needy")
        }

        @Test func aUnitThatFailsToComeBackIsNamed() throws {
            let host = try Host()
            try host.unit(
                "t-once.service",
                """
                [Service]
                Type=notify
                NotifyAccess=all
                ExecStartPre=/bin/mkdir /run/t-once
                ExecStart=/bin/sh -c "systemd-notify --ready; exec sleep infinity"
                """)
            try host.open("t-once")
            let (result, report) = try host.drill()
            #expect(result.status == 1)
            #expect(
                try report.unit("t-once.service")["problem"] == "it failed with result 'exit-code'")
            try host.awaitOpen()
        }

        @Test func aUnitThatWasDownIsStartedAndTheReportSaysSo() throws {
            let host = try Host.having("t-web", "t-app")
            try host.open("t-web t-app")
            try host.run("systemctl stop t-app")
            let (result, report) = try host.drill()
            #expect(result.status == 0)
            let app = try report.unit("t-app.service")
            #expect(app["was"] == "inactive" && app["stop_ms"] == .null && app["refused"] == true)
            #expect(app["remark"] == "was stopped before; the opening started it")
        }

        @Test func aServiceBehindItsSocketNeedNotRunAfterwards() throws {
            let host = try Host()
            try host.unit("t-echo.socket", "[Socket]\nListenStream=/run/t-echo.sock")
            try host.unit("t-echo.service", "[Service]\nExecStart=/bin/sleep infinity")
            try host.run("systemctl daemon-reload; systemctl start t-echo.socket t-echo.service")
            try host.open("t-echo")
            let (result, report) = try host.drill()
            #expect(result.status == 0, "\(result)")
            #expect(try report.unit("t-echo.socket")["refused"] == true)
            #expect(
                try report.unit("t-echo.service")["remark"]
                    == "stays stopped until something triggers it")
            try host.awaitOpen("t-echo.socket")
        }

        /// It looks at systemd a few times a second, also while a unit of the state starts slowly: 1,300 times once.
        @Test func systemdIsAskedAFewTimesASecond() throws {
            let host = try Host.having("t-web")
            try host.unit(
                "t-page.service",
                "[Service]\nExecStartPre=/bin/sleep 2\nExecStart=/bin/sleep infinity")
            try host.open("t-web")
            try host.run("killswitchctl attach --state maintenance shop t-page")
            let clock = ContinuousClock.now
            try host.run(
                "strace -qq -e trace=connect -o /run/t-calls killswitchctl drill shop --yes --for 20s"
            )
            let seconds = (ContinuousClock.now - clock) / .seconds(1)
            let calls = try host.run("grep -c system_bus_socket /run/t-calls || true").dropLast()
            #expect(try Double(#require(Int(calls))) < 20 * max(3, seconds))
        }

        @Test func aUnitOfTheStateThatDoesNotRunIsNamed() throws {
            let host = try Host.having("t-web")
            try host.unit("t-page.service", "[Service]\nExecStart=/bin/false")
            try host.open("t-web")
            try host.run("killswitchctl attach --state maintenance shop t-page")
            let (result, report) = try host.drill()
            #expect(result.status == 1)
            let page = try report.unit("t-page.service")
            #expect(page["kind"] == "state" && page["start_ms"] == .null)
            #expect(page["problem"] == "it failed with result 'exit-code'", "\(page)")
            try host.awaitOpen("t-web")
        }

        @Test func aUnitThatAnotherServiceKeepsDownNeedNotComeBack() throws {
            let host = try Host(Host.shop + Host.service("till"))
            try host.set(Host.ended, of: "till")
            try host.services("t-web", "t-both")
            try host.open("t-web t-both")
            try host.run("killswitchctl attach till t-both")
            try host.awaitDown("t-both")
            let (result, report) = try host.drill()
            #expect(result.status == 0, "\(result)")
            let both = try report.unit("t-both.service")
            #expect(both["was"] == "inactive" && both["refused"] == true && both["ok"] == true)
        }

        @Test func minClosedIsWaitedFor() throws {
            let host = try Host(
                Host.shop.replacing("min_closed = \"0s\"", with: "min_closed = \"15s\""))
            try host.services("t-web")
            try host.open("t-web")
            let (result, report) = try host.drill("--for 10s")
            #expect(result.status == 0)
            #expect(try #require(report["closed_for_ms"]?.number?.int64) >= 15_000)
            // It is counted from the opening.
            #expect(try #require(report.unit("t-web.service")["start_ms"]?.number?.int64) < 15_000)
            #expect(result.errors.contains("min_closed keeps the gate closed"))
            try host.awaitOpen("t-web")
        }

        /// A release ends the drill's own order, and no other.
        @Test func anOrderGivenDuringADrillStaysInForce() throws {
            let host = try Host()
            try host.heldService()
            try host.open("t-slow")
            try host.beginDrill("--for 1m")
            try host.run("killswitchctl close shop --state ended --for 1h --reason 'a real one'")
            try host.letGo()
            let (status, _, errors) = try host.endOfDrill()
            #expect(status == 1)
            #expect(
                errors.contains(
                    "another order has taken over: root (uid 0) has forced ended: a real one"))
            try host.awaitUp("killswitch-ended@shop.target")
            #expect(try host.run("killswitchctl get shop override.reason") == "a real one\n")
            try host.awaitDown("t-slow")
        }

        @Test func flagsThatCloseDuringADrillKeepTheGateClosed() throws {
            let host = try Host()
            try host.heldService()
            try host.open("t-slow")
            try host.beginDrill("--for 1m")
            try host.set(Host.ended)
            try host.run("killswitchctl refresh shop")
            try host.letGo()
            let (status, _, errors) = try host.endOfDrill()
            #expect(status == 1)
            #expect(errors.contains("its flags closed the gate during the drill: "))
            try host.awaitUp("killswitch-ended@shop.target")
            try host.awaitDown("t-slow")
        }
    }
}

extension Host {
    /// Runs a drill of `shop` to its end; returns its result and its report.
    func drill(_ options: String = "--for 1m") throws -> (Program.Result, JSON.Object) {
        let result = try system.attempt(
            "timeout 100 killswitchctl drill shop \(options) --json < /dev/null")
        let json = try JSON.Value.parse(Array(result.output.utf8)).object
        return (result, try #require(json, "\(result.errors)"))
    }

    /// Begins a drill of `shop` as a unit of its own, `t-drill`, and waits until the gate is closed.
    func beginDrill(_ options: String, through command: String = "") throws {
        try run(
            "systemd-run --quiet --unit=t-drill -p RemainAfterExit=yes -p KillMode=process "
                + "-p StandardOutput=truncate:/run/t-drill.out "
                + "-p StandardError=truncate:/run/t-drill.err "
                + (command.isEmpty
                    ? "killswitchctl drill shop \(options)"
                    : "\(command) 'exec killswitchctl drill shop --yes \(options)' /dev/null"))
        try wait(until: "killswitchctl is-open shop --quiet; test $? = 1")
    }

    /// Waits for the end of that drill; returns its status, as a shell has it, and its output.
    func endOfDrill() throws -> (status: Int?, output: String, errors: String) {
        try wait(until: "test $(systemctl show -P ExecMainExitTimestampMonotonic t-drill) != 0")
        let isKilled = try property("ExecMainCode", of: "t-drill") == "2"
        let status = Int(try property("ExecMainStatus", of: "t-drill"))
        return (
            status.map { isKilled ? 128 + $0 : $0 }, try run("cat /run/t-drill.out"),
            try run("cat /run/t-drill.err")
        )
    }

    /// Waits until the gate is open and these units run; expects no order in force.
    func awaitOpen(_ units: String...) throws {
        try wait(until: "killswitchctl is-open shop --quiet")
        try awaitUp("killswitch-open@shop.target")
        for unit in units { try awaitUp(unit) }
        #expect(try run("killswitchctl get shop override --json") == "null\n")
    }

    /// Attaches and starts existing units, and waits until the daemon has seen them: it times only what it follows.
    func open(_ units: String) throws {
        try startUnits(units)
        try run("killswitchctl wait shop --for up --timeout 1m")
    }
}

extension JSON.Object {
    /// What a drill reports of a unit.
    func unit(_ name: String) throws -> JSON.Object {
        try #require(
            self["units"]?.array?.compactMap(\.object).first { $0["name"]?.string == name })
    }
}
