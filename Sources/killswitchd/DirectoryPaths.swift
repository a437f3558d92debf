import Files
import Glibc
import Records

/// The directories of this daemon: from the options, the environment, or the defaults for this user.
struct DirectoryPaths {
    let state: String
    let runtime: String

    init(_ options: Options) throws {
        let isRoot = geteuid() == 0
        state = try File.absolute(
            Directories.state(
                option: options.stateDirectory, isRoot: isRoot, environment: environmentVariable))
        runtime = try File.absolute(
            Directories.runtime(
                option: options.runtimeDirectory, isRoot: isRoot, environment: environmentVariable))
        guard state != runtime else {
            throw UsageError("the runtime and the state directory are the same: '\(state)'")
        }
    }
}
