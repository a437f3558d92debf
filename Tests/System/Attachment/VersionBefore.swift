/// What the version before this one has left on a host.
enum VersionBefore {
    /// A script that gives a unit, attached to the open gate of the shop, the drop-ins and the link of that version.
    static func attach(_ unit: String) -> String {
        let (target, folder) = ("killswitch-open@shop.target", "/etc/systemd/system")
        return """
            cd \(folder); mkdir -p \(target).wants; ln -s \(folder)/\(unit).service \(target).wants
            sed -i '/Wants=/d; /^# The target starts the unit/d' \(target).d/50-killswitch-\(unit).service.conf
            cat > \(unit).service.d/50-killswitch-shop.conf <<X
            # Written by: killswitchctl attach shop \(unit).service
            # "killswitchctl detach shop \(unit).service" removes it.
            [Unit]
            # It stops with this target, and cannot be started without it.
            Requisite=\(target)
            After=\(target)
            # No start is accepted from the moment the service is closed, also while other units still stop.
            # Without the daemon: "killswitchctl unlock shop".
            AssertPathExists=!/run/killswitchd/shop/closed
            # If a start is refused, systemctl and the journal show this.
            Documentation=man:killswitchctl(1)
            Description=\(unit).service (kill switch: killswitchctl explain shop)
            X
            """
    }
}
