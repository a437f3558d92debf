import Files
import Support
import Testing

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
