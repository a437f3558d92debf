import Files
import Support
import Testing

extension Packaged {
    /// Each guide is typed as it is written, section by section, on a host of the README's administrator.
    @Suite struct GuideTests {
        private let guide: GuideHost
        private var host: PackageHost { guide.host }

        init() throws { guide = try GuideHost() }

        @Test func aWebShopIsClosedForMaintenance() throws {
            try host.undoing("systemctl stop nginx; rm -rf /etc/nginx/conf.d/shop.conf /srv/shop") {
                try guide.follow(
                    "maintenance.md", "Prepare the host", "Close it now",
                    "Close it on one host by hand", "Plan it")
            }
        }

        @Test func aServiceIsRetiredOnADate() throws {
            try guide.follow(
                "retire.md", "Announce the end", "Begin with a pilot", "Rehearse it",
                "When the server goes too",
                "After the end")
        }

        @Test func aJobIsHeldBackUntilTheServiceIsOpen() throws {
            try guide.follow(
                "deployment.md", "While the service is open", "While the service is down",
                "From a pipeline on another machine")
        }

        @Test func aDocumentIsReviewedBeforeItIsPublished() throws {
            try host.undoing("rm -rf /tmp/orders") {
                try guide.follow("review.md", "On every commit")
            }
        }

        @Test func anOrderIsSignedByTwoPeople() throws {
            try host.undoing(
                """
                systemctl stop mirror-1 mirror-2; rm -rf /tmp/mirror-1 /tmp/mirror-2
                rm -f /etc/killswitchd/conf.d/signed.toml && killswitchctl reload
                """
            ) {
                try guide.follow(
                    "signing.md", "Sign your first order", "Ask for a second person",
                    "Publish on several servers")
            }
        }

        @Test func aServiceClosesInStepsAndComesBackGently() throws {
            try host.undoing("rm -f /etc/killswitchd/conf.d/gently.toml && killswitchctl reload") {
                try guide.follow(
                    "steps.md", "Close in steps", "Let health decide about the next step",
                    "Put a host first, or last", "Let load balancers turn away first",
                    "Reopen one after the other")
            }
        }

        @Test func aToolConfiguresAHost() throws {
            try host.undoing("rm -f /etc/killswitchd/conf.d/mail.toml && killswitchctl reload") {
                try guide.follow("configuration-management.md", "In which order", "What to verify")
            }
        }

        @Test func manyServersFollowOneFirebaseProject() throws {
            try host.run("killswitchctl detach shop shop.service")
            let google = try GoogleStandIn(on: host)
            try google.publish(maintenance: #"{"isUnderMaintenance": false}"#, version: 1)
            try guide.follow("many-servers.md", "On every server")
            try google.publish(
                maintenance: #"{"isUnderMaintenance": true, "message": "Back at noon."}"#,
                version: 2)
            try guide.follow(
                "many-servers.md", "Close the shop everywhere", "What else belongs to many servers")
        }
    }
}

/// The stand-in for the services of Firebase, inside the booted system. A drop-in of the configuration leads the
/// daemon to it, and the folder of the guide has the key of an account that it knows.
private struct GoogleStandIn {
    private static let folder = "/srv/t-google"
    private let host: PackageHost

    init(on host: PackageHost) throws {
        self.host = host
        try host.run("systemctl stop t-google 2>/dev/null; rm -rf \(Self.folder)")
        for file in ["firebase-server.py", "firebase_access.py", "folder.py"] {
            try host.system.copy(
                "\(Programs.project)/Tests/Support/Server/\(file)", to: Self.folder)
        }
        let port = try freePort()
        // The server ends with its parent, unless that is systemd from the start.
        try host.run(
            """
            mkdir \(Self.folder)/data
            systemd-run --quiet --unit=t-google \\
                sh -c 'python3 -B \(Self.folder)/firebase-server.py \(Self.folder)/data \(port) & wait'
            """)
        try host.system.wait(until: "test -s \(Self.folder)/data/now")
        let url = "http://127.0.0.1:\(port)"
        try host.system.write(Self.makeKey, to: "\(Self.folder)/make-key")
        try host.run("python3 \(Self.folder)/make-key \(url) \(PackageHost.folder)/google.json")
        try host.system.write(
            "[source.app]\nproject = \"demo\"\nbase_url = \"\(url)\"\n",
            to: "/etc/killswitchd/conf.d/zz-stand-in.toml")
    }

    func publish(maintenance: String, version: Int) throws {
        let quoted = maintenance.replacing("\"", with: "\\\"")
        try host.system.write(
            """
            {"conditions": [], "version": {"versionNumber": "\(version)"}, "parameters": {
              "service_end": {"defaultValue": {"value": "no"}, "valueType": "STRING"},
              "server_maintenance_config":
                {"defaultValue": {"value": "\(quoted)"}, "valueType": "JSON"}}}
            """, to: "\(Self.folder)/data/server-template.json")
    }

