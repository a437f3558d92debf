package import CivilTime
package import JSON

/// The facts about this process and its host that sources use: credentials, directories, names.
package struct HostEnvironment: Sendable {
    /// The value of `$CREDENTIALS_DIRECTORY`.
    package var credentialsDirectory: String?
    /// The user this process runs as, who may own secrets beside root.
    package var user: UInt32
    /// The value of `User-Agent`.
    package var userAgent: String
    /// The facts about the host that servers receive.
    package var host: Host
    /// The value of `$STATE_DIRECTORY`: a source stores its state for the next run in it.
    package var stateDirectory: String
    /// The value of `$GCE_METADATA_HOST`: the host that stands in for the metadata server.
    package var metadataHost: String?
    /// Reads the zone of local times in files of signers; nil if the system's cannot be read now.
    package var zone: @Sendable () -> Zone?

    /// An environment of these parts.
    package init(
        credentialsDirectory: String?, user: UInt32, userAgent agent: String, host: Host = Host(),
        stateDirectory: String, metadataHost: String? = nil,
        zone: @escaping @Sendable () -> Zone? = { .utc }
    ) {
        self.credentialsDirectory = credentialsDirectory
        self.user = user
        self.userAgent = agent
        self.host = host
        self.stateDirectory = stateDirectory
        self.metadataHost = metadataHost
        self.zone = zone
    }
}

/// The facts of this host that a server evaluates flags by. Facts that are not known are left out.
package struct Host: Hashable, Sendable {
    /// The machine's id for this application: `systemd-id128 machine-id --app-specific=…`.
    package var machineID: String?
    package var name: String?
    /// `ID` of os-release(5), such as `debian`.
    package var system: String?
    /// `VERSION_ID` of os-release(5), such as `12`.
    package var systemVersion: String?

    /// The facts that are known.
    package init(
        machineID: String? = nil, name: String? = nil, system: String? = nil,
        systemVersion: String? = nil
    ) {
        self.machineID = machineID
        self.name = name
        self.system = system
        self.systemVersion = systemVersion
    }

    /// The context of an evaluation; `more` are members that are added or replaced. Without a machine id,
    /// as in many containers, the host's name is the targeting key, which the protocol requires.
    package func context(with more: JSON.Object) -> JSON.Object {
        var context: JSON.Object = ["targetingKey": .string(machineID ?? name ?? "unknown")]
        let facts = [("hostName", name), ("os", system), ("osVersion", systemVersion)]
        for case (let key, let fact?) in facts { context[key] = .string(fact) }
        for (key, value) in more { context[key] = value }
        return context
    }
}
