import Files
import Glibc
import Support
import Testing

/// `killswitchctl detach` where no systemd runs, in a mount namespace with files of its own.
@Suite(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0, "needs root"))
struct DetachTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs a script where /run and /etc/systemd are empty and `detach` is `killswitchctl detach`.
    private func run(_ script: String) throws -> Program.Result {
        try folder.write(
            """
            set -eu
            mount -t tmpfs tmpfs /run
            mount -t tmpfs tmpfs /etc/systemd
            mkdir -p /etc/systemd/system /run/killswitchd/shop
            cd /etc/systemd/system
            attached() {
                mkdir -p "$1.d" killswitch-open@shop.target.wants
                echo Requisite=killswitch-open@shop.target > "$1.d/50-killswitch-shop.conf"
                ln -s /dev/null "killswitch-open@shop.target.wants/$1"
            }
            detach() { '\(try Programs.path(of: "killswitchctl"))' detach "$@"; }
            \(script)
            """, to: "script")
        return try Program.run(
            "/usr/bin/unshare",
            ["--mount", "--propagation", "private", "/bin/sh", folder("script")])
    }

    /// The runtime directory belongs to the daemon's user. Odd files in it once prevented the units from
    /// being detached and the package from being removed.
    @Test func nothingInTheRuntimeDirectoryKeepsAUnitAttached() throws {
        let result = try run(
            """
            attached web.service
            echo '{}' > /run/killswitchd/shop/state.json
            mkdir /run/killswitchd/shop/units.json /run/killswitchd/blog
            echo '{}' > /run/killswitchd/blog/state.json
            echo '[{"name":"own.service"}]' > /run/killswitchd/blog/units.json
            detach --all
            ls -A
            """)
        #expect(
            result.status == 0
                && result.output == "detached web.service from killswitch-open@shop.target\n")
        #expect(
            result.errors == """
                killswitchctl: 'own.service' stays attached to 'blog': killswitchctl did not write these files
                killswitchctl: read '/run/killswitchd/shop/units.json': is a directory; units that \
                killswitchctl did not attach are not named

                """)
    }

    @Test func fileNamesThatOnlyLookLikeDropInsAreIgnored() throws {
        let result = try run(
            """
            attached web.service
            touch file.service.d
            ln -s nowhere gone.service.d
            ln -s loop.service.d loop.service.d
            mkdir -p odd.service.d/50-killswitch-shop.conf
            detach --all
            """)
        #expect(
            result
                == .init(
                    status: 0, output: "detached web.service from killswitch-open@shop.target\n",
                    errors: ""))
    }

    @Test func withoutAUnitDirectoryThereIsNothingToDetach() throws {
        let result = try run(
            "cd /; rmdir /etc/systemd/system; rm -r /run/killswitchd; detach --all")
        #expect(
            result
                == .init(
                    status: 0, output: "",
                    errors: "killswitchctl: nothing is attached by this command\n"))
    }

    @Test func unitsAreDetachedByNameWithoutSystemd() throws {
        let result = try run(
            """
            attached web.service; attached web.socket; attached worker@3.service
            detach shop web
            ls
            """)
        #expect(
            result.output == """
                detached web.service from killswitch-open@shop.target
                detached web.socket from killswitch-open@shop.target
                killswitch-open@shop.target.wants
                worker@3.service.d

                """)
        #expect(result.status == 0 && result.errors == "")
    }

    @Test func detachPrintsJSON() throws {
        let result = try run("attached web.service; detach --dry-run --json shop web; ls")
        #expect(
            result.output == """
                {
                  "dry_run": true,
                  "units": [
                    {
                      "name": "web.service",
                      "service": "shop",
                      "target": "killswitch-open@shop.target",
                      "start": null
                    }
                  ]
                }
                killswitch-open@shop.target.wants
                web.service.d

                """)
    }

    /// A removed service is still known by its units; a service that never existed is unknown.
    @Test func unitsOfAnUnknownServiceIsAnError() throws {
        let program = try Programs.path(of: "killswitchctl")
        let result = try run(
            """
            attached web.service
            echo '{}' > /run/killswitchd/shop/state.json
            '\(program)' units shop >&2
            rm -r /run/killswitchd/shop
            '\(program)' units shop >&2
            mkdir /run/killswitchd/blog
            echo '{}' > /run/killswitchd/blog/state.json
            '\(program)' units shop
            '\(program)' units blog
            '\(program)' units shpo
            """
        ).expect(4)
        #expect(result.output.hasPrefix("SERVICE") && result.output.contains("its service is not"))
        // Without the file of any service it is not known which services are configured.
        #expect(result.errors.contains("no daemon has run since this boot"))
        #expect(!result.errors.contains("its service is not"))
        #expect(result.errors.contains("killswitchctl: no such service 'shpo'; known: blog"))
    }

    /// units.json still lists units that were just detached.
    @Test func aUnitThatWasJustDetachedIsNotNamedAsAttached() throws {
        let result = try run(
            """
            attached web.service
            echo '{}' > /run/killswitchd/shop/state.json
            echo '[{"name":"web.service"}]' > /run/killswitchd/shop/units.json
            detach --all shop
            """)
        #expect(result.status == 0 && result.errors == "")
    }
}
