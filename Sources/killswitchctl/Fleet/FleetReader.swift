import Fleet

/// Where the accounts of the hosts come from: Prometheus, etcd or a folder of reports.
protocol FleetReader {
    /// Where it reads, for messages and JSON, without secrets.
    var place: String { get }

    /// How long `--wait` rests between two readings, at least.
    var pause: Duration { get }

    /// What is known now of each host that has the service, or had it lately. It lasts at most as long as `limit`.
    ///
    /// Throws a clause, as `CommandFailure`, if nothing is known: then no host has obeyed, and none has failed.
    func read(within limit: Duration) throws -> [HostFinding]
}
