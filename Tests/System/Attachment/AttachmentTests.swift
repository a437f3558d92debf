import JSON
import Support
import Testing

extension OnSystemd {
    @Suite struct AttachmentTests {
        @Test func attachWritesReadableFilesAndWritesThemOnce() throws {
            let host = try Host.having("t-web")
            try host.unit("t-worker@.service", "[Service]\nExecStart=/bin/sleep infinity")
            try host.start(attaching: "t-web t-worker@3")
            let before = try host.attachmentFiles
            #expect(
                before == """
                    ./killswitch-open@shop.target.d
                    ./killswitch-open@shop.target.d/50-killswitch-t-web.service.conf
                    ./killswitch-open@shop.target.d/50-killswitch-t-worker@3.service.conf
                    ./t-web.service.d/50-killswitch-shop.conf
                    ./t-worker@3.service.d/50-killswitch-shop.conf

                    """)
            #expect(
                try host.run("cat /etc/systemd/system/t-web.service.d/50-killswitch-shop.conf")
                    == """
                    # Written by: killswitchctl attach shop t-web.service
                    # It follows the configuration, which "killswitchctl detach shop t-web.service" changes.
                    [Unit]
                    # It stops with this target, by a drop-in of the target, and starts after it.
                    After=killswitch-open@shop.target killswitchd-decided.target
                    # No start is accepted while the service is not open, also while other units still stop.
                    # Without the daemon: "killswitchctl open shop --without-daemon".
                    AssertPathExists=/run/killswitchd/shop/open
                    # If a start is refused, systemctl and the journal show this.
                    Documentation=man:killswitchctl(1)
                    Description=t-web.service (kill switch: killswitchctl explain shop)

                    """)
            let stop =
                "/etc/systemd/system/killswitch-open@shop.target.d/50-killswitch-t-web.service.conf"
            #expect(
                try host.run("grep -v '^#' \(stop)")
                    == "[Unit]\nPropagatesStopTo=t-web.service\nWants=t-web.service\nBefore=t-web.service\n"
            )
            try host.run("killswitchctl attach shop t-web t-worker@3")
            #expect(try host.attachmentFiles == before)
        }

        /// Whatever is typed next finds it there: a drill knows how long a unit takes to stop, and `wait` has no word
        /// of a unit that is detached.
        @Test func bothEndWhenTheDaemonShowsWhatTheyHaveChanged() throws {
            let host = try Host.having("t-web")
            try host.start()
            try host.run("systemctl start t-web; killswitchctl wait shop --for up --timeout 20s")
            let besideASlowDaemon = """
                systemctl kill --signal STOP killswitchd
                (sleep 1; systemctl kill --signal CONT killswitchd) > /dev/null 2>&1 &
                """
            try host.run("\(besideASlowDaemon)\nkillswitchctl attach shop t-web")
            #expect(try host.row("t-web.service")?["active"]?.string == "active")
            try host.run("\(besideASlowDaemon)\nkillswitchctl detach shop t-web")
            #expect(try host.row("t-web.service") == nil)
        }

        @Test func aDaemonThatShowsNothingIsWaitedForForFiveSeconds() throws {
            let host = try Host.having("t-web")
            try host.start()
            try host.run("killswitchctl wait shop --for up --timeout 20s")
            try host.run("systemctl kill --signal STOP killswitchd")
            try host.undoing("systemctl kill --signal CONT killswitchd") {
                let result = try host.control("attach shop t-web").expect(0)
                #expect(
                    result.errors.contains(
                        "killswitchd does not show 't-web.service' among the units of 'shop' yet; "
                            + "see 'killswitchctl units'"))
            }
        }

        @Test func detachLeavesNothingBehindAndStopsNothing() throws {
            let host = try Host.having("t-web", "t-app")
            try host.run("systemctl daemon-reload; systemctl enable --now t-web t-app")
            let before = try host.run("cd /etc/systemd/system && find . | sort")
            try host.start(attaching: "t-web t-app")
            #expect(
                try host.run("killswitchctl detach shop t-web")
                    == "detached t-web.service from killswitch-open@shop.target\n")
            try host.run("killswitchctl detach --all shop")
            #expect(try host.run("cd /etc/systemd/system && find . | sort") == before)
            try host.set(Host.ended, up: "killswitch-closed@shop.target")
            #expect(try host.property("ActiveState", of: "t-web") == "active")
            #expect(try host.control("detach shop t-web").status == 1)
        }

        @Test func aDryRunPrintsWhatAttachWouldWriteAndChangesNothing() throws {
            let host = try Host.having("t-web")
            try host.start()
            let printed = try host.run("killswitchctl attach --dry-run shop t-web")
            #expect(
                printed.contains("/etc/systemd/system/t-web.service.d/50-killswitch-shop.conf:"))
            #expect(printed.contains("AssertPathExists=/run/killswitchd/shop/open"))
            #expect(printed.contains("Wants=t-web.service"))
            let json = try host.json("killswitchctl attach --dry-run --json shop t-web").object
            let unit = try #require(json?["units"]?.array?.first?.object)
            #expect(unit["name"]?.string == "t-web.service" && json?["dry_run"] == true)
            #expect(
                unit["drop_in"]?.string
                    == "/etc/systemd/system/t-web.service.d/50-killswitch-shop.conf")
            #expect(try host.attachmentFiles == "")
            #expect(try host.property("PropagatesStopTo", of: "killswitch-open@shop.target") == "")
        }

        @Test func aUnitMovesToTheStateItIsAttachedToLast() throws {
            let host = try Host.attached("t-web")
            try host.run("killswitchctl attach --state maintenance shop t-web")
            #expect(
                try host.attachmentFiles == """
                    ./killswitch-maintenance@shop.target.d
                    ./killswitch-maintenance@shop.target.d/50-killswitch-t-web.service.conf
                    ./t-web.service.d/50-killswitch-shop.conf

                    """)
            // It runs while the marker says closed.
            #expect(try host.system.assertions(of: "t-web") == "a(sbbsi) 0\n")
        }

        /// A page that says sorry need not wait for a unit that takes long to stop.
        @Test func anEarlyUnitStartsWhileOthersStillStop() throws {
            let host = try Host.having("t-early", "t-page")
            try host.unit(
                "t-slow.service",
                "[Service]\nExecStart=/bin/sleep infinity\nExecStop=/bin/sh -c 'until test -e /run/t-go; do sleep 0.1; done'"
            )
            try host.start(attaching: "t-slow")
            try host.run("killswitchctl attach --state maintenance shop t-page")
            try host.run("killswitchctl attach --state maintenance --early shop t-early")
            #expect(try host.run("killswitchctl attach --renew --dry-run 2>&1") == "")
            try host.run("systemctl start t-slow")
            try host.set(Host.maintenance, up: "t-early")
            #expect(try host.property("ActiveState", of: "t-slow") == "deactivating")
            #expect(try host.property("ActiveState", of: "t-page") == "inactive")
            try host.run("touch /run/t-go")
            try host.awaitUp("t-page")
            try host.awaitDown("t-slow")
            try host.set(Host.open, up: "t-slow", down: "t-early", "t-page")
            #expect(try !host.system.attempt("systemctl start t-early").errors.isEmpty)
        }

        @Test func earlyIsForUnitsOfAClosedGate() throws {
            let host = try Host()
            try host.control("attach --early shop t-web").expect(
                2, errors: "add --state maintenance")
        }

        /// Those of the version before are renewed, and what somebody has edited stays.
        @Test func renewRewritesDropInsOfTheVersionBeforeAndLeavesEditedOnes() throws {
            let host = try Host.having("t-web", "t-app", "t-own", "t-page")
            try host.start(attaching: "t-web t-app t-own")
            try host.run("killswitchctl attach --state maintenance shop t-page")
            try host.run("systemctl start t-web t-own")
            let folder = "/etc/systemd/system"
            let file = { (unit: String) in "\(folder)/\(unit).service.d/50-killswitch-shop.conf" }
            let new = try host.run("cat \(file("t-web"))")
            try host.run(VersionBefore.attach("t-web"))
            try host.run("echo '[Service]\nNice=5' >> \(file("t-own"))")
            // Somebody else's, by a name like ours.
            try host.run(
                "mkdir \(folder)/t-x.service.d; touch \(folder)/t-x.service.d/50-killswitch-.conf")
            try host.run("systemctl daemon-reload")
            let life = "systemctl show t-web t-own -p Id,ActiveState,InvocationID"
            let before = try host.run(life)
            let dry = try host.run("killswitchctl attach --renew --dry-run 2>/dev/null")
            #expect(dry == "would renew \(file("t-web"))\n")
            let result = try host.control("attach --renew")
            #expect(result.status == 0 && result.output == "renewed \(file("t-web"))\n")
            #expect(
                result.errors == """
                    killswitchctl: '\(file("t-own"))' is not as attach writes it, and is left unchanged; \
                    'killswitchctl attach shop t-own.service' replaces it

                    """)
            #expect(try host.run("cat \(file("t-web"))") == new)
            #expect(
                try host.system.assertions(of: "t-web").contains("\"/run/killswitchd/shop/open\""))
            #expect(try host.run(life) == before)
            let json = try host.json("killswitchctl attach --renew --json 2>/dev/null").object
            #expect(json?["renewed"] == .array([]))
            #expect(json?["edited"]?.array?.first?.object?["name"] == "t-own.service")
        }

        @Test func renewStandsAlone() throws {
            let host = try Host()
            #expect(try host.control("attach --renew shop t-web").status == 2)
            #expect(try host.control("attach shop").status == 2)
            #expect(try host.control("attach").status == 2)
            let nobody = "setpriv --reuid nobody --clear-groups killswitchctl attach --renew"
            #expect(try host.system.attempt(nobody).status == 5)
            #expect(try host.run("killswitchctl attach --renew") == "")
        }

        @Test func unitsPrintsTheStatusOfEachUnit() throws {
            let host = try Host.attached("t-web")
            try host.set(Host.ended, up: "killswitch-ended@shop.target")
            try host.wait(until: "killswitchctl units | grep -q 'down *inactive'")
            let row = try #require(
                host.json("killswitchctl units shop --json").array?.first?.object)
            #expect(row["name"] == "t-web.service")
            #expect(row["service"] == "shop")
            #expect(row["target"] == "killswitch-open@shop.target")
            #expect(row["wanted"] == false)
            #expect(row["active"] == "inactive")
            #expect(row["problem"] == .null)
            #expect(row["orphan"] == false)
        }
    }

    @Suite struct AttachmentRefusalTests {
        struct Refusal: CustomTestStringConvertible {
            let units: String
            let saying: String
            var status: Int32 = 1

            var testDescription: String { units }
        }

        @Test(arguments: [
            Refusal(units: "dbus", saying: "killswitchd needs it"),
            Refusal(units: "dbus.socket", saying: "killswitchd needs it"),
            Refusal(units: "systemd-journald", saying: "it belongs to systemd"),
            Refusal(units: "killswitchd", saying: "it belongs to killswitchd itself"),
            Refusal(units: "ssh", saying: "it is a way to log in to this host"),
            Refusal(units: "multi-user.target", saying: "is a target"),
            Refusal(units: "t-nosuch", saying: "there is no unit"),
            Refusal(units: "t-masked", saying: "cannot be used: masked"),
            Refusal(units: "'t web'", saying: "t web", status: 2),
            Refusal(units: "../../etc/passwd", saying: "passwd", status: 2),
            Refusal(units: "t-worker@.service", saying: "t-worker@.service", status: 2),
        ])
        func aUnitThatCannotBeAttachedIsRefusedWithTheCause(_ refusal: Refusal) throws {
            let host = try Host.having("t-web", "ssh")
            try host.unit("t-worker@.service", "[Service]\nExecStart=/bin/sleep infinity")
            try host.run("ln -s /dev/null /etc/systemd/system/t-masked.service")
            try host.start()
            let result = try host.control("attach shop t-web \(refusal.units)")
            try host.run("rm /etc/systemd/system/ssh.service")
            #expect(result.status == refusal.status)
            #expect(result.errors.contains(refusal.saying))
            // One refused unit keeps all of them from being attached.
            #expect(try host.attachmentFiles.isEmpty)
        }

        @Test func aUnitWhoseNameOnlyResemblesSSHIsAttached() throws {
            let host = try Host.attached("t-sshd")
            #expect(try host.attachmentFiles.contains("t-sshd.service.d/50-killswitch-shop.conf\n"))
        }

        @Test func anUnknownServiceIsRefusedUnlessForced() throws {
            let host = try Host.having("t-web")
            try host.start()
            try host.control("attach shpo t-web").expect(4, errors: "did you mean 'shop'?")
            let forced = try host.control("attach --force shpo t-web")
            #expect(forced.status == 0 && forced.errors.contains("attached once it is"))
            #expect(try host.attachmentFiles.isEmpty)
            // A service that nobody configures is a warning, and its units are attached once somebody does.
            #expect(
                try host.run("/usr/sbin/killswitchd --check 2>&1").contains(
                    "[attached] lists units of 'shpo', which no table [service.shpo] configures"))
            try host.configure(Host.service("shop") + Host.service("shpo"))
            try host.run("killswitchctl reload")
            #expect(try host.attachmentFiles.contains("t-web.service.d/50-killswitch-shpo.conf"))
        }

        @Test func anyUserMayListUnitsAndOnlyRootMayAttach() throws {
            let host = try Host.attached("t-web")
            let nobody = "setpriv --reuid nobody --regid nogroup --clear-groups"
            #expect(try host.run("\(nobody) killswitchctl units").contains("t-web.service"))
            #expect(
                try host.run("\(nobody) killswitchctl attach --dry-run shop t-web")
                    .contains("AssertPathExists="))
            for command in ["attach shop t-web", "detach shop t-web"] {
                try host.system.attempt("\(nobody) killswitchctl \(command)").expect(
                    5, errors: "needs root")
            }
        }
    }
}
