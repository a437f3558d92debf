import Storage
import Support
import Testing

extension OnSystemd {
    /// What is listed is compared with what systemd shows.
    @Suite struct LostDropInTests {
        private static let unit = "/etc/systemd/system/t-web.service.d/50-killswitch-shop.conf"
        private static let target =
            "/etc/systemd/system/killswitch-open@shop.target.d/50-killswitch-t-web.service.conf"

        /// The unit ran on behind the closed gate, and `wait --for down` ended with 0.
        @Test func whatSystemctlRevertRemovesIsMadeAgain() throws {
            let host = try Host.running("t-web")
            try host.run("systemctl revert t-web.service; systemctl daemon-reload")
            try host.wait(
                until: "test -e \(Self.unit) && systemctl show -P Asserts t-web | grep -q .")
            let sentence = try #require(try host.sentences(of: .unitUntied).last)
            #expect(sentence.contains("'\(Self.unit)' has gone"), "\(sentence)")
            #expect(try host.control("status --check").status == 1)
            #expect(try host.property("ActiveState", of: "t-web") == "active")
            try host.set(Host.ended, down: "t-web")
            #expect(try host.system.attempt("systemctl start t-web").status == 1)
            try host.set(Host.open, up: "t-web")
        }

        /// A configuration management purges what it does not know, again and again.
        @Test func aDropInThatIsPurgedAgainIsAProblemAndNoGateSaysDown() throws {
            let host = try Host.running("t-web")
            try host.run("rm -r \(Self.target); systemctl daemon-reload")
            try host.wait(until: "test -e \(Self.target)")
            try host.wait(
                until:
                    "systemctl show -P PropagatesStopTo killswitch-open@shop.target | grep -q t-web"
            )
            try host.wait(until: "killswitchctl status | grep -q 'it was made again'")
            try host.run("rm \(Self.target) \(Self.unit); systemctl daemon-reload")
            try host.wait(until: "killswitchctl status | grep -q 'has gone 2 times'")
            try host.set(Host.ended)
            try host.control("wait shop --for down --timeout 60s").expect(
                1, errors: "'shop' will not be down")
            #expect(try host.property("ActiveState", of: "t-web") == "active")
            // The way out by hand.
            try host.run("killswitchctl attach shop t-web; killswitchctl wait shop --for down")
            #expect(try host.property("ActiveState", of: "t-web") == "inactive")
        }

        /// The target has started without the unit, which stayed down behind the open gate for good.
        @Test func aUnitThatWasNotTiedWhenItsGateOpenedIsStartedOnceItIs() throws {
            let host = try Host.running("t-web")
            try host.set(Host.ended, down: "t-web")
            let undo = "systemctl unmask --runtime killswitchd-attach.service"
            try host.undoing(undo) {
                try host.run("systemctl mask --runtime killswitchd-attach.service")
                try host.run("rm \(Self.target); systemctl daemon-reload")
                try host.wait(until: "killswitchctl status | grep -q 'has gone'")
                try host.set(Host.open)
                try host.awaitUp("killswitch-open@shop.target")
                try host.run("killswitchctl status | grep 'shop .* running'")
                #expect(try host.property("ActiveState", of: "t-web") == "inactive")
            }
            try host.run("killswitchctl attach --from-configuration")
            try host.awaitUp("t-web")
        }

        /// A path unit that comes later starts the unit 200 times in a second, and dies of its limit.
        @Test func aTriggerThatComesLaterIsAttachedToo() throws {
            let host = try Host.running("t-web")
            try host.set(Host.ended, down: "t-web")
            try host.unit("t-web.path", "[Path]\nPathExists=/run/t-go\n")
            try host.run("systemctl daemon-reload; systemctl start t-web.path; touch /run/t-go")
            try host.wait(until: "test -e /etc/systemd/system/t-web.path.d/50-killswitch-shop.conf")
            try host.awaitDown("t-web.path")
            try host.set(Host.open, up: "t-web.path", "t-web")
            try host.run("rm /run/t-go")
        }
    }
}
