import Support
import Testing

extension Packaged {
    /// Each guide is typed as it is written, section by section, on a host that has the README's shop.
    @Suite(.serialized)
    struct GuideTests {
        @Test(arguments: [
            ("retire.md", ["Announce the end", "Rehearse it", "After the end"]),
            (
                "deployment.md",
                [
                    "While the service is open", "While the service is down",
                    "From a pipeline on another machine",
                ]
            ),
        ])
        func aGuideWorksAsItIsWritten(_ page: String, _ sections: [String]) throws {
            let host = try PackageHost()
            try host.configure()
            try host.install()
            try host.unit("shop")
            try host.run(
                """
                sed -i '$a[Install]\\nWantedBy=multi-user.target' /etc/systemd/system/shop.service
                systemctl daemon-reload
                systemctl enable --now shop
                killswitchctl attach shop shop.service
                killswitchctl wait shop --for up
                """)
            for file in ["docs/guides/\(page)", "Tests/System/walk-through"] {
                try host.system.copy("\(Programs.project)/\(file)", to: PackageHost.folder)
            }
            for section in sections {
                let walk = try host.system.attempt(
                    "cd \(PackageHost.folder) && python3 walk-through \(page) '## \(section)'")
                #expect(walk.status == 0, "\(section): \(walk.output)\(walk.errors)")
            }
        }
    }
}
