import Glibc
import RemoteFlags

extension SourceEnvironment {
    /// Where this process finds its credentials, and as whom it asks.
    static func ofThisProcess(stateDirectory: String) -> SourceEnvironment {
        SourceEnvironment(
            credentialsDirectory: environmentVariable("CREDENTIALS_DIRECTORY"), user: geteuid(),
            agent: "killswitchd/\(Command.version)", host: .ofThisProcess,
            stateDirectory: stateDirectory, metadataHost: environmentVariable("GCE_METADATA_HOST"))
    }
}
