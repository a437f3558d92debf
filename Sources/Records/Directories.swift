/// Where the daemon writes and the command line reads: from the options, else from the variables
/// that systemd sets, else a default for root and one for everybody else.
package enum Directories {
    /// What nobody said and no variable tells.
    package struct Unknown: Error, Hashable, CustomStringConvertible {
        package let what: String
        package let variable: String
        package let option: String

        package var description: String {
            "find the \(what) directory: \(variable) is not set; give \(option) DIRECTORY"
        }
    }

    /// `environment` gives the value of a variable.
    package static func runtime(
        option: String?, isRoot: Bool, environment: (String) -> String?
    ) throws(Unknown) -> String {
        if let known = option ?? first(of: environment("RUNTIME_DIRECTORY")) { return known }
        if isRoot { return system }
        if let base = environment("XDG_RUNTIME_DIR"), !base.isEmpty { return base + "/killswitchd" }
        throw Unknown(
            what: "runtime", variable: "XDG_RUNTIME_DIR", option: "--runtime-directory")
    }

    package static func state(
        option: String?, isRoot: Bool, environment: (String) -> String?
    ) throws(Unknown) -> String {
        if let known = option ?? first(of: environment("STATE_DIRECTORY")) { return known }
        if isRoot { return systemState }
        if let base = environment("XDG_STATE_HOME"), !base.isEmpty { return base + "/killswitchd" }
        if let home = environment("HOME"), !home.isEmpty {
            return home + "/.local/state/killswitchd"
        }
        throw Unknown(what: "state", variable: "HOME", option: "--state-directory")
    }

    /// Where a reader looks: as the daemon would, and where that has no folder and the system's daemon
    /// has one, there. Reading needs no privilege, so it should need no option either.
    ///
    /// A reader may be run by a unit that has a runtime directory of its own: that one counts only where
    /// a daemon has its files there, as `holdsFiles` says.
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

    /// Where a reader finds what the daemon has stored that publishes in `directory`. STATE_DIRECTORY is
    /// the daemon's where RUNTIME_DIRECTORY is.
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

    /// Where the system's daemon publishes.
    package static let system = "/run/killswitchd"
    private static let systemState = "/var/lib/killswitchd"

    /// systemd separates several directories by colons; ours is the first (systemd.exec(5)).
    private static func first(of list: String?) -> String? {
        list?.split(separator: ":").first.map(String.init)
    }
}
