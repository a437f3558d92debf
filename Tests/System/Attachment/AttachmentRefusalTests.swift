import Support
import Testing

extension Attached {
    /// What `killswitchctl attach` and `detach` refuse.
    @Suite(.serialized)
    struct AttachmentRefusalTests {
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
            let result = try host.system.attempt("killswitchctl attach shop t-web \(refusal.units)")
            try host.run("rm /etc/systemd/system/ssh.service")
            #expect(result.status == refusal.status)
            #expect(result.errors.contains(refusal.saying))
            // One refused unit keeps all of them from being attached.
            #expect(try host.attachmentFiles.isEmpty)
        }

        @Test func aUnitWhoseNameOnlyResemblesSSHIsAttached() throws {
            let host = try Host.attached("t-sshd")
            #expect(
                try host.attachmentFiles.contains("t-sshd.service.d/50-killswitch-shop.conf\n"))
        }

        @Test func anUnknownServiceIsRefusedUnlessForced() throws {
            let host = try Host.having("t-web")
            try host.start()
            try host.system.attempt("killswitchctl attach shpo t-web").expect(
                4, errors: "did you mean 'shop'?")
            try host.run("killswitchctl attach --force shpo t-web")
            #expect(try host.run("killswitchctl units --orphans").contains("t-web.service"))
            try host.run("killswitchctl detach --all")
        }

        @Test func anyUserMayListUnitsAndOnlyRootMayAttach() throws {
            let host = try Host.attached("t-web")
            let nobody = "setpriv --reuid nobody --regid nogroup --clear-groups"
            #expect(try host.run("\(nobody) killswitchctl units").contains("t-web.service"))
            #expect(
                try host.run("\(nobody) killswitchctl attach --dry-run shop t-web")
                    .contains("Requisite="))
            for command in ["attach shop t-web", "detach shop t-web"] {
                try host.system.attempt("\(nobody) killswitchctl \(command)").expect(
                    5, errors: "needs root")
            }
        }
    }
}