    private static let makeKey = """
        import json, subprocess, sys
        url, path = sys.argv[1:]
        run = lambda *words, **more: subprocess.run(words, check=True, stdout=-1, text=True, **more).stdout
        key = run("openssl", "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
        modulus = run("openssl", "rsa", "-noout", "-modulus", input=key).strip().split("=")[1]
        with open(path, "w") as file:
            json.dump({"type": "service_account", "project_id": "demo", "private_key_id": "one",
                       "private_key": key, "client_email": "flags@demo.iam", "token_uri": url + "/token"}, file)
        with open("/srv/t-google/data/accounts.json", "w") as file:
            json.dump({"flags@demo.iam": {"one": modulus}}, file)
        """
}

extension Packaged {
    /// The guide to podman, typed with the podman of Debian 12.
    ///
    /// It has no Quadlet: `shop-web.service` beside this file is what Quadlet 5.4.2 has made of the container
    /// in the guide, and a generator hands it to systemd.
    @Suite struct PodmanGuideTests {
        private let guide: GuideHost
        private var host: PackageHost { guide.host }

        init() throws {
            guide = try GuideHost()
            // Its file system is an overlay, on which podman makes no other, and it has no key rings.
            try host.system.write(
                """
                [storage]
                driver = "vfs"
                runroot = "/run/containers/storage"
                graphroot = "/var/lib/containers/storage"
                """, to: "/etc/containers/storage.conf")
            try host.system.write(
                "[containers]\nkeyring = false\n", to: "/etc/containers/containers.conf")
        }

        /// This host is a container itself, and may not make control groups for the containers in it.
        private static func nested(_ text: String) -> String {
            text.replacing("--cgroups=split", with: "--cgroups=disabled")
        }

        @Test func aContainerIsBehindAGate() throws {
            try host.undoing(
                """
                systemctl disable --now shop-web; podman rmi --all --force
                rm -rf /etc/containers/systemd /etc/systemd/system-generators /srv/shop-image \\
                    /run/systemd/system/shop-web.service.d /etc/systemd/system/shop-web.service
                systemctl daemon-reload
                """
            ) {
                try guide.follow("podman.md", "Make an image")
                try quadlet()
                try guide.follow("podman.md", "With Quadlet", edit: Self.nested)
                try host.run(
                    """
                    killswitchctl detach shop shop-web.service
                    systemctl stop shop-web
                    rm -r /etc/containers/systemd /etc/systemd/system-generators \\
                        /run/systemd/system/shop-web.service.d
                    systemctl daemon-reload
                    """)
                #expect(try host.succeeds("systemctl cat shop-web") == false)
                try guide.follow("podman.md", "Without Quadlet", edit: Self.nested)
            }
        }

        /// Makes the unit as soon as the container of the guide is there, as Quadlet does.
        private func quadlet() throws {
            let unit = try Programs.text(of: "Tests/System/Guides/shop-web.service")
            let page = try Programs.text(of: "docs/guides/podman.md")
            let container = try #require(unit.split(separator: "[X-Container]").last)
                .prefix { $0 != "[" }
            #expect(page.contains("[Container]\(container)[Install]"), "make the unit anew")
            try host.system.write(Self.nested(unit), to: "\(PackageHost.folder)/shop-web.service")
            try host.system.write(
                """
                #!/bin/sh
                test -e /etc/containers/systemd/shop-web.container || exit 0
                cp \(PackageHost.folder)/shop-web.service "$1"
                mkdir -p "$1/multi-user.target.wants"
                ln -s ../shop-web.service "$1/multi-user.target.wants"

                """, to: "/etc/systemd/system-generators/t-quadlet")
            // podman 4.3 leaves the file of a container that is gone, and does not start with it.
            try host.system.write(
                "[Service]\nExecStartPre=/bin/rm -f %t/%N.cid\n",
                to: "/run/systemd/system/shop-web.service.d/podman-4.3.conf")
            try host.run("chmod 755 /etc/systemd/system-generators/t-quadlet")
        }
    }
}

/// The host of the README's administrator with the shop and its unit, on which the guides are typed.
struct GuideHost {
    let host: PackageHost
}

extension GuideHost {
    /// Removes everything of the guide before.
    init() throws {
        host = try PackageHost.installed()
        try host.unit("shop")
        try host.run(
            """
            printf '[Install]\\nWantedBy=multi-user.target\\n' >> /etc/systemd/system/shop.service
            systemctl daemon-reload
            systemctl enable --now shop
            killswitchctl attach shop shop.service
            killswitchctl wait shop --for up
            """)
    }

    /// Types sections of a page. `edit` changes the words that this host cannot follow.
    func follow(_ page: String, _ sections: String..., edit: (String) -> String = { $0 }) throws {
        let text = edit(try Programs.text(of: "docs/guides/\(page)"))
        try host.system.write(text, to: "\(PackageHost.folder)/\(page)")
        try host.system.copy(
            "\(Programs.project)/Tests/System/walk-through", to: PackageHost.folder)
        for section in sections {
            let walk = try host.system.attempt(
                "cd \(PackageHost.folder) && python3 walk-through \(page) '## \(section)'")
            try #require(walk.status == 0, "\(section): \(walk.output)\(walk.errors)")
        }
    }
}
