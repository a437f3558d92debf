import Glibc
import RemoteFlags

extension Bearings {
    /// Where this process finds its credentials, and as whom it asks.
    static func ofThisProcess(stateDirectory: String) -> Bearings {
        Bearings(
            credentialsDirectory: environmentVariable("CREDENTIALS_DIRECTORY"), user: geteuid(),
            agent: "killswitchd/\(Command.version)", host: .ofThisProcess,
            stateDirectory: stateDirectory, metadataHost: environmentVariable("GCE_METADATA_HOST"))
    }
}
