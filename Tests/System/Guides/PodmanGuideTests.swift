import Files
import Support
import Testing

extension Packaged {
    /// The guide to podman, typed with the podman of Debian 12.
    ///
    /// It has no Quadlet: `shop-web.service` beside this file is what Quadlet 5.4.2 has made of the container
    /// in the guide, and a generator hands it to systemd.
    @Suite(.serialized)
    struct PodmanGuideTests {
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
            try host.system.write(
                Self.nested(unit), to: "\(PackageHost.folder)/shop-web.service")
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
    func follow(
        _ page: String, _ sections: String..., edit: (String) -> String = { $0 }
    ) throws {
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
