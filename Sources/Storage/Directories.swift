/// The directories that the daemon writes and the command line reads: by the options, else by the
/// variables that systemd sets, else by a default for root and one for other users.
package enum Directories {
    /// A directory that neither an option nor a variable gives.
    package struct Unknown: Error, Hashable, CustomStringConvertible {
        /// `runtime` or `state`.
        package let what: String
        /// The variable that would give it.
        package let variable: String

        package var description: String {
            "find the \(what) directory: \(variable) is not set; give --\(what)-directory DIRECTORY"
        }
    }

    /// The daemon's runtime directory. `environment` returns the value of a variable.
    package static func runtime(
        option: String?, isRoot: Bool, environment: (String) -> String?
    ) throws(Unknown) -> String {
        let known = option ?? first(of: environment("RUNTIME_DIRECTORY"))
        if let known = known ?? (isRoot ? system : nil) { return known }
        if let base = environment("XDG_RUNTIME_DIR"), !base.isEmpty { return base + "/killswitchd" }
        throw Unknown(what: "runtime", variable: "XDG_RUNTIME_DIR")
    }

    /// The daemon's state directory.
    package static func state(
        option: String?, isRoot: Bool, environment: (String) -> String?
    ) throws(Unknown) -> String {
        let known = option ?? first(of: environment("STATE_DIRECTORY"))
        if let known = known ?? (isRoot ? systemState : nil) { return known }
        if let base = environment("XDG_STATE_HOME"), !base.isEmpty { return base + "/killswitchd" }
        if let home = environment("HOME"), !home.isEmpty {
            return home + "/.local/state/killswitchd"
        }
        throw Unknown(what: "state", variable: "HOME")
    }

    /// The runtime directory that a reader uses, who needs no privilege and no option: that of a daemon of this user,
    /// else the system daemon's, if the former does not exist.
    ///
    /// A reader may run in a unit that has a runtime directory of its own. `RUNTIME_DIRECTORY` counts only if a daemon
    /// has files there, as `holdsFiles` says.
    package static func published(
        option: String?, isRoot: Bool, environment: (String) -> String?, exists: (String) -> Bool,
        holdsFiles: (String) -> Bool
    ) throws(Unknown) -> String {
        if let option { return option }
        if let named = first(of: environment("RUNTIME_DIRECTORY")), holdsFiles(named) {
            return named
        }
        do {
            let own = try runtime(option: nil, isRoot: isRoot) { name in
                name == "RUNTIME_DIRECTORY" ? nil : environment(name)
            }
            if exists(own) || !exists(system) { return own }
        } catch {
            guard exists(system) else { throw error }
        }
        return system
    }

    /// The state directory of the daemon that publishes in `directory`, for a reader. `STATE_DIRECTORY`
    /// counts only if `directory` comes from `RUNTIME_DIRECTORY`.
    package static func stored(
        option: String?, publishedIn directory: String, isRoot: Bool,
        environment: (String) -> String?
    ) throws(Unknown) -> String {
        if let option { return option }
        if directory == system { return systemState }
        let isNamed = directory == first(of: environment("RUNTIME_DIRECTORY"))
        return try state(option: nil, isRoot: isRoot) { name in
            name == "STATE_DIRECTORY" && !isNamed ? nil : environment(name)
        }
    }

    /// The runtime directory of the system's daemon.
    package static let system = "/run/killswitchd"
    private static let systemState = "/var/lib/killswitchd"

    /// The first directory of a list: systemd separates several by colons (systemd.exec(5)).
    private static func first(of list: String?) -> String? {
        list?.split(separator: ":").first.map(String.init)
    }
}
