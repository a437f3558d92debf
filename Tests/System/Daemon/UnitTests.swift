import Glibc
import JSON
import Storage
import Support
import Testing

extension OnSystemd {
    @Suite struct UnitTests {
        private let host: Host
        private var system: BootedSystem { host.system }

        private static let file = "/etc/killswitchd/flags.json"
        private static let shop = """
            [service.shop]
            source = "file:\(file)"
            format = "service-end"
            min_closed = "0s"
            """
        private static let running = #"{"service_end": "no"}"#

        init() throws {
            host = try Host(Self.shop, flags: nil)
            try set("no")
        }

        private func set(_ word: String) throws {
            try system.write(#"{"service_end": "\#(word)"}"#, to: Self.file)
        }

        /// The journal of the unit since the test began.
        private func journal() throws -> String {
            try system.run("journalctl --sync; journalctl -u killswitchd --since @\(host.start)")
        }

        private func expectOpen() throws {
            #expect(try system.run("killswitchctl is-open shop") == "shop: open (running)\n")
        }

        @Test func theServiceIsActiveAfterTheFirstDecisionAndNotBefore() throws {
            try system.run("rm /etc/killswitchd/flags.json")
            try system.run("systemctl start --no-block killswitchd")
            try system.wait(until: "test -e /run/killswitchd/shop/state.json")
            try host.wait(forStatus: "shop: undecided")
            #expect(try host.property("ActiveState") == "activating")
            try set("no")
            try system.wait(until: "systemctl is-active killswitchd")
            try expectOpen()
            let status = try system.run("systemctl status killswitchd")
            #expect(status.contains("Status: \"shop: running; shop: flags "))
        }

        @Test func freedMemoryIsOverwrittenInTheDaemon() throws {
            try system.run("systemctl start killswitchd")
            let environment = "tr '\\0' '\\n' < /proc/\(try host.property("MainPID"))/environ"
            try system.run("\(environment) | grep -x MALLOC_PERTURB_=165")
        }

        @Test func theFilesAreForEverybodyAndStayWhenItStops() throws {
            try system.run("systemctl start killswitchd")
            let listing =
                "stat -c '%a %U' /run/killswitchd/shop/state.json /run/killswitchd/shop/open"
            #expect(try system.run(listing) == "644 killswitchd\n644 killswitchd\n")
            try system.run("systemctl stop killswitchd")
            #expect(try system.run(listing) == "644 killswitchd\n644 killswitchd\n")
            #expect(try host.property("Result") == "success")
            #expect(try system.run("stat -c %a /var/lib/killswitchd") == "700\n")
        }

        @Test func aFrozenDaemonIsKilledAndStartedAgain() throws {
            try host.override("WatchdogSec=2s")
            try system.run("systemctl start killswitchd")
            let before = try host.property("MainPID")
            try system.run("kill -STOP \(before)")
            try system.wait(until: "test $(systemctl show killswitchd -P NRestarts) -ge 1")
            try system.wait(until: "systemctl is-active killswitchd")
            #expect(try host.property("MainPID") != before)
            try expectOpen()
            #expect(try journal().contains("Watchdog timeout"))
        }

        /// At the limit the daemon ends, here by an allocation that fails: control groups limit no memory in
        /// every container. It starts again with its stored flags, each time until the answer is another one.
        @Test func atTheLimitOfItsMemoryItStartsAgainWithTheStoredFlags() throws {
            #expect(try host.property("MemoryMax") == "536870912")
            try host.configure(
                Self.shop + """

                    [source.big]
                    type = "file"
                    path = "/etc/killswitchd/big.json"
                    max_body = "64MiB"
                    [service.web]
                    source = "big"
                    format = "service-end"
                    min_closed = "0s"
                    """)
            try system.write(#"{"service_end": "over"}"#, to: "/etc/killswitchd/big.json")
            // Not enough for what the answer says.
            try host.override("LimitDATA=96M")
            try system.run("systemctl start killswitchd")
            #expect(try system.run("killswitchctl is-open web || true") == "web: closed (ended)\n")
            try system.run(
                """
                { printf '{"service_end": "no", "more": [1'
                  yes ',1234567' | tr -d '\\n' | head -c 32000000
                  printf ']}'; } > /etc/killswitchd/big.new
                mv /etc/killswitchd/big.new /etc/killswitchd/big.json
                """)
            try system.wait(until: "test $(systemctl show killswitchd -P NRestarts) -ge 2")
            #expect(try system.run("killswitchctl is-open web || true") == "web: closed (ended)\n")
            try system.write(Self.running, to: "/etc/killswitchd/big.json")
            try system.wait(until: "killswitchctl is-open web")
            try expectOpen()
        }

        /// A library that disables the timers with an accuracy of 20 ms, among them the timer that polls
        /// the sources. The watchdog's timer, which is less accurate, still fires.
        private static let lostTimers = #"""
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <systemd/sd-event.h>
            static sd_event_source *lost[16];
            static int count;
            int sd_event_add_time(sd_event *loop, sd_event_source **source, clockid_t clock,
                                  uint64_t time, uint64_t accuracy,
                                  sd_event_time_handler_t handler, void *data) {
                int (*next)(sd_event *, sd_event_source **, clockid_t, uint64_t, uint64_t,
                            sd_event_time_handler_t, void *)
                    = dlsym(RTLD_NEXT, "sd_event_add_time");
                int code = next(loop, source, clock, time, accuracy, handler, data);
                if (accuracy == 20000 && count < 16) lost[count++] = *source;
                return code;
            }
            int sd_event_source_set_time(sd_event_source *source, uint64_t time) {
                int (*next)(sd_event_source *, uint64_t)
                    = dlsym(RTLD_NEXT, "sd_event_source_set_time");
                for (int i = 0; i < count; i++)
                    if (lost[i] == source) return next(source, UINT64_MAX);
                return next(source, time);
            }
            """#

        /// The source is never polled again. The loop still runs and handles signals, but the pings stop.
        @Test func aSourceWhoseTimerIsLostStopsThePings() throws {
            try host.configure(
                """
                [source.app]
                type = "file"
                path = "\(Self.file)"
                interval = "1s"

                [service.shop]
                source = "app"
                format = "service-end"
                """)
            try host.override("WatchdogSec=6s")
            try system.run("systemctl start killswitchd")
            // Without the fault the daemon outlives the time after which the watchdog will kill it.
            let before = try host.property("MainPID")
            #expect(
                try system.attempt("timeout 15 tail --pid=\(before) -f /dev/null").status == 124)
            #expect(try host.property("NRestarts") == "0")
            let preload = try Preload("lost-timers", Self.lostTimers)
            try host.override("WatchdogSec=6s\n\(try system.install(preload))")
            try system.run("systemctl restart killswitchd")
            try system.wait(until: "test $(systemctl show killswitchd -P NRestarts) -ge 1")
            #expect(try journal().contains("Watchdog timeout"))
        }

        @Test func theJournalFindsEachChangeWithItsFieldsAndExplainsIt() throws {
            try system.run("systemctl start killswitchd")
            try system.write(
                #"{"service_end": "countdown", "service_countdown": "2099-12-31T00:00:00Z"}"#,
                to: "/etc/killswitchd/flags.json")
            try host.wait(forEntry: "shop: countdown (was running)")
            let decided = MessageID.decided.rawValue
            let lines = try system.run(
                "journalctl -o json MESSAGE_ID=\(decided) _SYSTEMD_UNIT=killswitchd.service "
                    + "--since @\(host.start) | tail -n 1")
            let entry = try #require(try JSON.Value.parse(lines).object)
            let expected = [
                "PRIORITY": "5", "SYSLOG_IDENTIFIER": "killswitchd", "KILLSWITCH_SERVICE": "shop",
                "KILLSWITCH_STATE": "countdown", "KILLSWITCH_GATE": "open",
                "KILLSWITCH_REASON": "flags", "KILLSWITCH_SOURCE": "shop",
            ]
            for (key, value) in expected { #expect(entry[key]?.string == value, "\(key)") }
            let days = try #require(entry["KILLSWITCH_DAYS_LEFT"]?.string.flatMap { Int($0) })
            #expect(days > 10_000)
            #expect(entry["MESSAGE"]?.string?.hasPrefix("shop: countdown (was running), ") == true)
            let explained = try system.run("journalctl -x MESSAGE_ID=\(decided) -n 1")
            #expect(explained.contains("The decision on service shop has changed"))
            #expect(explained.contains("State: countdown, for the reason flags."))
        }

        @Test func aStoppedJournalStopsNeitherVerdictsNorPings() throws {
            try host.override("WatchdogSec=10s")
            try system.run("systemctl start killswitchd")
            let before = try host.property("MainPID")
            try system.run("kill -STOP $(systemctl show -P MainPID systemd-journald)")
            let isOver = "test $(($(date +%s) - \(try system.run("date +%s").dropLast()))) -ge 60"
            var flips = 0
            // A sender that blocks would stop after about seventy entries; each flip is one entry. Openings are a
            // second apart.
            while try flips <= 90 || system.attempt(isOver).status != 0 {
                let (word, state) = flips.isMultiple(of: 2) ? ("over", "ended") : ("no", "running")
                try set(word)
                try system.run("killswitchctl wait shop --for \(state) --timeout 20s")
                flips += 1
            }
            try system.run("kill -CONT $(systemctl show -P MainPID systemd-journald)")
            #expect(try host.property("MainPID") == before)
            #expect(try host.property("NRestarts") == "0")
            // No entry comes after them: the daemon itself goes on.
            let decisions =
                "journalctl MESSAGE_ID=\(MessageID.decided.rawValue) -o cat --since @\(host.start)"
            let entries = "journalctl --sync; \(decisions) | grep -cE 'was (ended|running)'"
            try host.wait(until: "test $(\(entries)) = \(flips)")
            print("with journald stopped for a minute there were \(flips) verdicts in time")
        }

        @Test func aBrokenReloadChangesNothingAndTheStatusSaysWhy() throws {
            try system.run("systemctl start killswitchd")
            try host.configure("[service.shop]\nsorce = 1")
            #expect(try system.attempt("systemctl reload killswitchd").status != 0)
            let mistake = "killswitchd.toml:2:1: unknown key 'sorce'"
            try host.wait(forStatus: mistake)
            #expect(try host.property("ActiveState") == "active")
            // Even after a restart the kept configuration is in force.
            try system.run("systemctl restart killswitchd")
            try expectOpen()
            #expect(try system.attempt("killswitchctl status").errors.contains(mistake))
            #expect(try host.sentences(of: .configurationRefused).contains { $0.contains(mistake) })
            try host.configure(Self.shop)
            try system.run("systemctl reload killswitchd")
            try system.wait(until: "test ! -e /run/killswitchd/configuration.refused")
        }

        @Test func dropInsAreReadFromTheThreePlaces() throws {
            let places = ["/usr/lib", "/run", "/etc"].map { "\($0)/killswitchd/conf.d" }
            for (number, place) in places.enumerated() {
                try system.write(
                    "[service.shop]\nmax_stale = \"\(number + 1)h\"", to: "\(place)/10-stale.toml")
            }
            try system.write("[service.shop]\nat_end = \"keep\"", to: "\(places[0])/20-end.toml")
            try system.write("[service.shop]\nat_end = 5", to: "\(places[0])/30-broken.toml")
            try system.run("ln -s /dev/null /etc/killswitchd/conf.d/30-broken.toml")
            let output = try system.run("/usr/sbin/killswitchd --check; rm -r /usr/lib/killswitchd")
            let lines = output.split(separator: "\n")
            #expect(
                lines.prefix(7) == [
                    "read /etc/killswitchd/killswitchd.toml", "read \(places[2])/10-stale.toml",
                    "read \(places[0])/20-end.toml",
                    "masked \(places[2])/30-broken.toml: it is a link to /dev/null",
                    "skipped \(places[1])/10-stale.toml: \(places[2])/10-stale.toml is read instead",
                    "skipped \(places[0])/10-stale.toml: \(places[2])/10-stale.toml is read instead",
                    "skipped \(places[0])/30-broken.toml: \(places[2])/30-broken.toml is read instead",
                ])
            #expect(
                lines.contains("service.shop.max_stale = \"3h\"   (\(places[2])/10-stale.toml:2)"))
        }

        @Test func systemdVerifiesTheInstalledUnit() throws {
            #expect(
                try system.attempt("systemd-analyze verify --man=no killswitchd.service 2>&1")
                    .output
                    == "")
            #expect(try system.run("killswitchctl --version") == "\(Programs.version())\n")
        }

    }
}
