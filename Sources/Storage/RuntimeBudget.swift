import Decision
import Files

/// How much room the files of the services may take in the runtime directory, which lies in memory: 64 KiB for each
/// service, whatever the flags of others say, and 8 MiB that they share.
final class RuntimeBudget {
    /// What each service takes beyond its own room.
    private var shared: [ServiceName: Int] = [:]
    private var total = 0

    static let own = 64 << 10
    static let common = 8 << 20

    /// Reserves room for the files of a service, in place of what it has. Throws if there is not so much.
    func reserve(_ size: Int, for service: ServiceName, at path: String) throws(FileError) {
        let (known, needed) = (shared[service] ?? 0, max(0, size - Self.own))
        guard needed <= known || total - known + needed <= Self.common else {
            throw FileError(
                "write", path, .overBudget(size, free: Self.own + Self.common - total + known))
        }
        total += needed - known
        shared[service] = needed == 0 ? nil : needed
    }

    func release(_ service: ServiceName) { total -= shared.removeValue(forKey: service) ?? 0 }
}
