import Decision

/// Units that a switch should not reach: without them nobody could open it again.
enum ProtectedUnit {
    /// Why a unit is not attached unless somebody insists; nil where nothing speaks against it.
    static func reason(_ unit: UnitName) -> String? {
        let stem = String(unit.text.prefix { $0 != "@" && $0 != "." })
        if stem.hasPrefix("killswitch") { return "it belongs to killswitchd itself" }
        if stem.hasPrefix("systemd-") || ["user", "init"].contains(stem) {
            return "it belongs to systemd"
        }
        if needed.contains(stem) { return "killswitchd needs it to open the gate again" }
        if access.contains(stem) { return "it is a way into this host" }
        return nil
    }

    private static let needed: Set<String> = [
        "dbus", "dbus-broker", "polkit", "polkitd", "NetworkManager", "networking", "connman",
        "ifup", "wpa_supplicant",
    ]
    private static let access: Set<String> = [
        "ssh", "sshd", "dropbear", "getty", "serial-getty", "console-getty", "container-getty",
        "rescue", "emergency", "tailscaled", "wg-quick",
    ]
}
