package import CivilTime
package import FlagSignatures
package import SourceSettings

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
    /// The value of `$RUNTIME_DIRECTORY`: a source marks in it which answer it reads.
    package var runtimeDirectory: String?
    /// The value of `$GCE_METADATA_HOST`: the host that stands in for the metadata server.
    package var metadataHost: String?
    /// Reads the zone of local times in files of signers; nil if the system's cannot be read now.
    package var zone: @Sendable () -> Zone?

    /// An environment of these parts.
    package init(
        credentialsDirectory: String?, user: UInt32, userAgent agent: String, host: Host = Host(),
        stateDirectory: String, runtimeDirectory: String? = nil, metadataHost: String? = nil,
        zone: @escaping @Sendable () -> Zone? = { .utc }
    ) {
        self.credentialsDirectory = credentialsDirectory
        self.user = user
        self.userAgent = agent
        self.host = host
        self.stateDirectory = stateDirectory
        self.runtimeDirectory = runtimeDirectory
        self.metadataHost = metadataHost
        self.zone = zone
    }

    /// The file of the signers of a source.
    package func signers(_ rule: SigningRule) -> SignerFile {
        SignerFile(path: rule.signers, zone: zone, user: user)
    }
}
